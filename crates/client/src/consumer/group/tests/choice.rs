//! Which protocol a member speaks that may choose.

use copart_protocol::messages::consumer_group_heartbeat::ConsumerGroupHeartbeatResponse;

use super::*;

fn epoch_beat(hand: &mut Hand) -> Token {
    let is_beat = |it: &GroupRequest| matches!(it, GroupRequest::ConsumerHeartbeat(_));
    let (token, ()) = hand.sent(|it| is_beat(it).then_some(()));
    token
}

fn answer(code: ErrorCode, epoch: i32) -> Answer {
    Answer::ConsumerHeartbeat(ConsumerGroupHeartbeatResponse {
        error_code: code,
        member_epoch: epoch,
        heartbeat_interval_ms: 3_000,
        ..ConsumerGroupHeartbeatResponse::default()
    })
}

#[test]
fn without_the_consumer_protocol_it_is_the_classic_one() {
    for outcome in [
        Err(Error::new(ErrorKind::UnsupportedVersion, "too old")),
        Ok(answer(ErrorCode::UNSUPPORTED_VERSION, 0)),
        Ok(answer(ErrorCode::GROUP_ID_NOT_FOUND, 0)),
    ] {
        let config = config(Protocol::Auto, &[Assignor::Range]);
        let mut hand = Hand::subscribed(config, 2);
        // A coordinator that is away says nothing of what it can do.
        let token = epoch_beat(&mut hand);
        hand.answer(token, Err(lost()));
        hand.pass(Duration::from_secs(2));
        let token = epoch_beat(&mut hand);
        hand.answer(token, outcome);
        assert!(hand.failure().is_none());
        let (token, _) = hand.join();
        hand.ask_for_id(token);
        hand.know(&[(TOPIC, 2)]);
        hand.lead_alone(1);
        assert_eq!(hand.assigns(), [0, 1]);
        assert!(!hand.core.identity().expect("in").is_epoch);
    }
}

#[test]
fn whoever_was_in_the_group_or_has_no_choice_does_not_change() {
    for protocol in [Protocol::Auto, Protocol::Consumer] {
        let mut hand = Hand::subscribed(config(protocol, &[Assignor::Range]), 2);
        if protocol == Protocol::Auto {
            let token = epoch_beat(&mut hand);
            hand.answer(token, Ok(answer(ErrorCode::NONE, 1)));
            assert!(hand.core.identity().expect("in").is_epoch);
            hand.pass(BEAT);
        }
        let token = epoch_beat(&mut hand);
        hand.answer(token, Ok(answer(ErrorCode::UNSUPPORTED_VERSION, 0)));
        let error = hand.failure().expect("it fails");
        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion, "{error}");
    }
}

#[test]
fn one_that_leaves_meanwhile_has_left() {
    let config = config(Protocol::Auto, &[Assignor::Range]);
    let mut hand = Hand::subscribed(config, 2);
    let token = epoch_beat(&mut hand);
    hand.core.leave(hand.now);
    hand.answer(token, Ok(answer(ErrorCode::UNSUPPORTED_VERSION, 0)));
    let left = |action: &Action| matches!(action, Action::Left);
    assert!(hand.actions.iter().any(left), "{:?}", hand.actions);
}

#[test]
fn a_pattern_that_only_the_broker_can_read_is_an_error_in_the_classic_protocol() {
    let mut hand = Hand::new(config(Protocol::Auto, &[Assignor::Range]));
    let pattern = Subscription::Pattern("(?P<a".to_owned());
    hand.core.subscribe(pattern, hand.now).expect("not judged");
    let token = epoch_beat(&mut hand);
    hand.answer(token, Ok(answer(ErrorCode::UNSUPPORTED_VERSION, 0)));
    let error = hand.failure().expect("it fails");
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
}
