//! The consumer protocol (KIP-848).

use std::collections::BTreeSet;

use copart_protocol::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, TopicPartitions,
};
use copart_protocol::{ErrorCode, Uuid};

use super::{Bench, caller};

/// A member as a client runs it: it has what it was told, and says so.
#[derive(Clone, Debug)]
pub(super) struct Consumer {
    pub(super) id: String,
    pub(super) epoch: i32,
    pub(super) has: BTreeSet<(Uuid, i32)>,
    /// When it sent a heartbeat last.
    pub(super) last_ms: u64,
    request: ConsumerGroupHeartbeatRequest,
}

impl Consumer {
    pub(super) fn new(id: &str, topics: &[&str]) -> Self {
        let topics = topics.iter().map(|it| (*it).to_owned()).collect();
        Self {
            id: id.to_owned(),
            epoch: 0,
            has: BTreeSet::new(),
            last_ms: 0,
            request: ConsumerGroupHeartbeatRequest {
                group_id: "g".to_owned(),
                member_id: id.to_owned(),
                rebalance_timeout_ms: 60_000,
                subscribed_topic_names: Some(topics),
                ..Default::default()
            },
        }
    }

    fn regex(id: &str, expression: &str) -> Self {
        let mut consumer = Self::new(id, &[]);
        consumer.request.subscribed_topic_names = None;
        consumer.request.subscribed_topic_regex = Some(expression.to_owned());
        consumer
    }

    pub(super) fn with_instance(id: &str, instance: &str) -> Self {
        let mut consumer = Self::new(id, &["t"]);
        consumer.request.instance_id = Some(instance.to_owned());
        consumer
    }

    /// All that a first request has, or one after an error.
    fn full(&self) -> ConsumerGroupHeartbeatRequest {
        let mut topics: Vec<TopicPartitions> = Vec::new();
        for &(topic_id, partition) in &self.has {
            match topics.iter_mut().find(|it| it.topic_id == topic_id) {
                Some(topic) => topic.partitions.push(partition),
                None => topics.push(TopicPartitions {
                    topic_id,
                    partitions: vec![partition],
                }),
            }
        }
        ConsumerGroupHeartbeatRequest {
            member_epoch: self.epoch,
            topic_partitions: Some(topics),
            ..self.request.clone()
        }
    }

    fn send(
        &self,
        bench: &mut Bench,
        mut request: ConsumerGroupHeartbeatRequest,
    ) -> Result<ConsumerGroupHeartbeatResponse, ErrorCode> {
        let sent = bench.act(|coordinator, input| {
            coordinator.consumer_heartbeat(input, caller(1), &mut request)
        });
        sent.map_err(|error| error.code)
    }

