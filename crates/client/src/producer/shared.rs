//! What the handles and the tasks of a producer share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use metrics::Label;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::config::ProducerConfig;
use super::core::{CoreConfig, Effects, Settled};
use super::guards::Verification;
use super::identity::Identity;
use super::inbox::Inbox;
use super::sink;
use super::topic::{PartitionHandle, TopicState};
use crate::cluster::Cluster;
use crate::telemetry::{Acknowledgement, names};
use crate::{Error, Result};

/// Where a producer is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Takes records.
    Running,
    /// After `Running`: takes no more, and sends what it has.
    Draining,
    /// After either: what was left has failed.
    Stopped,
}

pub(crate) struct Shared {
    pub(crate) cluster: Cluster,
    pub(crate) config: ProducerConfig,
    pub(crate) core_config: Arc<CoreConfig>,
    pub(crate) topics: RwLock<HashMap<Arc<str>, Arc<TopicState>>>,
    verifications: Mutex<HashMap<Arc<str>, Arc<Verification>>>,
    pub(crate) budget: Semaphore,
    pub(crate) identity: Identity,
    /// Records may be taken on threads that belong to no runtime.
    pub(crate) runtime: Handle,
    phase: watch::Sender<Phase>,
    /// The same, without a lock.
    phase_now: AtomicU8,
    sinks: Mutex<HashMap<i32, Arc<Inbox>>>,
    buffers: Mutex<Vec<Vec<u8>>>,
    last_error: Mutex<Option<Error>>,
}

/// Buffers that are kept for later: enough for a few requests under way.
const KEPT_BUFFERS: usize = 64;
/// What a new batch starts with when no buffer is there.
const FIRST_BUFFER: usize = 4096;

