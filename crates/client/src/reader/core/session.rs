//! A fetch session with one broker (KIP-227): partitions are named once, and afterwards only what changes.

use std::collections::HashMap;
use std::sync::Arc;

use copart_protocol::messages::fetch::{FetchPartition, FetchTopic, ForgottenTopic};
use copart_protocol::{ErrorCode, Uuid};

use crate::TopicPartition;

/// The first version with sessions.
const SESSIONS: i16 = 7;
/// The first version in which topics have ids and no names (KIP-516).
pub(crate) const TOPIC_IDS: i16 = 13;

/// What is asked of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    pub(crate) partition: TopicPartition,
    pub(crate) topic_id: Uuid,
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) max_bytes: i32,
}

/// What the broker knows of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    topic_id: Uuid,
    offset: i64,
    leader_epoch: i32,
    max_bytes: i32,
}

/// The parts of a request that a session decides on.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) session_id: i32,
    pub(crate) session_epoch: i32,
    pub(crate) topics: Vec<FetchTopic>,
    pub(crate) forgotten: Vec<ForgottenTopic>,
}

/// The client's side of a session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// 0: none.
    id: i32,
    /// 0: the next request names everything, and opens a session in the place of the one before.
    epoch: i32,
    by_id: bool,
    known: HashMap<TopicPartition, Known>,
}

impl Session {
    /// Names what is wanted, in this order.
    pub(crate) fn name(&mut self, wanted: &[Want], version: i16) -> Named {
        let by_id = version >= TOPIC_IDS;
        if version < SESSIONS {
            *self = Self::default();
            return Named {
                session_epoch: -1,
                topics: topics(wanted.iter(), by_id),
                ..Named::default()
            };
        }
        if self.by_id != by_id {
            self.epoch = 0;
            self.by_id = by_id;
        }
        if self.epoch == 0 {
            self.known.clear();
        }
        let mut forgotten: Vec<(TopicPartition, Uuid)> = Vec::new();
        if !self.known.is_empty() {
            let ids: HashMap<&TopicPartition, Uuid> = wanted
                .iter()
                .map(|want| (&want.partition, want.topic_id))
                .collect();
            self.known.retain(|partition, known| {
                let stays = ids.get(partition) == Some(&known.topic_id);
                if !stays {
                    forgotten.push((partition.clone(), known.topic_id));
                }
                stays
            });
        }
        forgotten.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let changed = wanted.iter().filter(|want| {
            let news = Known {
                topic_id: want.topic_id,
                offset: want.offset,
                leader_epoch: want.leader_epoch,
                max_bytes: want.max_bytes,
            };
            self.known.insert(want.partition.clone(), news) != Some(news)
        });
        Named {
            session_id: self.id,
            session_epoch: self.epoch,
            topics: topics(changed, by_id),
            forgotten: forget(&forgotten, by_id),
        }
    }

    /// An answer came without an error of its own. `id` is the session's that it names.
    pub(crate) fn answered(&mut self, id: i32) {
        if self.epoch == 0 {
            self.id = id;
            // Without a session everything is named each time.
            self.epoch = i32::from(id != 0);
        } else {
            self.epoch = self.epoch.checked_add(1).unwrap_or(1);
        }
    }

    /// The broker does not go on with the session, or it is not known what it has of it.
    pub(crate) fn restart(&mut self, code: Option<ErrorCode>) {
        if code == Some(ErrorCode::FETCH_SESSION_ID_NOT_FOUND) {
            self.id = 0;
        }
        self.epoch = 0;
    }

    /// The session that a last request closes, if there is one.
    pub(crate) fn open_id(&self) -> Option<i32> {
        (self.id != 0).then_some(self.id)
    }
}

fn topics<'a>(wanted: impl Iterator<Item = &'a Want>, by_id: bool) -> Vec<FetchTopic> {
    let mut topics: Vec<FetchTopic> = Vec::new();
    let mut places: HashMap<&Arc<str>, usize> = HashMap::new();
    for want in wanted {
        let place = *places.entry(&want.partition.topic).or_insert_with(|| {
            topics.push(FetchTopic {
                topic: name(&want.partition.topic, by_id),
                topic_id: if by_id { want.topic_id } else { Uuid::ZERO },
                partitions: Vec::new(),
            });
            topics.len() - 1
        });
        topics[place].partitions.push(FetchPartition {
            partition: want.partition.partition,
            current_leader_epoch: want.leader_epoch,
            fetch_offset: want.offset,
            partition_max_bytes: want.max_bytes,
            ..FetchPartition::default()
        });
    }
    topics
}

fn forget(partitions: &[(TopicPartition, Uuid)], by_id: bool) -> Vec<ForgottenTopic> {
    let mut topics: Vec<ForgottenTopic> = Vec::new();
    let mut last: Option<(&Arc<str>, Uuid)> = None;
    for (partition, id) in partitions {
        if last != Some((&partition.topic, *id)) {
            topics.push(ForgottenTopic {
                topic: name(&partition.topic, by_id),
                topic_id: if by_id { *id } else { Uuid::ZERO },
                partitions: Vec::new(),
            });
            last = Some((&partition.topic, *id));
        }
        if let Some(topic) = topics.last_mut() {
            topic.partitions.push(partition.partition);
        }
    }
    topics
}

fn name(topic: &Arc<str>, by_id: bool) -> String {
    if by_id {
        String::new()
    } else {
        topic.to_string()
    }
}
