//! Where values come from: one place asked after the other.

use std::collections::BTreeMap;

use super::broker::{BROKER, BrokerDefinition, Update, broker};
use super::definition::Definition;
use super::group::{self, GROUP};
use super::topic::{TOPIC, synonyms};
use super::{ConfigEntry, ConfigSource, ConfigSynonym, ConfigType};

/// Names and values that somebody set.
pub(crate) type Values = BTreeMap<String, String>;

/// The places that a broker's settings come from, the strongest first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BrokerSettings<'a> {
    /// What the broker says of this node.
    pub(crate) facts: Option<&'a Values>,
    /// Set by clients for this node.
    pub(crate) node: Option<&'a Values>,
    /// Set by clients for all nodes.
    pub(crate) cluster: Option<&'a Values>,
    /// Set by whoever started the broker.
    pub(crate) started: Option<&'a Values>,
    /// How many nodes there are: internal topics have no more replicas.
    pub(crate) node_count: usize,
}

impl BrokerSettings<'_> {
    /// The values of a setting with these names, in Kafka's order: for each
    /// place, the strongest first, each name.
    fn found(&self, names: &[&'static str]) -> Vec<ConfigSynonym> {
        let places = [
            (self.node, ConfigSource::DynamicBroker),
            (self.cluster, ConfigSource::DynamicDefaultBroker),
            (self.facts, ConfigSource::StaticBroker),
            (self.started, ConfigSource::StaticBroker),
        ];
        let mut found = Vec::new();
        for (values, source) in places {
            for name in names {
                if let Some(value) = values.and_then(|values| values.get(*name)) {
                    found.push(ConfigSynonym {
                        name,
                        value: Some(value.clone()),
                        source,
                    });
                }
            }
        }
        for name in names {
            if let Some(value) = self.default(name) {
                found.push(ConfigSynonym {
                    name,
                    value: Some(value),
                    source: ConfigSource::Default,
                });
            }
        }
        found
    }

    fn default(&self, name: &str) -> Option<String> {
        let default = broker(name)?.definition.default?;
        // Kafka's is 3, with which the first consumer of a single broker fails.
        let capped = matches!(
            name,
            "offsets.topic.replication.factor"
                | "transaction.state.log.replication.factor"
                | "transaction.state.log.min.isr"
        );
        match default.parse::<usize>() {
            Ok(count) if capped => Some(count.min(self.node_count.max(1)).to_string()),
            _ => Some(default.to_owned()),
        }
    }

    /// The value of a broker's setting.
    pub(crate) fn value(&self, name: &'static str) -> Option<String> {
        self.found(&[name]).into_iter().next()?.value
    }

    /// The value of a topic's setting.
    pub(crate) fn topic_value(&self, overrides: &Values, name: &'static str) -> Option<String> {
        if let Some(value) = overrides.get(name) {
            return Some(value.clone());
        }
        let synonyms = synonyms(name);
        let names: Vec<&'static str> = synonyms.iter().map(|synonym| synonym.name).collect();
        match self.found(&names).into_iter().next() {
            Some(found) => {
                let synonym = synonyms.iter().find(|synonym| synonym.name == found.name)?;
                Some(synonym.convert(&found.value?))
            }
            None => {
                let definition = TOPIC.iter().find(|definition| definition.name == name)?;
                definition.default.map(str::to_owned)
            }
        }
    }

    /// A topic's settings as DescribeConfigs shows them.
    pub(crate) fn describe_topic(&self, overrides: &Values) -> Vec<ConfigEntry> {
        let shown = TOPIC.iter().filter(|definition| {
            // Kafka keeps it to itself unless it is set.
            definition.name != "internal.segment.bytes" || overrides.contains_key(definition.name)
        });
        let entries = shown.map(|definition| {
            let names: Vec<_> = synonyms(definition.name)
                .iter()
                .map(|synonym| synonym.name)
                .collect();
            let mut found = self.found(&names);
            if let Some(value) = overrides.get(definition.name) {
                found.insert(
                    0,
                    ConfigSynonym {
                        name: definition.name,
                        value: Some(value.clone()),
                        source: ConfigSource::DynamicTopic,
                    },
                );
            }
            let value = self.topic_value(overrides, definition.name);
            entry(definition, value, found, false)
        });
        entries.collect()
    }

    /// A node's settings as DescribeConfigs shows them.
    pub(crate) fn describe_node(&self) -> Vec<ConfigEntry> {
        let entries = BROKER.iter().map(|row| {
            let names = family(row.definition.name);
            let found = self.found(&names);
            let value = self.value(row.definition.name);
            entry(&row.definition, value, found, row.update != Update::Dynamic)
        });
        entries.collect()
    }

    /// What clients set for all nodes, as DescribeConfigs shows it.
    pub(crate) fn describe_cluster(&self) -> Vec<ConfigEntry> {
        let set = self.cluster.into_iter().flatten();
        let rows = set.filter_map(|(name, value)| Some((broker(name)?, value)));
        let entries = rows.map(|(row, value): (&BrokerDefinition, _)| {
            let found = vec![ConfigSynonym {
                name: row.definition.name,
                value: Some(value.clone()),
                source: ConfigSource::DynamicDefaultBroker,
            }];
            entry(&row.definition, Some(value.clone()), found, false)
        });
        entries.collect()
    }

    /// A group's settings as DescribeConfigs shows them.
    pub(crate) fn describe_group(&self, overrides: &Values) -> Vec<ConfigEntry> {
        let entries = GROUP.iter().map(|definition| {
            let mut found = match group::synonym(definition.name) {
                Some(synonym) => self.found(&[synonym]),
                None => Vec::new(),
            };
            if found.is_empty()
                && let Some(default) = definition.default
            {
                found.push(ConfigSynonym {
                    name: definition.name,
                    value: Some(default.to_owned()),
                    source: ConfigSource::Default,
                });
            }
            if let Some(value) = overrides.get(definition.name) {
                found.insert(
                    0,
                    ConfigSynonym {
                        name: definition.name,
                        value: Some(value.clone()),
                        source: ConfigSource::DynamicGroup,
                    },
                );
            }
            let value = found.first().and_then(|synonym| synonym.value.clone());
            entry(definition, value, found, false)
        });
        entries.collect()
    }
}

fn entry(
    definition: &'static Definition,
    value: Option<String>,
    synonyms: Vec<ConfigSynonym>,
    read_only: bool,
) -> ConfigEntry {
    ConfigEntry {
        name: definition.name,
        value,
        source: synonyms
            .first()
            .map_or(ConfigSource::Default, |synonym| synonym.source),
        read_only,
        sensitive: definition.config_type == ConfigType::Password,
        config_type: definition.config_type,
        documentation: definition.documentation,
        synonyms,
    }
}

/// Names of one setting in several units.
fn family(name: &'static str) -> Vec<&'static str> {
    const FAMILIES: &[&[&str]] = &[
        &[
            "log.retention.ms",
            "log.retention.minutes",
            "log.retention.hours",
        ],
        &["log.roll.ms", "log.roll.hours"],
        &["log.roll.jitter.ms", "log.roll.jitter.hours"],
    ];
    match FAMILIES.iter().find(|family| family.contains(&name)) {
        Some(family) => family.to_vec(),
        None if name == "log.flush.interval.ms" => {
            vec![name, "log.flush.scheduler.interval.ms"]
        }
        None => vec![name],
    }
}
