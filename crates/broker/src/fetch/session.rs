//! Fetch sessions (KIP-227): a consumer names its partitions once, and afterwards only what changes.
//!
//! A sans-IO core: [`Sessions::begin`] says which partitions a request is about, [`Sessions::answered`] takes
//! note of what was answered and says what of it need not be sent.

use copart_protocol::ErrorCode;
use copart_protocol::messages::fetch::{FetchRequest, PartitionData};
use indexmap::IndexMap;

use crate::partitions::TopicKey;

/// A session that was not used for so long makes room for another one:
/// `min.incremental.fetch.session.eviction.ms`.
const EVICTION_MS: i64 = 120_000;

/// A partition, as the request names it.
pub(crate) type Key = (TopicKey, i32);

/// What a consumer wants of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) last_fetched_epoch: i32,
    pub(crate) max_bytes: i32,
}

/// What the consumer knows of one partition, from the last answer that had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    high_watermark: i64,
    log_start_offset: i64,
}

/// One consumer's partitions.
#[derive(Debug)]
struct Session {
    next_epoch: i32,
    by_id: bool,
    used_ms: i64,
    partitions: IndexMap<Key, Cached>,
}

/// A partition of a session.
#[derive(Debug)]
struct Cached {
    wanted: Wanted,
    sent: Option<Sent>,
    /// Had the last answer records of it?
    served: bool,
}

impl Cached {
    fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            sent: None,
            served: false,
        }
    }
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All partitions, and no session.
    Sessionless,
    /// All partitions, and the session that begins here.
    Full(i32),
    /// Only the partitions with news.
    Incremental(i32),
}

impl Kind {
    /// The session id of the answer.
    pub(crate) fn id(self) -> i32 {
        match self {
            Self::Sessionless => 0,
            Self::Full(id) | Self::Incremental(id) => id,
        }
    }
}

/// The partitions that a request is about, in the order in which they are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) kind: Kind,
    pub(crate) partitions: Vec<(Key, Wanted)>,
}

/// All fetch sessions of a node.
#[derive(Debug)]
pub(crate) struct Sessions {
    max_sessions: usize,
    max_partitions: usize,
    by_id: IndexMap<i32, Session>,
    partitions: usize,
    next_id: i32,
}

impl Sessions {
    pub(crate) fn new(max_sessions: usize, max_partitions: usize, seed: i32) -> Self {
        Self {
            max_sessions,
            max_partitions,
            by_id: IndexMap::new(),
            partitions: 0,
            next_id: seed.max(1),
        }
    }

    /// Takes a request. The error is for the answer as a whole.
    pub(crate) fn begin(
        &mut self,
        request: &FetchRequest,
        version: i16,
        now_ms: i64,
    ) -> Result<Begun, ErrorCode> {
        let by_id = version >= 13;
        let named = wanted(request, version)?;
        match (request.session_id, request.session_epoch) {
            (id, -1) => {
                // A session, if there is one, ends here.
                self.remove(id);
                Ok(Begun {
                    kind: Kind::Sessionless,
                    partitions: named,
                })
            }
            (id, 0) => {
                self.remove(id);
                let kind = self.open(&named, by_id, now_ms);
                Ok(Begun {
                    kind,
                    partitions: named,
                })
            }
            (id, epoch) => self.go_on(id, epoch, named, request, by_id, now_ms),
        }
    }

    fn open(&mut self, named: &[(Key, Wanted)], by_id: bool, now_ms: i64) -> Kind {
        let full = |sessions: &Self| {
            sessions.by_id.len() >= sessions.max_sessions
                || sessions.partitions + named.len() > sessions.max_partitions
        };
        while full(self) {
            // The first one is the one that was not used for the longest time.
            match self.by_id.first() {
                Some((&id, session)) if now_ms - session.used_ms > EVICTION_MS => self.remove(id),
                _ => return Kind::Sessionless,
            }
        }
        let id = loop {
            let id = self.next_id;
            self.next_id = id.checked_add(1).unwrap_or(1);
            if !self.by_id.contains_key(&id) {
                break id;
            }
        };
        let partitions: IndexMap<_, _> = named
            .iter()
            .map(|(key, wanted)| (key.clone(), Cached::new(*wanted)))
            .collect();
        self.partitions += partitions.len();
        let session = Session {
            next_epoch: 1,
            by_id,
            used_ms: now_ms,
            partitions,
        };
        self.by_id.insert(id, session);
        Kind::Full(id)
    }

