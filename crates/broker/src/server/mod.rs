//! From sockets to requests, and from answers to sockets.
//!
//! - [`listen`]: takes connections for a node.
//! - [`Receiver`](receive::Receiver): reads requests, bounded.
//! - [`Answer`]: what becomes of a request; answers of a connection go out in the order of its requests.
//! - [`Outgoing`](outgoing::Outgoing): an answer on its way, with parts of files in it.
//! - [`Limits`], [`Memory`]: how much clients may have.

mod answer;
mod connection;
mod limits;
mod listener;
mod outgoing;
mod receive;

pub(crate) use answer::Answer;
pub use limits::Limits;
pub(crate) use limits::{Memory, Share};
pub(crate) use listener::listen;
pub(crate) use outgoing::Parts;
