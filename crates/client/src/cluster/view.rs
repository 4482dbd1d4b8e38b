//! What is known of the cluster: a value that is replaced as a whole.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use copart_protocol::messages::metadata::{
    MetadataResponse, MetadataResponsePartition, MetadataResponseTopic,
};
use copart_protocol::{ErrorCode, Uuid};

use crate::net::Address;

/// The cluster as its brokers last described it.
#[derive(Clone, Debug, Default)]
pub struct ClusterView {
    cluster_id: Option<Arc<str>>,
    controller: Option<i32>,
    brokers: BTreeMap<i32, Broker>,
    topics: HashMap<Arc<str>, Arc<Topic>>,
    /// Why a topic that was asked for is not among `topics`.
    errors: HashMap<Arc<str>, ErrorCode>,
}

/// A broker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broker {
    /// Its node id.
    pub id: i32,
    /// Where it listens.
    pub address: Address,
    /// The rack that it stands in.
    pub rack: Option<Arc<str>>,
}

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Topic {
    /// Its name.
    pub name: Arc<str>,
    /// Its id, or zero from brokers that have none (before Kafka 2.8).
    pub id: Uuid,
    /// Whether it is one of Kafka's own.
    pub is_internal: bool,
    /// Its partitions, in order from 0.
    pub partitions: Vec<Partition>,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partition {
    /// Its number.
    pub index: i32,
    /// The node that leads it, if one does.
    pub leader: Option<i32>,
    /// The leader's epoch, or -1 if the broker does not tell.
    pub leader_epoch: i32,
    /// The nodes that hold it.
    pub replicas: Vec<i32>,
    /// Those that are in sync.
    pub in_sync: Vec<i32>,
}

impl ClusterView {
    /// The cluster's id.
    pub fn cluster_id(&self) -> Option<&str> {
        self.cluster_id.as_deref()
    }

    /// The controller's node, or with KRaft any node that passes requests on to it.
    pub fn controller(&self) -> Option<i32> {
        self.controller
    }

    /// The brokers, by their ids.
    pub fn brokers(&self) -> impl ExactSizeIterator<Item = &Broker> {
        self.brokers.values()
    }

    /// The broker with this node id.
    pub fn broker(&self, id: i32) -> Option<&Broker> {
        self.brokers.get(&id)
    }

    /// A topic that somebody asked for before, and that exists.
    pub fn topic(&self, name: &str) -> Option<&Arc<Topic>> {
        self.topics.get(name)
    }

    pub(crate) fn topic_error(&self, name: &str) -> Option<ErrorCode> {
        self.errors.get(name).copied()
    }

    /// The view after this answer. Topics that the answer is silent about stay as they are.
    pub(crate) fn merge(&self, response: &MetadataResponse) -> Self {
        let brokers = response.brokers.iter().filter_map(|broker| {
            let address = Address::advertised(&broker.host, broker.port)?;
            let rack = broker.rack.as_deref().map(Arc::from);
            Some((
                broker.node_id,
                Broker {
                    id: broker.node_id,
                    address,
                    rack,
                },
            ))
        });
        let mut view = Self {
            cluster_id: response.cluster_id.as_deref().map(Arc::from),
            controller: (response.controller_id >= 0).then_some(response.controller_id),
            brokers: brokers.collect(),
            topics: self.topics.clone(),
            errors: self.errors.clone(),
        };
        for topic in &response.topics {
            view.merge_topic(topic);
        }
        view
    }

    fn merge_topic(&mut self, topic: &MetadataResponseTopic) {
        let Some(name) = topic.name.as_deref() else {
            return;
        };
        let known = self.topics.get_key_value(name);
        let name: Arc<str> = known.map_or_else(|| name.into(), |(name, _)| Arc::clone(name));
        if !topic.error_code.is_none() {
            // A topic that is there, but has no leaders just now, is not gone.
            if !topic.error_code.is_retriable()
                || topic.error_code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
            {
                self.topics.remove(&name);
            }
            self.errors.insert(name, topic.error_code);
            return;
        }
        let old = self
            .topics
            .get(&name)
            .filter(|old| old.id == topic.topic_id);
        match partitions(&topic.partitions, old) {
            Some(partitions) => {
                self.errors.remove(&name);
                let topic = Topic {
                    name: Arc::clone(&name),
                    id: topic.topic_id,
                    is_internal: topic.is_internal,
                    partitions,
                };
                // An unchanged topic keeps its allocation, so that a change can be seen by the pointer.
                if self.topics.get(&name).is_none_or(|old| **old != topic) {
                    self.topics.insert(name, Arc::new(topic));
                }
            }
            None => {
                self.errors.insert(name, ErrorCode::LEADER_NOT_AVAILABLE);
            }
        }
    }

    /// Drops what is known of these topics.
    pub(crate) fn forget(&mut self, topics: &[Arc<str>]) {
        for topic in topics {
            self.topics.remove(topic);
            self.errors.remove(topic);
        }
    }

    /// The view after a broker said, in answer to something else, who leads a partition now (KIP-951).
    /// `None` if that is no news.
    pub(crate) fn with_leader(
        &self,
        topic: &str,
        partition: i32,
        leader: i32,
        epoch: i32,
    ) -> Option<Self> {
        let known = self.topics.get(topic)?;
        let index = usize::try_from(partition).ok()?;
        let current = known.partitions.get(index)?;
        if leader < 0 || epoch <= current.leader_epoch || !self.brokers.contains_key(&leader) {
            return None;
        }
        let mut changed = Topic::clone(known);
        changed.partitions[index].leader = Some(leader);
        changed.partitions[index].leader_epoch = epoch;
        let mut view = self.clone();
        view.topics
            .insert(Arc::clone(&known.name), Arc::new(changed));
        Some(view)
    }

    /// The view with a broker in it that another one named. What is known already stays.
    pub(crate) fn with_broker(
        &self,
        id: i32,
        address: Address,
        rack: Option<&str>,
    ) -> Option<Self> {
        if id < 0
            || self
                .brokers
                .get(&id)
                .is_some_and(|known| known.address == address)
        {
            return None;
        }
        let mut view = self.clone();
        let rack = rack.map(Arc::from);
        view.brokers.insert(id, Broker { id, address, rack });
        Some(view)
    }
}

/// The partitions in order; `None` if there are none, or some are left out.
fn partitions(
    listed: &[MetadataResponsePartition],
    old: Option<&Arc<Topic>>,
) -> Option<Vec<Partition>> {
    let mut partitions: Vec<Option<Partition>> = vec![None; listed.len()];
    for one in listed {
        let index = usize::try_from(one.partition_index).ok()?;
        let known = old.and_then(|topic| topic.partitions.get(index));
        let partition = match known {
            // An older epoch comes from a broker that has not heard of the newest leader (KIP-320).
            Some(known) if one.leader_epoch >= 0 && one.leader_epoch < known.leader_epoch => {
                known.clone()
            }
            _ => Partition {
                index: one.partition_index,
                leader: (one.leader_id >= 0).then_some(one.leader_id),
                leader_epoch: one.leader_epoch,
                replicas: one.replica_nodes.clone(),
                in_sync: one.isr_nodes.clone(),
            },
        };
        *partitions.get_mut(index)? = Some(partition);
    }
    let partitions: Option<Vec<_>> = partitions.into_iter().collect();
    partitions.filter(|partitions| !partitions.is_empty())
}

#[cfg(test)]
mod tests {
    use copart_protocol::messages::metadata::MetadataResponseBroker;

    use super::*;

    fn answer(topics: Vec<MetadataResponseTopic>) -> MetadataResponse {
        MetadataResponse {
            brokers: [1, 2]
                .map(|node_id| MetadataResponseBroker {
                    node_id,
                    host: format!("b{node_id}"),
                    port: 9092,
                    rack: None,
                })
                .to_vec(),
            controller_id: 1,
            topics,
            ..MetadataResponse::default()
        }
    }

    fn topic(id: u8, partitions: &[(i32, i32, i32)]) -> MetadataResponseTopic {
        MetadataResponseTopic {
            name: Some("t".to_owned()),
            topic_id: Uuid([id; 16]),
            partitions: partitions
                .iter()
                .map(|&(index, leader, epoch)| MetadataResponsePartition {
                    partition_index: index,
                    leader_id: leader,
                    leader_epoch: epoch,
                    ..MetadataResponsePartition::default()
                })
                .collect(),
            ..MetadataResponseTopic::default()
        }
    }

    fn leaders(view: &ClusterView) -> Vec<(Option<i32>, i32)> {
        let partitions = &view.topic("t").expect("known").partitions;
        partitions
            .iter()
            .map(|p| (p.leader, p.leader_epoch))
            .collect()
    }

    #[test]
    fn partitions_come_in_any_order_and_none_may_be_missing() {
        let view = ClusterView::default().merge(&answer(vec![topic(1, &[(1, 2, 0), (0, 1, 3)])]));
        assert_eq!(leaders(&view), [(Some(1), 3), (Some(2), 0)]);
        for bad in [
            vec![(1, 1, 0)],
            vec![(i32::MAX, 1, 0)],
            vec![(-1, 1, 0)],
            vec![],
        ] {
            let view = ClusterView::default().merge(&answer(vec![topic(1, &bad)]));
            assert!(view.topic("t").is_none(), "{bad:?}");
            assert_eq!(view.topic_error("t"), Some(ErrorCode::LEADER_NOT_AVAILABLE));
        }
    }

    #[test]
    fn older_epochs_are_not_news_unless_the_topic_is_new() {
        let view = ClusterView::default().merge(&answer(vec![topic(1, &[(0, 1, 5)])]));
        let stale = view.merge(&answer(vec![topic(1, &[(0, 2, 4)])]));
        assert_eq!(leaders(&stale), [(Some(1), 5)]);
        let leaderless = view.merge(&answer(vec![topic(1, &[(0, -1, 6)])]));
        assert_eq!(leaders(&leaderless), [(None, 6)]);
        let recreated = view.merge(&answer(vec![topic(2, &[(0, 2, 0)])]));
        assert_eq!(leaders(&recreated), [(Some(2), 0)]);
    }

    #[test]
    fn unchanged_topics_keep_their_allocation() {
        let view = ClusterView::default().merge(&answer(vec![topic(1, &[(0, 1, 5)])]));
        let again = view.merge(&answer(vec![topic(1, &[(0, 1, 5)])]));
        assert!(Arc::ptr_eq(
            view.topic("t").unwrap(),
            again.topic("t").unwrap()
        ));
    }

    #[test]
    fn a_deleted_topic_goes_and_one_without_leader_stays() {
        let view = ClusterView::default().merge(&answer(vec![topic(1, &[(0, 1, 5)])]));
        let with_error = |code| {
            let mut topic = topic(1, &[]);
            topic.error_code = code;
            view.merge(&answer(vec![topic]))
        };
        assert!(
            with_error(ErrorCode::LEADER_NOT_AVAILABLE)
                .topic("t")
                .is_some()
        );
        for code in [
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        ] {
            let view = with_error(code);
            assert!(view.topic("t").is_none());
            assert_eq!(view.topic_error("t"), Some(code));
        }
    }

    #[test]
    fn hints_must_be_newer_and_name_a_known_broker() {
        let view = ClusterView::default().merge(&answer(vec![topic(1, &[(0, 1, 5)])]));
        assert!(view.with_leader("t", 0, 2, 5).is_none());
        assert!(view.with_leader("t", 0, 3, 6).is_none());
        assert!(view.with_leader("t", 1, 2, 6).is_none());
        assert!(view.with_leader("u", 0, 2, 6).is_none());
        let moved = view.with_leader("t", 0, 2, 6).expect("news");
        assert_eq!(leaders(&moved), [(Some(2), 6)]);
        let named = view
            .with_broker(3, Address::new("b3", 1), None)
            .expect("news");
        assert!(named.with_leader("t", 0, 3, 6).is_some());
    }
}
