//! Looking at settings, and changing them.

use std::collections::HashSet;

use copart_protocol::ErrorCode;

use super::{ApiError, ApiResult, Changes, ConfigResource, Controller};
use crate::configs::{
    BrokerConfig, BrokerSettings, ConfigEntry, ConfigOp, TopicConfig, Values, alter, check_broker,
    check_group, check_topic, is_topic_default,
};

fn invalid(reason: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::INVALID_CONFIG, reason)
}

impl Controller {
    /// Changes single settings of a resource: all of them, or none.
    pub(crate) fn incremental_alter_configs(
        &mut self,
        resource: &ConfigResource,
        ops: &[(String, ConfigOp)],
        validate_only: bool,
    ) -> ApiResult<Changes> {
        let before = self.set_for(resource)?;
        let mut after = before.clone();
        let mut named = HashSet::new();
        for (name, op) in ops {
            if !named.insert(name) {
                return Err(ApiError::new(
                    ErrorCode::INVALID_REQUEST,
                    format!("{name} is there twice"),
                ));
            }
            // A list that was not set is changed from what it is by default.
            let current = match before.get(name) {
                Some(value) => Some(value.clone()),
                None => self.effective(resource, &before, name),
            };
            let value = alter(resource.kind(), name, op, current.as_deref()).map_err(invalid)?;
            match value {
                Some(value) => after.insert(name.clone(), value),
                None => after.remove(name),
            };
        }
        self.replace_configs(resource, &before, after, validate_only)
    }

    /// Replaces all settings of a resource.
    pub(crate) fn alter_configs(
        &mut self,
        resource: &ConfigResource,
        configs: &[(String, Option<String>)],
        validate_only: bool,
    ) -> ApiResult<Changes> {
        let before = self.set_for(resource)?;
        let mut after = Values::new();
        for (name, value) in configs {
            let Some(value) = value else {
                return Err(invalid(format!(
                    "{name} has no value; leave it out to have the default"
                )));
            };
            let set = ConfigOp::Set(value.clone());
            let value = alter(resource.kind(), name, &set, None).map_err(invalid)?;
            if let Some(value) = value
                && after.insert(name.clone(), value).is_some()
            {
                return Err(ApiError::new(
                    ErrorCode::INVALID_REQUEST,
                    format!("{name} is there twice"),
                ));
            }
        }
        self.replace_configs(resource, &before, after, validate_only)
    }

    fn replace_configs(
        &mut self,
        resource: &ConfigResource,
        before: &Values,
        after: Values,
        validate_only: bool,
    ) -> ApiResult<Changes> {
        self.check_configs(resource, before, &after)?;
        if validate_only {
            return Ok(Changes::new());
        }
        let gone = before.keys().filter(|name| !after.contains_key(*name));
        let mut records: Vec<_> = gone
            .map(|name| resource.to_record(name, None).into())
            .collect();
        for (name, value) in &after {
            if before.get(name) != Some(value) {
                records.push(resource.to_record(name, Some(value.clone())).into());
            }
        }
        self.commit(records)
    }

    fn check_configs(
        &self,
        resource: &ConfigResource,
        before: &Values,
        after: &Values,
    ) -> ApiResult<()> {
        match resource {
            ConfigResource::Topic(_) => {
                check_topic(after, self.topic_defaults(), self.durability).map_err(invalid)?;
            }
            ConfigResource::Group(_) => {
                check_group(after, self.settings(None)).map_err(invalid)?;
            }
            ConfigResource::Broker(node) => {
                let changed = after
                    .iter()
                    .filter(|(name, value)| before.get(*name) != Some(*value));
                for (name, value) in changed {
                    check_broker(name, value, self.durability).map_err(invalid)?;
                    if node.is_some() && self.image.nodes.len() > 1 && is_topic_default(name) {
                        return Err(invalid(format!(
                            "{name} cannot be set for one node, since the nodes share their logs; \
                             set it for all of them, with an empty resource name"
                        )));
                    }
                }
                let mut settings = self.settings(*node);
                match node {
                    Some(_) => settings.node = Some(after),
                    None => settings.cluster = Some(after),
                }
                BrokerConfig::resolve(settings).map_err(invalid)?;
                self.check_defaults(settings)?;
            }
        }
        Ok(())
    }

    /// Do all topics still have settings that go together?
    fn check_defaults(&self, defaults: BrokerSettings<'_>) -> ApiResult<()> {
        TopicConfig::resolve(&Values::new(), defaults).map_err(invalid)?;
        for topic in self.image.topics() {
            TopicConfig::resolve(&topic.overrides, defaults)
                .map_err(|reason| invalid(format!("topic {}: {reason}", topic.name)))?;
        }
        Ok(())
    }

    /// What was set for a resource that exists.
    fn set_for(&self, resource: &ConfigResource) -> ApiResult<Values> {
        match resource {
            ConfigResource::Topic(name) => match self.image.topic(name) {
                Some(topic) => Ok(topic.overrides.clone()),
                None => Err(ApiError::new(
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                    format!("there is no topic {name:?}"),
                )),
            },
            ConfigResource::Broker(Some(id)) if self.image.node(*id).is_none() => {
                Err(ApiError::new(
                    ErrorCode::BROKER_ID_NOT_REGISTERED,
                    format!("there is no broker {id}"),
                ))
            }
            other => Ok(self.image.configs(other).cloned().unwrap_or_default()),
        }
    }

    fn effective(&self, resource: &ConfigResource, set: &Values, name: &str) -> Option<String> {
        let entries = match resource {
            ConfigResource::Topic(_) => self.topic_defaults().describe_topic(set),
            ConfigResource::Broker(node) => self.settings(*node).describe_node(),
            ConfigResource::Group(_) => self.settings(None).describe_group(set),
        };
        let entry = entries.into_iter().find(|entry| entry.name == name);
        entry?.value
    }

    /// All settings of a resource, with where they come from. Groups need not
    /// exist.
    pub(crate) fn describe_configs(
        &self,
        resource: &ConfigResource,
    ) -> ApiResult<Vec<ConfigEntry>> {
        let set = self.set_for(resource)?;
        Ok(match resource {
            ConfigResource::Topic(_) => self.topic_defaults().describe_topic(&set),
            ConfigResource::Group(_) => self.settings(None).describe_group(&set),
            ConfigResource::Broker(None) => self.settings(None).describe_cluster(),
            ConfigResource::Broker(node) => self.settings(*node).describe_node(),
        })
    }

    /// What a topic's settings are, or would be.
    pub(crate) fn describe_topic_configs(&self, overrides: &Values) -> Vec<ConfigEntry> {
        self.topic_defaults().describe_topic(overrides)
    }
}
