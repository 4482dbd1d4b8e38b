//! The settings of topics, brokers and groups: names, types, defaults, where
//! values come from, and which of them this broker can honour.
//!
//! - [`TopicConfig`], [`BrokerConfig`]: effective settings, typed.
//! - [`BrokerSettings`]: where values come from, the strongest place first.
//! - [`check`]: may somebody set this?
//! - [`ConfigEntry`]: a setting as DescribeConfigs shows it.

mod broker;
mod broker_config;
mod check;
mod definition;
mod entry;
mod group;
mod honour;
mod settings;
#[cfg(test)]
mod tests;
mod topic;
mod topic_config;

pub(crate) use broker_config::BrokerConfig;
pub(crate) use check::{
    ResourceKind, alter, check_broker, check_group, check_started, check_topic, is_fact,
    is_topic_default,
};
pub(crate) use entry::{ConfigEntry, ConfigOp, ConfigSource, ConfigSynonym, ConfigType};
pub(crate) use settings::{BrokerSettings, Values};
pub(crate) use topic_config::TopicConfig;
