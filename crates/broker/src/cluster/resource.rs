//! What settings are for.

use copart_protocol::messages::config_record::ConfigRecord;

use crate::configs::ResourceKind;

/// What settings are for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigResource {
    /// A topic, by name.
    Topic(String),
    /// One node, or the default of all.
    Broker(Option<i32>),
    /// A group, by id.
    Group(String),
}

impl ConfigResource {
    /// The protocol's number of topics.
    pub(crate) const TOPIC: i8 = 2;
    /// The protocol's number of brokers.
    pub(crate) const BROKER: i8 = 4;
    /// The protocol's number of brokers' loggers.
    pub(crate) const BROKER_LOGGER: i8 = 8;
    /// The protocol's number of client metrics subscriptions.
    pub(crate) const CLIENT_METRICS: i8 = 16;
    /// The protocol's number of groups.
    pub(crate) const GROUP: i8 = 32;

    /// The resource that the protocol calls by this number and name.
    pub(crate) fn read(resource_type: i8, name: &str) -> Result<Self, String> {
        match resource_type {
            Self::TOPIC => Ok(Self::Topic(name.to_owned())),
            Self::GROUP if name.is_empty() => Err("a group's name cannot be empty".to_owned()),
            Self::GROUP => Ok(Self::Group(name.to_owned())),
            Self::BROKER if name.is_empty() => Ok(Self::Broker(None)),
            Self::BROKER => match name.parse() {
                Ok(id) if id >= 0 => Ok(Self::Broker(Some(id))),
                _ => Err(format!(
                    "{name:?} is no broker: a broker is called by its id, and all of them by \
                     nothing"
                )),
            },
            Self::BROKER_LOGGER => Err(
                "this broker has no loggers that clients can see or change; its log level is set \
                 when it is started"
                    .to_owned(),
            ),
            Self::CLIENT_METRICS => Err(
                "this broker takes no metrics from clients, so there are no subscriptions"
                    .to_owned(),
            ),
            other => Err(format!(
                "resource type {other} is none that this broker has"
            )),
        }
    }

    /// Number and name in the protocol.
    pub(crate) fn write(&self) -> (i8, String) {
        match self {
            Self::Topic(name) => (Self::TOPIC, name.clone()),
            Self::Broker(None) => (Self::BROKER, String::new()),
            Self::Broker(Some(id)) => (Self::BROKER, id.to_string()),
            Self::Group(name) => (Self::GROUP, name.clone()),
        }
    }

    pub(super) fn kind(&self) -> ResourceKind {
        match self {
            Self::Topic(_) => ResourceKind::Topic,
            Self::Broker(_) => ResourceKind::Broker,
            Self::Group(_) => ResourceKind::Group,
        }
    }

    pub(super) fn to_record(&self, name: &str, value: Option<String>) -> ConfigRecord {
        let (resource_type, resource_name) = self.write();
        ConfigRecord {
            resource_type,
            resource_name,
            name: name.to_owned(),
            value,
        }
    }
}
