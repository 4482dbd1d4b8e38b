//! A topic that a producer writes to, and its partitions.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, Weak};
use std::time::Duration;

use copart_protocol::Uuid;

use super::core::{CoreConfig, PartitionCore};
use super::inbox::Inbox;
use super::partitioner::{Partitioning, Spreader, TopicView};
use crate::cluster::{Interest, Topic};
use crate::{Error, Result};

/// No node: the partition has no leader.
pub(crate) const NO_LEADER: i32 = -1;

/// A topic, as long as the producer lives.
pub(crate) struct TopicState {
    pub(crate) name: Arc<str>,
    pub(crate) partitioning: Partitioning,
    pub(crate) spreader: Spreader,
    known: RwLock<Known>,
    /// Why nothing may be written any more.
    refusal: OnceLock<Error>,
    interest: Arc<Interest>,
}

struct Known {
    id: Uuid,
    /// Replaced as a whole, so that it can be used without the lock.
    partitions: Partitions,
}

/// All partitions, in order.
pub(crate) type Partitions = Arc<[Arc<PartitionHandle>]>;

impl TopicState {
    pub(crate) fn new(
        topic: &Topic,
        partitioning: Partitioning,
        config: &Arc<CoreConfig>,
        interest: Arc<Interest>,
    ) -> Self {
        let spreader = Spreader::new(*partitioning.tuning(), config.batch_size);
        let state = Self {
            name: Arc::clone(&topic.name),
            partitioning,
            spreader,
            known: RwLock::new(Known {
                id: topic.id,
                partitions: Arc::new([]),
            }),
            refusal: OnceLock::new(),
            interest,
        };
        state.grow(topic, config);
        state
    }

    /// Adds partitions that are new.
    pub(crate) fn grow(&self, topic: &Topic, config: &Arc<CoreConfig>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut partitions = known.partitions.to_vec();
        for partition in topic.partitions.iter().skip(partitions.len()) {
            partitions.push(Arc::new(PartitionHandle {
                topic: Arc::clone(&self.name),
                index: partition.index,
                leader: AtomicI32::new(partition.leader.unwrap_or(NO_LEADER)),
                near: AtomicBool::new(false),
                backlog: AtomicUsize::new(0),
                inbox: Mutex::new(Weak::new()),
                slot: Mutex::new(Slot {
                    core: PartitionCore::new(
                        Arc::clone(config),
                        Arc::clone(&self.name),
                        partition.index,
                    ),
                    listed: false,
                }),
            }));
        }
        known.partitions = partitions.into();
    }

    /// Takes over another id, and says whether it was another.
    pub(crate) fn replace_id(&self, id: Uuid) -> bool {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut known.id, id) != id
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id(&self) -> Uuid {
        self.known().id
    }

    /// The partitions as they are now. They only ever become more.
    #[inline]
    pub(crate) fn partitions(&self) -> Partitions {
        Arc::clone(&self.known().partitions)
    }

    /// Whether it was idle for so long that its metadata has to be asked for again.
    #[inline]
    pub(crate) fn is_forgotten(&self) -> bool {
        self.interest.is_forgotten()
    }

    /// It is written to.
    pub(crate) fn touch(&self) {
        self.interest.touch();
    }

    pub(crate) fn refuse(&self, error: Error) {
        let _ = self.refusal.set(error);
    }

    /// Whether it may be written to.
    #[inline]
    pub(crate) fn allowed(&self) -> Result<()> {
        match self.refusal.get() {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    pub(crate) fn view<'a>(&'a self, partitions: &'a [Arc<PartitionHandle>]) -> TopicView<'a> {
        TopicView::new(&self.name, partitions)
    }
}

/// A partition: its core behind a lock, and what can be seen of it without.
pub(crate) struct PartitionHandle {
    pub(crate) topic: Arc<str>,
    pub(crate) index: i32,
    leader: AtomicI32,
    /// Whether the leader stands in the client's rack.
    near: AtomicBool,
    backlog: AtomicUsize,
    /// Its leader's sink, once there is one.
    inbox: Mutex<Weak<Inbox>>,
    slot: Mutex<Slot>,
}

pub(crate) struct Slot {
    pub(crate) core: PartitionCore,
    /// Whether a sink has it on its list. Changes under the lock, with what the core holds.
    pub(crate) listed: bool,
}

impl PartitionHandle {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node that leads it, or [`NO_LEADER`].
    pub(crate) fn leader_node(&self) -> i32 {
        self.leader.load(Ordering::Acquire)
    }

    pub(crate) fn leader(&self) -> Option<i32> {
        let node = self.leader_node();
        (node != NO_LEADER).then_some(node)
    }

    /// Says who leads it now, and gives back who did.
    pub(crate) fn set_leader(&self, node: i32) -> i32 {
        self.leader.swap(node, Ordering::AcqRel)
    }

    pub(crate) fn is_near(&self) -> bool {
        self.near.load(Ordering::Relaxed)
    }

    pub(crate) fn set_near(&self, near: bool) {
        self.near.store(near, Ordering::Relaxed);
    }

    pub(crate) fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    pub(crate) fn set_backlog(&self, batches: usize) {
        self.backlog.store(batches, Ordering::Relaxed);
    }

    /// How long its leader has taken nothing though something waits.
    pub(crate) fn blocked(&self) -> Option<Duration> {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.upgrade()?.blocked()
    }

    pub(crate) fn set_inbox(&self, to: &Arc<Inbox>) {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        *inbox = Arc::downgrade(to);
    }
}
