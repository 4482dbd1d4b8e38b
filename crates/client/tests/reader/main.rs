//! Readers against the reference broker, over sockets.

#![allow(unreachable_pub, reason = "modules of one test")]

mod compacted;
mod moves;
mod starts;
mod support;
mod typed;