impl Shared {
    pub(crate) fn new(
        cluster: Cluster,
        config: ProducerConfig,
        core_config: CoreConfig,
        runtime: Handle,
    ) -> Self {
        Self {
            cluster,
            core_config: Arc::new(core_config),
            topics: RwLock::default(),
            verifications: Mutex::default(),
            budget: Semaphore::new(config.buffer_memory),
            identity: Identity::default(),
            runtime,
            phase: watch::Sender::new(Phase::Running),
            phase_now: AtomicU8::new(Phase::Running as u8),
            sinks: Mutex::default(),
            buffers: Mutex::default(),
            last_error: Mutex::default(),
            config,
        }
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        match self.phase_now.load(Ordering::SeqCst) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Stopped,
        }
    }

    pub(crate) fn watch_phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Moves on to `to`. There is no way back.
    pub(crate) fn advance(&self, to: Phase) {
        self.phase.send_if_modified(|phase| {
            let later = *phase < to;
            if later {
                *phase = to;
                self.phase_now.store(to as u8, Ordering::SeqCst);
            }
            later
        });
    }

    /// Resolves when the producer has stopped.
    pub(crate) async fn stopped(&self) {
        // The sender is `self`, so it cannot be gone.
        let _ = self
            .phase
            .subscribe()
            .wait_for(|phase| *phase == Phase::Stopped)
            .await;
    }

    pub(crate) fn topic(&self, name: &str) -> Option<Arc<TopicState>> {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.get(name).cloned()
    }

    pub(crate) fn all_topics(&self) -> Vec<Arc<TopicState>> {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.values().cloned().collect()
    }

    pub(crate) fn all_partitions(&self) -> Vec<Arc<PartitionHandle>> {
        let topics = self.all_topics();
        topics
            .iter()
            .flat_map(|topic| topic.partitions().to_vec())
            .collect()
    }

    /// The way to a node's sink, which is started if there is none.
    pub(crate) fn inbox(self: &Arc<Self>, node: i32) -> Arc<Inbox> {
        let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        let inbox = sinks.entry(node).or_insert_with(|| {
            let inbox = Arc::new(Inbox::default());
            self.runtime
                .spawn(sink::run(node, Arc::clone(self), Arc::clone(&inbox)));
            inbox
        });
        Arc::clone(inbox)
    }

    /// Puts a partition on the list of its leader's sink. The caller has marked it as listed.
    pub(crate) fn list(self: &Arc<Self>, partition: &Arc<PartitionHandle>) {
        let inbox = self.inbox(partition.leader_node());
        partition.set_inbox(&inbox);
        inbox.list(Arc::clone(partition));
        inbox.wake();
    }

    /// Has its leader's sink look at a partition, which is put on its list if it holds anything.
    pub(crate) fn attend(self: &Arc<Self>, partition: &Arc<PartitionHandle>) {
        let listed = {
            let mut slot = partition.lock();
            if !slot.listed && slot.core.is_idle() {
                return;
            }
            std::mem::replace(&mut slot.listed, true)
        };
        if listed {
            self.inbox(partition.leader_node()).wake();
        } else {
            self.list(partition);
        }
    }

    pub(crate) fn wake_all(&self) {
        let sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        sinks.values().for_each(|inbox| inbox.wake());
    }

    /// Does what a core has decided. Not to be called under a partition's lock.
    pub(crate) fn apply(&self, effects: Effects) {
        for (whole, parts) in effects.split {
            metrics::counter!(names::SPLITS).increment(1);
            whole.split(parts);
        }
        for settled in effects.settled {
            self.tell(settled);
        }
        if effects.freed > 0 {
            self.budget.add_permits(effects.freed);
        }
        for buffer in effects.buffers {
            self.recycle(buffer);
        }
    }

    fn tell(&self, settled: Settled) {
        let Settled {
            topic,
            completion,
            records,
            created,
            outcome,
        } = settled;
        let ending = if outcome.is_ok() { "ok" } else { "failed" };
        let labels = [
            Label::new("topic", Arc::clone(&topic)),
            Label::from_static_parts("outcome", ending),
        ];
        metrics::counter!(names::BATCHES, labels.iter()).increment(1);
        metrics::histogram!(names::DELIVERY_TIME, labels.iter())
            .record(created.elapsed().as_secs_f64());
        if let Err(error) = &outcome {
            tracing::warn!(%error, "a batch was not delivered");
        }
        let interceptors = &self.config.interceptors;
        if !interceptors.is_empty() {
            let base_offset = outcome.as_ref().map(|written| written.base_offset);
            let partition = completion.partition();
            let told = Acknowledgement::new(&topic, partition, records, base_offset);
            interceptors.on_acknowledged(&told);
        }
        completion.complete(outcome);
    }

    /// A buffer for a new batch.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let kept = self
            .buffers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        kept.unwrap_or_else(|| Vec::with_capacity(FIRST_BUFFER.min(self.core_config.batch_size)))
    }

    fn recycle(&self, bytes: Bytes) {
        // Otherwise it would be a copy, and not the buffer.
        if !bytes.is_unique() {
            return;
        }
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < KEPT_BUFFERS {
            buffers.push(Vec::from(bytes));
        }
    }

    /// Remembers why nothing can be sent, for those whose time runs out.
    pub(crate) fn set_last_error(&self, error: Option<&Error>) {
        let mut last = self
            .last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = error.cloned();
    }

    pub(crate) fn last_error(&self) -> Option<Error> {
        self.last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn verification(&self, topic: &Arc<str>) -> Arc<Verification> {
        let mut all = self
            .verifications
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(Arc::clone(topic)).or_default())
    }

    /// A topic that can be written to. Waits for metadata, and for the guards.
    ///
    /// Cancel-safe.
    pub(crate) async fn open_topic(
        self: &Arc<Self>,
        name: &str,
        deadline: Instant,
    ) -> Result<Arc<TopicState>> {
        if let Some(topic) = self.topic(name) {
            if topic.is_forgotten() {
                // What it had sent keeps its sequences.
                self.cluster.topic(name, deadline).await?;
            }
            return Ok(topic);
        }
        let found = self.cluster.topic(name, deadline).await?;
        super::guards::check(&self.config.guards, &found)?;
        let verification = self.verification(&found.name);
        super::guards::verify(&verification, &self.cluster, &self.config, &found, deadline).await?;
        let partitioning = self.config.partitioning_for(name);
        let state = Arc::new(TopicState::new(
            &found,
            partitioning.clone(),
            &self.core_config,
            self.cluster.touch(name),
        ));
        let mut topics = self.topics.write().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have been first.
        let state = topics.entry(Arc::clone(&found.name)).or_insert(state);
        Ok(Arc::clone(state))
    }
}
