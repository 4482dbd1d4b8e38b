//! Where reading stands, and what is asked to find out.

use copart_protocol::ErrorCode;

use crate::TopicPartition;

/// The next offset, and the epoch of the leader that wrote what is before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) offset: i64,
    /// -1 if it is not known; then truncation cannot be noticed (KIP-320).
    pub(crate) epoch: i32,
}

impl Position {
    pub(crate) const fn new(offset: i64, epoch: i32) -> Self {
        Self { offset, epoch }
    }

    pub(crate) const fn at(offset: i64) -> Self {
        Self::new(offset, -1)
    }
}

/// A place that a leader has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Earliest,
    Latest,
    /// The first record that is not older, in milliseconds since 1970; the end if there is none.
    Time(i64),
}

impl Anchor {
    /// As ListOffsets has it.
    pub(crate) const fn timestamp(self) -> i64 {
        match self {
            Self::Earliest => -2,
            Self::Latest => -1,
            Self::Time(milliseconds) => milliseconds,
        }
    }
}

/// Where a partition's reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    At(Position),
    Find(Anchor),
}

/// Where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nowhere.
    None,
    /// Not known yet.
    Find(Anchor),
    /// Before this offset.
    At(i64),
}

/// What a leader is asked about one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) slot: usize,
    /// What the answer must find unchanged.
    pub(crate) token: u64,
    pub(crate) partition: TopicPartition,
    pub(crate) leader_epoch: i32,
    pub(crate) kind: QueryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// ListOffsets, for where to begin.
    Start(Anchor),
    /// ListOffsets, for where to end.
    End(Anchor),
    /// OffsetForLeaderEpoch: where does this epoch end?
    Epoch(i32),
}

/// What the leader said about a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// An offset and its epoch; -1 for none.
    Found(Position),
    /// The broker is too old to be asked.
    Unsupported,
    Refused(ErrorCode),
    /// No answer came.
    Lost,
}
