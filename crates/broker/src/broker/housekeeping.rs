//! What a broker does now and then, without being asked: retention, compaction, forgetting producers.

use std::cmp::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Shared;
use crate::log::PartitionLog;
use crate::partitions::Partition;
use crate::{Error, ErrorKind, Result};

/// How often the thread looks whether something is due.
const TICK: Duration = Duration::from_secs(1);
/// `log.cleaner.backoff.ms`: how long the cleaner rests when there was nothing to clean.
const CLEANER_BACKOFF: Duration = Duration::from_secs(15);
/// `producer.id.expiration.check.interval.ms`
const PRODUCER_EXPIRY: Duration = Duration::from_secs(600);
/// `log.flush.offset.checkpoint.interval.ms` and its siblings.
const CHECKPOINTS: Duration = Duration::from_secs(60);

/// The time of day, in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

/// The thread that does it. Dropping it ends the thread soon, and waits for nothing.
#[derive(Debug)]
pub(super) struct Housekeeping {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    fn is_stopped(&self) -> bool {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a tick. Returns whether to go on.
    fn wait(&self) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let (stopped, _) = self
            .changed
            .wait_timeout_while(stopped, TICK, |stopped| !*stopped)
            .unwrap_or_else(PoisonError::into_inner);
        !*stopped
    }
}

impl Housekeeping {
    pub(super) fn start(shared: &Arc<Shared>) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let (broker, stopping) = (Arc::downgrade(shared), stop.clone());
        let thread = std::thread::Builder::new()
            .name("copart-housekeeping".to_owned())
            .spawn(move || run(&broker, &stopping))
            .map_err(|error| Error::io("starting the thread that tidies up", error))?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Ends the thread, and waits for it.
    pub(super) fn stop(mut self) {
        let thread = self.thread.take();
        drop(self);
        if let Some(thread) = thread {
            // A panic was printed, and the logs are closed next in any case.
            let _ = thread.join();
        }
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        *self
            .stop
            .stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
    }
}

/// What is done at intervals, and when it was done last.
struct Due {
    every: Duration,
    last: Instant,
}

impl Due {
    fn new(every: Duration) -> Self {
        Self {
            every,
            last: Instant::now(),
        }
    }

    fn is_now(&mut self) -> bool {
        let due = self.last.elapsed() >= self.every;
        if due {
            self.last = Instant::now();
        }
        due
    }
}

fn run(broker: &Weak<Shared>, stop: &Stop) {
    let mut retention = Due::new(Duration::ZERO);
    let mut cleaner = Due::new(CLEANER_BACKOFF);
    let mut producers = Due::new(PRODUCER_EXPIRY);
    let mut checkpoints = Due::new(CHECKPOINTS);
    while stop.wait() {
        let Some(broker) = broker.upgrade() else {
            return;
        };
        let config = broker.controller().broker_config().clone();
        retention.every =
            Duration::from_millis(config.log_retention_check_interval_ms.max(1).unsigned_abs());
        if retention.is_now() {
            each(&broker, "retention", |log, now_ms| {
                log.apply_retention(now_ms).map(|removed| {
                    (removed.segments > 0).then(|| format!("removed {} segments", removed.segments))
                })
            });
        }
        if cleaner.is_now() {
            clean(&broker, stop);
        }
        if producers.is_now() {
            each(&broker, "expiry of producers", |log, now_ms| {
                log.expire_producers(now_ms);
                Ok(None)
            });
        }
        if checkpoints.is_now() {
            report("checkpoints", broker.store_checkpoints());
        }
        report("removing deleted logs", broker.remove_deleted());
    }
}

/// Compacts the logs that need it, the dirtiest first. A log takes no records meanwhile.
fn clean(broker: &Shared, stop: &Stop) {
    let now_ms = broker.now_ms();
    let mut dirty: Vec<_> = broker
        .partitions
        .all()
        .into_iter()
        .filter_map(|partition| {
            let dirtiness = match partition.state().log().ok()?.dirtiness(now_ms) {
                Ok(dirtiness) => dirtiness?,
                Err(error) => {
                    let (topic, index) = (&partition.topic().name, partition.index());
                    tracing::error!(topic, partition = index, "compaction: {error}");
                    return None;
                }
            };
            Some((dirtiness, partition))
        })
        .collect();
    dirty.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    for (_, partition) in dirty {
        if stop.is_stopped() {
            return;
        }
        let (topic, index) = (&partition.topic().name, partition.index());
        match act(&partition, now_ms, |log, now_ms| {
            log.compact(now_ms).map(|_| None)
        }) {
            Err(error) if error.kind() != ErrorKind::ReadOnly => {
                tracing::error!(topic, partition = index, "compaction: {error}");
            }
            _ => tracing::debug!(topic, partition = index, "compacted"),
        }
    }
}

fn report(what: &str, done: Result<()>) {
    if let Err(error) = done {
        tracing::error!("{what}: {error}");
    }
}

/// Does something to each log that takes writes.
fn each(
    broker: &Shared,
    what: &str,
    action: impl Fn(&mut PartitionLog, i64) -> Result<Option<String>>,
) {
    for partition in broker.partitions.all() {
        let done = act(&partition, broker.now_ms(), &action);
        let (topic, index) = (&partition.topic().name, partition.index());
        match done {
            Ok(None) => {}
            Ok(Some(done)) => tracing::info!(topic, partition = index, "{what}: {done}"),
            Err(error) if error.kind() == ErrorKind::ReadOnly => {}
            Err(error) => tracing::error!(topic, partition = index, "{what}: {error}"),
        }
    }
}

fn act(
    partition: &Partition,
    now_ms: i64,
    action: impl Fn(&mut PartitionLog, i64) -> Result<Option<String>>,
) -> Result<Option<String>> {
    match partition.state().log() {
        Ok(log) => action(log, now_ms),
        Err(_) => Ok(None),
    }
}
