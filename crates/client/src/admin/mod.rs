//! Administration: topics, settings, offsets, groups.
//!
//! A call takes items and gives one outcome for each ([`Results`]): of ten topics, nine can be created. Items
//! go to the brokers that they belong to, those of one broker in one request, and again when a broker says
//! that it is not the controller, leader or coordinator (any more), or is still loading. A change is not sent
//! again when it is not known what became of it, unless making it twice is the same as making it once; then
//! [`Error::possibly_written`](crate::Error::possibly_written) says so.
//!
//! ```no_run
//! # async fn run(client: copart::Client) -> copart::Result<()> {
//! use copart::admin::NewTopic;
//!
//! let admin = client.admin();
//! let created = admin.create_topics([NewTopic::new("orders").partitions(12)]).await;
//! for (name, outcome) in &created {
//!     match outcome {
//!         Ok(topic) => println!("{name}: {}", topic.id),
//!         Err(error) => eprintln!("{error}"),
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! One file for each group of calls:
//! - `create_topics`, `delete_topics`, `create_partitions`, `describe_topics`
//! - `configs`: settings of topics, brokers and groups
//! - `list_offsets`, `delete_records`
//! - `describe_cluster`, `log_dirs`, `elect_leaders`
//! - `groups`: list, describe and delete groups; their offsets
//!
//! `work` knows which items are settled, `call` sends them.

mod call;
mod configs;
mod create_partitions;
mod create_topics;
mod delete_records;
mod delete_topics;
mod describe_cluster;
mod describe_topics;
mod elect_leaders;
mod groups;
mod list_offsets;
mod log_dirs;
mod results;
mod work;

use std::collections::BTreeMap;
use std::time::Duration;

pub use configs::{AlterConfigs, ConfigEntry, ConfigResource, ConfigSource, ConfigSynonym};
pub use create_partitions::NewPartitions;
pub use create_topics::{CreatedTopic, NewTopic};
pub use delete_records::DeleteBefore;
pub use describe_cluster::{ClusterDescription, ClusterNode};
pub use describe_topics::{PartitionDescription, TopicDescription};
pub use elect_leaders::Election;
pub use groups::{
    CommittedOffset, GroupDescription, GroupKind, GroupListing, GroupMember, GroupOffsets, Groups,
    MemberAssignment,
};
pub use list_offsets::{ListedOffset, OffsetSpec};
pub use log_dirs::{LogDir, LogDirReplica};
pub use results::Results;

use crate::TopicPartition;
use crate::cluster::Cluster;

/// Administers a cluster. Cheap to clone.
///
/// # Cancel safety
/// All its calls are cancel-safe in so far as nothing stays behind in the client. A request that went out may
/// be acted on by the broker all the same.
#[derive(Clone, Debug)]
pub struct Admin {
    cluster: Cluster,
    timeout: Duration,
}

impl Admin {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            timeout: Duration::from_secs(60),
        }
    }

    /// How long a call may take, with all its tries. A minute by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// Partitions as requests have them: grouped by their topics.
fn by_topic<T>(
    keys: &[TopicPartition],
    each: impl Fn(&TopicPartition) -> T,
) -> BTreeMap<String, Vec<T>> {
    let mut topics: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for key in keys {
        match topics.get_mut(&*key.topic) {
            Some(partitions) => partitions.push(each(key)),
            None => drop(topics.insert(key.topic.to_string(), vec![each(key)])),
        }
    }
    topics
}
