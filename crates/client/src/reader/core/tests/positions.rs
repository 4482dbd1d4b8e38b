//! Where reading begins, ends, and goes on after a position is gone.

use super::*;

fn finding(start: Anchor, bound: Bound) -> Bench {
    let mut bench = Bench::new(config());
    bench.core.assign(at(0), Origin::Find(start), bound);
    bench.core.set_topic(&topic(&[(1, 4)]));
    bench
}

#[test]
fn a_position_is_asked_for_before_anything_is_fetched() {
    let mut bench = finding(Anchor::Earliest, Bound::None);
    assert_eq!(bench.waits(1), None);
    assert_eq!(bench.core.position(&at(0)), None);
    let query = bench.query(1);
    assert_eq!(query.leader_epoch, 4);
    assert_eq!(query.kind, QueryKind::Start(Anchor::Earliest));
    let (again, _) = bench.core.poll_lookups(bench.now);
    assert!(again.is_empty(), "once");
    bench.reply(&query, Reply::Found(Position::new(7, 2)));
    assert_eq!(bench.core.position(&at(0)), Some(7));
    let plan = bench.plan(1);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 7)]));
    assert_eq!(plan.request.topics[0].partitions[0].current_leader_epoch, 4);
}

#[test]
fn a_time_after_the_last_record_is_the_end() {
    let mut bench = finding(Anchor::Time(99), Bound::None);
    let query = bench.query(1);
    bench.reply(&query, Reply::Found(Position::at(-1)));
    let query = bench.query(1);
    assert_eq!(query.kind, QueryKind::Start(Anchor::Latest));
    bench.reply(&query, Reply::Found(Position::at(30)));
    assert_eq!(bench.core.position(&at(0)), Some(30));
}

#[test]
fn questions_are_repeated_with_backoff_and_refusals_told() {
    let mut bench = finding(Anchor::Earliest, Bound::None);
    for reply in [
        Reply::Lost,
        Reply::Refused(ErrorCode::NOT_LEADER_OR_FOLLOWER),
    ] {
        let query = bench.query(1);
        assert!(bench.reply(&query, reply), "metadata may be old");
        let (none, next) = bench.core.poll_lookups(bench.now);
        assert!(none.is_empty());
        bench.now = next.expect("later");
    }
    let query = bench.query(1);
    bench.reply(
        &query,
        Reply::Refused(ErrorCode::TOPIC_AUTHORIZATION_FAILED),
    );
    let error = bench.error();
    assert_eq!(error.kind(), ErrorKind::Authorization);
    assert_eq!(error.context().partition, Some(0));
    assert!(matches!(bench.core.poll_event(), Some(Event::End)));
}

#[test]
fn ends_are_found_first_and_kept() {
    let mut bench = finding(Anchor::Earliest, Bound::Find(Anchor::Latest));
    let query = bench.query(1);
    assert_eq!(query.kind, QueryKind::End(Anchor::Latest));
    bench.reply(&query, Reply::Found(Position::at(5)));
    let query = bench.query(1);
    bench.reply(&query, Reply::Found(Position::at(2)));
    // More has been written since.
    bench.fetch(vec![data(0, &[batch(2, 2, 1, 4), batch(4, 3, 1, 4)])]);
    assert_eq!(bench.read(), Some((0, vec![2, 3, 4])));
    assert_eq!(bench.core.position(&at(0)), Some(5));
    assert!(matches!(bench.core.poll_event(), Some(Event::End)));
    assert_eq!(bench.waits(1), None);
}

#[test]
fn an_empty_partition_is_at_its_end_at_once() {
    let mut bench = finding(Anchor::Earliest, Bound::Find(Anchor::Latest));
    for offset in [3, 3] {
        assert!(bench.core.poll_event().is_none());
        let query = bench.query(1);
        bench.reply(&query, Reply::Found(Position::at(offset)));
    }
    assert!(matches!(bench.core.poll_event(), Some(Event::End)));
}

#[test]
fn gaps_are_passed_over() {
    let mut bench = Bench::reading(config(), 1);
    // Compaction has left an empty batch, and holes between others.
    let header = copart_protocol::records::BatchHeader::parse(&batch(0, 4, 1, 0)).expect("valid");
    let emptied = copart_protocol::records::RecordBatch::emptied(&header).expect("valid");
    let log = [emptied.into_bytes().to_vec(), batch(20, 2, 1, 0)];
    bench.fetch(vec![data(0, &log)]);
    assert_eq!(bench.read(), Some((0, vec![20, 21])));
    let plan = bench.plan(1);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 22)]));
    let emptied = copart_protocol::records::RecordBatch::emptied(&header).expect("valid");
    let emptied = placed(emptied.into_bytes().into(), 30, 0);
    bench.answer(1, &plan, response(5, vec![data(0, &[emptied])]));
    assert_eq!(bench.read(), Some((0, vec![])));
    assert_eq!(bench.core.position(&at(0)), Some(34));
}

