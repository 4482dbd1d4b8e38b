//! The classic protocol: the way into a generation, and out of it.

use super::*;
use crate::consumer::group::Wanted;

const RANGE: &[Assignor] = &[Assignor::Range];

#[test]
fn a_member_asks_for_its_id_then_leads_and_assigns() {
    let hand_config = config(Protocol::Classic, RANGE);
    let mut hand = Hand::new(hand_config);
    assert_eq!(hand.core.state(), GroupState::Idle);
    assert_eq!(hand.core.next_deadline(), None);
    let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
    hand.core.subscribe(subscription, hand.now).expect("good");
    let (token, join) = hand.join();
    assert_eq!(join.member_id, "");
    assert_eq!(join.protocol_type, "consumer");
    assert_eq!(
        (join.session_timeout_ms, join.rebalance_timeout_ms),
        (45_000, 60_000)
    );
    hand.ask_for_id(token);
    let join = {
        let (token, join) = hand.join();
        assert_eq!(join.member_id, "m-1");
        // Its answer was lost: it comes again under the same id.
        hand.answer(token, Err(lost()));
        assert!(hand.looks_for_coordinator());
        assert!(hand.is_quiet(), "it waits first");
        hand.pass(Duration::from_secs(2));
        join
    };
    hand.generation(1, &[("m-1", join)]);
    // The topic is not known yet.
    assert!(hand.is_quiet());
    assert!(hand.core.next_deadline().is_some());
    hand.know(&[(TOPIC, 3)]);
    let (token, sync) = hand.sync();
    assert_eq!(sync.protocol_name.as_deref(), Some("range"));
    let assigned = assign::decode_assignment(&sync.assignments[0].assignment);
    hand.assigned(token, &assigned.expect("readable"));
    assert_eq!(hand.assigns(), [0, 1, 2]);
    assert_eq!(hand.core.state(), GroupState::Stable);
    let identity = hand.core.identity().expect("in the group");
    assert_eq!((&*identity.member_id, identity.generation), ("m-1", 1));
    assert_eq!(hand.core.next_deadline(), Some(hand.now + BEAT));
}

#[test]
fn a_leader_that_is_not_told_of_a_topic_assigns_without_it_in_the_end() {
    let mut hand = Hand::new(config(Protocol::Classic, RANGE));
    let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
    hand.core.subscribe(subscription, hand.now).expect("good");
    let (token, _) = hand.join();
    hand.ask_for_id(token);
    let join = hand.join_under_way();
    hand.generation(1, &[("m-1", join)]);
    hand.pass(Duration::from_secs(30));
    let (token, _) = hand.sync();
    hand.assigned(token, &[]);
    assert_eq!(hand.core.state(), GroupState::Stable);
    // Then it is there.
    hand.know(&[(TOPIC, 1)]);
    hand.lead_alone(2);
    assert_eq!(hand.assigns(), [0]);
}

#[test]
fn an_eager_member_lets_go_of_everything_before_it_joins() {
    for assignors in [RANGE, &[Assignor::CooperativeSticky, Assignor::Range]] {
        let mut hand = Hand::alone(assignors, 3);
        assert_eq!(hand.assigns(), [0, 1, 2]);
        hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
        assert_eq!(hand.revokes(), [0, 1, 2]);
        assert_eq!(hand.core.state(), GroupState::Releasing);
        hand.release([0, 1]);
        assert!(hand.is_quiet());
        // It shows that it is there all the while, and can commit.
        hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
        assert_eq!(hand.core.identity().map(|it| it.generation), Some(1));
        hand.release([2]);
        let join = hand.join_under_way();
        assert_eq!(hand.owned(&join, assignors[0]).0, [0; 0]);
        hand.follow(2, &partitions([1]));
        assert_eq!(hand.assigns(), [1]);
        assert_eq!(hand.has(), [1]);
    }
}

#[test]
fn what_is_not_let_go_of_in_time_is_lost() {
    let mut hand = Hand::alone(RANGE, 2);
    hand.assigns();
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    hand.release([0]);
    hand.pass(RELEASE - BEAT);
    assert_eq!(hand.loses(), [1]);
    hand.follow(2, &[]);
    assert_eq!(hand.has(), [0; 0]);
    // Late, and passed over.
    hand.release([1]);
    assert_eq!(hand.core.state(), GroupState::Stable);
}

