//! The topics that a member has to know of.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;

use copart_protocol::messages::metadata::{MetadataRequest, MetadataResponse};
use copart_protocol::{ErrorCode, VersionRange};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::group::{TopicInfo, Topics, Wanted};
use crate::Result;
use crate::cluster::{Cluster, ClusterView, Hold, RequestBuilder};

/// From the first version in which no list means all topics, and none is created by asking.
const ALL_TOPICS: VersionRange = VersionRange::new(4, i16::MAX);

/// What is known of them, and what is asked.
pub(crate) struct Subscribed {
    cluster: Cluster,
    wanted: Wanted,
    /// So that metadata is asked for.
    held: Vec<Hold>,
    /// What is known may have changed since it was told.
    is_new: bool,
    told: Option<Topics>,
    /// All topics, as they were listed last.
    all: Option<Topics>,
    listing: JoinSet<Result<MetadataResponse>>,
    list_at: Option<Instant>,
    failures: u32,
    /// When to ask again for topics that are not there, and how often that was done.
    ask_at: Option<Instant>,
    asked: u32,
}

impl Subscribed {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            wanted: Wanted::Nothing,
            held: Vec::new(),
            is_new: false,
            told: None,
            all: None,
            listing: JoinSet::new(),
            list_at: None,
            failures: 0,
            ask_at: None,
            asked: 0,
        }
    }

    pub(crate) fn want(&mut self, wanted: Wanted) {
        self.held = match &wanted {
            Wanted::Topics(topics) => topics
                .iter()
                .map(|topic| self.cluster.hold(topic))
                .collect(),
            Wanted::Nothing | Wanted::All => Vec::new(),
        };
        self.list_at = (wanted == Wanted::All).then(Instant::now);
        self.wanted = wanted;
        (self.ask_at, self.asked) = (None, 0);
        self.told = None;
        self.is_new = true;
        self.cluster.refresh_soon();
    }

    pub(crate) fn view_changed(&mut self) {
        self.is_new = true;
    }

    /// What is known is not enough.
    pub(crate) fn refresh(&mut self, now: Instant) {
        match self.wanted {
            Wanted::All => self.list_at = Some(now),
            Wanted::Nothing | Wanted::Topics(_) => self.cluster.refresh_soon(),
        }
    }

    /// When to look again.
    pub(crate) fn next(&self) -> Option<Instant> {
        let list_at = self.list_at.filter(|_| self.listing.is_empty());
        [list_at, self.ask_at].into_iter().flatten().min()
    }

    /// A topic may be created at any time, and the leader of a classic group learns of it in no other way.
    fn ask_again(&mut self, lacks: bool, now: Instant) {
        if !lacks {
            (self.ask_at, self.asked) = (None, 0);
        } else if self.ask_at.is_none() {
            self.asked = self.asked.saturating_add(1);
            self.ask_at = Some(now + self.cluster.backoff().after(self.asked));
        }
    }

    /// What is known, if that is news. Begins to ask if it is time to.
    pub(crate) fn news(&mut self, now: Instant) -> Option<Topics> {
        if self.ask_at.take_if(|at| *at <= now).is_some() {
            // The view changes when that is answered, also if it says the same.
            self.cluster.refresh_soon();
        }
        if self.listing.is_empty() && self.list_at.take_if(|at| *at <= now).is_some() {
            let request = MetadataRequest {
                topics: None,
                allow_auto_topic_creation: false,
                ..MetadataRequest::default()
            };
            let request = RequestBuilder::new(self.cluster.clone(), request).versions(ALL_TOPICS);
            self.listing.spawn(request.send());
        }
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        let topics = match &self.wanted {
            Wanted::Nothing => return None,
            Wanted::All => self.all.clone()?,
            Wanted::Topics(names) => {
                let view = self.cluster.view();
                let mut topics = Topics::new();
                for name in names {
                    if let Some(topic) = view.topic(name) {
                        let partitions = topic.partitions.iter();
                        let info = TopicInfo {
                            id: topic.id,
                            is_internal: topic.is_internal,
                            partitions: partitions.map(|p| racks(&view, &p.replicas)).collect(),
                        };
                        topics.insert(Arc::clone(name), Some(info));
                    } else if view.topic_error(name).is_some_and(is_lasting) {
                        topics.insert(Arc::clone(name), None);
                    }
                }
                topics
            }
        };
        if let Wanted::Topics(names) = &self.wanted {
            let there = topics.values().flatten().count();
            self.ask_again(there < names.len(), now);
        }
        if self.told.as_ref() == Some(&topics) {
            return None;
        }
        self.told = Some(topics.clone());
        Some(topics)
    }

    /// Resolves when all topics were listed.
    ///
    /// Cancel-safe.
    pub(crate) async fn listed(&mut self) {
        if self.listing.is_empty() {
            return pending().await;
        }
        let Some(listed) = self.listing.join_next().await else {
            return;
        };
        let now = Instant::now();
        match listed {
            Ok(Ok(response)) => {
                self.failures = 0;
                let view = self.cluster.view();
                self.all = Some(all_of(&view, &response));
                self.is_new = true;
                self.list_at = Some(now + self.cluster.metadata_max_age());
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "topics are listed again");
                self.failures += 1;
                self.list_at = Some(now + self.cluster.backoff().after(self.failures));
            }
            // A task that panicked is a bug that a test finds.
            Err(_) => self.list_at = Some(now + self.cluster.metadata_max_age()),
        }
        if self.wanted != Wanted::All {
            self.list_at = None;
        }
    }
}

/// The topic is not there, or must not be seen.
fn is_lasting(code: ErrorCode) -> bool {
    code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION || !code.is_retriable()
}

fn racks(view: &ClusterView, replicas: &[i32]) -> Vec<Arc<str>> {
    let brokers = replicas.iter().filter_map(|&id| view.broker(id));
    brokers.filter_map(|broker| broker.rack.clone()).collect()
}

fn all_of(view: &ClusterView, response: &MetadataResponse) -> Topics {
    let mut all = BTreeMap::new();
    for topic in &response.topics {
        let Some(name) = topic.name.as_deref().filter(|_| topic.error_code.is_none()) else {
            continue;
        };
        let mut partitions: Vec<_> = topic.partitions.iter().collect();
        partitions.sort_by_key(|partition| partition.partition_index);
        let partitions = partitions.into_iter();
        let info = TopicInfo {
            id: topic.topic_id,
            is_internal: topic.is_internal,
            partitions: partitions.map(|p| racks(view, &p.replica_nodes)).collect(),
        };
        all.insert(Arc::from(name), Some(info));
    }
    all
}
