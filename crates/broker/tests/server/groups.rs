//! Groups and offsets, as their members and administrators meet them.

use bytes::Bytes;
use copart_broker::{Broker, Builder, Fault};
use copart_protocol::messages::consumer_group_describe::ConsumerGroupDescribeRequest;
use copart_protocol::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, TopicPartitions,
};
use copart_protocol::messages::delete_groups::DeleteGroupsRequest;
use copart_protocol::messages::describe_groups::DescribeGroupsRequest;
use copart_protocol::messages::find_coordinator::FindCoordinatorRequest;
use copart_protocol::messages::heartbeat::HeartbeatRequest;
use copart_protocol::messages::join_group::{
    JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse,
};
use copart_protocol::messages::leave_group::{LeaveGroupRequest, MemberIdentity};
use copart_protocol::messages::list_groups::ListGroupsRequest;
use copart_protocol::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use copart_protocol::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use copart_protocol::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
};
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment};
use copart_protocol::{ApiKey, ErrorCode, Uuid};

use super::client::Client;

fn builder() -> Builder {
    Broker::builder().topic("t", 4)
}

/// A connection to the group's coordinator.
async fn coordinator(broker: &Broker, group: &str) -> Client {
    let node = find(broker, broker.nodes()[0], group).await;
    Client::to(broker, node.expect("a coordinator")).await
}

async fn find(broker: &Broker, ask: i32, group: &str) -> Result<i32, ErrorCode> {
    let mut any = Client::to(broker, ask).await;
    let request = FindCoordinatorRequest {
        coordinator_keys: vec![group.to_owned()],
        ..Default::default()
    };
    let response = any.call(6, &request).await.coordinators.remove(0);
    assert_eq!(response.key, group);
    response.error_code.ok().map(|()| response.node_id)
}

