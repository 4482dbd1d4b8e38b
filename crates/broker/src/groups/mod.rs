//! Groups, and how far they have come: Kafka's group coordinator.
//!
//! - [`Coordinator`]: the groups of one partition of `__consumer_offsets`, as a plain structure. It takes requests and
//!   the time, and says which records to append and whom to answer. It has no clock and waits for nothing.
//! - `classic`, `consumer`: the two protocols; `migrate`: from one to the other.
//! - `members`, `commits`, `admin`: what clients ask of a coordinator, by purpose.
//! - [`Record`]: what is in `__consumer_offsets`. A restart, or another node that becomes leader, reads it.
//! - [`Groups`]: the coordinators of a broker, between the requests, the logs and the clock.
//!
//! A group of another kind, such as Kafka's share groups, is a variant of [`Group`](coordinator::Group), with its
//! records in [`Record`]. Offsets of transactions are read from the log as Kafka writes them; what writes them itself
//! comes with transactions.

mod admin;
mod batches;
mod classic;
mod commits;
mod consumer;
mod coordinator;
mod embedded;
mod env;
mod load;
mod members;
mod migrate;
mod offsets;
mod record;
mod service;
mod stored;
#[cfg(test)]
mod tests;
mod timers;
mod topic;
mod view;

pub(crate) use classic_errors::{join_error, sync_error};
pub(crate) use commits::{Commit, Committer, FetchTopic, Fetched};
pub(crate) use coordinator::{Coordinator, Input};
pub(crate) use env::{Caller, GroupError, Reply, Token};
pub(crate) use offsets::Committed;
pub(crate) use service::Groups;
pub(crate) use topic::{CONSUMER_OFFSETS, create_if_missing, partition_of};

/// Answers that say only what is wrong.
mod classic_errors {
    use copart_protocol::ErrorCode;
    use copart_protocol::messages::join_group::JoinGroupResponse;
    use copart_protocol::messages::sync_group::SyncGroupResponse;

    pub(crate) fn join_error(version: i16, code: ErrorCode, member_id: &str) -> JoinGroupResponse {
        super::classic::join_error(version, code, member_id)
    }

    pub(crate) fn sync_error(code: ErrorCode) -> SyncGroupResponse {
        super::classic::sync_error(code)
    }
}
