//! Leaders that move, followers that are nearer (KIP-392), and logs that were truncated (KIP-320).

use super::*;

#[test]
fn a_hint_is_passed_on_and_the_new_leader_asked() {
    let mut bench = Bench::reading(config(), 1);
    let plan = bench.plan(1);
    let moved = PartitionData {
        current_leader: LeaderIdAndEpoch {
            leader_id: 2,
            leader_epoch: 1,
        },
        ..failed(0, ErrorCode::NOT_LEADER_OR_FOLLOWER)
    };
    let aftermath = bench.answer(1, &plan, response(5, vec![moved]));
    assert!(aftermath.refresh);
    assert_eq!(aftermath.leaders, [(at(0), 2, 1)]);
    assert!(bench.waits(1).is_some(), "it backs off");
    // News of the leader ends that.
    bench.core.set_topic(&topic(&[(2, 1)]));
    assert_eq!(bench.waits(1), None);
    let plan = bench.plan(2);
    let partition = &plan.request.topics[0].partitions[0];
    assert_eq!(
        (partition.fetch_offset, partition.current_leader_epoch),
        (0, 1)
    );
}

#[test]
fn a_nearer_replica_is_read_from_for_a_while() {
    let mut bench = Bench::reading(
        CoreConfig {
            rack: "b".to_owned(),
            ..config()
        },
        1,
    );
    let plan = bench.plan(1);
    assert_eq!(plan.request.rack_id, "b");
    let nearer = |node| PartitionData {
        preferred_read_replica: node,
        ..data(0, &[])
    };
    bench.answer(1, &plan, response(5, vec![nearer(9)]));
    // Nobody knows node 9.
    let plan = bench.plan(1);
    bench.answer(1, &plan, response(5, vec![nearer(2)]));
    assert_eq!(bench.core.nodes(bench.now), [2]);
    assert_eq!(bench.waits(1), None);
    let plan = bench.plan(2);
    bench.answer(2, &plan, response(6, vec![data(0, &[batch(0, 1, 1, 0)])]));
    assert_eq!(bench.read(), Some((0, vec![0])));
    // A follower that lags behind is not a log that was cut.
    let plan = bench.plan(2);
    let behind = failed(0, ErrorCode::OFFSET_OUT_OF_RANGE);
    bench.answer(2, &plan, response(6, vec![behind]));
    bench.now = bench.waits(1).expect("it backs off");
    let plan = bench.plan(1);
    bench.answer(1, &plan, response(5, vec![nearer(3)]));
    bench.plan(3);
    bench.pass(299_000);
    assert_eq!(bench.core.nodes(bench.now), [3]);
    bench.pass(1_000);
    assert_eq!(
        bench.core.nodes(bench.now),
        [1],
        "the leader is asked again"
    );
}

#[test]
fn a_nearer_replica_that_is_gone_is_given_up() {
    let mut bench = Bench::reading(config(), 1);
    bench.fetch(vec![PartitionData {
        preferred_read_replica: 2,
        ..data(0, &[])
    }]);
    bench.core.unreachable(2, bench.now);
    assert_eq!(bench.core.nodes(bench.now), [1]);
    bench.plan(1);
}

/// Has handed out offsets 0 to 5, written in epoch 0, and has 6 to 8 in store; then node 2 leads in epoch 1.
fn elected(reset: Reset) -> (Bench, Query) {
    let mut bench = Bench::reading(CoreConfig { reset, ..config() }, 1);
    bench.fetch(vec![data(0, &[batch(0, 6, 1, 0)])]);
    assert_eq!(bench.read(), Some((0, vec![0, 1, 2, 3, 4, 5])));
    bench.fetch(vec![data(0, &[batch(6, 3, 1, 0)])]);
    bench.core.set_topic(&topic(&[(2, 1)]));
    assert_eq!(bench.waits(2), None, "first it is asked");
    let query = bench.query(2);
    assert_eq!((query.kind, query.leader_epoch), (QueryKind::Epoch(0), 1));
    (bench, query)
}

#[test]
fn a_new_leader_that_has_all_is_read_from() {
    let (mut bench, query) = elected(Reset::Error);
    bench.reply(&query, Reply::Found(Position::new(9, 0)));
    let plan = bench.plan(2);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 9)]));
    assert_eq!(bench.read(), Some((0, vec![6, 7, 8])));
}

#[test]
fn an_old_leader_that_cannot_be_asked_is_believed() {
    let (mut bench, query) = elected(Reset::Error);
    bench.reply(&query, Reply::Unsupported);
    bench.plan(2);
}

#[test]
fn what_was_not_handed_out_yet_may_be_truncated() {
    let (mut bench, query) = elected(Reset::Error);
    bench.reply(&query, Reply::Found(Position::new(7, 0)));
    // 7 and 8 are gone, and nobody has seen them.
    let plan = bench.plan(2);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 6)]));
    assert!(bench.read().is_none());
}

#[test]
fn truncation_of_what_was_read_is_told() {
    let (mut bench, query) = elected(Reset::Error);
    bench.reply(&query, Reply::Found(Position::new(4, 0)));
    let error = bench.error();
    assert_eq!(error.kind(), ErrorKind::LogTruncated);
    assert_eq!(error.context().offset, Some(4));
    assert!(error.to_string().contains("up to offset 6"), "{error}");
    assert!(matches!(bench.core.poll_event(), Some(Event::End)));
    bench.core.seek(&at(0), Origin::At(Position::new(4, 0)));
    let plan = bench.plan(2);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 4)]));
}

#[test]
fn truncation_resets_to_where_logs_part() {
    let (mut bench, query) = elected(Reset::Latest);
    bench.reply(&query, Reply::Found(Position::new(4, 0)));
    let plan = bench.plan(2);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 4)]));
    // Where they part is not always known.
    let (mut bench, query) = elected(Reset::Latest);
    bench.reply(&query, Reply::Found(Position::new(-1, -1)));
    assert_eq!(bench.query(2).kind, QueryKind::Start(Anchor::Latest));
}

#[test]
fn an_answer_of_the_old_leader_is_void() {
    let mut bench = Bench::reading(config(), 1);
    bench.fetch(vec![data(0, &[batch(0, 2, 1, 0)])]);
    bench.read();
    let plan = bench.plan(1);
    bench.core.set_topic(&topic(&[(2, 1)]));
    let query = bench.query(2);
    bench.answer(1, &plan, response(5, vec![data(0, &[batch(2, 2, 1, 0)])]));
    assert!(bench.read().is_none());
    bench.reply(&query, Reply::Found(Position::new(2, 0)));
    let plan = bench.plan(2);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 2)]));
}

#[test]
fn a_topic_that_is_gone_is_told_for_each_partition() {
    let mut bench = Bench::reading(config(), 2);
    bench
        .core
        .topic_failed(TOPIC, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    for _ in 0..2 {
        assert_eq!(bench.error().kind(), ErrorKind::UnknownTopic);
    }
    assert!(matches!(bench.core.poll_event(), Some(Event::End)));
}
