//! Settings of topics, brokers, groups and client metrics.

mod alter;
mod describe;
mod resource;

pub use alter::AlterConfigs;
pub use describe::{ConfigEntry, ConfigSource, ConfigSynonym};
pub use resource::ConfigResource;