#[test]
fn the_sticky_assignor_is_told_what_was_let_go_of() {
    let mut hand = Hand::alone(&[Assignor::Sticky], 2);
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    hand.release([0, 1]);
    let (_, join) = hand.join();
    assert_eq!(hand.owned(&join, Assignor::Sticky), (vec![0, 1], 1));
}

#[test]
fn whoever_is_not_known_any_more_has_nothing_and_comes_back_as_another() {
    for (code, id) in [
        (ErrorCode::UNKNOWN_MEMBER_ID, ""),
        (ErrorCode::ILLEGAL_GENERATION, "m-1"),
    ] {
        let mut hand = Hand::alone(RANGE, 2);
        hand.assigns();
        hand.beat(code);
        assert_eq!(hand.loses(), [0, 1]);
        assert_eq!(hand.core.identity(), None);
        let (_, join) = hand.join();
        assert_eq!(join.member_id, id, "{code}");
        assert_eq!(hand.owned(&join, Assignor::Range).1, -1);
    }
}

#[test]
fn a_fenced_static_member_ends() {
    let mut hand = Hand::alone(RANGE, 1);
    hand.assigns();
    hand.beat(ErrorCode::FENCED_INSTANCE_ID);
    assert_eq!(hand.loses(), [0]);
    let error = hand.failure().expect("it fails");
    assert_eq!(error.code(), Some(ErrorCode::FENCED_INSTANCE_ID));
    assert_eq!(hand.core.state(), GroupState::Ended);
    assert_eq!(hand.core.next_deadline(), None);
}

#[test]
fn a_generation_that_was_over_before_its_sync_is_followed_by_another_join_at_once() {
    let mut hand = Hand::alone(RANGE, 2);
    hand.assigns();
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    hand.release([0, 1]);
    hand.generation_of(2, "m-0");
    let (token, _) = hand.sync();
    hand.refuse_sync(token, ErrorCode::REBALANCE_IN_PROGRESS);
    let (_, join) = hand.join();
    assert_eq!(join.member_id, "m-1");
}

#[test]
fn a_heartbeat_of_the_last_generation_says_nothing_of_this_one() {
    let mut hand = Hand::alone(&[Assignor::CooperativeSticky], 2);
    hand.assigns();
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    // One goes out while the join waits, and its answer is late.
    hand.pass(BEAT);
    let late = hand.heartbeat();
    hand.follow(2, &partitions([0, 1]));
    hand.answer_beat(late, ErrorCode::ILLEGAL_GENERATION);
    assert_eq!(hand.loses(), [0; 0]);
    assert_eq!(hand.core.state(), GroupState::Stable);
}

