//! Finding positions (ListOffsets), and asking a new leader whether it has what was read (OffsetForLeaderEpoch).

use std::collections::BTreeMap;

use copart_protocol::ErrorCode;
use tokio::time::Instant;

use super::position::{Anchor, Bound, Origin, Position, Query, QueryKind, Reply};
use super::slot::{Slot, State, Verdict};
use super::{FetchCore, Reset};
use crate::{Error, ErrorKind, TopicPartition};

impl Slot {
    fn question(&self) -> Option<QueryKind> {
        if self.asking || matches!(self.state, State::Failed | State::Ended) {
            return None;
        }
        // The end first: what is written while the start is looked for is not meant by "latest".
        if let Bound::Find(anchor) = self.bound {
            return Some(QueryKind::End(anchor));
        }
        match self.state {
            State::Locating(anchor) => Some(QueryKind::Start(anchor)),
            State::Validating => Some(QueryKind::Epoch(self.fetched.epoch)),
            _ => None,
        }
    }
}

impl FetchCore {
    /// What leaders have to be asked, by node, and when to look again.
    pub(crate) fn poll_lookups(
        &mut self,
        now: Instant,
    ) -> (BTreeMap<i32, Vec<Query>>, Option<Instant>) {
        let mut queries: BTreeMap<i32, Vec<Query>> = BTreeMap::new();
        let mut next: Option<Instant> = None;
        for (place, slot) in self.slots.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            let (Some(kind), Some(leader)) = (slot.question(), slot.leader) else {
                continue;
            };
            if let Some(at) = slot.not_before.filter(|&at| at > now) {
                next = Some(next.map_or(at, |next| next.min(at)));
                continue;
            }
            slot.asking = true;
            queries.entry(leader).or_default().push(Query {
                slot: place,
                token: slot.token,
                partition: slot.partition.clone(),
                leader_epoch: slot.leader_epoch,
                kind,
            });
        }
        (queries, next)
    }

    /// A leader has answered, or not. Says whether metadata should be refreshed.
    pub(crate) fn replied(&mut self, query: &Query, reply: Reply, now: Instant) -> bool {
        let Some(slot) = self.slot_mut(query.slot) else {
            return false;
        };
        if slot.token != query.token {
            return false;
        }
        slot.asking = false;
        match reply {
            Reply::Lost => {
                self.back_off(query.slot, now);
                true
            }
            Reply::Refused(code) if passes(code) => {
                self.back_off(query.slot, now);
                true
            }
            Reply::Refused(code) => {
                let TopicPartition { topic, partition } = query.partition.clone();
                let error = Error::from_code(code, None).in_partition(topic, partition);
                slot.state = State::Draining(Verdict::Fail(error));
                self.settle(query.slot);
                false
            }
            Reply::Unsupported => {
                slot.forgive();
                match query.kind {
                    QueryKind::Epoch(_) => slot.state = State::Fetching,
                    QueryKind::Start(_) | QueryKind::End(_) => {
                        let TopicPartition { topic, partition } = query.partition.clone();
                        let error = Error::new(
                            ErrorKind::UnsupportedVersion,
                            "the broker cannot be asked for offsets",
                        );
                        self.fail(query.slot, error.in_partition(topic, partition));
                    }
                }
                false
            }
            Reply::Found(found) => {
                slot.forgive();
                self.found(query, found);
                false
            }
        }
    }

    fn found(&mut self, query: &Query, found: Position) {
        let Some(slot) = self.slot_mut(query.slot) else {
            return;
        };
        match query.kind {
            QueryKind::End(anchor) => {
                slot.bound = match (anchor, found.offset) {
                    // No record is as late as that: the end is the log's.
                    (Anchor::Time(_), ..0) => Bound::Find(Anchor::Latest),
                    (_, offset) => Bound::At(offset.max(0)),
                };
                slot.end_if_through();
            }
            QueryKind::Start(anchor) => match (anchor, found.offset) {
                (Anchor::Time(_), ..0) => slot.state = State::Locating(Anchor::Latest),
                // Without the epoch that comes with it: nothing was read yet, so nothing that was read can be gone.
                _ => slot.begin(Origin::At(Position::at(found.offset.max(0)))),
            },
            QueryKind::Epoch(_) => {
                if found.offset >= slot.fetched.offset {
                    slot.state = State::Fetching;
                } else {
                    let divergent = (found.offset >= 0 && found.epoch >= 0).then_some(found);
                    self.truncated(query.slot, divergent);
                }
            }
        }
    }

    /// The log does not have what was read of it, from `divergent` on if that is known (KIP-320).
    pub(super) fn truncated(&mut self, place: usize, divergent: Option<Position>) {
        // What was fetched and not handed out is gone with the log's end.
        self.drop_queue(place);
        let Some(slot) = self.slot_mut(place) else {
            return;
        };
        let position = slot.position;
        if divergent.is_some_and(|divergent| divergent.offset >= position.offset) {
            slot.state = State::Fetching;
            return;
        }
        let TopicPartition { topic, partition } = slot.partition.clone();
        let to = divergent.map(|divergent| divergent.offset);
        tracing::warn!(
            %topic,
            partition,
            position = position.offset,
            divergent = to,
            "the log was truncated: records that were read are gone"
        );
        match (self.config.reset, divergent) {
            (Reset::Error, _) => {
                let reason = format!(
                    "the log was truncated: records that were read, up to offset {}, are gone{}; seek to go on",
                    position.offset,
                    match to {
                        Some(offset) => format!(" from offset {offset} on"),
                        None => String::new(),
                    }
                );
                let mut error =
                    Error::new(ErrorKind::LogTruncated, reason).in_partition(topic, partition);
                if let Some(offset) = to {
                    error = error.at_offset(offset);
                }
                // The chunk that is being handed out is of the part that is gone.
                let generation = self.count();
                if let Some(slot) = self.slot_mut(place) {
                    slot.generation = generation;
                }
                self.fail(place, error);
            }
            (_, Some(divergent)) => self.begin_at(place, Origin::At(divergent)),
            (_, None) => self.out_of_range(place),
        }
    }
}

/// Whether the same question may be answered later.
pub(super) fn passes(code: ErrorCode) -> bool {
    code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR
}
