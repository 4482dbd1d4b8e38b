//! The consumer protocol (KIP-848).

use copart_protocol::messages::consumer_group_heartbeat::{
    Assignment, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, TopicPartitions,
};

use super::*;

fn member() -> Hand {
    Hand::subscribed(config(Protocol::Consumer, &[]), 4)
}

fn beat(hand: &mut Hand) -> (Token, ConsumerGroupHeartbeatRequest) {
    hand.sent(|it| match it {
        GroupRequest::ConsumerHeartbeat(beat) => Some(beat.clone()),
        _ => None,
    })
}

fn answer(epoch: i32, assigned: Option<&[i32]>) -> Answer {
    let topics = |partitions: &[i32]| Assignment {
        topic_partitions: vec![TopicPartitions {
            topic_id: info(1, 4).id,
            partitions: partitions.to_vec(),
        }],
    };
    Answer::ConsumerHeartbeat(ConsumerGroupHeartbeatResponse {
        member_epoch: epoch,
        heartbeat_interval_ms: 3_000,
        assignment: assigned.map(topics),
        ..ConsumerGroupHeartbeatResponse::default()
    })
}

fn refusal(error_code: ErrorCode) -> Answer {
    Answer::ConsumerHeartbeat(ConsumerGroupHeartbeatResponse {
        error_code,
        ..ConsumerGroupHeartbeatResponse::default()
    })
}

/// What it says that it has. `None`: nothing new.
fn says(request: &ConsumerGroupHeartbeatRequest) -> Option<Vec<i32>> {
    let topics = request.topic_partitions.as_ref()?;
    let mut said: Vec<i32> = topics.iter().flat_map(|it| it.partitions.clone()).collect();
    said.sort_unstable();
    Some(said)
}

/// One that has all four partitions, and has said so.
fn settled() -> Hand {
    let mut hand = member();
    let (token, first) = beat(&mut hand);
    assert_eq!(first.member_epoch, 0);
    assert_eq!(says(&first), Some(vec![]));
    assert_eq!(first.subscribed_topic_names, Some(vec![TOPIC.to_owned()]));
    hand.answer(token, Ok(answer(1, Some(&[0, 1, 2, 3]))));
    assert_eq!(hand.assigns(), [0, 1, 2, 3]);
    let (token, second) = beat(&mut hand);
    assert_eq!(says(&second), Some(vec![0, 1, 2, 3]));
    hand.answer(token, Ok(answer(1, None)));
    assert_eq!(hand.core.state(), GroupState::Stable);
    hand
}

#[test]
fn partitions_go_once_the_program_has_let_go_of_them() {
    let mut hand = settled();
    hand.pass(BEAT);
    let (token, quiet) = beat(&mut hand);
    assert_eq!((says(&quiet), quiet.subscribed_topic_names), (None, None));
    hand.answer(token, Ok(answer(2, Some(&[0, 1]))));
    assert_eq!(hand.revokes(), [2, 3]);
    assert_eq!(hand.core.state(), GroupState::Releasing);
    assert!(hand.is_quiet(), "nothing is said to be gone yet");
    hand.release([3]);
    let (token, request) = beat(&mut hand);
    assert_eq!(says(&request), Some(vec![0, 1, 2]));
    hand.answer(token, Ok(answer(2, None)));
    hand.pass(RELEASE);
    assert_eq!(hand.loses(), [2], "time is up");
    let (_, request) = beat(&mut hand);
    assert_eq!(says(&request), Some(vec![0, 1]));
}

#[test]
fn a_member_that_is_out_loses_everything_and_joins_again() {
    for code in [ErrorCode::UNKNOWN_MEMBER_ID, ErrorCode::FENCED_MEMBER_EPOCH] {
        let mut hand = settled();
        hand.pass(BEAT);
        let (token, _) = beat(&mut hand);
        hand.answer(token, Ok(refusal(code)));
        assert_eq!(hand.loses(), [0, 1, 2, 3]);
        assert_eq!(hand.core.identity(), None);
        let (_, request) = beat(&mut hand);
        assert_eq!((request.member_epoch, says(&request)), (0, Some(vec![])));
        assert!(request.subscribed_topic_names.is_some());
    }
}

#[test]
fn after_a_failure_everything_is_said_anew() {
    let mut hand = settled();
    hand.pass(BEAT);
    let (token, _) = beat(&mut hand);
    hand.answer(token, Err(lost()));
    assert!(hand.looks_for_coordinator());
    assert!(hand.is_quiet(), "it waits first");
    hand.pass(Duration::from_secs(2));
    let (token, request) = beat(&mut hand);
    assert_eq!(request.member_epoch, 1);
    assert_eq!(says(&request), Some(vec![0, 1, 2, 3]));
    assert!(request.rebalance_timeout_ms > 0);
    hand.answer(token, Ok(refusal(ErrorCode::GROUP_AUTHORIZATION_FAILED)));
    assert_eq!(hand.loses(), [0, 1, 2, 3]);
    let error = hand.failure().expect("it fails");
    assert_eq!(error.kind(), ErrorKind::Authorization);
}

#[test]
fn a_topic_that_is_not_known_by_its_id_is_asked_for() {
    let mut hand = Hand::new(config(Protocol::Consumer, &[]));
    let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
    hand.core.subscribe(subscription, hand.now).expect("good");
    let (token, _) = beat(&mut hand);
    hand.answer(token, Ok(answer(1, Some(&[2]))));
    let refreshes = |action: &Action| matches!(action, Action::RefreshTopics);
    assert!(hand.actions.iter().any(refreshes));
    assert_eq!(hand.assigns(), [0; 0]);
    hand.know(&[(TOPIC, 4)]);
    assert_eq!(hand.assigns(), [2]);
}

