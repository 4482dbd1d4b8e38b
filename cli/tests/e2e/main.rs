//! The `copart` binary as a user runs it.

mod catalogue;
mod input;
mod records;
mod support;
mod verify;
