//! One file for each command: its arguments and what it prints.

pub(crate) mod broker;
pub(crate) mod clients;
pub(crate) mod config;
pub(crate) mod map;
pub(crate) mod vectors;
pub(crate) mod verify;
