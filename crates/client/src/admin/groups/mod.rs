//! Consumer groups: who is in them, and what they have committed.

mod delete;
mod describe;
mod list;
mod offsets;

use std::fmt;
use std::sync::Arc;

pub use describe::{GroupDescription, GroupMember, MemberAssignment};
pub use list::{GroupListing, Groups};
pub use offsets::{CommittedOffset, GroupOffsets};

use crate::Error;
use crate::cluster::{Coordinated, Route};

/// By which protocol a group's members agree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupKind {
    /// The protocol in which a member assigns the partitions.
    Classic,
    /// The protocol in which the coordinator does (KIP-848).
    Consumer,
    /// A share group (KIP-932).
    Share,
    /// A group of Kafka Streams (KIP-1071).
    Streams,
    /// Something newer than this client.
    Other(String),
}

impl GroupKind {
    /// As brokers name it. `None` from brokers that have one kind only (before Kafka 3.8).
    fn from_wire(name: &str) -> Option<Self> {
        Some(match name {
            "" => return None,
            _ if name.eq_ignore_ascii_case("classic") => Self::Classic,
            _ if name.eq_ignore_ascii_case("consumer") => Self::Consumer,
            _ if name.eq_ignore_ascii_case("share") => Self::Share,
            _ if name.eq_ignore_ascii_case("streams") => Self::Streams,
            _ => Self::Other(name.to_owned()),
        })
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classic => "classic",
            Self::Consumer => "consumer",
            Self::Share => "share",
            Self::Streams => "streams",
            Self::Other(name) => name,
        })
    }
}

fn to_coordinator(group: &str) -> Route {
    Route::Coordinator(Coordinated::Group(Arc::from(group)))
}

fn in_group(group: &str, error: Error) -> Error {
    error.in_group(group)
}
