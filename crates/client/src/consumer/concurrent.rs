//! Processing records of different keys at the same time, and those of one key in their order.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::task::{Id, JoinSet};

use super::batch::GroupRecord;
use super::handle::Consumer;
use crate::typed::TypedRecord;
use crate::{Error, ErrorKind, Result, TopicPartition};

/// Records that wait for others of their key, for each one that may be processed at a time.
const WAITING: usize = 16;

/// What is to be kept in order: a key of a partition. Records without a key have no order among them.
type Lane = (TopicPartition, Bytes);

impl Consumer {
    /// Processes records with `handler`: up to `limit` at a time, each in a task of its own; those with the same key one
    /// after the other, in the order of their offsets. Records without a key are in no order.
    ///
    /// A record whose handler gives `Ok` is done. Commits go up to the first one that is not, whichever are done beyond
    /// it: when the program dies, a few records that were done come again.
    ///
    /// ```no_run
    /// # async fn charge(value: Option<&[u8]>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> { Ok(()) }
    /// # async fn run(mut consumer: copart::Consumer) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// use std::num::NonZeroUsize;
    ///
    /// let limit = NonZeroUsize::new(64).expect("more than none");
    /// consumer
    ///     .for_each_concurrent(limit, |record| async move { charge(record.value()).await })
    ///     .await
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error of a handler, or what [`recv`](Self::recv) tells. Handlers that are at work are cancelled then, and
    /// what is not done comes again: call it once more to go on. It gives `Ok` when the consumer can do no more.
    ///
    /// # Panics
    /// When a handler does.
    ///
    /// # Cancel safety
    /// When the future is dropped, handlers are cancelled where they wait. What is not done comes again.
    pub async fn for_each_concurrent<F, Fut, E>(
        &mut self,
        limit: NonZeroUsize,
        handler: F,
    ) -> Result<(), E>
    where
        F: Fn(Arc<GroupRecord>) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: From<Error> + Send + 'static,
    {
        for_each(self, limit, handler).await
    }
}

/// Where records come from that are processed at the same time.
pub(super) trait Source {
    type Record: Item;

    fn poll_record(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Self::Record>>>;

    /// What of a batch was not taken comes again.
    fn begin_anew(&mut self);
}

impl Source for Consumer {
    type Record = GroupRecord;

    fn poll_record(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<GroupRecord>>> {
        self.poll_record(cx)
    }

    fn begin_anew(&mut self) {
        self.records = None;
    }
}

/// What is processed.
pub(super) trait Item {
    fn group_record(&self) -> &GroupRecord;
}

impl Item for GroupRecord {
    fn group_record(&self) -> &GroupRecord {
        self
    }
}

impl<K, V> Item for TypedRecord<K, V> {
    fn group_record(&self) -> &GroupRecord {
        self.raw()
    }
}

pub(super) async fn for_each<S, F, Fut, E>(
    source: &mut S,
    limit: NonZeroUsize,
    handler: F,
) -> Result<(), E>
where
    S: Source,
    F: Fn(Arc<S::Record>) -> Fut,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: From<Error> + Send + 'static,
{
    // What of a batch was not taken comes again, behind what failed of it.
    let fresh = Fresh(source);
    let mut work = Work::new(limit.get(), handler);
    // A record that can't be decoded, which is told once those before it are processed.
    let mut obstacle = None;
    loop {
        tokio::select! {
            biased;
            Some(done) = work.tasks.join_next_with_id(), if !work.tasks.is_empty() => {
                match done {
                    Ok((id, outcome)) => {
                        if let Err(error) = outcome {
                            // Until they are gone, what they have does not come again.
                            work.tasks.shutdown().await;
                            return Err(error);
                        }
                        work.done(id);
                    }
                    Err(error) => match error.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(error) => tracing::debug!(%error, "a handler was cancelled"),
                    },
                }
            }
            next = std::future::poll_fn(|cx| fresh.0.poll_record(cx)),
                if obstacle.is_none() && work.has_room() => match next {
                Some(Ok(record)) => work.take(record),
                Some(Err(error)) if error.kind() == ErrorKind::Decoding => obstacle = Some(error),
                Some(Err(error)) => return Err(error.into()),
                // What is at work can't be committed any more.
                None => return Ok(()),
            }
        }
        if work.tasks.is_empty()
            && let Some(error) = obstacle.take()
        {
            return Err(error.into());
        }
    }
}

/// A consumer that begins anew with a batch, before and after.
struct Fresh<'a, S: Source>(&'a mut S);

impl<S: Source> Drop for Fresh<'_, S> {
    fn drop(&mut self) {
        self.0.begin_anew();
    }
}

struct Work<R, F, E> {
    limit: usize,
    handler: F,
    tasks: JoinSet<Result<(), E>>,
    /// Who is at work: in which lane, and with what.
    running: HashMap<Id, (Option<Lane>, Arc<R>)>,
    /// Lanes that somebody is at work in, and what waits in them.
    lanes: HashMap<Lane, VecDeque<R>>,
    /// What waits for a place, in any lane but one that is at work.
    ready: VecDeque<(Option<Lane>, R)>,
    waiting: usize,
}

impl<R, F, Fut, E> Work<R, F, E>
where
    R: Item,
    F: Fn(Arc<R>) -> Fut,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Send + 'static,
{
    fn new(limit: usize, handler: F) -> Self {
        Self {
            limit,
            handler,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            waiting: 0,
        }
    }

    fn has_room(&self) -> bool {
        self.ready.is_empty() && self.waiting < self.limit.saturating_mul(WAITING)
    }

    fn take(&mut self, record: R) {
        let raw = record.group_record();
        let key = raw.key_bytes();
        let lane = key.map(|key| (raw.topic_partition().clone(), key));
        if let Some(lane) = &lane {
            match self.lanes.entry(lane.clone()) {
                Entry::Occupied(mut behind) => {
                    behind.get_mut().push_back(record);
                    self.waiting += 1;
                    return;
                }
                Entry::Vacant(free) => {
                    free.insert(VecDeque::new());
                }
            }
        }
        self.ready.push_back((lane, record));
        self.start();
    }

    fn start(&mut self) {
        while self.running.len() < self.limit
            && let Some((lane, record)) = self.ready.pop_front()
        {
            let record = Arc::new(record);
            let task = (self.handler)(Arc::clone(&record));
            let id = self.tasks.spawn(task).id();
            self.running.insert(id, (lane, record));
        }
    }

    fn done(&mut self, id: Id) {
        let Some((lane, record)) = self.running.remove(&id) else {
            return;
        };
        record.group_record().mark_done();
        if let Some(lane) = lane
            && let Entry::Occupied(mut behind) = self.lanes.entry(lane)
        {
            match behind.get_mut().pop_front() {
                Some(next) => {
                    self.waiting -= 1;
                    self.ready.push_back((Some(behind.key().clone()), next));
                }
                None => drop(behind.remove()),
            }
        }
        self.start();
    }
}
