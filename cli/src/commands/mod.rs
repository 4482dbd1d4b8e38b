//! One file for each command: its arguments and what it prints.

pub(crate) mod clients;
pub(crate) mod config;
pub(crate) mod copartition;
pub(crate) mod infer;
pub(crate) mod lint;
pub(crate) mod map;
pub(crate) mod vectors;
pub(crate) mod verify;
