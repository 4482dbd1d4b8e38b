//! Fetch sessions (KIP-227), names and ids (KIP-516).

use super::*;

#[test]
fn what_was_named_once_is_not_named_again() {
    let mut bench = Bench::reading(config(), 2);
    let plan = bench.plan(1);
    assert_eq!(
        (plan.request.session_id, plan.request.session_epoch),
        (0, 0)
    );
    assert_eq!(plan.request.topics[0].topic_id, ID);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 0), (1, 0)]));
    assert!(matches!(bench.turn(1), Turn::Wait(None)), "one at a time");
    bench.answer(1, &plan, response(5, vec![data(0, &[]), data(1, &[])]));

    let plan = bench.plan(1);
    assert_eq!(
        (plan.request.session_id, plan.request.session_epoch),
        (5, 1)
    );
    assert!(plan.request.topics.is_empty(), "nothing has changed");
    // An answer of a session is silent about partitions without news.
    bench.answer(1, &plan, response(5, vec![data(1, &[batch(0, 3, 1, 0)])]));
    assert_eq!(bench.read(), Some((1, vec![0, 1, 2])));

    let plan = bench.plan(1);
    assert_eq!(plan.request.session_epoch, 2);
    assert_eq!(named(&plan.request), BTreeMap::from([(1, 3)]));
    bench.answer(1, &plan, response(5, vec![]));

    bench.core.pause(&at(0), true);
    let plan = bench.plan(1);
    assert_eq!(forgotten(&plan.request), [0]);
    assert_eq!(plan.request.forgotten_topics_data[0].topic_id, ID);
    bench.answer(1, &plan, response(5, vec![]));
    bench.core.pause(&at(0), false);
    let plan = bench.plan(1);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 0)]));
}

#[test]
fn sessions_that_end_begin_anew_at_once() {
    for (code, id) in [
        (ErrorCode::FETCH_SESSION_ID_NOT_FOUND, 0),
        (ErrorCode::INVALID_FETCH_SESSION_EPOCH, 5),
    ] {
        let mut bench = Bench::reading(config(), 1);
        bench.fetch(vec![data(0, &[])]);
        let plan = bench.plan(1);
        let refused = FetchResponse {
            error_code: code,
            ..FetchResponse::default()
        };
        let aftermath = bench.answer(1, &plan, refused);
        assert_eq!(aftermath, Aftermath::default());
        // Naming the old one with epoch 0 has the broker drop it.
        let plan = bench.plan(1);
        assert_eq!(
            (plan.request.session_id, plan.request.session_epoch),
            (id, 0)
        );
        assert_eq!(named(&plan.request), BTreeMap::from([(0, 0)]));
        bench.answer(1, &plan, response(6, vec![data(0, &[])]));
        let plan = bench.plan(1);
        assert_eq!(
            (plan.request.session_id, plan.request.session_epoch),
            (6, 1)
        );
    }
}

#[test]
fn after_a_lost_answer_everything_is_named_again() {
    let mut bench = Bench::reading(config(), 1);
    bench.fetch(vec![data(0, &[])]);
    let plan = bench.plan(1);
    bench.core.lost(1, &plan, bench.now);
    let until = bench.waits(1).expect("it backs off");
    assert!(until > bench.now);
    bench.now = until;
    let plan = bench.plan(1);
    assert_eq!(
        (plan.request.session_id, plan.request.session_epoch),
        (5, 0)
    );
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 0)]));
}

#[test]
fn without_a_session_everything_is_named_each_time() {
    let mut bench = Bench::reading(config(), 1);
    for _ in 0..3 {
        let plan = bench.plan(1);
        assert_eq!(
            (plan.request.session_id, plan.request.session_epoch),
            (0, 0)
        );
        assert_eq!(named(&plan.request), BTreeMap::from([(0, 0)]));
        bench.answer(1, &plan, response(0, vec![data(0, &[])]));
    }
    // Before version 7 there are none.
    let old = Offered {
        latest: 6,
        by_name: 6,
    };
    let Turn::Fetch(plan) = bench.core.poll_fetch(1, bench.now, Some(old)) else {
        panic!("something is to be fetched");
    };
    assert_eq!((plan.version, plan.request.session_epoch), (6, -1));
    assert_eq!(plan.request.topics[0].topic, TOPIC);
}

#[test]
fn topics_without_ids_go_by_their_names() {
    let mut bench = Bench::new(config());
    bench
        .core
        .assign(at(0), Origin::At(Position::at(0)), Bound::None);
    let mut nameless = topic(&[(1, 0)]);
    nameless.id = Uuid::ZERO;
    bench.core.set_topic(&nameless);
    let plan = bench.plan(1);
    assert_eq!((plan.version, &*plan.request.topics[0].topic), (12, TOPIC));
    bench.answer(1, &plan, response(5, vec![data(0, &[batch(0, 1, 1, 0)])]));
    assert_eq!(bench.read(), Some((0, vec![0])));
}

#[test]
fn a_throttled_reader_waits() {
    let mut bench = Bench::reading(config(), 1);
    let plan = bench.plan(1);
    let mut throttled = response(5, vec![data(0, &[])]);
    throttled.throttle_time_ms = 700;
    bench.answer(1, &plan, throttled);
    assert_eq!(bench.waits(1), Some(bench.now + Duration::from_millis(700)));
    bench.pass(700);
    bench.plan(1);
}

#[test]
fn a_connection_is_wanted_only_when_there_is_something_to_fetch() {
    let mut bench = Bench::reading(config(), 1);
    assert!(matches!(
        bench.core.poll_fetch(1, bench.now, None),
        Turn::Connect
    ));
    bench.core.pause(&at(0), true);
    assert!(matches!(
        bench.core.poll_fetch(1, bench.now, None),
        Turn::Wait(None)
    ));
    assert!(matches!(
        bench.core.poll_fetch(2, bench.now, None),
        Turn::Wait(None)
    ));
}
