//! Changing settings.

use std::collections::HashMap;

use copart_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};

use super::ConfigResource;
use crate::admin::call::{Answered, Call, Found, Time, outcome};
use crate::admin::{Admin, Results};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result};

/// Changes to a resource's settings. Those that it does not name stay as they are (KIP-339).
///
/// ```
/// use copart::admin::{AlterConfigs, ConfigResource};
/// let change = AlterConfigs::of(ConfigResource::topic("orders"))
///     .set("retention.ms", "86400000")
///     .append("cleanup.policy", "compact")
///     .reset("segment.bytes");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterConfigs {
    resource: ConfigResource,
    changes: Vec<(String, Change)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Set(String),
    Reset,
    Append(String),
    Subtract(String),
}

impl AlterConfigs {
    /// Changes to the settings of this resource.
    pub fn of(resource: ConfigResource) -> Self {
        Self {
            resource,
            changes: Vec::new(),
        }
    }

    /// Sets a value.
    #[must_use]
    pub fn set(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.change(name.into(), Change::Set(value.into()))
    }

    /// Takes the resource's own value away, so that the default holds.
    #[must_use]
    pub fn reset(self, name: impl Into<String>) -> Self {
        self.change(name.into(), Change::Reset)
    }

    /// Adds values to a list, with commas between.
    #[must_use]
    pub fn append(self, name: impl Into<String>, values: impl Into<String>) -> Self {
        self.change(name.into(), Change::Append(values.into()))
    }

    /// Takes values out of a list, with commas between.
    #[must_use]
    pub fn subtract(self, name: impl Into<String>, values: impl Into<String>) -> Self {
        self.change(name.into(), Change::Subtract(values.into()))
    }

    fn change(mut self, name: String, change: Change) -> Self {
        self.changes.push((name, change));
        self
    }

    fn wire(&self) -> AlterConfigsResource {
        let (resource_type, resource_name) = self.resource.wire();
        let configs = self.changes.iter().map(|(name, change)| {
            let (config_operation, value) = match change {
                Change::Set(value) => (0, Some(value)),
                Change::Reset => (1, None),
                Change::Append(values) => (2, Some(values)),
                Change::Subtract(values) => (3, Some(values)),
            };
            AlterableConfig {
                name: name.clone(),
                config_operation,
                value: value.cloned(),
            }
        });
        AlterConfigsResource {
            resource_type,
            resource_name,
            configs: configs.collect(),
        }
    }
}

impl Admin {
    /// Changes settings, each resource's all or none.
    ///
    /// # Errors
    /// For each resource: that there is none such, that we may not change it, or which setting or value it
    /// does not take (`INVALID_CONFIG`).
    pub async fn alter_configs(
        &self,
        changes: impl IntoIterator<Item = AlterConfigs>,
    ) -> Results<ConfigResource, ()> {
        self.alter(changes, false).await
    }

    /// Has brokers check whether settings could be changed, and changes none.
    ///
    /// # Errors
    /// As [`alter_configs`](Self::alter_configs).
    pub async fn check_configs(
        &self,
        changes: impl IntoIterator<Item = AlterConfigs>,
    ) -> Results<ConfigResource, ()> {
        self.alter(changes, true).await
    }

    async fn alter(
        &self,
        changes: impl IntoIterator<Item = AlterConfigs>,
        validate_only: bool,
    ) -> Results<ConfigResource, ()> {
        let changes: Vec<AlterConfigs> = changes.into_iter().collect();
        let keys = changes.iter().map(|change| change.resource.clone());
        let keys = keys.collect();
        let changes = changes.into_iter().rev();
        let call = Alter {
            changes: changes.map(|c| (c.resource.clone(), c)).collect(),
            validate_only,
        };
        self.run(call, keys).await
    }
}

struct Alter {
    changes: HashMap<ConfigResource, AlterConfigs>,
    validate_only: bool,
}

impl Call for Alter {
    type Request = IncrementalAlterConfigsRequest;
    type Key = ConfigResource;
    type Value = ();

    // Values that are in a list already are not added again.
    const REPEATABLE: bool = true;

    fn route(&self, key: &ConfigResource) -> Route {
        key.route()
    }

    fn check(&self, key: &ConfigResource, _: i16) -> Result<()> {
        if self.changes[key].changes.is_empty() {
            return Err(Error::new(ErrorKind::Config, "no change is given"));
        }
        Ok(())
    }

    fn request(&self, keys: &[ConfigResource], _: i16, _: Time) -> IncrementalAlterConfigsRequest {
        IncrementalAlterConfigsRequest {
            resources: keys.iter().map(|key| self.changes[key].wire()).collect(),
            validate_only: self.validate_only,
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<ConfigResource, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        for one in answered.response.responses {
            let outcome = outcome(one.error_code, one.error_message.as_deref());
            if let Some(key) = ConfigResource::from_wire(one.resource_type, one.resource_name) {
                found.item(key, outcome);
            }
        }
    }

    fn name(key: &ConfigResource, error: Error) -> Error {
        key.name_in(error)
    }
}