#[test]
fn a_join_is_not_waited_for_when_the_coordinator_is_silent() {
    let mut hand = Hand::alone(&[Assignor::CooperativeSticky], 2);
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    let (first, _) = hand.join();
    for _ in 0..2 {
        hand.pass(BEAT);
        let token = hand.heartbeat();
        hand.answer(token, Err(lost()));
        assert!(hand.looks_for_coordinator());
    }
    hand.pass(Duration::from_secs(2));
    let (second, join) = hand.join();
    assert_ne!(first, second);
    assert_eq!(hand.owned(&join, Assignor::CooperativeSticky).0, [0, 1]);
    // The answer to the one that was given up.
    hand.refuse_join(first, ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(hand.loses(), [0; 0]);
    assert_eq!(hand.core.state(), GroupState::Joining);
}

#[test]
fn coordinators_that_move_are_looked_for_and_errors_that_last_are_told() {
    let mut hand = Hand::alone(RANGE, 1);
    hand.assigns();
    hand.beat(ErrorCode::NOT_COORDINATOR);
    assert!(hand.looks_for_coordinator());
    hand.pass(Duration::from_secs(2));
    let token = hand.heartbeat();
    hand.answer_beat(token, ErrorCode::NONE);
    assert_eq!(hand.has(), [0], "nothing is lost by that");
    hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
    hand.release([0]);
    let (token, _) = hand.join();
    hand.refuse_join(token, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    assert!(!hand.looks_for_coordinator());
    hand.pass(Duration::from_secs(2));
    let (token, _) = hand.join();
    hand.refuse_join(token, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    let error = hand.failure().expect("it fails");
    assert!(error.reason().contains("this one has range"), "{error}");
}

#[test]
fn the_leader_sees_partitions_that_are_added_and_others_do_not_care() {
    let mut hand = Hand::alone(RANGE, 1);
    assert_eq!(hand.assigns(), [0]);
    hand.know(&[(TOPIC, 2)]);
    assert_eq!(hand.revokes(), [0]);
    hand.release([0]);
    hand.follow(2, &partitions([0]));
    hand.know(&[(TOPIC, 3)]);
    assert_eq!(hand.revokes(), [0; 0]);
    assert_eq!(hand.core.state(), GroupState::Stable);
}

#[test]
fn a_pattern_waits_for_the_list_of_topics_and_follows_it() {
    let mut hand = Hand::new(config(Protocol::Classic, RANGE));
    let wrong = Subscription::Pattern("orders(".to_owned());
    let error = hand
        .core
        .subscribe(wrong, hand.now)
        .expect_err("no pattern");
    assert_eq!(error.kind(), ErrorKind::Config);
    let pattern = Subscription::Pattern("ord.*".to_owned());
    hand.core.subscribe(pattern, hand.now).expect("good");
    assert!(hand.is_quiet());
    let wants = |action: &Action| matches!(action, Action::Want(Wanted::All));
    assert!(hand.actions.iter().any(wants));
    hand.know(&[(TOPIC, 1), ("other-orders", 5)]);
    let (token, _) = hand.join();
    hand.ask_for_id(token);
    hand.lead_alone(1);
    assert_eq!(hand.assigns(), [0]);
    hand.know(&[(TOPIC, 1), ("order-lines", 1), ("other-orders", 5)]);
    hand.release([0]);
    hand.lead_alone(2);
    assert_eq!(hand.assigns(), [0, 0]);
}

#[test]
fn a_member_whose_program_is_stuck_leaves_and_comes_back() {
    let mut hand = Hand::alone(RANGE, 1);
    hand.assigns();
    hand.core.processing_stalled(hand.now);
    assert_eq!(hand.loses(), [0]);
    let (token, ()) = hand.sent(|it| matches!(it, GroupRequest::Leave(_)).then_some(()));
    assert_eq!(hand.core.state(), GroupState::Stalled);
    hand.pass(RELEASE);
    assert!(hand.is_quiet());
    hand.core.processing_resumed(hand.now);
    assert!(hand.is_quiet(), "the leave is under way");
    let left = Answer::Leave(Default::default());
    hand.answer(token, Ok(left));
    let (_, join) = hand.join();
    assert_eq!(join.member_id, "");
}

#[test]
fn leaving_waits_for_the_program_and_tells_the_group_unless_the_member_is_static() {
    for instance in [None, Some("one")] {
        let mut config = config(Protocol::Classic, RANGE);
        config.instance_id = instance.map(Arc::from);
        let mut hand = Hand::subscribed(config, 1);
        let (token, _) = hand.join();
        hand.ask_for_id(token);
        hand.lead_alone(1);
        hand.assigns();
        hand.core.leave(hand.now);
        assert_eq!(hand.revokes(), [0]);
        hand.beat(ErrorCode::REBALANCE_IN_PROGRESS);
        assert!(hand.is_quiet());
        hand.release([0]);
        if instance.is_none() {
            let (token, leave) = hand.sent(|it| match it {
                GroupRequest::Leave(leave) => Some(leave.clone()),
                _ => None,
            });
            assert_eq!(leave.members[0].member_id, "m-1");
            hand.answer(token, Err(lost()));
        }
        assert!(hand.is_quiet());
        let left = |action: &Action| matches!(action, Action::Left);
        assert!(hand.actions.iter().any(left), "{instance:?}");
        assert_eq!(hand.core.state(), GroupState::Ended);
    }
}

#[test]
fn a_refused_commit_is_looked_into_at_once() {
    let mut hand = Hand::alone(RANGE, 1);
    let by = hand.core.identity().expect("in the group");
    hand.core
        .committed(&by, ErrorCode::UNKNOWN_TOPIC_ID, hand.now);
    assert!(hand.is_quiet());
    hand.core
        .committed(&by, ErrorCode::ILLEGAL_GENERATION, hand.now);
    hand.heartbeat();
}

#[test]
fn a_leader_that_comes_back_assigns_nothing_if_nothing_is_to_change() {
    let mut config = config(Protocol::Classic, RANGE);
    config.instance_id = Some(Arc::from("one"));
    let mut hand = Hand::subscribed(config, 2);
    hand.returns_as_leader(7);
    let (token, sync) = hand.sync();
    assert!(sync.assignments.is_empty());
    hand.assigned(token, &partitions([1]));
    assert_eq!(hand.assigns(), [1]);
    // It is the leader all the same.
    hand.know(&[(TOPIC, 3)]);
    assert_eq!(hand.revokes(), [1]);
}
