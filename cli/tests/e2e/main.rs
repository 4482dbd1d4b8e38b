//! The `copart` binary as a user runs it.

mod broker;
mod catalogue;
mod check;
mod demo;
mod everyday;
mod formats;
mod frames;
mod groups;
mod input;
mod live;
mod records;
mod schema;
mod support;
mod typed_keys;
mod verify;
mod weighed;
