//! The task that tells a reader's core about the cluster, and finds out what it wants to know.

use std::collections::HashMap;
use std::sync::Arc;

use copart_protocol::ErrorCode;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::core::{Query, Reply};
use super::lookup;
use super::shared::Shared;
use crate::cluster::ClusterView;
use crate::{Error, TopicPartition};

/// Metadata in a row that says a topic does not exist until that is believed: a new one is not known to all
/// brokers at once.
const UNKNOWN_TOPIC_TRIES: u32 = 5;

type Asked = (Vec<(Query, Reply)>, Option<Error>);

pub(super) async fn run(shared: Arc<Shared>) {
    let mut supervisor = Supervisor {
        shared: Arc::clone(&shared),
        unknown: HashMap::new(),
        lookups: JoinSet::new(),
    };
    tokio::select! {
        () = shared.closed() => {}
        () = supervisor.work() => {}
    }
}

struct Supervisor {
    shared: Arc<Shared>,
    /// How often in a row metadata had no such topic.
    unknown: HashMap<Arc<str>, u32>,
    lookups: JoinSet<Asked>,
}

impl Supervisor {
    async fn work(&mut self) {
        let mut views = self.shared.cluster.watch();
        let view = Arc::clone(&views.borrow_and_update());
        self.apply(&view);
        loop {
            let next = self.look();
            tokio::select! {
                changed = views.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let view = Arc::clone(&views.borrow_and_update());
                    self.apply(&view);
                }
                Some(asked) = self.lookups.join_next(), if !self.lookups.is_empty() => {
                    // A task that panicked has taken its questions with it, which is a bug that a test finds.
                    if let Ok(asked) = asked {
                        self.replied(asked);
                    }
                }
                () = self.shared.supervise.notified() => {}
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            }
        }
    }

    /// Starts what is to be asked, and sources for nodes that have none.
    fn look(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let (nodes, (lookups, next)) = {
            let mut core = self.shared.core();
            (core.nodes(now), core.poll_lookups(now))
        };
        self.shared.ensure_sources(&nodes);
        for (node, queries) in lookups {
            let shared = Arc::clone(&self.shared);
            let ask = async move {
                let isolation = shared.settings.isolation;
                lookup::ask(&shared.cluster, node, isolation, queries).await
            };
            self.lookups.spawn_on(ask, self.shared.runtime());
        }
        next
    }

    fn replied(&mut self, (replies, trouble): Asked) {
        let now = Instant::now();
        let mut refresh = false;
        {
            let mut core = self.shared.core();
            for (query, reply) in &replies {
                refresh |= core.replied(query, *reply, now);
            }
        }
        if trouble.is_some() {
            self.shared.set_trouble(trouble.as_ref());
        }
        if refresh {
            self.shared.cluster.refresh_soon();
        }
        self.shared.wake_reader();
        self.shared.stir();
    }

    fn apply(&mut self, view: &ClusterView) {
        let mut topics: Vec<Arc<str>> = Vec::new();
        let mut core = self.shared.core();
        for TopicPartition { topic, .. } in core.partitions() {
            if topics.last() != Some(&topic) {
                topics.push(topic);
            }
        }
        core.set_brokers(view.brokers().map(|broker| broker.id));
        let mut refresh = false;
        for name in topics {
            if let Some(topic) = view.topic(&name) {
                self.unknown.remove(&name);
                let settings = &self.shared.settings;
                if settings.topics.contains(&name) && settings.end.is_none() {
                    for partition in &topic.partitions {
                        // One that is assigned already stays as it is; the others were added to the topic.
                        let partition = TopicPartition::new(name.clone(), partition.index);
                        let bound = settings.bound_of(&partition);
                        core.assign(partition, super::Start::Earliest.origin(), bound);
                    }
                }
                core.set_topic(topic);
                refresh |= topic.partitions.iter().any(|one| one.leader.is_none());
                continue;
            }
            match view.topic_error(&name) {
                Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) => {
                    let times = self.unknown.entry(name.clone()).or_default();
                    *times += 1;
                    if *times > UNKNOWN_TOPIC_TRIES {
                        core.topic_failed(&name, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
                    } else {
                        refresh = true;
                    }
                }
                Some(code) if !code.is_retriable() => core.topic_failed(&name, code),
                _ => refresh = true,
            }
        }
        drop(core);
        if refresh {
            self.shared.cluster.refresh_soon();
        }
        self.shared.wake_reader();
        self.shared.stir();
    }
}