    /// Says what it has, and takes over what it is told.
    pub(super) fn beat(&mut self, bench: &mut Bench) -> Result<(), ErrorCode> {
        self.last_ms = bench.elapsed_ms;
        let response = self.send(bench, self.full())?;
        self.epoch = response.member_epoch;
        if let Some(assignment) = response.assignment {
            let topics = assignment.topic_partitions.iter();
            self.has = topics
                .flat_map(|it| {
                    it.partitions
                        .iter()
                        .map(|partition| (it.topic_id, *partition))
                })
                .collect();
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, bench: &mut Bench, epoch: i32) -> Result<(), ErrorCode> {
        let request = ConsumerGroupHeartbeatRequest {
            group_id: "g".to_owned(),
            member_id: self.id.clone(),
            instance_id: self.request.instance_id.clone(),
            member_epoch: epoch,
            ..Default::default()
        };
        self.send(bench, request)?;
        self.epoch = 0;
        self.has.clear();
        Ok(())
    }

    fn count(&self) -> usize {
        self.has.len()
    }
}

/// Heartbeats of all until nothing changes any more.
pub(super) fn settle(bench: &mut Bench, consumers: &mut [Consumer]) {
    for _ in 0..8 {
        for consumer in consumers.iter_mut() {
            consumer.beat(bench).expect("a heartbeat");
        }
    }
    assert_eq!(bench.state(), "Stable");
}

#[test]
fn partitions_move_one_owner_at_a_time() {
    let mut bench = Bench::new(&[]);
    let mut a = Consumer::new("a", &["t"]);
    let mut b = Consumer::new("b", &["t"]);
    a.beat(&mut bench).expect("joins");
    assert_eq!(a.count(), 4);
    b.beat(&mut bench).expect("joins");
    assert_eq!((b.count(), bench.state().as_str()), (0, "Reconciling"));
    // The first one is told to give two back, and still has them until it says otherwise.
    let before = a.has.clone();
    a.beat(&mut bench).expect("a heartbeat");
    assert_eq!((a.count(), before.len()), (2, 4));
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!(b.count(), 0);
    a.beat(&mut bench).expect("a heartbeat");
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!((b.count(), a.epoch, b.epoch), (2, 2, 2));
    assert!(a.has.is_disjoint(&b.has));
    assert_eq!(bench.state(), "Stable");
    a.leave(&mut bench, -1).expect("leaves");
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!(b.count(), 4);
}

#[test]
fn epochs_fence() {
    let mut bench = Bench::new(&[]);
    let mut a = Consumer::new("a", &["t"]);
    let mut b = Consumer::new("b", &["t"]);
    assert_eq!(
        b.clone().leave(&mut bench, -1),
        Err(ErrorCode::GROUP_ID_NOT_FOUND)
    );
    a.beat(&mut bench).expect("joins");
    b.epoch = 7;
    assert_eq!(b.beat(&mut bench), Err(ErrorCode::UNKNOWN_MEMBER_ID));
    b.epoch = 0;
    b.beat(&mut bench).expect("joins");
    settle(&mut bench, &mut [a.clone(), b.clone()]);
    a.epoch = 9;
    assert_eq!(a.beat(&mut bench), Err(ErrorCode::FENCED_MEMBER_EPOCH));
    // The answer with the last epoch was lost: the one before will do, with no more than it had.
    a.epoch = 1;
    a.has.clear();
    a.beat(&mut bench).expect("retries");
    assert_eq!((a.epoch, a.count()), (2, 2));
    a.epoch = 1;
    a.has = (0..4)
        .map(|partition| (bench.cluster.topics["t"].id, partition))
        .collect();
    assert_eq!(a.beat(&mut bench), Err(ErrorCode::FENCED_MEMBER_EPOCH));
    // Then it begins anew, without anything.
    a.epoch = 0;
    a.has.clear();
    a.beat(&mut bench).expect("joins");
    assert_eq!(a.count(), 2);
}

#[test]
fn who_is_silent_or_does_not_give_back_is_fenced() {
    let mut bench = Bench::new(&[]);
    let mut a = Consumer::new("a", &["t"]);
    let mut b = Consumer::new("b", &["t"]);
    a.beat(&mut bench).expect("joins");
    b.beat(&mut bench).expect("joins");
    // It sends heartbeats, and keeps what it should give back.
    a.beat(&mut bench).expect("a heartbeat");
    a.has = (0..4)
        .map(|partition| (bench.cluster.topics["t"].id, partition))
        .collect();
    for _ in 0..2 {
        bench.pass(29_000);
        let keeps = a.has.clone();
        a.beat(&mut bench).expect("a heartbeat");
        a.has = keeps;
        b.beat(&mut bench).expect("a heartbeat");
        assert_eq!(b.count(), 0);
    }
    bench.pass(3_000);
    assert_eq!(a.beat(&mut bench), Err(ErrorCode::UNKNOWN_MEMBER_ID));
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!(b.count(), 4);
    bench.pass(45_001);
    assert_eq!(bench.state(), "Empty");
    assert_eq!(b.beat(&mut bench), Err(ErrorCode::UNKNOWN_MEMBER_ID));
}

#[test]
fn static_members_keep_what_they_have() {
    let mut bench = Bench::new(&[]);
    let mut a = Consumer::with_instance("a", "i");
    let mut b = Consumer::with_instance("b", "j");
    a.beat(&mut bench).expect("joins");
    b.beat(&mut bench).expect("joins");
    let mut both = [a, b];
    settle(&mut bench, &mut both);
    let [mut a, b] = both;
    let mut again = Consumer::with_instance("a2", "i");
    assert_eq!(
        again.beat(&mut bench),
        Err(ErrorCode::UNRELEASED_INSTANCE_ID)
    );
    let had = a.has.clone();
    a.leave(&mut bench, -2).expect("will be back");
    again.beat(&mut bench).expect("joins");
    assert_eq!((again.has.clone(), again.epoch), (had, b.epoch));
    a.epoch = again.epoch;
    assert_eq!(a.beat(&mut bench), Err(ErrorCode::FENCED_INSTANCE_ID));
    bench.restart();
    again.beat(&mut bench).expect("a heartbeat");
    assert_eq!(again.count(), 2);
    // It does not come back in time.
    again.leave(&mut bench, -2).expect("will be back");
    bench.pass(44_000);
    let mut b = b;
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!(b.count(), 2);
    bench.pass(2_000);
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!(b.count(), 4);
}

#[test]
fn topics_come_grow_and_match() {
    let mut bench = Bench::new(&[]);
    let mut a = Consumer::regex("a", "page-.*");
    a.beat(&mut bench).expect("joins");
    assert_eq!(a.count(), 0);
    bench.cluster.set("page-views", 2);
    bench.cluster.set("a-page-view", 9);
    a.beat(&mut bench).expect("a heartbeat");
    assert_eq!(a.count(), 2);
    bench.cluster.set("page-views", 5);
    a.beat(&mut bench).expect("a heartbeat");
    assert_eq!(a.count(), 5);
    bench.cluster.set("page-clicks", 1);
    bench.restart();
    a.beat(&mut bench).expect("a heartbeat");
    assert_eq!(a.count(), 6);
    // Another subscription: the old topics are given back, then the new ones come.
    a.request.subscribed_topic_regex = Some(String::new());
    a.request.subscribed_topic_names = Some(vec!["t".to_owned()]);
    a.beat(&mut bench).expect("a heartbeat");
    assert_eq!(a.count(), 0);
    a.beat(&mut bench).expect("a heartbeat");
    assert_eq!(a.count(), 4);
    a.request.subscribed_topic_regex = Some("(".to_owned());
    assert_eq!(
        a.beat(&mut bench),
        Err(ErrorCode::INVALID_REGULAR_EXPRESSION)
    );
}

#[test]
fn requests_that_cannot_be() {
    let mut bench = Bench::new(&[("group.consumer.max.size", "1")]);
    let good = Consumer::new("a", &["t"]);
    let refused = |bench: &mut Bench, change: &dyn Fn(&mut ConsumerGroupHeartbeatRequest)| {
        let mut request = good.full();
        change(&mut request);
        good.send(bench, request).expect_err("refused")
    };
    let invalid = ErrorCode::INVALID_REQUEST;
    assert_eq!(refused(&mut bench, &|it| it.group_id.clear()), invalid);
    assert_eq!(refused(&mut bench, &|it| it.member_id.clear()), invalid);
    assert_eq!(
        refused(&mut bench, &|it| it.instance_id = Some(String::new())),
        invalid
    );
    assert_eq!(
        refused(&mut bench, &|it| it.rebalance_timeout_ms = -1),
        invalid
    );
    assert_eq!(
        refused(&mut bench, &|it| it.subscribed_topic_names = None),
        invalid
    );
    assert_eq!(
        refused(&mut bench, &|it| it.topic_partitions = None),
        invalid
    );
    assert_eq!(refused(&mut bench, &|it| it.member_epoch = -3), invalid);
    assert_eq!(refused(&mut bench, &|it| it.member_epoch = -2), invalid);
    let unsupported = ErrorCode::UNSUPPORTED_ASSIGNOR;
    assert_eq!(
        refused(&mut bench, &|it| it.server_assignor = Some("x".to_owned())),
        unsupported
    );
    assert_eq!(bench.state(), "Dead", "nothing is left of those");
    Consumer::new("a", &["t"]).beat(&mut bench).expect("joins");
    let full = Consumer::new("b", &["t"]).beat(&mut bench);
    assert_eq!(full, Err(ErrorCode::GROUP_MAX_SIZE_REACHED));
}

#[test]
fn the_assignor_that_most_ask_for() {
    let mut bench = Bench::new(&[]);
    bench.cluster.set("u", 4);
    let mut all: Vec<Consumer> = ["a", "b"].map(|id| Consumer::new(id, &["t", "u"])).into();
    for consumer in &mut all {
        consumer.request.server_assignor = Some("range".to_owned());
        consumer.beat(&mut bench).expect("joins");
    }
    settle(&mut bench, &mut all);
    let numbers = |consumer: &Consumer| consumer.has.iter().map(|it| it.1).collect::<Vec<_>>();
    assert_eq!(numbers(&all[0]), [0, 1, 0, 1]);
    let described = bench
        .coordinator
        .describe_consumer("g", &bench.cluster)
        .expect("there");
    assert_eq!(described.assignor_name, "range");
}

#[test]
fn a_restart_in_the_middle_of_a_move() {
    let mut bench = Bench::new(&[]);
    let mut a = Consumer::new("a", &["t"]);
    let mut b = Consumer::new("b", &["t"]);
    a.beat(&mut bench).expect("joins");
    b.beat(&mut bench).expect("joins");
    let had = a.has.clone();
    a.beat(&mut bench).expect("a heartbeat");
    bench.restart();
    // It has not given them back yet.
    let told = std::mem::replace(&mut a.has, had);
    a.beat(&mut bench).expect("a heartbeat");
    b.beat(&mut bench).expect("a heartbeat");
    assert_eq!(b.count(), 0);
    a.has = told;
    let mut both = [a, b];
    settle(&mut bench, &mut both);
    assert_eq!((both[0].count(), both[1].count()), (2, 2));
    assert!(both[0].has.is_disjoint(&both[1].has));
}
