//! Deleting groups.

use copart_protocol::messages::delete_groups::DeleteGroupsRequest;

use super::{in_group, to_coordinator};
use crate::Error;
use crate::admin::call::{Answered, Call, Found, Time, outcome};
use crate::admin::{Admin, Results};
use crate::cluster::Route;

impl Admin {
    /// Deletes groups, with what they have committed. Only groups without members can be.
    ///
    /// # Errors
    /// For each group: that it has members (`NON_EMPTY_GROUP`), that there is none such
    /// (`GROUP_ID_NOT_FOUND`), or that it is not known whether it was deleted.
    pub async fn delete_groups<N: Into<String>>(
        &self,
        groups: impl IntoIterator<Item = N>,
    ) -> Results<String, ()> {
        let groups = groups.into_iter().map(Into::into).collect();
        self.run(DeleteGroups, groups).await
    }
}

struct DeleteGroups;

impl Call for DeleteGroups {
    type Request = DeleteGroupsRequest;
    type Key = String;
    type Value = ();

    // The second time, the group is gone.
    const REPEATABLE: bool = false;

    fn route(&self, group: &String) -> Route {
        to_coordinator(group)
    }

    fn request(&self, groups: &[String], _: i16, _: Time) -> DeleteGroupsRequest {
        DeleteGroupsRequest {
            groups_names: groups.to_vec(),
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        for group in answered.response.results {
            let outcome = outcome(group.error_code, group.error_message.as_deref());
            found.item(group.group_id, outcome);
        }
    }

    fn name(group: &String, error: Error) -> Error {
        in_group(group, error)
    }
}
