//! A group whose members are restarted with the other protocol, one by one.

use bytes::Bytes;
use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_protocol_assignment::{
    ConsumerProtocolAssignment, TopicPartition,
};
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment};

use super::super::embedded;
use super::consumer::Consumer;
use super::{Bench, join_request, sync_request};

fn assigned(bytes: &Bytes) -> Vec<i32> {
    let assignment = embedded::assignment(bytes).expect("a consumer's");
    let topics = assignment.assigned_partitions.into_iter();
    topics.flat_map(|it| it.partitions).collect()
}

fn kind(bench: &Bench) -> String {
    bench.coordinator.list(&[], &[])[0].group_type.clone()
}

#[test]
fn to_the_consumer_protocol_and_back() {
    let mut bench = Bench::new(&[]);
    let joined = bench.join_now(3, &join_request("", &["range"]));
    let all = ConsumerProtocolAssignment {
        assigned_partitions: vec![TopicPartition {
            topic: "t".to_owned(),
            partitions: vec![0, 1, 2, 3],
        }],
        user_data: None,
    };
    let token = bench.sync(SyncGroupRequest {
        assignments: vec![SyncGroupRequestAssignment {
            member_id: joined.member_id.clone(),
            assignment: embedded::write(&all, 1),
        }],
        ..sync_request(&joined, &[])
    });
    assert!(bench.synced(token).is_some());

    let mut new = Consumer::new("new", &["t"]);
    new.beat(&mut bench).expect("joins");
    assert_eq!((kind(&bench).as_str(), new.has.len()), ("consumer", 0));
    bench.restart();
    // The old one is told to join again, and to give up two.
    assert_eq!(
        bench.beat(&joined.member_id, joined.generation_id),
        ErrorCode::REBALANCE_IN_PROGRESS
    );
    let mut again = join_request(&joined.member_id, &["range"]);
    again.protocols[0].metadata = super::wants(&["t"]);
    let next = bench.join_now(3, &again);
    let token = bench.sync(SyncGroupRequest {
        protocol_type: Some("consumer".to_owned()),
        protocol_name: Some("range".to_owned()),
        ..sync_request(&next, &[])
    });
    let got = bench.synced(token).expect("answered");
    assert_eq!(
        (got.error_code, assigned(&got.assignment).len()),
        (ErrorCode::NONE, 2)
    );
    assert_eq!(
        bench.beat(&next.member_id, next.generation_id),
        ErrorCode::NONE
    );
    new.beat(&mut bench).expect("a heartbeat");
    assert_eq!(new.has.len(), 2);
    let described = bench
        .coordinator
        .describe_consumer("g", &bench.cluster)
        .expect("there");
    let types: Vec<i8> = described.members.iter().map(|it| it.member_type).collect();
    assert_eq!(
        types.iter().map(|it| i32::from(*it)).sum::<i32>(),
        1,
        "one of each: {types:?}"
    );

    // The new one leaves again: the group is what it was.
    new.leave(&mut bench, -1).expect("leaves");
    assert_eq!(
        (kind(&bench).as_str(), bench.state().as_str()),
        ("classic", "PreparingRebalance")
    );
    bench.restart();
    let last = bench.join_now(3, &join_request(&joined.member_id, &["range"]));
    assert_eq!(
        (last.error_code, &last.leader),
        (ErrorCode::NONE, &joined.member_id)
    );
    assert!(last.generation_id > next.generation_id);
}

#[test]
fn an_empty_group_is_whatever_its_next_member_speaks() {
    let mut bench = Bench::new(&[]);
    let joined = bench.join_now(3, &join_request("", &["range"]));
    bench.leave(&joined.member_id, None);
    let mut new = Consumer::new("new", &["t"]);
    new.beat(&mut bench).expect("joins");
    assert_eq!(kind(&bench), "consumer");
    new.leave(&mut bench, -1).expect("leaves");
    bench.restart();
    let joined = bench.join_now(3, &join_request("", &["range"]));
    assert_eq!(
        (kind(&bench).as_str(), joined.error_code),
        ("classic", ErrorCode::NONE)
    );
    bench.sync(sync_request(&joined, &[]));
    bench.restart();
    assert_eq!(kind(&bench), "classic");
}

#[test]
fn other_protocols_are_not_migrated() {
    let mut bench = Bench::new(&[]);
    let mut request = join_request("", &["range"]);
    request.protocol_type = "connect".to_owned();
    let joined = bench.join_now(3, &request);
    bench.sync(sync_request(&joined, &[]));
    let mut new = Consumer::new("new", &["t"]);
    assert_eq!(new.beat(&mut bench), Err(ErrorCode::GROUP_ID_NOT_FOUND));
    assert_eq!(bench.beat(&joined.member_id, 1), ErrorCode::NONE);
    // Nor does a stranger get into a consumer group.
    let mut bench = Bench::new(&[]);
    new.beat(&mut bench).expect("joins");
    let refused = bench.join_now(3, &request);
    assert_eq!(refused.error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}
