//! A member of a consumer group: a plain structure that takes requests' outcomes, metadata and the time, and says what
//! to do next. It has no clock, no socket and no task.
//!
//! - [`GroupCore`]: the member, in whichever protocol. After each call [`poll`](GroupCore::poll) it until there is no
//!   action, then wait for an input or [`next_deadline`](GroupCore::next_deadline).
//! - [`Action`]: what the driver does for it.
//! - [`GroupConfig`], [`Subscription`]: what it is told.
//!
//! As long as a member is in its group or wants to be, it has a deadline or a request under way: it can't stall.

mod action;
mod assign;
mod classic;
mod config;
mod core;
mod epochs;
#[cfg(test)]
mod tests;
mod topics;

pub(crate) use action::{Action, Answer, GroupRequest, Identity, Token, Wanted};
pub use config::{Assignor, Protocol};
pub(crate) use config::{GroupConfig, Subscription};
pub(crate) use core::{GroupCore, GroupState};
pub(crate) use topics::{TopicInfo, Topics};
