//! The server as clients meet it: over sockets, in the versions that they send.

mod client;
mod hostile;
mod nodes;
mod produce_fetch;
mod restart;
