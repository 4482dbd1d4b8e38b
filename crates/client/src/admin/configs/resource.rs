//! What has settings.

use std::fmt;

use crate::Error;
use crate::cluster::Route;

/// What has settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ConfigResource {
    /// A topic.
    Topic(String),
    /// A broker, by its node id.
    Broker(i32),
    /// The default for all brokers.
    AllBrokers,
    /// The log levels of a broker, by its node id (KIP-412).
    BrokerLogger(i32),
    /// A subscription to clients' metrics (KIP-714).
    ClientMetrics(String),
    /// A consumer group (KIP-848).
    Group(String),
}

impl ConfigResource {
    /// The settings of a topic.
    pub fn topic(name: impl Into<String>) -> Self {
        Self::Topic(name.into())
    }

    /// As requests have it: a kind and a name.
    pub(super) fn wire(&self) -> (i8, String) {
        match self {
            Self::Topic(name) => (2, name.clone()),
            Self::Broker(id) => (4, id.to_string()),
            Self::AllBrokers => (4, String::new()),
            Self::BrokerLogger(id) => (8, id.to_string()),
            Self::ClientMetrics(name) => (16, name.clone()),
            Self::Group(name) => (32, name.clone()),
        }
    }

    /// As answers have it. `None` for kinds that came after this was written.
    pub(super) fn from_wire(kind: i8, name: String) -> Option<Self> {
        Some(match kind {
            2 => Self::Topic(name),
            4 if name.is_empty() => Self::AllBrokers,
            4 => Self::Broker(name.parse().ok()?),
            8 => Self::BrokerLogger(name.parse().ok()?),
            16 => Self::ClientMetrics(name),
            32 => Self::Group(name),
            _ => return None,
        })
    }

    /// Adds to an error which resource it is about.
    pub(super) fn name_in(&self, error: Error) -> Error {
        match self {
            Self::Topic(name) => error.in_topic(name.as_str()),
            Self::Group(name) => error.in_group(name.as_str()),
            _ => error.about(self),
        }
    }

    /// Only a broker itself knows what is in its file, and which levels its loggers have.
    pub(super) fn route(&self) -> Route {
        match self {
            Self::Broker(id) | Self::BrokerLogger(id) => Route::Node(*id),
            _ => Route::Any,
        }
    }
}

impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(name) => write!(f, "topic {name}"),
            Self::Broker(id) => write!(f, "broker {id}"),
            Self::AllBrokers => f.write_str("all brokers"),
            Self::BrokerLogger(id) => write!(f, "loggers of broker {id}"),
            Self::ClientMetrics(name) => write!(f, "client metrics {name}"),
            Self::Group(name) => write!(f, "group {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_come_back() {
        for resource in [
            ConfigResource::topic("t"),
            ConfigResource::Broker(3),
            ConfigResource::AllBrokers,
            ConfigResource::BrokerLogger(1),
            ConfigResource::ClientMetrics("m".into()),
            ConfigResource::Group("g".into()),
        ] {
            let (kind, name) = resource.wire();
            assert_eq!(ConfigResource::from_wire(kind, name), Some(resource));
        }
        assert_eq!(ConfigResource::from_wire(4, "x".into()), None);
        assert_eq!(ConfigResource::from_wire(64, "x".into()), None);
    }
}
