//! What the handles and the tasks of a consumer share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::config::Settings;
use super::group::{Identity, Subscription};
use super::offsets::Committed;
use super::progress::{Progress, Released, Ticket, ToCommit};
use crate::cluster::{Cluster, Coordinated};
use crate::reader;
use crate::reader::Origin;
use crate::telemetry::names;
use crate::{Error, ErrorKind, Isolation, Result, TopicPartition};
use copart_protocol::ErrorCode;

/// Tells consumers apart.
static CONSUMERS: AtomicU64 = AtomicU64::new(0);

/// To the driver.
#[derive(Debug)]
pub(crate) enum Command {
    Subscribe(Subscription, oneshot::Sender<Result<()>>),
    /// The application is back after it was stuck.
    Resume,
    /// A commit was answered with a code that says something about the member.
    Committed(Identity, ErrorCode),
    /// Leaves. What is held is waited for until then.
    Close(Instant, oneshot::Sender<Result<()>>),
    /// Leaves, without waiting for what is held.
    Leave(Instant, oneshot::Sender<Result<()>>),
}

/// To the one who commits.
#[derive(Debug)]
pub(crate) struct CommitRequest {
    pub(crate) offsets: Vec<ToCommit>,
    pub(crate) deadline: Instant,
    pub(crate) reply: Option<oneshot::Sender<Result<()>>>,
}

pub(crate) struct Shared {
    pub(crate) number: u64,
    pub(crate) cluster: Cluster,
    pub(crate) reader: Arc<reader::Shared>,
    pub(crate) settings: Settings,
    pub(crate) of: Coordinated,
    progress: Mutex<Progress>,
    /// What the application is to be told.
    errors: Mutex<VecDeque<Error>>,
    /// Nothing more comes.
    ended: AtomicBool,
    /// The application was stuck, and the member has left because of that.
    stalled: AtomicBool,
    /// Changes with each batch that is let go, and with each assignment.
    pub(crate) changes: watch::Sender<u64>,
    /// As whom to commit.
    pub(crate) identity: watch::Sender<Option<Identity>>,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) commits: mpsc::UnboundedSender<CommitRequest>,
}

/// The other ends of its channels.
pub(crate) struct Channels {
    pub(crate) commands: mpsc::UnboundedReceiver<Command>,
    pub(crate) commits: mpsc::UnboundedReceiver<CommitRequest>,
}

impl Shared {
    pub(crate) fn new(
        cluster: Cluster,
        reader: Arc<reader::Shared>,
        settings: Settings,
    ) -> (Arc<Self>, Channels) {
        let (commands, command_receiver) = mpsc::unbounded_channel();
        let (commits, commit_receiver) = mpsc::unbounded_channel();
        let delivered = matches!(settings.commit, super::Commit::Delivered { .. });
        let shared = Self {
            number: CONSUMERS.fetch_add(1, Ordering::Relaxed),
            of: Coordinated::Group(Arc::clone(&settings.group)),
            cluster,
            reader,
            settings,
            progress: Mutex::new(Progress::new(delivered)),
            errors: Mutex::default(),
            ended: AtomicBool::new(false),
            stalled: AtomicBool::new(false),
            changes: watch::Sender::new(0),
            identity: watch::Sender::new(None),
            commands,
            commits,
        };
        let channels = Channels {
            commands: command_receiver,
            commits: commit_receiver,
        };
        (Arc::new(shared), channels)
    }

    /// Not to be called while the reader's core is locked: it is locked after this one.
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is to be told.
    pub(crate) fn tell(&self, error: Error) {
        let error = error.in_group(Arc::clone(&self.settings.group));
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push_back(error);
        drop(errors);
        self.reader.wake_reader();
    }

    pub(crate) fn told(&self) -> Option<Error> {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.pop_front()
    }

    pub(crate) fn has_told(&self) -> bool {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        !errors.is_empty()
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.identity.send_replace(None);
        self.change();
        self.reader.wake_reader();
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn set_stalled(&self) {
        self.stalled.store(true, Ordering::Release);
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Acquire)
    }

    /// The application asks for more: if it was stuck and was told so, it is not any more.
    pub(crate) fn resume_if_told(&self) {
        if self.is_stalled() && !self.has_told() && self.stalled.swap(false, Ordering::AcqRel) {
            // If the driver is gone, the end is told.
            let _ = self.commands.send(Command::Resume);
        }
    }