#[test]
fn what_was_fetched_before_a_seek_is_void() {
    let mut bench = Bench::reading(config(), 1);
    bench.fetch(vec![data(0, &[batch(0, 3, 1, 0)])]);
    let plan = bench.plan(1);
    bench.core.seek(&at(0), Origin::At(Position::at(100)));
    bench.answer(1, &plan, response(5, vec![data(0, &[batch(3, 3, 1, 0)])]));
    assert!(bench.read().is_none());
    assert_eq!(bench.core.nodes[&1].used, 0);
    let plan = bench.plan(1);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 100)]));
    assert!(bench.core.revoke(&at(0)) && !bench.core.revoke(&at(0)));
    bench.answer(1, &plan, response(5, vec![data(0, &[batch(100, 1, 1, 0)])]));
    assert!(bench.core.poll_event().is_none());
    assert_eq!(bench.waits(1), None);
}

#[test]
fn out_of_range_comes_after_what_was_fetched() {
    for (reset, anchor) in [
        (Reset::Earliest, Some(Anchor::Earliest)),
        (Reset::Latest, Some(Anchor::Latest)),
        (Reset::Error, None),
    ] {
        let mut bench = Bench::reading(CoreConfig { reset, ..config() }, 1);
        bench.fetch(vec![data(0, &[batch(0, 2, 1, 0)])]);
        bench.fetch(vec![failed(0, ErrorCode::OFFSET_OUT_OF_RANGE)]);
        let (none, _) = bench.core.poll_lookups(bench.now);
        assert!(none.is_empty(), "two records are left");
        assert_eq!(bench.read(), Some((0, vec![0, 1])));
        match anchor {
            Some(anchor) => assert_eq!(bench.query(1).kind, QueryKind::Start(anchor)),
            None => {
                let error = bench.error();
                assert_eq!(error.kind(), ErrorKind::OffsetOutOfRange);
                assert_eq!(error.context().offset, Some(2));
                bench.core.seek(&at(0), Origin::At(Position::at(9)));
                let plan = bench.plan(1);
                assert_eq!(named(&plan.request), BTreeMap::from([(0, 9)]));
            }
        }
    }
}

#[test]
fn a_topic_that_was_created_anew_has_no_such_position() {
    let mut bench = Bench::reading(
        CoreConfig {
            reset: Reset::Earliest,
            ..config()
        },
        1,
    );
    bench.fetch(vec![data(0, &[batch(0, 2, 1, 0)])]);
    let mut anew = topic(&[(1, 0)]);
    anew.id = Uuid([1; 16]);
    bench.core.set_topic(&anew);
    assert_eq!(bench.waits(1), None);
    assert_eq!(bench.read(), Some((0, vec![0, 1])));
    let query = bench.query(1);
    bench.reply(&query, Reply::Found(Position::at(0)));
    let plan = bench.plan(1);
    assert_eq!(plan.request.topics[0].topic_id, Uuid([1; 16]));
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 0)]));
}

#[test]
fn damage_is_told_behind_what_is_good() {
    let mut bench = Bench::reading(config(), 2);
    let mut bad = batch(2, 2, 1, 0);
    bad[16] = 77;
    let good = batch(0, 2, 1, 0);
    bench.fetch(vec![data(0, &[good.clone(), bad.clone()]), data(1, &[])]);
    let plan = bench.plan(1);
    assert_eq!(named(&plan.request), BTreeMap::from([(0, 2)]));
    bench.answer(1, &plan, response(5, vec![data(0, &[bad])]));
    assert_eq!(bench.read(), Some((0, vec![0, 1])));
    let error = bench.error();
    assert_eq!(
        (error.kind(), error.context().offset),
        (ErrorKind::UnsupportedVersion, Some(2))
    );
    // The other one goes on.
    let plan = bench.plan(1);
    assert_eq!(forgotten(&plan.request), [0]);
    bench.answer(1, &plan, response(5, vec![data(1, &[good])]));
    assert_eq!(bench.read(), Some((1, vec![0, 1])));
}

#[test]
fn a_broker_that_sends_what_was_not_asked_for_is_not_believed() {
    let mut bench = Bench::reading(config(), 1);
    bench.core.seek(&at(0), Origin::At(Position::at(10)));
    bench.fetch(vec![data(0, &[batch(0, 2, 1, 0)])]);
    assert_eq!(bench.error().kind(), ErrorKind::Protocol);
}
