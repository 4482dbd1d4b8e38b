//! The coordinators of a broker, between the requests, the logs and the clock.
//!
//! There is one for each partition of `__consumer_offsets`, at the partition's leader. It is made from the log when it
//! is needed first, and dropped when leadership moves or the log takes no more records; whoever waits for an answer of
//! it is then told to look for the coordinator again. An answer leaves when all records before it are stored as the
//! durability demands, so that nobody learns what a crash can take back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use copart_protocol::records::{Compressor, Seal};
use copart_protocol::{ErrorCode, Uuid};
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep_until, timeout};

use super::batches::in_batches;
use super::coordinator::{Coordinator, Input};
use super::env::{Moment, Reply, Token};
use super::load::read_log;
use super::record::Record;
use super::stored::Stored;
use super::topic::{CONSUMER_OFFSETS, partition_of};
use super::view::View;
use crate::broker::Shared;
use crate::partitions::{Partition, TopicKey};

/// How long a request waits for a coordinator that reads its log, before the client is told to come back.
const LOAD_PATIENCE: Duration = Duration::from_millis(500);

/// All coordinators.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    shards: Mutex<HashMap<i32, Arc<Shard>>>,
    next_token: AtomicU64,
    /// When the clock looks next, if it does.
    armed: Mutex<Option<Instant>>,
    wake: Notify,
    /// Are there partitions that may have no coordinator yet?
    moved: AtomicBool,
}

/// A partition's coordinator, or its place.
#[derive(Debug, Default)]
struct Shard {
    loaded: Mutex<Option<Loaded>>,
    /// Held by who reads the log.
    loading: tokio::sync::Mutex<()>,
}

/// A partition of `__consumer_offsets`, and who leads it in which epoch.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    pub(super) partition: Arc<Partition>,
    pub(super) node: i32,
    pub(super) epoch: i32,
}

#[derive(Debug)]
struct Loaded {
    lead: Lead,
    coordinator: Coordinator,
    /// The requests that are answered later.
    waiting: HashMap<Token, oneshot::Sender<(Reply, Stored)>>,
    /// The offset behind its last record.
    appended: i64,
    compressor: Compressor,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lead {
    /// The partition as it is led now, if it is.
    fn of(partition: Arc<Partition>) -> Option<Self> {
        let (leader, epoch) = {
            let state = partition.state();
            (state.leadership.leader, state.leadership.epoch)
        };
        leader.map(|node| Self {
            partition,
            node,
            epoch,
        })
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.partition, &other.partition)
            && (self.node, self.epoch) == (other.node, other.epoch)
    }

    /// As much as fits if there is no log: nothing can be written then.
    fn max_batch_bytes(&self) -> usize {
        let mut state = self.partition.state();
        state
            .log()
            .map_or(usize::MAX, |log| log.config().max_message_bytes)
    }

    fn is_over(&self) -> bool {
        Self::of(self.partition.clone()).is_none_or(|now| !now.is(self))
    }
}

