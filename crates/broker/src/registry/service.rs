//! The registry of a broker, between requests and the log.
//!
//! Its state is made from the log when it is needed first, and again when the topic is another one or when nobody knows
//! what the log has. Changes are made one at a time: they are planned, appended, and applied when they are stored, so
//! that nobody learns what a crash can take back.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use copart_protocol::Uuid;
use copart_protocol::records::{BatchBuilder, Compressor, Seal};
use copart_registry::{Answer, ApiError, Outcome, Record, Request, Store};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::load::read_log;
use super::topic::{SCHEMAS, create_if_missing};
use crate::broker::Shared;
use crate::partitions::{Partition, Refusal, TopicKey, Watch};

/// How long a change waits until it is stored.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many requests are worked on at a time: the others of the broker want to live, too.
const AT_A_TIME: usize = 4;

/// A registry.
#[derive(Debug)]
pub(crate) struct Registry {
    loaded: RwLock<Option<Loaded>>,
    /// Held by who changes something.
    turn: Mutex<()>,
    work: Semaphore,
}

#[derive(Debug)]
struct Loaded {
    /// The topic that the state is of.
    topic: Uuid,
    store: Store,
}

/// A request that was received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) body: Bytes,
}

impl Received {
    fn view(&self) -> Request<'_> {
        Request {
            method: &self.method,
            path: &self.path,
            query: &self.query,
            body: &self.body,
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            loaded: RwLock::new(None),
            turn: Mutex::new(()),
            work: Semaphore::new(AT_A_TIME),
        }
    }
}

impl Registry {
    /// Answers a request. Cancel-safe: what was begun is done to its end.
    pub(super) async fn answer(self: &Arc<Self>, broker: Arc<Shared>, request: Received) -> Answer {
        let registry = self.clone();
        let working = tokio::spawn(async move { registry.work(&broker, request).await });
        match working.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Answer::from(&error),
            Err(error) => {
                tracing::error!("a request to the Schema Registry ended with a panic: {error}");
                Answer::from(&ApiError::store("the request could not be worked on"))
            }
        }
    }

    async fn work(
        self: &Arc<Self>,
        broker: &Arc<Shared>,
        request: Received,
    ) -> Result<Answer, ApiError> {
        // It is never closed.
        let _place = self.work.acquire().await;
        let _turn = match request.view().may_change() {
            true => Some(self.turn.lock().await),
            false => None,
        };
        let (registry, by) = (self.clone(), broker.clone());
        let planned = blocking(move || registry.plan(&by, &request)).await?;
        let Outcome { records, answer } = planned?;
        if records.is_empty() {
            return Ok(answer);
        }
        let by = broker.clone();
        let (appended, records) = blocking(move || (append(&by, &records), records)).await?;
        // Others see the state before it until it is stored.
        let done = match appended {
            Ok((partition, offset)) => stored(&partition, offset).await,
            Err(error) => Err(error),
        };
        let registry = self.clone();
        blocking(move || {
            let mut loaded = registry
                .loaded
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            match &mut *loaded {
                Some(loaded) if done.is_ok() => {
                    for record in records {
                        loaded.store.apply(record);
                    }
                }
                // Nobody knows what the log has until it is read again.
                _ => *loaded = None,
            }
            done
        })
        .await??;
        Ok(answer)
    }

    /// What becomes of a request. Waits for the disk.
    fn plan(&self, broker: &Shared, request: &Received) -> Result<Outcome, ApiError> {
        let partition = find(broker)?;
        let topic = partition.topic().id;
        loop {
            {
                let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
                if let Some(loaded) = loaded.as_ref().filter(|it| it.topic == topic) {
                    return Ok(loaded.store.handle(&request.view()));
                }
            }
            let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
            if loaded.as_ref().is_none_or(|it| it.topic != topic) {
                let store = read_log(&partition).map_err(|refusal| refused(&refusal))?;
                *loaded = Some(Loaded { topic, store });
            }
        }
    }
}

/// Does what takes long or waits for the disk where that harms nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| {
        tracing::error!("a request to the Schema Registry could not be worked on: {error}");
        ApiError::store("the request could not be worked on")
    })
}

/// The topic's partition; it is made if it is not there.
fn find(broker: &Shared) -> Result<Arc<Partition>, ApiError> {
    create_if_missing(broker)
        .map_err(|error| ApiError::store(format!("the topic {SCHEMAS} cannot be made: {error}")))?;
    let topic = TopicKey::Name(SCHEMAS.to_owned());
    let found = broker.partitions.find(&topic, 0);
    found.map_err(|code| ApiError::store(format!("the topic {SCHEMAS} is not there: {code}")))
}

fn refused(refusal: &Refusal) -> ApiError {
    let reason = match &refusal.message {
        Some(message) => message.clone(),
        None => refusal.code.to_string(),
    };
    ApiError::store(format!("{SCHEMAS}: {reason}"))
}

/// Appends records as one batch. Returns the offset behind it.
fn append(broker: &Shared, records: &[Record]) -> Result<(Arc<Partition>, i64), ApiError> {
    let partition = find(broker)?;
    let now_ms = broker.now_ms();
    let unwritable = |error: &dyn std::fmt::Display| {
        ApiError::store(format!("a record of {SCHEMAS} cannot be written: {error}"))
    };
    let mut builder = BatchBuilder::new();
    for record in records {
        let (key, value) = record.encode().map_err(|error| unwritable(&error))?;
        builder
            .append(now_ms, Some(&key), value.as_deref(), &[])
            .map_err(|error| unwritable(&error))?;
    }
    let batch = builder.seal(&Seal::default(), &mut Compressor::new());
    let batch = batch.map_err(|error| unwritable(&error))?;
    let (leader, epoch, max) = {
        let mut state = partition.state();
        let max = state
            .log()
            .map_err(|refusal| refused(&refusal))?
            .config()
            .max_message_bytes;
        (state.leadership.leader, state.leadership.epoch, max)
    };
    let size = batch.bytes().len();
    if size > max {
        return Err(ApiError::too_large(format!(
            "the schema takes a record batch of {size} bytes, and {SCHEMAS} has at most {max}"
        )));
    }
    let leader = leader.ok_or_else(|| ApiError::store(format!("{SCHEMAS} has no leader")))?;
    let batch = BytesMut::from(&batch.bytes()[..]);
    let appended = partition.coordinate(leader, epoch, batch, now_ms);
    let appended = appended.map_err(|refusal| refused(&refusal))?;
    broker.written(&partition);
    Ok((partition, appended.next_offset))
}

/// Returns when everything before the offset is stored.
async fn stored(partition: &Arc<Partition>, offset: i64) -> Result<(), ApiError> {
    let watch = Watch::new(vec![partition.clone()]);
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(stored) = partition.is_stored(offset) {
            return stored.map_err(|refusal| refused(&refusal));
        }
        if timeout_at(deadline, watch.changed()).await.is_err() {
            return Err(ApiError::timed_out(format!(
                "{SCHEMAS} is not stored yet, and may be later"
            )));
        }
    }
}
