//! Rebalances that take only what moves (KIP-429).

use super::*;

const COOPERATIVE: &[Assignor] = &[Assignor::CooperativeSticky];

#[test]
fn what_moves_is_let_go_of_after_the_sync_and_then_it_joins_again() {
    let mut hand = Hand::alone(COOPERATIVE, 3);
    assert_eq!(hand.assigns(), [0, 1, 2]);
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    assert_eq!(hand.revokes(), [0; 0]);
    hand.follow(2, &partitions([0, 1]));
    assert_eq!(hand.revokes(), [2]);
    assert_eq!(hand.has(), [0, 1, 2], "until it is let go of");
    assert_eq!(hand.core.state(), GroupState::Releasing);
    hand.beat(ErrorCode::NONE);
    assert!(hand.is_quiet());
    hand.release([2]);
    let (token, join) = hand.join();
    assert_eq!(hand.owned(&join, COOPERATIVE[0]), (vec![0, 1], 2));
    hand.refuse_join(token, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    hand.pass(Duration::from_secs(2));
    hand.follow(3, &partitions([0, 1]));
    assert_eq!(hand.core.state(), GroupState::Stable);
    assert_eq!((hand.revokes(), hand.assigns()), (vec![], vec![]));
}

#[test]
fn what_it_has_survives_generations_that_come_to_nothing() {
    let mut hand = Hand::alone(COOPERATIVE, 2);
    hand.assigns();
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    hand.generation_of(2, "m-0");
    let (token, _) = hand.sync();
    hand.refuse_sync(token, ErrorCode::REBALANCE_IN_PROGRESS);
    let (token, join) = hand.join();
    assert_eq!(hand.owned(&join, COOPERATIVE[0]), (vec![0, 1], 2));
    // The answer is lost, and with it the number of the generation that has begun. What it said counts all the same.
    hand.answer(token, Err(lost()));
    hand.beat(ErrorCode::ILLEGAL_GENERATION);
    assert_eq!(hand.loses(), [0; 0]);
    hand.follow(4, &partitions([0, 1]));
    assert_eq!(hand.has(), [0, 1]);
    assert_eq!((hand.revokes(), hand.loses()), (vec![], vec![]));
}

#[test]
fn a_static_member_loses_what_it_has_when_it_has_missed_a_generation() {
    for (generation, lost) in [(2, &[][..]), (3, &[0, 1])] {
        let mut config = config(Protocol::Classic, COOPERATIVE);
        config.instance_id = Some(Arc::from("one"));
        let mut hand = Hand::subscribed(config, 2);
        hand.follow(1, &partitions([0, 1]));
        assert_eq!(hand.assigns(), [0, 1]);
        hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
        hand.generation_of(generation, "m-0");
        assert_eq!(hand.loses(), lost);
        let (token, _) = hand.sync();
        hand.assigned(token, &partitions([0, 1]));
        assert_eq!((hand.assigns(), hand.revokes()), (lost.to_vec(), vec![]));
        assert_eq!(hand.has(), [0, 1]);
        // Others wait for what it said that it has.
        assert_eq!(hand.is_quiet(), lost.is_empty());
    }
}

/// The heartbeats of all the time that a member has to let go of partitions.
fn rebalance_timeout(hand: &mut Hand) {
    let until = hand.now + config(Protocol::Classic, COOPERATIVE).rebalance_timeout;
    while hand.now + BEAT < until {
        hand.beat(ErrorCode::NONE);
        assert!(hand.is_quiet());
    }
    hand.pass(until - hand.now);
}

#[test]
fn a_leader_sees_to_partitions_that_nobody_joins_again_for() {
    let mut hand = Hand::subscribed(config(Protocol::Classic, COOPERATIVE), 4);
    let (token, _) = hand.join();
    hand.ask_for_id(token);
    let own = hand.join_under_way();
    let mut other = own.clone();
    let topics = [Arc::from(TOPIC)];
    other.protocols[0].metadata =
        assign::encode_subscription(COOPERATIVE[0], &topics, &partitions(0..4), 1, None);
    hand.generation(2, &[("m-1", own.clone()), ("m-2", other)]);
    let (token, sync) = hand.sync();
    let lens = sync.assignments.iter().map(|it| {
        let assigned = assign::decode_assignment(&it.assignment).expect("readable");
        (&*it.member_id, assigned.len())
    });
    let lens: Vec<_> = lens.collect();
    assert_eq!(lens, [("m-1", 0), ("m-2", 2)]);
    hand.assigned(token, &[]);
    // The other one was started again, and does not know of what it was to let go of.
    rebalance_timeout(&mut hand);
    hand.generation(3, &[("m-1", own.clone()), ("m-2", own)]);
    let (token, sync) = hand.sync();
    let own = assign::decode_assignment(&sync.assignments[0].assignment).expect("readable");
    assert_eq!(own.len(), 2);
    hand.assigned(token, &own);
    // Now all have an owner.
    rebalance_timeout(&mut hand);
    assert_eq!(hand.core.state(), GroupState::Stable);
}

#[test]
fn a_static_leader_that_comes_back_looks_whether_all_have_an_owner() {
    for (assignor, looks) in [
        (Assignor::CooperativeSticky, true),
        (Assignor::Range, false),
    ] {
        let mut config = config(Protocol::Classic, &[assignor]);
        config.instance_id = Some(Arc::from("one"));
        let mut hand = Hand::subscribed(config, 2);
        hand.returns_as_leader(7);
        let (token, _) = hand.sync();
        hand.assigned(token, &partitions([1]));
        rebalance_timeout(&mut hand);
        assert_eq!(hand.core.state() == GroupState::Joining, looks);
        assert_eq!(hand.revokes(), [0; 0]);
    }
}

#[test]
fn a_join_that_is_refused_for_good_loses_everything() {
    let mut hand = Hand::alone(COOPERATIVE, 2);
    hand.assigns();
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    let (token, _) = hand.join();
    hand.refuse_join(token, ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(hand.loses(), [0, 1]);
    let (_, join) = hand.join();
    assert_eq!(join.member_id, "");
    assert_eq!(hand.owned(&join, COOPERATIVE[0]).0, [0; 0]);
}

#[test]
fn a_topic_that_is_not_read_any_more_is_let_go_of_before_the_join() {
    let mut hand = Hand::alone(COOPERATIVE, 2);
    hand.assigns();
    let other = Subscription::Topics(vec![Arc::from("refunds")]);
    hand.core.subscribe(other, hand.now).expect("good");
    assert_eq!(hand.revokes(), [0, 1]);
    assert!(hand.is_quiet());
    hand.release([0, 1]);
    let join = hand.join_under_way();
    assert_eq!(hand.owned(&join, COOPERATIVE[0]).0, [0; 0]);
    // The leader did not know of that yet.
    hand.follow(2, &partitions([0]));
    assert_eq!(hand.assigns(), [0; 0]);
}

#[test]
fn a_subscription_that_changes_during_a_rebalance_is_followed_by_another() {
    let mut hand = Hand::alone(COOPERATIVE, 2);
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    hand.work();
    let both = vec![Arc::from(TOPIC), Arc::from("refunds")];
    let subscription = Subscription::Topics(both);
    hand.core.subscribe(subscription, hand.now).expect("good");
    hand.follow(2, &partitions([0, 1]));
    let (_, join) = hand.join();
    let metadata = &join.protocols[0].metadata;
    let said = assign::decode_subscription(COOPERATIVE[0], "m-1", None, metadata);
    assert_eq!(said.expect("readable").topics.len(), 2);
}