fn join_request(group: &str, member: &str) -> JoinGroupRequest {
    JoinGroupRequest {
        group_id: group.to_owned(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        member_id: member.to_owned(),
        protocol_type: "consumer".to_owned(),
        protocols: vec![JoinGroupRequestProtocol {
            name: "range".to_owned(),
            metadata: Bytes::from_static(&[0, 0, 0, 0, 0, 1, 0, 1, b't', 255, 255, 255, 255]),
        }],
        ..Default::default()
    }
}

/// Joins as a client does, which is given an id first.
async fn join(client: &mut Client, group: &str) -> JoinGroupResponse {
    let first = client.call(9, &join_request(group, "")).await;
    assert_eq!(first.error_code, ErrorCode::MEMBER_ID_REQUIRED);
    client.call(9, &join_request(group, &first.member_id)).await
}

fn sync_request(
    group: &str,
    joined: &JoinGroupResponse,
    assign: &[(&str, &'static [u8])],
) -> SyncGroupRequest {
    SyncGroupRequest {
        group_id: group.to_owned(),
        generation_id: joined.generation_id,
        member_id: joined.member_id.clone(),
        protocol_type: Some("consumer".to_owned()),
        protocol_name: Some("range".to_owned()),
        assignments: assign
            .iter()
            .map(|(member, assignment)| SyncGroupRequestAssignment {
                member_id: (*member).to_owned(),
                assignment: Bytes::from_static(assignment),
            })
            .collect(),
        ..Default::default()
    }
}

async fn beat(client: &mut Client, group: &str, joined: &JoinGroupResponse) -> ErrorCode {
    let request = HeartbeatRequest {
        group_id: group.to_owned(),
        generation_id: joined.generation_id,
        member_id: joined.member_id.clone(),
        ..Default::default()
    };
    client.call(4, &request).await.error_code
}

fn commit_request(
    group: &str,
    member: Option<(&str, i32)>,
    offsets: &[(i32, i64)],
) -> OffsetCommitRequest {
    OffsetCommitRequest {
        group_id: group.to_owned(),
        generation_id_or_member_epoch: member.map_or(-1, |(_, epoch)| epoch),
        member_id: member.map_or("", |(id, _)| id).to_owned(),
        topics: vec![OffsetCommitRequestTopic {
            name: "t".to_owned(),
            partitions: offsets
                .iter()
                .map(
                    |&(partition_index, committed_offset)| OffsetCommitRequestPartition {
                        partition_index,
                        committed_offset,
                        committed_leader_epoch: 3,
                        committed_metadata: Some(format!("m{committed_offset}")),
                    },
                )
                .collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

async fn commit(
    client: &mut Client,
    group: &str,
    member: Option<(&str, i32)>,
    offsets: &[(i32, i64)],
) -> Vec<ErrorCode> {
    send_commit(client, &commit_request(group, member, offsets)).await
}

/// The codes of the first topic's partitions.
async fn send_commit(client: &mut Client, request: &OffsetCommitRequest) -> Vec<ErrorCode> {
    let response = client.call(9, request).await;
    let partitions = response.topics[0].partitions.iter();
    partitions.map(|partition| partition.error_code).collect()
}

async fn committed(client: &mut Client, group: &str) -> Vec<(i32, i64)> {
    let request = OffsetFetchRequest {
        groups: vec![OffsetFetchRequestGroup {
            group_id: group.to_owned(),
            topics: None,
            ..Default::default()
        }],
        require_stable: true,
        ..Default::default()
    };
    let response = client.call(9, &request).await.groups.remove(0);
    assert_eq!(response.error_code, ErrorCode::NONE);
    let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
    let seen: Vec<&OffsetFetchResponsePartitions> = partitions.collect();
    assert!(
        seen.iter()
            .all(|it| it.metadata == Some(format!("m{}", it.committed_offset)))
    );
    assert!(seen.iter().all(|it| it.committed_leader_epoch == 3));
    seen.iter()
        .map(|it| (it.partition_index, it.committed_offset))
        .collect()
}

#[tokio::test]
async fn two_members_share_and_one_takes_over() {
    let broker = builder().start().await.expect("starts");
    let mut a = coordinator(&broker, "g").await;
    let mut b = coordinator(&broker, "g").await;
    let alone = join(&mut a, "g").await;
    assert_eq!(
        (alone.error_code, alone.generation_id),
        (ErrorCode::NONE, 1)
    );
    assert_eq!((&alone.leader, alone.members.len()), (&alone.member_id, 1));
    let all = sync_request("g", &alone, &[(&alone.member_id, b"all")]);
    assert_eq!(a.call(5, &all).await.assignment, Bytes::from_static(b"all"));
    assert_eq!(beat(&mut a, "g", &alone).await, ErrorCode::NONE);

    // The second one waits for the first one to join again.
    let first = b.call(9, &join_request("g", "")).await;
    b.send(9, &join_request("g", &first.member_id)).await;
    while beat(&mut a, "g", &alone).await != ErrorCode::REBALANCE_IN_PROGRESS {
        tokio::task::yield_now().await;
    }
    let leader = a.call(9, &join_request("g", &alone.member_id)).await;
    let follower: JoinGroupResponse = b.receive::<JoinGroupRequest>(9).await;
    assert_eq!((leader.generation_id, follower.generation_id), (2, 2));
    assert_eq!((leader.members.len(), follower.members.len()), (2, 0));
    b.send(5, &sync_request("g", &follower, &[])).await;
    let half = sync_request(
        "g",
        &leader,
        &[(&leader.member_id, b"one"), (&follower.member_id, b"two")],
    );
    assert_eq!(
        a.call(5, &half).await.assignment,
        Bytes::from_static(b"one")
    );
    let assigned = b.receive::<SyncGroupRequest>(5).await;
    assert_eq!(assigned.assignment, Bytes::from_static(b"two"));

    let describe = DescribeGroupsRequest {
        groups: vec!["g".to_owned(), "none".to_owned()],
        ..Default::default()
    };
    let described = a.call(5, &describe).await.groups;
    assert_eq!(described[0].group_state, "Stable");
    assert_eq!(described[0].protocol_data, "range");
    assert_eq!(
        described[0].members[1].member_assignment,
        Bytes::from_static(b"two")
    );
    assert_eq!(described[0].members[0].client_id, "test");
    assert_eq!(described[0].members[0].client_host, "/127.0.0.1");
    assert_eq!(described[0].authorized_operations, i32::MIN);
    assert_eq!(
        (described[1].group_state.as_str(), described[1].error_code),
        ("Dead", ErrorCode::NONE)
    );
    let described = a.call(6, &describe).await.groups;
    assert_eq!(described[1].error_code, ErrorCode::GROUP_ID_NOT_FOUND);

    // One leaves, the other has to join again, and alone.
    let leave = LeaveGroupRequest {
        group_id: "g".to_owned(),
        members: vec![MemberIdentity {
            member_id: leader.member_id.clone(),
            ..Default::default()
        }],
        ..Default::default()
    };
    assert_eq!(
        a.call(5, &leave).await.members[0].error_code,
        ErrorCode::NONE
    );
    assert_eq!(
        beat(&mut b, "g", &follower).await,
        ErrorCode::REBALANCE_IN_PROGRESS
    );
    let alone = b.call(9, &join_request("g", &follower.member_id)).await;
    assert_eq!((alone.generation_id, alone.leader), (3, follower.member_id));
}

#[tokio::test]
async fn offsets_are_committed_fetched_and_deleted_in_all_versions() {
    let broker = builder().start().await.expect("starts");
    let mut client = coordinator(&broker, "g").await;
    assert_eq!(committed(&mut client, "g").await, []);
    for version in 2..=10 {
        let mut request = commit_request("g", None, &[(0, version.into()), (3, 7), (9, 1)]);
        let mut codes = [
            ErrorCode::NONE,
            ErrorCode::NONE,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ];
        if version >= 10 {
            request.topics[0].topic_id = broker.topic_id("t").expect("there");
            request.topics.push(OffsetCommitRequestTopic {
                topic_id: Uuid([9; 16]),
                ..request.topics[0].clone()
            });
        }
        let response = client.call(version, &request).await;
        for (partition, code) in response.topics[0].partitions.iter().zip(&mut codes) {
            assert_eq!(partition.error_code, *code, "version {version}");
        }
        if let Some(unknown) = response.topics.get(1) {
            assert!(
                unknown
                    .partitions
                    .iter()
                    .all(|it| it.error_code == ErrorCode::UNKNOWN_TOPIC_ID)
            );
        }
    }
    assert_eq!(committed(&mut client, "g").await, [(0, 10), (3, 7)]);
    for version in 1..=10 {
        let topic = OffsetFetchRequestTopics {
            name: "t".to_owned(),
            topic_id: broker.topic_id("t").expect("there"),
            partition_indexes: vec![0, 1],
        };
        let mut request = OffsetFetchRequest {
            require_stable: version >= 7,
            ..Default::default()
        };
        let offsets: Vec<(i64, ErrorCode)> = if version < 8 {
            request.group_id = "g".to_owned();
            request.topics = Some(vec![
                copart_protocol::messages::offset_fetch::OffsetFetchRequestTopic {
                    name: topic.name,
                    partition_indexes: topic.partition_indexes,
                },
            ]);
            let response = client.call(version, &request).await;
            let partitions = response.topics[0].partitions.iter();
            partitions
                .map(|it| (it.committed_offset, it.error_code))
                .collect()
        } else {
            request.groups = vec![OffsetFetchRequestGroup {
                group_id: "g".to_owned(),
                topics: Some(vec![topic]),
                ..Default::default()
            }];
            let response = client.call(version, &request).await;
            let partitions = response.groups[0].topics[0].partitions.iter();
            partitions
                .map(|it| (it.committed_offset, it.error_code))
                .collect()
        };
        assert_eq!(
            offsets,
            [(10, ErrorCode::NONE), (-1, ErrorCode::NONE)],
            "version {version}"
        );
    }
    let delete = OffsetDeleteRequest {
        group_id: "g".to_owned(),
        topics: vec![OffsetDeleteRequestTopic {
            name: "t".to_owned(),
            partitions: vec![OffsetDeleteRequestPartition { partition_index: 0 }],
        }],
    };
    assert_eq!(
        client.call(0, &delete).await.topics[0].partitions[0].error_code,
        ErrorCode::NONE
    );
    assert_eq!(committed(&mut client, "g").await, [(3, 7)]);
    let long = "x".repeat(4097);
    let mut request = commit_request("g", None, &[(1, 1)]);
    request.topics[0].partitions[0].committed_metadata = Some(long);
    let response = client.call(9, &request).await;
    let code = response.topics[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::OFFSET_METADATA_TOO_LARGE);

    let list = |states: &[&str], types: &[&str]| ListGroupsRequest {
        states_filter: states.iter().map(|it| (*it).to_owned()).collect(),
        types_filter: types.iter().map(|it| (*it).to_owned()).collect(),
    };
    let listed = client.call(5, &list(&[], &[])).await.groups;
    assert_eq!((listed.len(), listed[0].group_state.as_str()), (1, "Empty"));
    assert_eq!(
        client
            .call(5, &list(&["empty"], &["Classic"]))
            .await
            .groups
            .len(),
        1
    );
    assert_eq!(client.call(5, &list(&["Stable"], &[])).await.groups, []);
    assert_eq!(client.call(5, &list(&[], &["consumer"])).await.groups, []);
    let delete = DeleteGroupsRequest {
        groups_names: vec!["g".to_owned(), "g".to_owned()],
    };
    let results = client.call(3, &delete).await.results;
    assert_eq!(results[0].error_code, ErrorCode::NONE);
    assert_eq!(results[1].error_code, ErrorCode::GROUP_ID_NOT_FOUND);
    assert_eq!(committed(&mut client, "g").await, []);
}

/// As Apache Kafka 4.4 answers it.
#[tokio::test]
async fn a_commit_larger_than_a_batch_may_be_is_refused_as_a_whole() {
    let builder = builder().config("message.max.bytes", "1000");
    let broker = builder.start().await.expect("starts");
    let mut client = coordinator(&broker, "g").await;
    let joined = join(&mut client, "g").await;
    let id = joined.member_id.as_str();
    let sync = sync_request("g", &joined, &[(id, &[7; 950])]);
    let refused = client.call(5, &sync).await;
    assert_eq!(refused.error_code, ErrorCode::UNKNOWN_SERVER_ERROR);
    let joined = client.call(9, &join_request("g", id)).await;
    assert_eq!(
        (joined.error_code, joined.generation_id),
        (ErrorCode::NONE, 2)
    );
    let synced = client
        .call(5, &sync_request("g", &joined, &[(id, b"mine")]))
        .await;
    assert_eq!(synced.assignment, &b"mine"[..]);

    let member = Some((id, joined.generation_id));
    let offsets = [(0, 1), (1, 2), (2, 3)];
    let codes = commit(&mut client, "g", member, &offsets).await;
    assert_eq!(codes, [ErrorCode::NONE; 3]);
    let mut large = commit_request("g", member, &[(0, 11), (1, 12), (2, 13)]);
    for partition in &mut large.topics[0].partitions {
        partition.committed_metadata = Some("x".repeat(300));
    }
    let codes = send_commit(&mut client, &large).await;
    assert_eq!(codes, [ErrorCode::UNKNOWN_SERVER_ERROR; 3]);
    // Nothing is lost by it, and the group goes on.
    assert_eq!(committed(&mut client, "g").await, offsets);
    assert_eq!(beat(&mut client, "g", &joined).await, ErrorCode::NONE);
    large.topics[0].partitions.truncate(2);
    let codes = send_commit(&mut client, &large).await;
    assert_eq!(codes, [ErrorCode::NONE; 2]);
}

#[tokio::test]
async fn offsets_and_groups_survive_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = builder().data(dir.path()).start().await.expect("starts");
    let mut client = coordinator(&broker, "g").await;
    let joined = join(&mut client, "g").await;
    client
        .call(
            5,
            &sync_request("g", &joined, &[(&joined.member_id, b"all")]),
        )
        .await;
    let by = Some((joined.member_id.as_str(), joined.generation_id));
    assert_eq!(
        commit(&mut client, "g", by, &[(0, 5), (1, 6)]).await,
        [ErrorCode::NONE; 2]
    );
    assert_eq!(
        commit(&mut client, "g", by, &[(0, 8)]).await,
        [ErrorCode::NONE]
    );
    let mut other = coordinator(&broker, "h").await;
    assert_eq!(
        commit(&mut other, "h", None, &[(2, 1)]).await,
        [ErrorCode::NONE]
    );
    broker.stop().await.expect("stops");

    let broker = builder().data(dir.path()).start().await.expect("starts");
    let mut client = coordinator(&broker, "g").await;
    assert_eq!(committed(&mut client, "g").await, [(0, 8), (1, 6)]);
    assert_eq!(committed(&mut client, "h").await, [(2, 1)]);
    // The member goes on as if nothing had happened.
    assert_eq!(beat(&mut client, "g", &joined).await, ErrorCode::NONE);
    assert_eq!(
        commit(&mut client, "g", by, &[(0, 9)]).await,
        [ErrorCode::NONE]
    );
    let stranger = Some(("somebody", joined.generation_id));
    assert_eq!(
        commit(&mut client, "g", stranger, &[(0, 1)]).await,
        [ErrorCode::UNKNOWN_MEMBER_ID]
    );
    let before = Some((joined.member_id.as_str(), joined.generation_id - 1));
    assert_eq!(
        commit(&mut client, "g", before, &[(0, 1)]).await,
        [ErrorCode::ILLEGAL_GENERATION]
    );
    assert_eq!(committed(&mut client, "g").await, [(0, 9), (1, 6)]);
    broker.stop().await.expect("stops");
}

#[tokio::test]
async fn a_coordinator_moves_when_its_node_stops() {
    let broker = builder().nodes(3).start().await.expect("starts");
    let node = find(&broker, 1, "g").await.expect("a coordinator");
    let other = (1..=3).find(|id| *id != node).expect("three nodes");
    let mut wrong = Client::to(&broker, other).await;
    assert_eq!(
        wrong.call(9, &join_request("g", "")).await.error_code,
        ErrorCode::NOT_COORDINATOR
    );
    assert_eq!(
        commit(&mut wrong, "g", None, &[(0, 1)]).await,
        [ErrorCode::NOT_COORDINATOR]
    );
    let mut client = Client::to(&broker, node).await;
    let joined = join(&mut client, "g").await;
    client
        .call(
            5,
            &sync_request("g", &joined, &[(&joined.member_id, b"all")]),
        )
        .await;
    let by = Some((joined.member_id.as_str(), joined.generation_id));
    assert_eq!(
        commit(&mut client, "g", by, &[(0, 5)]).await,
        [ErrorCode::NONE]
    );

    broker.stop_node(node).await.expect("stops");
    let next = find(&broker, other, "g").await.expect("another one");
    assert_ne!(next, node);
    let mut client = Client::to(&broker, next).await;
    assert_eq!(committed(&mut client, "g").await, [(0, 5)]);
    assert_eq!(beat(&mut client, "g", &joined).await, ErrorCode::NONE);

    // A move without a stop: whoever waits is sent on.
    let mut late = Client::to(&broker, next).await;
    let first = late.call(9, &join_request("g", "")).await;
    late.send(9, &join_request("g", &first.member_id)).await;
    while beat(&mut client, "g", &joined).await != ErrorCode::REBALANCE_IN_PROGRESS {
        tokio::task::yield_now().await;
    }
    let last = (1..=3)
        .find(|id| ![node, next].contains(id))
        .expect("three nodes");
    let partition = 3; // "g" hashes to 103
    broker
        .set_leader("__consumer_offsets", partition, last)
        .await
        .expect("moves");
    let answer = late.receive::<JoinGroupRequest>(9).await;
    assert_eq!(answer.error_code, ErrorCode::NOT_COORDINATOR);
    assert_eq!(find(&broker, next, "g").await, Ok(last));
}

#[tokio::test]
async fn faults_can_be_asked_for() {
    let broker = builder().start().await.expect("starts");
    let mut client = coordinator(&broker, "g").await;
    let loading = ErrorCode::COORDINATOR_LOAD_IN_PROGRESS;
    broker.inject(ApiKey::JoinGroup, None, 1, Fault::Error(loading));
    broker.inject(ApiKey::OffsetCommit, None, 1, Fault::Error(loading));
    assert_eq!(
        client.call(5, &join_request("g", "")).await.error_code,
        loading
    );
    assert_eq!(commit(&mut client, "g", None, &[(0, 1)]).await, [loading]);
    assert_eq!(committed(&mut client, "g").await, []);
    // Done, but the client does not learn it.
    broker.inject(ApiKey::OffsetCommit, None, 1, Fault::ApplyThenDisconnect);
    client.send(9, &commit_request("g", None, &[(0, 1)])).await;
    assert!(client.receive_frame().await.is_none());
    let mut client = coordinator(&broker, "g").await;
    assert_eq!(committed(&mut client, "g").await, [(0, 1)]);
}

fn heartbeat_request(group: &str, member: &str, epoch: i32) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest {
        group_id: group.to_owned(),
        member_id: member.to_owned(),
        member_epoch: epoch,
        ..Default::default()
    }
}

async fn enter(client: &mut Client, group: &str, member: &str) -> ConsumerGroupHeartbeatResponse {
    let request = ConsumerGroupHeartbeatRequest {
        rebalance_timeout_ms: 10_000,
        subscribed_topic_names: Some(vec!["t".to_owned()]),
        topic_partitions: Some(Vec::new()),
        ..heartbeat_request(group, member, 0)
    };
    client.call(1, &request).await
}

fn partitions(response: &ConsumerGroupHeartbeatResponse) -> Option<Vec<i32>> {
    let assignment = response.assignment.as_ref()?;
    let topics = assignment.topic_partitions.iter();
    Some(topics.flat_map(|it| it.partitions.clone()).collect())
}

#[tokio::test]
async fn consumer_groups_are_assigned_by_the_broker() {
    let broker = builder().start().await.expect("starts");
    let topic = broker.topic_id("t").expect("there");
    let mut client = coordinator(&broker, "g").await;
    let a = enter(&mut client, "g", "a").await;
    assert_eq!(
        (a.error_code, a.heartbeat_interval_ms),
        (ErrorCode::NONE, 500)
    );
    assert_eq!(partitions(&a), Some(vec![0, 1, 2, 3]));
    let b = enter(&mut client, "g", "b").await;
    assert_eq!(partitions(&b), Some(vec![]), "the first one has them still");
    // The first one is told what to give back, and says that it has.
    let told = client
        .call(1, &heartbeat_request("g", "a", a.member_epoch))
        .await;
    assert_eq!(
        (partitions(&told), told.member_epoch),
        (Some(vec![0, 1]), a.member_epoch)
    );
    let still = client
        .call(1, &heartbeat_request("g", "b", b.member_epoch))
        .await;
    assert_eq!(partitions(&still), None);
    let gave = ConsumerGroupHeartbeatRequest {
        topic_partitions: Some(vec![TopicPartitions {
            topic_id: topic,
            partitions: vec![0, 1],
        }]),
        ..heartbeat_request("g", "a", told.member_epoch)
    };
    let gave = client.call(1, &gave).await;
    assert_eq!(gave.member_epoch, b.member_epoch);
    let got = client
        .call(1, &heartbeat_request("g", "b", b.member_epoch))
        .await;
    assert_eq!(partitions(&got), Some(vec![2, 3]));

    let by = Some(("b", got.member_epoch));
    assert_eq!(
        commit(&mut client, "g", by, &[(2, 5)]).await,
        [ErrorCode::NONE]
    );
    let stale = Some(("b", got.member_epoch + 1));
    assert_eq!(
        commit(&mut client, "g", stale, &[(2, 5)]).await,
        [ErrorCode::STALE_MEMBER_EPOCH]
    );
    let describe = ConsumerGroupDescribeRequest {
        group_ids: vec!["g".to_owned()],
        ..Default::default()
    };
    let group = client.call(1, &describe).await.groups.remove(0);
    assert_eq!(
        (group.group_state.as_str(), group.assignor_name.as_str()),
        ("Stable", "uniform")
    );
    assert_eq!(
        group.members[1].assignment.topic_partitions[0].topic_name,
        "t"
    );
    assert_eq!(
        group.members[1].assignment.topic_partitions[0].partitions,
        [2, 3]
    );
    assert_eq!(group.members[0].member_type, 1);

    let fenced = client.call(1, &heartbeat_request("g", "b", 99)).await;
    assert_eq!(fenced.error_code, ErrorCode::FENCED_MEMBER_EPOCH);
    let left = client.call(1, &heartbeat_request("g", "b", -1)).await;
    assert_eq!((left.error_code, left.member_epoch), (ErrorCode::NONE, -1));
    let all = client
        .call(1, &heartbeat_request("g", "a", gave.member_epoch))
        .await;
    assert_eq!(partitions(&all), Some(vec![0, 1, 2, 3]));
    let nobody = client.call(1, &heartbeat_request("g", "c", 5)).await;
    assert_eq!(nobody.error_code, ErrorCode::UNKNOWN_MEMBER_ID);
    let nothing = client.call(1, &heartbeat_request("none", "c", 5)).await;
    assert_eq!(nothing.error_code, ErrorCode::GROUP_ID_NOT_FOUND);
    let invalid = client.call(1, &heartbeat_request("g", "c", 0)).await;
    assert_eq!(invalid.error_code, ErrorCode::INVALID_REQUEST);
}
