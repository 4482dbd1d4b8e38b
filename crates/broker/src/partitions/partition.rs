//! One partition as the nodes see it: its log, who leads it, and who waits for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use copart_protocol::{ErrorCode, Uuid};

use super::waiters::Waiters;
use crate::log::{Appended, Durability, Origin, PartitionLog};
use crate::{Error, RecordError};

/// The topic that a partition is of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TopicName {
    pub(crate) name: String,
    pub(crate) id: Uuid,
}

/// Who may write and read a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leadership {
    /// `None` while no in-sync replica is alive.
    pub(crate) leader: Option<i32>,
    pub(crate) epoch: i32,
    pub(crate) replicas: Vec<i32>,
    pub(crate) isr: Vec<i32>,
    /// `min.insync.replicas` of the topic.
    pub(crate) min_isr: usize,
}

/// Why a partition does not do what a client asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<String>,
    /// The records at fault, if it is about single ones.
    pub(crate) records: Vec<RecordError>,
    /// The leader, if the client asked another node or knows another epoch (KIP-951).
    pub(crate) leader: Option<LeaderIdAndEpoch>,
}

/// Whom to ask instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaderIdAndEpoch {
    pub(crate) id: i32,
    pub(crate) epoch: i32,
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            message: None,
            records: Vec::new(),
            leader: None,
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self {
            message: Some(error.to_string()),
            records: error.records().to_vec(),
            ..error.error_code().into()
        }
    }
}

/// A partition's log, as long as it can be used.
#[derive(Debug)]
enum Storage {
    Open(Box<PartitionLog>),
    /// Damaged, or it could not be opened: the reason.
    Unusable(String),
    /// The broker has stopped, or the topic is deleted.
    Closed,
}

/// What the mutex of a partition is over.
#[derive(Debug)]
pub(crate) struct State {
    storage: Storage,
    pub(crate) leadership: Leadership,
}

impl State {
    /// The log, to read and to write.
    pub(crate) fn log(&mut self) -> Result<&mut PartitionLog, Refusal> {
        match &mut self.storage {
            Storage::Open(log) => Ok(log),
            Storage::Unusable(reason) => Err(Refusal {
                message: Some(reason.clone()),
                ..ErrorCode::KAFKA_STORAGE_ERROR.into()
            }),
            Storage::Closed => Err(ErrorCode::NOT_LEADER_OR_FOLLOWER.into()),
        }
    }

    /// What is wrong with the log, if it is damaged or cannot be used at all.
    pub(crate) fn damage(&self) -> Option<String> {
        match &self.storage {
            Storage::Open(log) => log.damages().first().map(ToString::to_string),
            Storage::Unusable(reason) => Some(reason.clone()),
            Storage::Closed => None,
        }
    }

    /// Is `node` the leader, in the epoch that the client knows (-1 if it knows none)?
    pub(crate) fn check_leader(&self, node: i32, epoch: i32) -> Result<(), Refusal> {
        let Leadership {
            leader,
            epoch: current,
            ..
        } = self.leadership;
        let code = if epoch >= 0 && epoch < current {
            ErrorCode::FENCED_LEADER_EPOCH
        } else if epoch > current {
            ErrorCode::UNKNOWN_LEADER_EPOCH
        } else if leader != Some(node) {
            ErrorCode::NOT_LEADER_OR_FOLLOWER
        } else {
            return Ok(());
        };
        Err(self.not_here(code))
    }

    /// May a consumer fetch from `node`? From the leader, or from a replica (KIP-392).
    pub(crate) fn check_replica(&self, node: i32, epoch: i32) -> Result<(), Refusal> {
        match self.check_leader(node, epoch) {
            Err(refusal)
                if refusal.code == ErrorCode::NOT_LEADER_OR_FOLLOWER
                    && self.leadership.leader.is_some()
                    && self.leadership.isr.contains(&node) =>
            {
                Ok(())
            }
            other => other,
        }
    }

    fn not_here(&self, code: ErrorCode) -> Refusal {
        Refusal {
            leader: Some(LeaderIdAndEpoch {
                id: self.leadership.leader.unwrap_or(-1),
                epoch: self.leadership.epoch,
            }),
            ..code.into()
        }
    }
}

/// A partition.
#[derive(Debug)]
pub(crate) struct Partition {
    topic: Arc<TopicName>,
    index: i32,
    durability: Durability,
    state: Mutex<State>,
    waiters: Waiters,
    /// Is it queued for the next group commit?
    pub(super) queued: AtomicBool,
}

