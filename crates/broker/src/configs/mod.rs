//! The settings of topics, brokers and groups: names, types, defaults, and
//! which of them this broker can honour.

#![allow(dead_code, unused_imports, unused_variables, clippy::unimplemented)]

mod broker_config;
mod entry;
mod topic_config;

pub(crate) use broker_config::BrokerConfig;
pub(crate) use entry::{ConfigEntry, ConfigOp, ConfigSource, ConfigSynonym, ConfigType};
pub(crate) use topic_config::TopicConfig;
