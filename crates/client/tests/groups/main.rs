//! Consumers in groups, against the reference broker in this process: both protocols.

#![allow(unreachable_pub, reason = "modules of one test")]

mod cancel;
mod classic;
mod commits;
mod concurrent;
mod members;
mod partitions;
#[path = "../common/poll.rs"]
mod poll;
mod processing;
mod support;
mod topics;
mod typed;
