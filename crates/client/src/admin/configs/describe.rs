//! Reading settings.

use copart_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
};

use super::ConfigResource;
use crate::Error;
use crate::admin::call::{Answered, Call, Found, Time, outcome};
use crate::admin::{Admin, Results};
use crate::cluster::Route;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigEntry {
    /// Its name, such as `retention.ms`.
    pub name: String,
    /// Its value. `None` if it has none, or it is a secret.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: ConfigSource,
    /// Whether it cannot be changed while the broker runs.
    pub is_read_only: bool,
    /// Whether it is a secret. Brokers do not tell those.
    pub is_sensitive: bool,
    /// The values that there would be without this one, in order: where the value is from comes first.
    pub synonyms: Vec<ConfigSynonym>,
}

impl ConfigEntry {
    /// Whether the value was set for this resource itself: a topic's own, not what brokers have for all.
    pub fn is_own(&self) -> bool {
        matches!(
            self.source,
            ConfigSource::Topic
                | ConfigSource::Broker
                | ConfigSource::BrokerLogger
                | ConfigSource::ClientMetrics
                | ConfigSource::Group
        )
    }
}

/// A value of a setting that another one may hide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigSynonym {
    /// The setting's name there: brokers' `log.retention.ms` is the default of topics' `retention.ms`.
    pub name: String,
    /// The value. `None` if it is a secret.
    pub value: Option<String>,
    /// Where it comes from.
    pub source: ConfigSource,
}

/// Where a setting's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigSource {
    /// It was set for the topic.
    Topic,
    /// It was set for this broker while it runs.
    Broker,
    /// It was set for all brokers while they run.
    AllBrokers,
    /// It is in the broker's file.
    BrokerFile,
    /// It is Kafka's default.
    Default,
    /// It was set for a logger of the broker.
    BrokerLogger,
    /// It was set for a subscription to clients' metrics.
    ClientMetrics,
    /// It was set for the group.
    Group,
    /// Something newer than this client, or the broker does not tell.
    Unknown,
}

impl ConfigSource {
    pub(in crate::admin) fn from_wire(source: i8) -> Self {
        match source {
            1 => Self::Topic,
            2 => Self::Broker,
            3 => Self::AllBrokers,
            4 => Self::BrokerFile,
            5 => Self::Default,
            6 => Self::BrokerLogger,
            7 => Self::ClientMetrics,
            8 => Self::Group,
            _ => Self::Unknown,
        }
    }
}

impl Admin {
    /// The settings of these resources, sorted by name.
    ///
    /// # Errors
    /// For each resource: that there is none such, or that we may not see it.
    pub async fn describe_configs(
        &self,
        resources: impl IntoIterator<Item = ConfigResource>,
    ) -> Results<ConfigResource, Vec<ConfigEntry>> {
        self.run(DescribeConfigs, resources.into_iter().collect())
            .await
    }
}

struct DescribeConfigs;

impl Call for DescribeConfigs {
    type Request = DescribeConfigsRequest;
    type Key = ConfigResource;
    type Value = Vec<ConfigEntry>;

    const REPEATABLE: bool = true;

    fn route(&self, key: &ConfigResource) -> Route {
        key.route()
    }

    fn request(&self, keys: &[ConfigResource], _: i16, _: Time) -> DescribeConfigsRequest {
        let resources = keys.iter().map(|key| {
            let (resource_type, resource_name) = key.wire();
            DescribeConfigsResource {
                resource_type,
                resource_name,
                configuration_keys: None,
            }
        });
        DescribeConfigsRequest {
            resources: resources.collect(),
            include_synonyms: true,
            include_documentation: false,
        }
    }

    fn answer(
        &self,
        answered: Answered<Self>,
        found: &mut Found<ConfigResource, Vec<ConfigEntry>>,
    ) {
        found.throttle(answered.response.throttle_time_ms);
        for result in answered.response.results {
            let outcome = outcome(result.error_code, result.error_message.as_deref());
            let Some(key) = ConfigResource::from_wire(result.resource_type, result.resource_name)
            else {
                continue;
            };
            let entries = outcome.map(|()| {
                let entries = result.configs.into_iter().map(Into::into);
                let mut entries: Vec<ConfigEntry> = entries.collect();
                entries.sort_by(|a, b| a.name.cmp(&b.name));
                entries
            });
            found.item(key, entries);
        }
    }

    fn name(key: &ConfigResource, error: Error) -> Error {
        key.name_in(error)
    }
}

impl From<DescribeConfigsResourceResult> for ConfigEntry {
    fn from(config: DescribeConfigsResourceResult) -> Self {
        let synonyms = config.synonyms.into_iter().map(|synonym| ConfigSynonym {
            name: synonym.name,
            value: synonym.value,
            source: ConfigSource::from_wire(synonym.source),
        });
        Self {
            name: config.name,
            value: config.value,
            source: ConfigSource::from_wire(config.config_source),
            is_read_only: config.read_only,
            is_sensitive: config.is_sensitive,
            synonyms: synonyms.collect(),
        }
    }
}