impl Groups {
    /// Has a group's coordinator, which `node` must be, do something. Returns when what it wrote, and read, is stored.
    ///
    /// # Errors
    /// What the client is told instead: mostly that it has to look for the coordinator again.
    pub(crate) async fn with<T>(
        &self,
        broker: &Arc<Shared>,
        node: i32,
        group: &str,
        act: impl FnOnce(&mut Coordinator, Input<'_>) -> T,
    ) -> Result<T, ErrorCode> {
        let index = partition_of(group, broker.partitions.count(CONSUMER_OFFSETS));
        self.with_partition(broker, node, index, act).await
    }

    /// The same for the coordinator of a partition.
    pub(crate) async fn with_partition<T>(
        &self,
        broker: &Arc<Shared>,
        node: i32,
        index: i32,
        act: impl FnOnce(&mut Coordinator, Input<'_>) -> T,
    ) -> Result<T, ErrorCode> {
        let (shard, lead) = self.load(broker, Some(node), index).await?;
        let (result, stored) = {
            let mut loaded = lock(&shard.loaded);
            let result = match &mut *loaded {
                Some(loaded) if loaded.lead.is(&lead) => loaded.act(broker, act),
                _ => return Err(ErrorCode::NOT_COORDINATOR),
            };
            self.flush(broker, &mut loaded)?;
            let stored = loaded.as_ref().map(Loaded::stored);
            (result, stored.ok_or(ErrorCode::NOT_COORDINATOR)?)
        };
        stored.wait().await?;
        Ok(result)
    }

    /// Has a group's coordinator do something that it answers when it can.
    pub(crate) async fn ask(
        &self,
        broker: &Arc<Shared>,
        node: i32,
        group: &str,
        act: impl FnOnce(&mut Coordinator, Input<'_>, Token),
    ) -> Result<Reply, ErrorCode> {
        let index = partition_of(group, broker.partitions.count(CONSUMER_OFFSETS));
        let (shard, lead) = self.load(broker, Some(node), index).await?;
        let token = Token(self.next_token.fetch_add(1, Ordering::Relaxed));
        let (sender, answer) = oneshot::channel();
        {
            let mut loaded = lock(&shard.loaded);
            match &mut *loaded {
                Some(loaded) if loaded.lead.is(&lead) => {
                    loaded.waiting.insert(token, sender);
                    loaded.act(broker, |coordinator, input| act(coordinator, input, token));
                }
                _ => return Err(ErrorCode::NOT_COORDINATOR),
            }
            self.flush(broker, &mut loaded)?;
        }
        // It fails when the coordinator is dropped.
        let (reply, stored) = answer.await.map_err(|_| ErrorCode::NOT_COORDINATOR)?;
        stored.wait().await?;
        Ok(reply)
    }

    /// The partitions of `__consumer_offsets` that a node leads.
    pub(crate) fn led_by(&self, broker: &Shared, node: i32) -> Vec<i32> {
        let count = broker.partitions.count(CONSUMER_OFFSETS);
        let leads = |index: &i32| find(broker, *index).is_ok_and(|lead| lead.node == node);
        (0..count).filter(leads).collect()
    }

    fn shard(&self, index: i32) -> Arc<Shard> {
        lock(&self.shards).entry(index).or_default().clone()
    }

    fn shards(&self) -> Vec<Arc<Shard>> {
        lock(&self.shards).values().cloned().collect()
    }

    /// Sees to it that a partition has its coordinator, at `node` if that is given.
    async fn load(
        &self,
        broker: &Arc<Shared>,
        node: Option<i32>,
        index: i32,
    ) -> Result<(Arc<Shard>, Lead), ErrorCode> {
        let lead = find(broker, index)?;
        if node.is_some_and(|node| node != lead.node) {
            return Err(ErrorCode::NOT_COORDINATOR);
        }
        let shard = self.shard(index);
        if shard.has(&lead) {
            return Ok((shard, lead));
        }
        let (reading, what, by) = (shard.clone(), lead.clone(), broker.clone());
        let load = tokio::spawn(async move {
            let _loading = reading.loading.lock().await;
            if reading.has(&what) {
                return Ok(());
            }
            let shard = reading.clone();
            let done = tokio::task::spawn_blocking(move || shard.read(&by, what)).await;
            done.unwrap_or(Err(ErrorCode::NOT_COORDINATOR))
        });
        match timeout(LOAD_PATIENCE, load).await {
            Err(_) => return Err(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
            Ok(loaded) => loaded.unwrap_or(Err(ErrorCode::NOT_COORDINATOR))?,
        }
        let due = lock(&shard.loaded)
            .as_ref()
            .and_then(|it| it.coordinator.next_timeout());
        self.arm(due);
        Ok((shard, lead))
    }

    /// Has the records appended that the coordinator left, and the replies sent. Without a log it is dropped.
    fn flush(&self, broker: &Shared, place: &mut Option<Loaded>) -> Result<(), ErrorCode> {
        let Some(loaded) = place else {
            return Ok(());
        };
        let output = loaded.coordinator.take_output();
        if !output.records.is_empty()
            && let Err(code) = loaded.append(broker, &output.records)
        {
            // What the coordinator knows is not what its log says.
            *place = None;
            return Err(code);
        }
        for (token, reply) in output.replies {
            if let Some(waiting) = loaded.waiting.remove(&token) {
                // It fails when the client is gone.
                let _ = waiting.send((reply, loaded.stored()));
            }
        }
        self.arm(loaded.coordinator.next_timeout());
        Ok(())
    }

    /// Has the clock look at this time at the latest.
    fn arm(&self, at: Option<Instant>) {
        let Some(at) = at else { return };
        let mut armed = lock(&self.armed);
        if armed.is_none_or(|armed| at < armed) {
            *armed = Some(at);
            self.wake.notify_one();
        }
    }

    /// Leadership of partitions may have moved, or topics were made.
    pub(crate) fn partitions_changed(&self) {
        for shard in self.shards() {
            let mut loaded = lock(&shard.loaded);
            if loaded.as_ref().is_some_and(|it| it.lead.is_over()) {
                *loaded = None;
            }
        }
        self.moved.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// A topic was deleted: so are its offsets, where coordinators know of them. The others see from its id that they
    /// are of another topic.
    pub(crate) fn topic_deleted(&self, broker: &Shared, name: &str, id: Uuid) {
        for shard in self.shards() {
            let mut place = lock(&shard.loaded);
            if let Some(loaded) = &mut *place {
                loaded.coordinator.topic_deleted(name, id);
                if let Err(code) = self.flush(broker, &mut place) {
                    tracing::warn!(
                        topic = name,
                        "its committed offsets are not deleted: {code}"
                    );
                }
            }
        }
    }

    /// The clock: has coordinators do what is due. Runs until the broker is gone.
    pub(crate) async fn run(broker: Weak<Shared>) {
        loop {
            let (groups, due) = {
                let Some(broker) = broker.upgrade() else {
                    return;
                };
                let groups = broker.groups.clone();
                if groups.moved.swap(false, Ordering::AcqRel) {
                    for index in 0..broker.partitions.count(CONSUMER_OFFSETS) {
                        // Whoever needs it is told what is wrong.
                        let _ = groups.load(&broker, None, index).await;
                    }
                }
                groups.tick(&broker);
                let due = groups.next_due();
                (groups, due)
            };
            match due {
                Some(due) => tokio::select! {
                    () = sleep_until(due.into()) => {}
                    () = groups.wake.notified() => {}
                },
                None => groups.wake.notified().await,
            }
        }
    }

    fn tick(&self, broker: &Shared) {
        for shard in self.shards() {
            let mut place = lock(&shard.loaded);
            match &mut *place {
                Some(loaded) if loaded.lead.is_over() => *place = None,
                Some(loaded) => {
                    let due = |coordinator: &mut Coordinator, input: Input<'_>| {
                        while coordinator.handle_timeout(input) {}
                    };
                    loaded.act(broker, due);
                    if let Err(code) = self.flush(broker, &mut place) {
                        tracing::warn!("a group coordinator begins anew: {code}");
                    }
                }
                None => {}
            }
        }
    }

    /// When there is something to do next.
    fn next_due(&self) -> Option<Instant> {
        let mut armed = lock(&self.armed);
        *armed = None;
        drop(armed);
        let shards = self.shards();
        let due = shards.iter().filter_map(|shard| {
            let loaded = lock(&shard.loaded);
            loaded.as_ref().and_then(|it| it.coordinator.next_timeout())
        });
        let due = due.min()?;
        let mut armed = lock(&self.armed);
        let first = armed.map_or(due, |armed| armed.min(due));
        *armed = Some(first);
        Some(first)
    }
}

/// The partition, and who leads it.
fn find(broker: &Shared, index: i32) -> Result<Lead, ErrorCode> {
    let topic = TopicKey::Name(CONSUMER_OFFSETS.to_owned());
    let partition = broker.partitions.find(&topic, index);
    let partition = partition.map_err(|_| ErrorCode::NOT_COORDINATOR)?;
    Lead::of(partition).ok_or(ErrorCode::NOT_COORDINATOR)
}

impl Shard {
    fn has(&self, lead: &Lead) -> bool {
        lock(&self.loaded)
            .as_ref()
            .is_some_and(|it| it.lead.is(lead))
    }

    /// Makes the coordinator from the log.
    fn read(&self, broker: &Shared, lead: Lead) -> Result<(), ErrorCode> {
        // Nobody writes to the log meanwhile: another coordinator of this partition would be of another epoch.
        *lock(&self.loaded) = None;
        let mut coordinator = Coordinator::new(None);
        let now = moment(broker);
        let appended = read_log(&lead, &mut coordinator, now).map_err(|refusal| {
            let index = lead.partition.index();
            let reason = refusal.message.unwrap_or_else(|| refusal.code.to_string());
            tracing::error!(
                partition = index,
                "groups of {CONSUMER_OFFSETS} cannot be read: {reason}"
            );
            ErrorCode::NOT_COORDINATOR
        })?;
        let mut loaded = Loaded {
            lead,
            coordinator,
            waiting: HashMap::new(),
            appended,
            compressor: Compressor::new(),
        };
        loaded.act(broker, Coordinator::loaded);
        *lock(&self.loaded) = Some(loaded);
        Ok(())
    }
}

impl Loaded {
    fn act<T>(&mut self, broker: &Shared, act: impl FnOnce(&mut Coordinator, Input<'_>) -> T) -> T {
        let controller = broker.controller();
        let config = controller.broker_config().clone();
        let input = Input {
            now: moment(broker),
            config: &config,
            max_batch_bytes: self.lead.max_batch_bytes(),
            cluster: &View(&controller),
        };
        act(&mut self.coordinator, input)
    }

    fn stored(&self) -> Stored {
        Stored::new(self.lead.partition.clone(), self.appended)
    }

    /// Appends records.
    fn append(&mut self, broker: &Shared, records: &[Record]) -> Result<(), ErrorCode> {
        let now_ms = broker.now_ms();
        let unwritable = |error: copart_protocol::Error| {
            tracing::error!("a record of {CONSUMER_OFFSETS} cannot be written: {error}");
            ErrorCode::UNKNOWN_SERVER_ERROR
        };
        let batches = in_batches(records, now_ms, self.lead.max_batch_bytes());
        let Lead {
            partition,
            node,
            epoch,
        } = &self.lead;
        for batch in batches.map_err(unwritable)? {
            let batch = batch.seal(&Seal::default(), &mut self.compressor);
            let batch = BytesMut::from(&batch.map_err(unwritable)?.bytes()[..]);
            let appended = partition.coordinate(*node, *epoch, batch, now_ms);
            let appended = appended.map_err(|refusal| super::stored::for_members(refusal.code))?;
            self.appended = appended.next_offset;
        }
        broker.written(partition);
        Ok(())
    }
}

fn moment(broker: &Shared) -> Moment {
    Moment {
        at: Instant::now(),
        ms: broker.now_ms(),
    }
}