#[test]
fn leaving_says_whether_it_will_be_back() {
    for (instance, epoch) in [(None, -1), (Some("one"), -2)] {
        let mut config = config(Protocol::Consumer, &[]);
        config.instance_id = instance.map(Arc::from);
        let mut hand = Hand::subscribed(config, 4);
        let (token, _) = beat(&mut hand);
        hand.answer(token, Ok(answer(1, Some(&[0]))));
        let (token, _) = beat(&mut hand);
        hand.answer(token, Ok(answer(1, None)));
        hand.core.leave(hand.now);
        assert_eq!(hand.revokes(), [0]);
        let (token, request) = beat(&mut hand);
        assert_eq!(request.member_epoch, 1, "until it has let go");
        hand.answer(token, Ok(answer(1, None)));
        assert!(hand.is_quiet(), "and nothing more than usual");
        hand.release([0]);
        let (token, request) = beat(&mut hand);
        assert_eq!(request.member_epoch, epoch);
        hand.answer(token, Ok(answer(epoch, None)));
        let left = |action: &Action| matches!(action, Action::Left);
        assert!(hand.actions.iter().any(left));
    }
}

#[test]
fn a_group_that_was_deleted_meanwhile_is_joined_again() {
    let mut hand = settled();
    hand.pass(BEAT);
    let (token, _) = beat(&mut hand);
    hand.answer(token, Ok(refusal(ErrorCode::GROUP_ID_NOT_FOUND)));
    assert_eq!(hand.loses(), [0, 1, 2, 3]);
    let (token, request) = beat(&mut hand);
    assert_eq!((request.member_epoch, says(&request)), (0, Some(vec![])));
    // Then there is a group of that name, of another kind.
    hand.answer(token, Ok(refusal(ErrorCode::GROUP_ID_NOT_FOUND)));
    let error = hand.failure().expect("it fails");
    assert_eq!(error.code(), Some(ErrorCode::GROUP_ID_NOT_FOUND));
}

#[test]
fn a_member_that_may_not_join_because_it_is_known_leaves_first() {
    let mut hand = settled();
    hand.pass(BEAT);
    let (token, _) = beat(&mut hand);
    hand.answer(token, Ok(refusal(ErrorCode::FENCED_MEMBER_EPOCH)));
    let (token, request) = beat(&mut hand);
    assert_eq!(request.member_epoch, 0);
    hand.answer(token, Ok(refusal(ErrorCode::FENCED_MEMBER_EPOCH)));
    assert!(hand.is_quiet(), "it waits first");
    hand.pass(Duration::from_secs(2));
    let (token, request) = beat(&mut hand);
    assert_eq!(request.member_epoch, -1);
    hand.answer(token, Ok(answer(-1, None)));
    let (token, request) = beat(&mut hand);
    assert_eq!((request.member_epoch, says(&request)), (0, Some(vec![])));
    hand.answer(token, Ok(answer(5, Some(&[1]))));
    assert_eq!(hand.assigns(), [1]);
}

#[test]
fn a_static_member_whose_join_was_not_answered_gets_out_of_its_own_way() {
    let mut config = config(Protocol::Consumer, &[]);
    config.instance_id = Some(Arc::from("one"));
    let mut hand = Hand::subscribed(config, 4);
    let (token, _) = beat(&mut hand);
    hand.answer(token, Err(lost()));
    hand.pass(Duration::from_secs(2));
    let (token, request) = beat(&mut hand);
    assert_eq!(request.member_epoch, 0);
    hand.answer(token, Ok(refusal(ErrorCode::UNRELEASED_INSTANCE_ID)));
    hand.pass(Duration::from_secs(2));
    let (token, request) = beat(&mut hand);
    assert_eq!(request.member_epoch, -2);
    // It was somebody else after all.
    hand.answer(token, Ok(refusal(ErrorCode::FENCED_INSTANCE_ID)));
    for _ in 0..3 {
        let (token, request) = beat(&mut hand);
        assert_eq!(request.member_epoch, 0, "once is enough");
        hand.answer(token, Ok(refusal(ErrorCode::UNRELEASED_INSTANCE_ID)));
        assert!(hand.is_quiet(), "it waits first");
        hand.pass(Duration::from_secs(2));
    }
    let warns = |action: &&Action| matches!(action, Action::Warn(_));
    assert_eq!(hand.actions.iter().filter(warns).count(), 1);
}

#[test]
fn nothing_is_taken_while_the_broker_may_give_it_away() {
    let mut hand = Hand::new(config(Protocol::Consumer, &[]));
    let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
    hand.core.subscribe(subscription, hand.now).expect("good");
    let (token, _) = beat(&mut hand);
    hand.answer(token, Ok(answer(1, Some(&[2]))));
    hand.pass(BEAT);
    let (token, _) = beat(&mut hand);
    hand.answer(token, Err(lost()));
    hand.know(&[(TOPIC, 4)]);
    assert_eq!(hand.assigns(), [0; 0], "what was to be had is not certain");
    hand.pass(Duration::from_secs(2));
    let (token, request) = beat(&mut hand);
    assert_eq!(says(&request), Some(vec![]));
    hand.know(&[(TOPIC, 4)]);
    assert_eq!(
        hand.assigns(),
        [0; 0],
        "it has just said that it has nothing"
    );
    hand.answer(token, Ok(answer(2, Some(&[1]))));
    assert_eq!(hand.assigns(), [1]);
}