/// What became of a produced batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Produced {
    pub(crate) appended: Appended,
    pub(crate) log_start: i64,
    /// Are there batches that wait for a sync?
    pub(crate) unsynced: bool,
}

impl Partition {
    pub(crate) fn new(
        topic: Arc<TopicName>,
        index: i32,
        leadership: Leadership,
        durability: Durability,
        log: Result<Box<PartitionLog>, String>,
    ) -> Self {
        Self {
            topic,
            index,
            durability,
            state: Mutex::new(State {
                storage: match log {
                    Ok(log) => Storage::Open(log),
                    Err(reason) => Storage::Unusable(reason),
                },
                leadership,
            }),
            waiters: Waiters::default(),
            queued: AtomicBool::new(false),
        }
    }

    pub(crate) fn topic(&self) -> &Arc<TopicName> {
        &self.topic
    }

    pub(crate) fn index(&self) -> i32 {
        self.index
    }

    pub(crate) fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    /// The log and the leadership, for as long as the guard lives: never across an await.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Every change to the log is whole or reported, so a panic elsewhere says nothing about it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a producer's batch on `node`.
    pub(crate) fn produce(
        &self,
        node: i32,
        batch: BytesMut,
        acks: i16,
        now_ms: i64,
    ) -> Result<Produced, Refusal> {
        let produced = {
            let mut state = self.state();
            state.check_leader(node, -1)?;
            let Leadership {
                epoch,
                ref isr,
                min_isr,
                ..
            } = state.leadership;
            if acks == -1 && isr.len() < min_isr {
                return Err(Refusal {
                    message: Some(format!(
                        "{} replicas are in sync, min.insync.replicas is {min_isr}",
                        isr.len()
                    )),
                    ..ErrorCode::NOT_ENOUGH_REPLICAS.into()
                });
            }
            let log = state.log()?;
            let appended = log.append(batch, Origin::Client, epoch, now_ms)?;
            Produced {
                appended,
                log_start: log.log_start_offset(),
                unsynced: log.stored_offset() < log.log_end_offset(),
            }
        };
        if !produced.unsynced {
            self.waiters.wake();
        }
        Ok(produced)
    }

    /// Appends a batch of the coordinator on `node`, which leads in `epoch`. It counts as stored as with acks=all.
    pub(crate) fn coordinate(
        &self,
        node: i32,
        epoch: i32,
        batch: BytesMut,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        let appended = {
            let mut state = self.state();
            state.check_leader(node, epoch)?;
            let Leadership {
                ref isr, min_isr, ..
            } = state.leadership;
            if isr.len() < min_isr {
                return Err(ErrorCode::NOT_ENOUGH_REPLICAS.into());
            }
            state
                .log()?
                .append(batch, Origin::Coordinator, epoch, now_ms)?
        };
        // Whoever fetches the topic does not wait for a sync if there is none.
        self.waiters.wake();
        Ok(appended)
    }

    /// Is everything before `offset` stored as the durability demands, and still led in `epoch`? `None` if that
    /// is not known yet.
    pub(crate) fn is_stored(&self, offset: i64) -> Option<Result<(), Refusal>> {
        let mut state = self.state();
        match state.log() {
            Ok(log) if log.stored_offset() >= offset => Some(Ok(())),
            Ok(log) => log.failure().map(|reason| {
                Err(Refusal {
                    message: Some(format!("the records may not be stored: {reason}")),
                    ..ErrorCode::KAFKA_STORAGE_ERROR.into()
                })
            }),
            Err(refusal) => Some(Err(refusal)),
        }
    }

    /// Takes over what the controller decided.
    pub(crate) fn lead(&self, leadership: Leadership) {
        self.state().leadership = leadership;
        self.waiters.wake();
    }

    /// Does it wait for syncs?
    pub(crate) fn syncs(&self) -> bool {
        self.durability == Durability::Disk
    }

    /// Takes the log out: nobody can use it from now on.
    pub(crate) fn close(&self) -> Option<Box<PartitionLog>> {
        let storage = std::mem::replace(&mut self.state().storage, Storage::Closed);
        self.queued.store(false, Ordering::Release);
        self.waiters.wake();
        match storage {
            Storage::Open(log) => Some(log),
            Storage::Unusable(_) | Storage::Closed => None,
        }
    }
}