    /// Whoever waits for batches to be let go looks again.
    pub(crate) fn change(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// A batch is about to be handed out. `None` if it must not be: it was sought away from it, its partition is being
    /// given up, or it is done already.
    pub(crate) fn admit(&self, batch: &reader::Batch) -> Option<Ticket> {
        let partition = TopicPartition::new(Arc::clone(batch.topic()), batch.partition());
        let mut progress = self.progress();
        // Under the lock: whoever lets it be read again from elsewhere holds it too.
        if !self.reader.core().is_current(batch.slot, batch.generation) {
            return None;
        }
        progress.deliver(&partition, batch.first_offset(), batch.next, Instant::now())
    }

    /// Reads nothing more of a partition from this offset of a batch on, until a seek.
    pub(crate) fn stop(&self, ticket: &Ticket, offset: i64) {
        let mut progress = self.progress();
        if let Some(position) = progress.stop(ticket, offset) {
            self.reader.core().stop_at(&ticket.partition, position);
        }
    }

    /// A batch is let go.
    pub(crate) fn release(&self, ticket: &Ticket, as_a_whole: bool) {
        {
            let mut progress = self.progress();
            if let Released::Again(from) = progress.release(ticket, as_a_whole) {
                tracing::debug!(
                    partition = %ticket.partition,
                    offset = from.offset,
                    "records were dropped before they were done: they come again"
                );
                let mut core = self.reader.core();
                core.seek(&ticket.partition, Origin::At(from));
                drop(core);
                drop(progress);
                self.reader.wake_reader();
                self.reader.stir();
            }
        }
        self.change();
    }

    /// Commits, and waits for the answer.
    ///
    /// Cancel-safe: what was begun goes on.
    pub(crate) async fn commit(&self, offsets: Vec<ToCommit>) -> Result<()> {
        if offsets.is_empty() {
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        let request = CommitRequest {
            offsets,
            deadline: Instant::now() + self.settings.reader.metadata_timeout,
            reply: Some(reply),
        };
        self.commits.send(request).map_err(|_| self.closed())?;
        answer.await.unwrap_or_else(|_| Err(self.closed()))
    }

    /// Commits in the background.
    pub(crate) fn commit_soon(&self, offsets: Vec<ToCommit>) {
        if offsets.is_empty() {
            return;
        }
        let request = CommitRequest {
            offsets,
            deadline: Instant::now() + self.settings.reader.metadata_timeout,
            reply: None,
        };
        // Without the task there is nobody to tell either.
        let _ = self.commits.send(request);
    }

    /// Offsets that a program names, each of a partition that is ours.
    pub(crate) fn to_commit(
        &self,
        offsets: impl IntoIterator<Item = (TopicPartition, Committed)>,
    ) -> Result<Vec<ToCommit>> {
        let progress = self.progress();
        let offsets = offsets.into_iter().map(|(partition, offset)| {
            if offset.offset < 0 {
                let reason = format!("{} is no offset; they begin at 0", offset.offset);
                return Err(Error::new(ErrorKind::Config, reason)
                    .in_partition(partition.topic, partition.partition));
            }
            let Some(assignment) = progress.assignment_of(&partition) else {
                return Err(self.not_ours(&partition));
            };
            Ok(ToCommit {
                partition,
                assignment,
                offset,
            })
        });
        offsets.collect()
    }

    /// A batch is handed out.
    pub(crate) fn count(&self, batch: &reader::Batch) {
        let topic = batch.topic().to_string();
        metrics::counter!(names::CONSUMED_BATCHES, "topic" => topic.clone()).increment(1);
        metrics::counter!(names::CONSUMED_RECORDS, "topic" => topic).increment(batch.len() as u64);
    }

    /// How many offsets there are from there to where reading ends for now.
    pub(crate) fn lag_from(&self, partition: &TopicPartition, offset: i64) -> Option<u64> {
        let ends = self.reader.core().ends(partition)?;
        if ends.high_watermark < 0 {
            return None;
        }
        let end = match self.settings.reader.isolation {
            Isolation::ReadCommitted => ends.last_stable_offset,
            Isolation::ReadUncommitted => ends.high_watermark,
        };
        Some(end.saturating_sub(offset).max(0).unsigned_abs())
    }

    /// Tells the lag of each partition.
    pub(crate) fn measure_lag(&self) {
        let progress = self.progress();
        for partition in progress.assignment() {
            let Some(processed) = progress.processed(&partition) else {
                continue;
            };
            if let Some(lag) = self.lag_from(&partition, processed.offset) {
                metrics::gauge!(
                    names::LAG,
                    "group" => self.settings.group.to_string(),
                    "topic" => partition.topic.to_string(),
                    "partition" => partition.partition.to_string(),
                )
                .set(lag as f64);
            }
        }
    }

    pub(crate) fn closed(&self) -> Error {
        let error = Error::new(ErrorKind::Closed, "the consumer is closed");
        error.in_group(Arc::clone(&self.settings.group))
    }

    pub(crate) fn not_ours(&self, partition: &TopicPartition) -> Error {
        let reason = "the partition is not this consumer's, or not any more: the group has given it to another \
                      member, which goes on from what was committed before";
        Error::new(ErrorKind::Revoked, reason)
            .in_partition(Arc::clone(&partition.topic), partition.partition)
            .in_group(Arc::clone(&self.settings.group))
    }
}
