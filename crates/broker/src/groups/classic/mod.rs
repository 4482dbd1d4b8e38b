//! Groups of the classic protocol: members join a generation, one of them assigns, all ask for what they got.
//!
//! - [`ClassicGroup`]: its state, and what it comes to as a record.
//! - `join`: JoinGroup, and how a generation begins.
//! - `sync`: SyncGroup, Heartbeat and LeaveGroup.
//! - [`Member`]: one of its members.

mod group;
mod join;
mod member;
mod sync;

pub(super) use group::{ClassicGroup, State};
pub(super) use join::{is_required, join_error};
pub(super) use member::Member;
pub(super) use sync::sync_error;
