//! Which groups there are.

use copart_protocol::messages::list_groups::{ListGroupsRequest, ListedGroup};

use super::GroupKind;
use crate::admin::Admin;
use crate::admin::call::{Answered, Call, Found, Time, outcome};
use crate::cluster::Route;
use crate::{Error, Result};

/// The groups of a cluster.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Groups {
    /// By their ids.
    pub groups: Vec<GroupListing>,
    /// Brokers that did not tell, each with the reason: the groups that they coordinate are missing.
    pub failures: Vec<(i32, Error)>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupListing {
    /// Its id.
    pub group: String,
    /// What its members are: `consumer` for consumers, empty if it has only offsets.
    pub protocol_type: String,
    /// Its state, in Kafka's words, such as `Stable` or `Empty`. `None` from brokers before Kafka 2.6.
    pub state: Option<String>,
    /// Its kind. `None` from brokers before Kafka 3.8.
    pub kind: Option<GroupKind>,
    /// The broker that coordinates it.
    pub coordinator: i32,
}

impl Admin {
    /// All groups that we may see, of all brokers.
    ///
    /// # Errors
    /// When the brokers are not known. Those that are known but do not tell are part of the answer.
    pub async fn list_groups(&self) -> Result<Groups> {
        let cluster = self.describe_cluster().await?;
        let brokers = cluster.brokers.iter().filter(|broker| !broker.is_fenced);
        let brokers = brokers.map(|broker| broker.id).collect();
        let mut groups = Groups::default();
        for (broker, outcome) in self.run(ListGroups, brokers).await {
            match outcome {
                Ok(listed) => groups.groups.extend(listed),
                Err(error) => groups.failures.push((broker, error)),
            }
        }
        groups.groups.sort_by(|a, b| a.group.cmp(&b.group));
        Ok(groups)
    }
}

struct ListGroups;

impl Call for ListGroups {
    type Request = ListGroupsRequest;
    type Key = i32;
    type Value = Vec<GroupListing>;

    const REPEATABLE: bool = true;

    fn route(&self, broker: &i32) -> Route {
        Route::Node(*broker)
    }

    fn request(&self, _: &[i32], _: i16, _: Time) -> ListGroupsRequest {
        ListGroupsRequest::default()
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<i32, Vec<GroupListing>>) {
        found.throttle(answered.response.throttle_time_ms);
        let response = answered.response;
        // The request went to one broker, and names no other.
        for broker in answered.keys {
            let listed = outcome(response.error_code, None).map(|()| {
                let groups = response.groups.iter();
                groups.map(|group| listing(group, broker)).collect()
            });
            found.item(broker, listed);
        }
    }

    fn name(broker: &i32, error: Error) -> Error {
        error.about(format_args!("groups of broker {broker}"))
    }
}

fn listing(group: &ListedGroup, coordinator: i32) -> GroupListing {
    GroupListing {
        group: group.group_id.clone(),
        protocol_type: group.protocol_type.clone(),
        state: Some(group.group_state.clone()).filter(|state| !state.is_empty()),
        kind: GroupKind::from_wire(&group.group_type),
        coordinator,
    }
}
