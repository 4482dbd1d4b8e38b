//! The classic protocol: each state with each input.

use copart_protocol::ErrorCode;
use copart_protocol::messages::join_group::JoinGroupResponse;
use copart_protocol::messages::sync_group::SyncGroupRequest;

use super::{Bench, join_request, static_join, sync_request};

/// A dynamic member of version 4 and later gets an id first.
fn id_for(bench: &mut Bench) -> String {
    let first = bench.join_now(9, &join_request("", &["range"]));
    assert_eq!(first.error_code, ErrorCode::MEMBER_ID_REQUIRED);
    first.member_id
}

/// A stable group of one, whose leader has all.
fn stable(bench: &mut Bench) -> JoinGroupResponse {
    let id = id_for(bench);
    let joined = bench.join_now(9, &join_request(&id, &["range"]));
    let token = bench.sync(sync_request(&joined, &[(&id, b"all")]));
    assert_eq!(
        bench.synced(token).expect("answered").assignment,
        &b"all"[..]
    );
    assert_eq!(bench.state(), "Stable");
    joined
}

/// A stable group of two.
fn two(bench: &mut Bench) -> (JoinGroupResponse, JoinGroupResponse) {
    let a = stable(bench);
    let b = id_for(bench);
    let b = bench.join(9, &join_request(&b, &["range"]));
    assert_eq!(bench.joined(b), None, "it waits for the other one");
    assert_eq!(bench.state(), "PreparingRebalance");
    let a = bench.join_now(9, &join_request(&a.member_id, &["range"]));
    let b = bench.joined(b).expect("both are there");
    assert_eq!(bench.state(), "CompletingRebalance");
    let waiting = bench.sync(sync_request(&b, &[]));
    assert_eq!(bench.synced(waiting), None, "it waits for the leader");
    let leader = bench.sync(sync_request(
        &a,
        &[(&a.member_id, b"1"), (&b.member_id, b"2")],
    ));
    assert_eq!(
        bench.synced(leader).expect("answered").assignment,
        &b"1"[..]
    );
    assert_eq!(
        bench.synced(waiting).expect("answered").assignment,
        &b"2"[..]
    );
    (a, b)
}

#[test]
fn the_first_join_is_answered_at_once() {
    let mut bench = Bench::new(&[]);
    let joined = stable(&mut bench);
    assert_eq!(
        (joined.generation_id, joined.protocol_name.as_deref()),
        (1, Some("range"))
    );
    assert_eq!(
        (joined.leader.as_str(), joined.members.len()),
        (joined.member_id.as_str(), 1)
    );
    // Versions before 4 need no second request.
    let mut bench = Bench::new(&[]);
    let joined = bench.join_now(3, &join_request("", &["range"]));
    assert_eq!(
        (joined.error_code, joined.generation_id),
        (ErrorCode::NONE, 1)
    );
}

#[test]
fn a_delay_is_honoured_and_prolonged() {
    let mut bench = Bench::new(&[("group.initial.rebalance.delay.ms", "3000")]);
    let a = bench.join(3, &join_request("", &["range"]));
    bench.pass(2_000);
    let b = bench.join(3, &join_request("", &["range"]));
    bench.pass(2_000);
    assert_eq!(bench.joined(a), None, "another one came");
    bench.pass(2_000);
    let (a, b) = (
        bench.joined(a).expect("answered"),
        bench.joined(b).expect("answered"),
    );
    assert_eq!(
        (
            a.members.len() + b.members.len(),
            a.generation_id,
            b.generation_id
        ),
        (2, 1, 1)
    );
}