    fn go_on(
        &mut self,
        id: i32,
        epoch: i32,
        named: Vec<(Key, Wanted)>,
        request: &FetchRequest,
        by_id: bool,
        now_ms: i64,
    ) -> Result<Begun, ErrorCode> {
        let Some(mut session) = self.by_id.shift_remove(&id) else {
            return Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
        };
        let before = session.partitions.len();
        let result = if epoch != session.next_epoch {
            Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH)
        } else if session.by_id != by_id {
            Err(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR)
        } else {
            session.next_epoch = epoch.checked_add(1).unwrap_or(1);
            for topic in &request.forgotten_topics_data {
                let topic_key = TopicKey::new(&topic.topic, topic.topic_id);
                for &index in &topic.partitions {
                    session.partitions.shift_remove(&(topic_key.clone(), index));
                }
            }
            for (key, wanted) in named {
                session
                    .partitions
                    .entry(key)
                    .and_modify(|cached| cached.wanted = wanted)
                    .or_insert_with(|| Cached::new(wanted));
            }
            Ok(Begun {
                kind: Kind::Incremental(id),
                partitions: session
                    .partitions
                    .iter()
                    .map(|(key, cached)| (key.clone(), cached.wanted))
                    .collect(),
            })
        };
        session.used_ms = now_ms;
        self.partitions = self.partitions - before + session.partitions.len();
        // Behind all others, which were not used for longer.
        self.by_id.insert(id, session);
        if self.partitions > self.max_partitions {
            self.remove(id);
            return Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
        }
        result
    }

    /// Takes note of an answer, and drops from it what an incremental one need not say.
    pub(crate) fn answered(&mut self, kind: Kind, answer: &mut Vec<(Key, PartitionData)>) {
        let incremental = match kind {
            Kind::Sessionless => return,
            Kind::Full(_) => false,
            Kind::Incremental(_) => true,
        };
        let Some(session) = self.by_id.get_mut(&kind.id()) else {
            return;
        };
        answer.retain(|(key, data)| {
            let Some(Cached { sent, served, .. }) = session.partitions.get_mut(key) else {
                return true;
            };
            let now = Sent {
                high_watermark: data.high_watermark,
                log_start_offset: data.log_start_offset,
            };
            let news = !data.records.is_empty()
                || !data.error_code.is_none()
                || data.diverging_epoch.epoch >= 0
                || data.preferred_read_replica >= 0
                || *sent != Some(now);
            // After an error the next answer has to say that it is over.
            *sent = data.error_code.is_none().then_some(now);
            *served = !data.records.is_empty();
            news || !incremental
        });
        // Who was served comes last next time, so that nobody starves. The sort is stable.
        session.partitions.sort_by_key(|_, cached| cached.served);
        for cached in session.partitions.values_mut() {
            cached.served = false;
        }
    }

    fn remove(&mut self, id: i32) {
        if let Some(session) = self.by_id.shift_remove(&id) {
            self.partitions -= session.partitions.len();
        }
    }
}

