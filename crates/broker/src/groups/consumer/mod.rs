//! Groups of the consumer protocol (KIP-848): the coordinator assigns, and each member moves towards it on its own.
//!
//! - [`ConsumerGroup`]: its state, which records change and nothing else.
//! - `heartbeat`: ConsumerGroupHeartbeat: joining, staying, leaving, falling silent.
//! - `reconcile`: the next step of a member towards its assignment.
//! - `assign`: the assignors.
//! - `regex`: subscriptions by regular expression.
//! - `classic`: members that speak the classic protocol, while a group is moved from one to the other.

mod assign;
mod classic;
mod describe;
mod group;
mod heartbeat;
mod member;
mod reconcile;
mod regex;

pub(super) use group::ConsumerGroup;
pub(super) use heartbeat::{LEAVE, LEAVE_STATIC, validate};
pub(super) use member::{ClassicSide, Member, MemberState, current, plain};
