//! What a reader is told when it is built.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::core::{Anchor, Bound, CoreConfig, Origin, Position, Reset, time_before};
use crate::{Backoff, TopicPartition};

/// Where reading begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// With the oldest record that is there.
    #[default]
    Earliest,
    /// With what is written from now on.
    Latest,
    /// With this offset.
    Offset(i64),
    /// With the first record that is not older, in milliseconds since 1970. If there is none, with what is
    /// written from now on.
    Timestamp(i64),
    /// With the first record that is not older than this duration; as [`Timestamp`](Self::Timestamp).
    Ago(Duration),
}

impl Start {
    pub(crate) fn origin(self) -> Origin {
        match self {
            Self::Earliest => Origin::Find(Anchor::Earliest),
            Self::Latest => Origin::Find(Anchor::Latest),
            Self::Offset(offset) => Origin::At(Position::at(offset)),
            Self::Timestamp(milliseconds) => Origin::Find(Anchor::Time(milliseconds)),
            Self::Ago(ago) => Origin::Find(Anchor::Time(time_before(ago))),
        }
    }

    pub(crate) fn violation(self) -> Option<String> {
        match self {
            Self::Offset(offset @ ..0) => {
                Some(format!("start: {offset} is no offset; they begin at 0"))
            }
            Self::Timestamp(time @ ..0) => Some(format!(
                "start: {time} is no timestamp; they are milliseconds since 1970"
            )),
            _ => None,
        }
    }
}

/// Where reading ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the last record that is there when the reader begins: of those that may be read with its
    /// [`Isolation`].
    Latest,
    /// Before this offset.
    Offset(i64),
    /// Before the first record that is not older, in milliseconds since 1970. If there is none, as
    /// [`Latest`](Self::Latest).
    Timestamp(i64),
}

impl End {
    pub(crate) fn bound(self) -> Bound {
        match self {
            Self::Latest => Bound::Find(Anchor::Latest),
            Self::Offset(offset) => Bound::At(offset),
            Self::Timestamp(milliseconds) => Bound::Find(Anchor::Time(milliseconds)),
        }
    }
}

/// Which records of transactions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Up to the first transaction that is open, without records of aborted ones.
    #[default]
    ReadCommitted,
    /// All.
    ReadUncommitted,
}

impl Isolation {
    /// As requests have it.
    pub(crate) const fn level(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

/// What is done when a position is not in the log: its records were deleted before they were read, the log was
/// truncated, or the topic was created anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffsetReset {
    /// Goes on with the oldest record.
    Earliest,
    /// Goes on with what is written from now on.
    Latest,
    /// Goes on with the first record that is not older than this.
    Ago(Duration),
    /// Tells an error, of the kind [`OffsetOutOfRange`](crate::ErrorKind::OffsetOutOfRange) or
    /// [`LogTruncated`](crate::ErrorKind::LogTruncated). The partition stays where it is until a
    /// [`seek`](super::Reader::seek).
    #[default]
    Error,
}

/// What the builder collects, with defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) topics: Vec<Arc<str>>,
    pub(crate) partitions: Vec<TopicPartition>,
    pub(crate) start: Start,
    pub(crate) starts: BTreeMap<TopicPartition, Start>,
    pub(crate) end: Option<End>,
    pub(crate) ends: BTreeMap<TopicPartition, End>,
    pub(crate) isolation: Isolation,
    pub(crate) reset: OffsetReset,
    pub(crate) min_bytes: usize,
    pub(crate) max_bytes: usize,
    pub(crate) partition_max_bytes: usize,
    pub(crate) max_wait: Duration,
    pub(crate) memory: usize,
    pub(crate) max_decompressed: usize,
    pub(crate) rack: String,
    pub(crate) backoff: Backoff,
    pub(crate) replica_max_age: Duration,
    pub(crate) metadata_timeout: Duration,
    /// A group says which partitions are read.
    pub(crate) in_group: bool,
    /// Which one.
    pub(crate) group: Option<Arc<str>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            partitions: Vec::new(),
            start: Start::default(),
            starts: BTreeMap::new(),
            end: None,
            ends: BTreeMap::new(),
            isolation: Isolation::default(),
            reset: OffsetReset::default(),
            min_bytes: 1,
            max_bytes: 50 << 20,
            partition_max_bytes: 1 << 20,
            max_wait: Duration::from_millis(500),
            memory: 64 << 20,
            max_decompressed: 128 << 20,
            rack: String::new(),
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(1)),
            replica_max_age: Duration::from_secs(300),
            metadata_timeout: Duration::from_secs(60),
            in_group: false,
            group: None,
        }
    }
}

impl Settings {
    /// Everything that is wrong with them.
    pub(crate) fn violations(&self) -> Vec<String> {
        let mut violations = Vec::new();
        let mut check = |holds: bool, text: &str| {
            if !holds {
                violations.push(text.to_owned());
            }
        };
        check(
            self.in_group || !self.topics.is_empty() || !self.partitions.is_empty(),
            "reader: name a topic or a partition to read",
        );
        let topics: Vec<&str> = self.topics.iter().map(|topic| &**topic).collect();
        for partition in self.partitions.iter().chain(self.starts.keys()) {
            check(
                partition.partition >= 0,
                &format!("partition {partition}: numbers begin at 0"),
            );
        }
        for partition in self.starts.keys().chain(self.ends.keys()) {
            check(
                topics.contains(&&*partition.topic) || self.partitions.contains(partition),
                &format!("partition {partition}: has a start or an end, and is not read"),
            );
        }
        check(
            self.min_bytes <= self.max_bytes,
            "fetch min bytes: must not be above fetch max bytes",
        );
        check(
            (1024..=i32::MAX as usize).contains(&self.partition_max_bytes),
            "partition max bytes: must be 1 KiB or more, and less than 2 GiB",
        );
        check(
            (self.partition_max_bytes..=i32::MAX as usize).contains(&self.max_bytes),
            "fetch max bytes: must be partition max bytes or more, and less than 2 GiB",
        );
        check(
            self.memory >= self.partition_max_bytes,
            "memory: must hold partition max bytes",
        );
        check(
            self.max_decompressed >= 1 << 20,
            "max decompressed batch: must be 1 MiB or more",
        );
        violations.extend(
            std::iter::once(&self.start)
                .chain(self.starts.values())
                .filter_map(|start| start.violation()),
        );
        self.backoff.check("retry backoff", &mut violations);
        violations
    }

    pub(crate) fn core(&self) -> CoreConfig {
        let bytes = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
        CoreConfig {
            committed: self.isolation == Isolation::ReadCommitted,
            min_bytes: bytes(self.min_bytes),
            max_bytes: bytes(self.max_bytes),
            max_wait: self.max_wait,
            partition_max_bytes: bytes(self.partition_max_bytes),
            memory: self.memory,
            rack: self.rack.clone(),
            reset: match self.reset {
                OffsetReset::Earliest => Reset::Earliest,
                OffsetReset::Latest => Reset::Latest,
                OffsetReset::Ago(ago) => Reset::Ago(ago),
                OffsetReset::Error => Reset::Error,
            },
            endless: self.in_group,
            backoff: self.backoff,
            replica_max_age: self.replica_max_age,
        }
    }

    pub(crate) fn start_of(&self, partition: &TopicPartition) -> Start {
        *self.starts.get(partition).unwrap_or(&self.start)
    }

    pub(crate) fn bound_of(&self, partition: &TopicPartition) -> Bound {
        let end = self.ends.get(partition).copied().or(self.end);
        end.map_or(Bound::None, End::bound)
    }
}