fn wanted(request: &FetchRequest, version: i16) -> Result<Vec<(Key, Wanted)>, ErrorCode> {
    let mut named = Vec::new();
    for topic in &request.topics {
        if version >= 13 && topic.topic_id.is_zero() {
            return Err(ErrorCode::UNKNOWN_TOPIC_ID);
        }
        let key = TopicKey::new(&topic.topic, topic.topic_id);
        for partition in &topic.partitions {
            named.push((
                (key.clone(), partition.partition),
                Wanted {
                    offset: partition.fetch_offset,
                    leader_epoch: partition.current_leader_epoch,
                    last_fetched_epoch: partition.last_fetched_epoch,
                    max_bytes: partition.partition_max_bytes,
                },
            ));
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use copart_protocol::messages::fetch::{FetchPartition, FetchTopic, ForgottenTopic};

    use super::*;

    const VERSION: i16 = 12;

    fn request(id: i32, epoch: i32, partitions: &[(i32, i64)]) -> FetchRequest {
        FetchRequest {
            session_id: id,
            session_epoch: epoch,
            topics: vec![FetchTopic {
                topic: "t".to_owned(),
                partitions: partitions
                    .iter()
                    .map(|&(partition, fetch_offset)| FetchPartition {
                        partition,
                        fetch_offset,
                        ..FetchPartition::default()
                    })
                    .collect(),
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        }
    }

    fn answer(begun: &Begun, data: &[(i32, i64, &'static [u8])]) -> Vec<(Key, PartitionData)> {
        begun
            .partitions
            .iter()
            .map(|(key, _)| {
                let &(_, high_watermark, records) = data
                    .iter()
                    .find(|(index, ..)| *index == key.1)
                    .expect("given");
                let data = PartitionData {
                    partition_index: key.1,
                    high_watermark,
                    log_start_offset: 0,
                    records: Bytes::from_static(records),
                    ..PartitionData::default()
                };
                (key.clone(), data)
            })
            .collect()
    }

    fn indexes(answer: &[(Key, PartitionData)]) -> Vec<i32> {
        answer.iter().map(|(key, _)| key.1).collect()
    }

    #[test]
    fn says_only_what_is_new() {
        let mut sessions = Sessions::new(10, 100, 7);
        let first = request(0, 0, &[(0, 5), (1, 5), (2, 5)]);
        let begun = sessions.begin(&first, VERSION, 0).expect("opens");
        assert_eq!(begun.kind, Kind::Full(7));
        let mut full = answer(&begun, &[(0, 5, b""), (1, 9, b"x"), (2, 5, b"")]);
        sessions.answered(begun.kind, &mut full);
        assert_eq!(indexes(&full), [0, 1, 2], "all of them, at first");

        let begun = sessions
            .begin(&request(7, 1, &[(1, 9)]), VERSION, 1)
            .expect("goes on");
        assert_eq!(begun.kind, Kind::Incremental(7));
        let wanted: Vec<(i32, i64)> = begun
            .partitions
            .iter()
            .map(|(key, wanted)| (key.1, wanted.offset))
            .collect();
        assert_eq!(
            wanted,
            [(0, 5), (2, 5), (1, 9)],
            "who was served comes last"
        );
        let mut news = answer(&begun, &[(0, 5, b""), (1, 9, b""), (2, 6, b"y")]);
        sessions.answered(begun.kind, &mut news);
        assert_eq!(indexes(&news), [2]);

        let mut forget = request(7, 2, &[]);
        forget.forgotten_topics_data = vec![ForgottenTopic {
            topic: "t".to_owned(),
            partitions: vec![0, 2],
            ..ForgottenTopic::default()
        }];
        let begun = sessions.begin(&forget, VERSION, 2).expect("goes on");
        let mut errors = answer(&begun, &[(1, 9, b"")]);
        errors[0].1.error_code = ErrorCode::NOT_LEADER_OR_FOLLOWER;
        sessions.answered(begun.kind, &mut errors);
        assert_eq!(indexes(&errors), [1], "errors are news");
        let begun = sessions
            .begin(&request(7, 3, &[]), VERSION, 3)
            .expect("goes on");
        let mut over = answer(&begun, &[(1, 9, b"")]);
        sessions.answered(begun.kind, &mut over);
        assert_eq!(indexes(&over), [1], "that an error is over, too");
    }

    #[test]
    fn refuses_what_does_not_follow() {
        let mut sessions = Sessions::new(10, 100, 1);
        let unknown = sessions.begin(&request(9, 4, &[(0, 0)]), VERSION, 0);
        assert_eq!(unknown, Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND));
        let first = request(0, 0, &[(0, 0)]);
        sessions.begin(&first, VERSION, 0).expect("opens");
        let early = sessions.begin(&request(1, 2, &[]), VERSION, 0);
        assert_eq!(early, Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH));
        let mut by_id = request(1, 1, &[]);
        by_id.topics.clear();
        let switched = sessions.begin(&by_id, 13, 0);
        assert_eq!(switched, Err(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR));
        let unnamed = sessions.begin(&request(0, 0, &[(0, 0)]), 13, 0);
        assert_eq!(unnamed, Err(ErrorCode::UNKNOWN_TOPIC_ID));
        let ended = sessions
            .begin(&request(1, -1, &[(0, 0)]), VERSION, 0)
            .expect("without");
        assert_eq!(ended.kind, Kind::Sessionless);
        assert_eq!((sessions.by_id.len(), sessions.partitions), (0, 0));
    }

    #[test]
    fn epochs_begin_again_at_one() {
        let mut sessions = Sessions::new(10, 100, 1);
        let first = request(0, 0, &[(0, 0)]);
        sessions.begin(&first, VERSION, 0).expect("opens");
        sessions.by_id[0].next_epoch = i32::MAX;
        let last = request(1, i32::MAX, &[]);
        sessions.begin(&last, VERSION, 0).expect("goes on");
        let again = request(1, 1, &[]);
        sessions.begin(&again, VERSION, 0).expect("goes on");
    }

    #[test]
    fn keeps_no_more_than_it_may() {
        let mut sessions = Sessions::new(2, 100, 1);
        let mut open = |now, partitions: i32| {
            let partitions: Vec<_> = (0..partitions).map(|index| (index, 0)).collect();
            let request = request(0, 0, &partitions);
            sessions
                .begin(&request, VERSION, now)
                .expect("answered")
                .kind
        };
        assert_eq!(open(0, 1), Kind::Full(1));
        assert_eq!(open(10, 1), Kind::Full(2));
        assert_eq!(open(20, 1), Kind::Sessionless, "no slot is free");
        assert_eq!(
            open(EVICTION_MS + 5, 1),
            Kind::Full(3),
            "the first was silent"
        );
        assert_eq!(open(EVICTION_MS + 6, 1), Kind::Sessionless);
        assert_eq!(
            open(9 * EVICTION_MS, 101),
            Kind::Sessionless,
            "too many partitions"
        );
        assert!(sessions.partitions <= 100);
        let many: Vec<_> = (0..99).map(|index| (index, 0)).collect();
        let begun = sessions
            .begin(&request(0, 0, &many), VERSION, 0)
            .expect("opens");
        let grown: Vec<_> = (99..110).map(|index| (index, 0)).collect();
        let result = sessions.begin(&request(begun.kind.id(), 1, &grown), VERSION, 0);
        assert_eq!(result, Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND));
        assert_eq!(sessions.partitions, 0);
    }
}
