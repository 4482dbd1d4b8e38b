//! The server as clients meet it: over sockets, in the versions that they send.

mod admin_cluster;
mod admin_configs;
mod admin_topics;
mod client;
mod groups;
mod hostile;
mod nodes;
mod produce_fetch;
mod registry;
mod restart;