#[test]
fn requests_that_cannot_be() {
    let mut bench = Bench::new(&[]);
    let mut request = join_request("", &["range"]);
    request.group_id = String::new();
    assert_eq!(
        bench.join_now(9, &request).error_code,
        ErrorCode::INVALID_GROUP_ID
    );
    let mut request = join_request("", &["range"]);
    request.session_timeout_ms = 5_999;
    assert_eq!(
        bench.join_now(9, &request).error_code,
        ErrorCode::INVALID_SESSION_TIMEOUT
    );
    assert_eq!(
        bench.join_now(9, &join_request("x", &["range"])).error_code,
        ErrorCode::UNKNOWN_MEMBER_ID
    );
    let joined = stable(&mut bench);
    assert_eq!(
        bench.join_now(9, &join_request("x", &["range"])).error_code,
        ErrorCode::UNKNOWN_MEMBER_ID
    );
    let other = bench.join_now(9, &join_request("", &["other"]));
    assert_eq!(other.error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    let mut request = join_request("", &["range"]);
    request.protocol_type = "connect".to_owned();
    assert_eq!(
        bench.join_now(9, &request).error_code,
        ErrorCode::INCONSISTENT_GROUP_PROTOCOL
    );
    assert_eq!(bench.beat("x", 1), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(
        bench.beat(&joined.member_id, 2),
        ErrorCode::ILLEGAL_GENERATION
    );
    assert_eq!(bench.leave("x", None), ErrorCode::UNKNOWN_MEMBER_ID);
    let request = SyncGroupRequest {
        generation_id: 9,
        ..sync_request(&joined, &[])
    };
    let token = bench.sync(request);
    assert_eq!(
        bench.synced(token).expect("answered").error_code,
        ErrorCode::ILLEGAL_GENERATION
    );
    let request = SyncGroupRequest {
        protocol_name: Some("other".to_owned()),
        ..sync_request(&joined, &[])
    };
    let token = bench.sync(request);
    let code = bench.synced(token).expect("answered").error_code;
    assert_eq!(code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    // None of this has disturbed the member.
    assert_eq!(bench.beat(&joined.member_id, 1), ErrorCode::NONE);
}

#[test]
fn the_protocol_that_all_know_and_most_prefer() {
    let mut bench = Bench::new(&[]);
    let a = bench.join(3, &join_request("", &["range", "roundrobin"]));
    let a = bench.joined(a).expect("alone");
    let b = bench.join(3, &join_request("", &["roundrobin", "range"]));
    let c = bench.join(3, &join_request("", &["roundrobin", "range"]));
    let a = bench.join_now(3, &join_request(&a.member_id, &["range", "roundrobin"]));
    for joined in [Some(a), bench.joined(b), bench.joined(c)] {
        let name = joined.expect("all are there").protocol_name;
        assert_eq!(name.as_deref(), Some("roundrobin"));
    }
}

#[test]
fn heartbeats_say_when_to_join_again() {
    let mut bench = Bench::new(&[]);
    let joined = stable(&mut bench);
    assert_eq!(bench.beat(&joined.member_id, 1), ErrorCode::NONE);
    let b = id_for(&mut bench);
    bench.join(9, &join_request(&b, &["range"]));
    assert_eq!(
        bench.beat(&joined.member_id, 1),
        ErrorCode::REBALANCE_IN_PROGRESS
    );
    let token = bench.sync(sync_request(&joined, &[]));
    let code = bench.synced(token).expect("answered").error_code;
    assert_eq!(code, ErrorCode::REBALANCE_IN_PROGRESS);
    let joined = bench.join_now(9, &join_request(&joined.member_id, &["range"]));
    assert_eq!(
        bench.beat(&joined.member_id, 2),
        ErrorCode::NONE,
        "also before the assignment"
    );
}

#[test]
fn a_follower_that_says_the_same_is_told_the_same() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    let again = bench.join_now(9, &join_request(&b.member_id, &["range"]));
    assert_eq!(
        (again.generation_id, again.leader),
        (2, a.member_id.clone())
    );
    assert_eq!(bench.state(), "Stable");
    // The leader wants a rebalance when it joins.
    bench.join(9, &join_request(&a.member_id, &["range"]));
    assert_eq!(bench.state(), "PreparingRebalance");
    assert_eq!(
        bench.beat(&b.member_id, 2),
        ErrorCode::REBALANCE_IN_PROGRESS
    );
}

#[test]
fn who_leaves_is_gone_at_once() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    assert_eq!(bench.leave(&a.member_id, None), ErrorCode::NONE);
    let alone = bench.join_now(9, &join_request(&b.member_id, &["range"]));
    assert_eq!((alone.generation_id, &alone.leader), (3, &b.member_id));
    assert_eq!(bench.leave(&b.member_id, None), ErrorCode::NONE);
    assert_eq!(bench.state(), "Empty");
    assert_eq!(bench.beat(&b.member_id, 3), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[test]
fn who_is_silent_is_gone_after_its_session() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    for _ in 0..3 {
        bench.pass(4_000);
        let code = bench.beat(&a.member_id, 2);
        assert!([ErrorCode::NONE, ErrorCode::REBALANCE_IN_PROGRESS].contains(&code));
    }
    assert_eq!(bench.state(), "PreparingRebalance");
    assert_eq!(bench.beat(&b.member_id, 2), ErrorCode::UNKNOWN_MEMBER_ID);
    let alone = bench.join_now(9, &join_request(&a.member_id, &["range"]));
    assert_eq!(alone.members.len(), 1);
    bench.pass(10_001);
    assert_eq!(bench.state(), "Empty");
}

#[test]
fn an_id_that_is_not_used_expires() {
    let mut bench = Bench::new(&[]);
    let joined = stable(&mut bench);
    let id = id_for(&mut bench);
    // It does not disturb the group.
    bench.pass(5_000);
    assert_eq!(bench.beat(&joined.member_id, 1), ErrorCode::NONE);
    bench.pass(5_001);
    let code = bench.join_now(9, &join_request(&id, &["range"])).error_code;
    assert_eq!(code, ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(bench.beat(&joined.member_id, 1), ErrorCode::NONE);
}

#[test]
fn a_rebalance_does_not_wait_for_ever() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    let c = id_for(&mut bench);
    let c = bench.join(9, &join_request(&c, &["range"]));
    let a = bench.join(9, &join_request(&a.member_id, &["range"]));
    // The second one sends heartbeats, and does not join.
    for _ in 0..11 {
        bench.pass(5_000);
        assert_eq!(
            bench.beat(&b.member_id, 2),
            ErrorCode::REBALANCE_IN_PROGRESS
        );
    }
    assert_eq!(bench.joined(a), None);
    bench.pass(5_001);
    let a = bench.joined(a).expect("its time is over");
    assert_eq!(a.members.len(), 2);
    assert!(bench.joined(c).is_some());
    assert_eq!(bench.beat(&b.member_id, 3), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[test]
fn who_does_not_ask_for_its_assignment_is_gone() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    let a = bench.join(9, &join_request(&a.member_id, &["range"]));
    let b = bench.join_now(9, &join_request(&b.member_id, &["range"]));
    let a = bench.joined(a).expect("both are there");
    let leader = bench.sync(sync_request(&a, &[]));
    assert!(bench.synced(leader).is_some());
    assert_eq!(bench.state(), "Stable");
    for _ in 0..12 {
        bench.pass(5_000);
        bench.beat(&a.member_id, 3);
        bench.beat(&b.member_id, 3);
    }
    bench.pass(1);
    assert_eq!(bench.state(), "PreparingRebalance");
    assert_eq!(bench.beat(&b.member_id, 3), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(
        bench.beat(&a.member_id, 3),
        ErrorCode::REBALANCE_IN_PROGRESS
    );
}

#[test]
fn a_leader_that_dies_before_it_assigns() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    let a = bench.join(9, &join_request(&a.member_id, &["range"]));
    let b = bench.join_now(9, &join_request(&b.member_id, &["range"]));
    let a = bench.joined(a).expect("both are there");
    let waiting = bench.sync(sync_request(&b, &[]));
    bench.pass(10_001);
    let code = bench
        .synced(waiting)
        .expect("its leader is gone")
        .error_code;
    assert_eq!(code, ErrorCode::REBALANCE_IN_PROGRESS);
    let alone = bench.join_now(9, &join_request(&b.member_id, &["range"]));
    assert_eq!((&alone.leader, alone.members.len()), (&b.member_id, 1));
    assert_ne!(alone.leader, a.member_id);
}

#[test]
fn an_assignment_that_is_too_large_is_given_to_nobody() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    let a = bench.join(9, &join_request(&a.member_id, &["range"]));
    let b = bench.join_now(9, &join_request(&b.member_id, &["range"]));
    let a = bench.joined(a).expect("both are there");
    let (leader, other) = if a.leader == a.member_id {
        (a, b)
    } else {
        (b, a)
    };
    let waiting = bench.sync(sync_request(&other, &[]));
    let written = bench.log.len();
    bench.max_batch_bytes = 1000;
    let large = bench.sync(sync_request(&leader, &[(&other.member_id, &[1; 1000])]));
    for token in [waiting, large] {
        let code = bench.synced(token).expect("answered").error_code;
        assert_eq!(code, ErrorCode::UNKNOWN_SERVER_ERROR);
    }
    assert_eq!(bench.log.len(), written);
    // All have to join again.
    for member in [&leader, &other] {
        let code = bench.beat(&member.member_id, member.generation_id);
        assert_eq!(code, ErrorCode::REBALANCE_IN_PROGRESS);
    }
}

#[test]
fn a_request_sent_twice_is_answered_twice() {
    let mut bench = Bench::new(&[]);
    let joined = stable(&mut bench);
    let b = id_for(&mut bench);
    let first = bench.join(9, &join_request(&b, &["range"]));
    let second = bench.join(9, &join_request(&b, &["range"]));
    let code = bench.joined(first).expect("replaced").error_code;
    assert_eq!(code, ErrorCode::REBALANCE_IN_PROGRESS);
    let a = bench.join_now(9, &join_request(&joined.member_id, &["range"]));
    let b = bench.joined(second).expect("both are there");
    let first = bench.sync(sync_request(&b, &[]));
    let second = bench.sync(sync_request(&b, &[]));
    assert!(bench.synced(first).is_some());
    bench.sync(sync_request(&a, &[]));
    assert_eq!(
        bench.synced(second).expect("answered").error_code,
        ErrorCode::NONE
    );
}

#[test]
fn no_more_members_than_may_be() {
    let mut bench = Bench::new(&[("group.max.size", "1")]);
    let joined = stable(&mut bench);
    let code = bench.join_now(9, &join_request("", &["range"])).error_code;
    assert_eq!(code, ErrorCode::GROUP_MAX_SIZE_REACHED);
    assert_eq!(bench.beat(&joined.member_id, 1), ErrorCode::NONE);
}

#[test]
fn a_static_member_that_is_back_disturbs_nobody() {
    let mut bench = Bench::new(&[]);
    let first = bench.join_now(9, &static_join("i", ""));
    assert_eq!(first.error_code, ErrorCode::NONE, "no id is required");
    let token = bench.sync(SyncGroupRequest {
        group_instance_id: Some("i".to_owned()),
        ..sync_request(&first, &[(&first.member_id, b"all")])
    });
    assert!(bench.synced(token).is_some());
    let again = bench.join_now(9, &static_join("i", ""));
    assert_ne!(again.member_id, first.member_id);
    assert_eq!((again.generation_id, bench.state().as_str()), (1, "Stable"));
    // The leader keeps its assignment and makes none (KIP-814).
    assert!(again.skip_assignment);
    assert_eq!((&again.leader, again.members.len()), (&again.member_id, 1));
    let token = bench.sync(SyncGroupRequest {
        group_instance_id: Some("i".to_owned()),
        ..sync_request(&again, &[])
    });
    assert_eq!(
        bench.synced(token).expect("answered").assignment,
        &b"all"[..]
    );
    // One that does not know of that is told of another leader.
    let older = bench.join_now(8, &static_join("i", ""));
    assert!(!older.skip_assignment && older.members.is_empty());
    assert_ne!(older.leader, older.member_id);
    // What it was before is fenced.
    let fenced = bench.join_now(9, &static_join("i", &first.member_id));
    assert_eq!(fenced.error_code, ErrorCode::FENCED_INSTANCE_ID);
    assert_eq!(
        bench.leave(&first.member_id, Some("i")),
        ErrorCode::FENCED_INSTANCE_ID
    );
    assert_eq!(bench.leave("", Some("j")), ErrorCode::UNKNOWN_MEMBER_ID);
    // An administrator knows only its instance.
    assert_eq!(bench.leave("", Some("i")), ErrorCode::NONE);
    assert_eq!(bench.state(), "Empty");
}

#[test]
fn a_static_member_that_wants_something_else_starts_a_rebalance() {
    let mut bench = Bench::new(&[]);
    let first = bench.join_now(9, &static_join("i", ""));
    bench.sync(SyncGroupRequest {
        group_instance_id: Some("i".to_owned()),
        ..sync_request(&first, &[])
    });
    let mut request = static_join("i", "");
    request.protocols[0].name = "other".to_owned();
    // Alone it can change the protocol: the check is against its own old one.
    let refused = bench.join_now(9, &request);
    assert_eq!(refused.error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    request
        .protocols
        .insert(0, join_request("", &["range"]).protocols.remove(0));
    request.protocols.swap(0, 1);
    let again = bench.join_now(9, &request);
    assert_eq!(
        (again.generation_id, again.protocol_name.as_deref()),
        (2, Some("other"))
    );
}

#[test]
fn a_restart_finds_the_generation() {
    let mut bench = Bench::new(&[]);
    let (a, b) = two(&mut bench);
    bench.restart();
    assert_eq!(bench.state(), "Stable");
    assert_eq!(bench.beat(&a.member_id, 2), ErrorCode::NONE);
    let token = bench.sync(sync_request(&b, &[]));
    assert_eq!(bench.synced(token).expect("answered").assignment, &b"2"[..]);
    // One comes back, the other does not.
    bench.pass(9_000);
    bench.beat(&a.member_id, 2);
    bench.pass(1_001);
    assert_eq!(bench.state(), "PreparingRebalance");
    let alone = bench.join_now(9, &join_request(&a.member_id, &["range"]));
    assert_eq!((alone.generation_id, alone.members.len()), (3, 1));
    bench.leave(&a.member_id, None);
    bench.restart();
    assert_eq!(bench.state(), "Empty");
    assert_eq!(
        bench
            .join_now(3, &join_request("", &["range"]))
            .generation_id,
        5
    );
}

#[test]
fn a_stranger_gets_no_more_ids_than_can_be_kept() {
    let mut bench = Bench::new(&[]);
    for _ in 0..1_000 {
        id_for(&mut bench);
    }
    let code = bench.join_now(9, &join_request("", &["range"])).error_code;
    assert_eq!(code, ErrorCode::GROUP_MAX_SIZE_REACHED);
    bench.pass(10_001);
    id_for(&mut bench);
}
