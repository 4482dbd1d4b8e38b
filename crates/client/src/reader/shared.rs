//! What the handle and the tasks of a reader share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::config::Settings;
use super::core::FetchCore;
use super::source;
use crate::cluster::{Cluster, Hold, Use};
use crate::{Error, TopicPartition};

/// Tells readers apart.
static READERS: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Shared {
    /// Of this reader among all.
    number: u64,
    pub(crate) cluster: Cluster,
    pub(crate) settings: Settings,
    core: Mutex<FetchCore>,
    /// Whoever waits for an event.
    waiting: Mutex<Waiting>,
    /// Wakes the supervisor.
    pub(crate) supervise: Notify,
    /// Wake the sources, by node.
    sources: Mutex<HashMap<i32, Arc<Notify>>>,
    runtime: Handle,
    closed: watch::Sender<bool>,
    trouble: Mutex<Option<Error>>,
    /// So that metadata is asked for while nothing but reading is done with the topics.
    held: Mutex<HashMap<Arc<str>, Hold>>,
}

/// Whether somebody waits for an event.
struct Waiting {
    waker: Option<Waker>,
    /// Since when nobody does.
    idle_since: Option<Instant>,
}

impl Shared {
    pub(crate) fn new(cluster: Cluster, settings: Settings, runtime: Handle) -> Self {
        Self {
            number: READERS.fetch_add(1, Ordering::Relaxed),
            core: Mutex::new(FetchCore::new(settings.core())),
            cluster,
            settings,
            waiting: Mutex::new(Waiting {
                waker: None,
                idle_since: Some(Instant::now()),
            }),
            supervise: Notify::new(),
            sources: Mutex::default(),
            runtime,
            closed: watch::Sender::new(false),
            trouble: Mutex::default(),
            held: Mutex::default(),
        }
    }

    /// Has metadata of a topic asked for as long as its partitions are read.
    pub(crate) fn hold(&self, topic: &Arc<str>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.entry(Arc::clone(topic))
            .or_insert_with(|| self.cluster.hold(topic));
    }

    /// Forgets topics of which nothing is read.
    pub(super) fn release_topics(&self, read: &[TopicPartition]) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|topic, _| read.iter().any(|partition| partition.topic == *topic));
    }

    /// The connections that it fetches on.
    pub(crate) fn usage(&self) -> Use {
        Use::Fetch(self.number)
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(crate) fn core(&self) -> MutexGuard<'_, FetchCore> {
        // Nothing in it panics halfway through a change.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `waker` woken when there may be an event.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting();
        waiting.idle_since = None;
        match &mut waiting.waker {
            Some(known) if known.will_wake(waker) => {}
            known => *known = Some(waker.clone()),
        }
    }

    /// There may be an event.
    pub(crate) fn wake_reader(&self) {
        let waker = {
            let mut waiting = self.waiting();
            let waker = waiting.waker.take();
            if waker.is_some() {
                waiting.idle_since = Some(Instant::now());
            }
            waker
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nobody waits any more: there was something, or whoever waited has given up.
    pub(crate) fn stop_waiting(&self) {
        let mut waiting = self.waiting();
        waiting.waker = None;
        waiting.idle_since = Some(Instant::now());
    }

    /// Since when nobody waits for an event.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        self.waiting().idle_since
    }

    /// All tasks look again. Not to be called with the core locked.
    pub(crate) fn stir(&self) {
        self.supervise.notify_one();
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.values().for_each(|source| source.notify_one());
    }

    /// Starts sources for nodes that have none.
    pub(crate) fn ensure_sources(self: &Arc<Self>, nodes: &[i32]) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        for &node in nodes {
            sources.entry(node).or_insert_with(|| {
                let notify = Arc::new(Notify::new());
                let task = source::run(node, Arc::clone(self), Arc::clone(&notify));
                self.runtime.spawn(task);
                notify
            });
        }
    }

    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Resolves when the reader is gone.
    pub(crate) async fn closed(&self) {
        // The sender is `self`, so it cannot be gone.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Remembers what keeps it from reading.
    pub(crate) fn set_trouble(&self, error: Option<&Error>) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error {
            tracing::debug!(%error, "a reader is held up");
        }
        *trouble = error.cloned();
    }

    pub(crate) fn trouble(&self) -> Option<Error> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
