//! Several nodes: who leads, what happens when one stops, and what clients are told.

use std::time::{Duration, Instant};

use copart_broker::{Broker, ErrorKind};
use copart_protocol::ErrorCode;
use copart_protocol::messages::fetch::FetchRequest;
use copart_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponsePartition,
};

use super::client::{Client, batch, fetch_request, produce_request, values};

async fn five() -> Broker {
    let builder = Broker::builder().nodes(5).replicated_topic("t", 8, 3);
    builder.start().await.expect("starts")
}

async fn partitions(client: &mut Client) -> Vec<MetadataResponsePartition> {
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some("t".to_owned()),
            ..Default::default()
        }]),
        ..Default::default()
    };
    let mut response = client.call(12, &request).await;
    response.topics.remove(0).partitions
}

#[tokio::test]
async fn leaders_are_among_the_replicas_and_only_they_take_records() {
    let broker = five().await;
    let mut any = Client::to(&broker, 3).await;
    let all = partitions(&mut any).await;
    assert_eq!(all.len(), 8);
    for partition in &all {
        let mut replicas = partition.replica_nodes.clone();
        assert!(replicas.contains(&partition.leader_id));
        replicas.sort_unstable();
        replicas.dedup();
        assert_eq!(replicas.len(), 3);
        assert!(replicas.iter().all(|id| (1..=5).contains(id)));
    }
    let leader = all[0].leader_id;
    let other = (1..=5).find(|&id| id != leader).expect("five nodes");
    let mut leading = Client::to(&broker, leader).await;
    assert_eq!(
        leading.produce("t", 0, batch(&["x"])).await.error_code,
        ErrorCode::NONE
    );
    // KIP-951: the answer says who leads, and where that is.
    let mut wrong = Client::to(&broker, other).await;
    let response = wrong
        .call(10, &produce_request("t", -1, &[(0, batch(&["x"]))]))
        .await;
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(partition.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(partition.current_leader.leader_id, leader);
    assert_eq!(response.node_endpoints.len(), 1);
    let port = broker.address(leader).expect("a node").port();
    assert_eq!(response.node_endpoints[0].port, i32::from(port));
    let stranger = (1..=5).find(|id| !all[0].replica_nodes.contains(id));
    let mut stranger = Client::to(&broker, stranger.expect("three replicas of five")).await;
    let mut request = fetch_request("t", &[(0, 0)], 0);
    request.topics[0].topic.clear();
    request.topics[0].topic_id = broker.topic_id("t").expect("there");
    let response = stranger.call(16, &request).await;
    let partition = &response.responses[0].partitions[0];
    assert_eq!(partition.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(partition.current_leader.leader_id, leader);
    assert_eq!(response.node_endpoints[0].node_id, leader);
}

#[tokio::test]
async fn a_stopped_node_hands_over_and_comes_back_as_a_follower() {
    let mut broker = five().await;
    let mut any = Client::to(&broker, 1).await;
    let before = partitions(&mut any).await;
    let leader = before
        .iter()
        .map(|partition| partition.leader_id)
        .find(|&id| id != 1);
    let leader = leader.expect("others lead, too");
    let index = before
        .iter()
        .position(|partition| partition.leader_id == leader);
    let index = index.expect("found above");
    let mut old = Client::to(&broker, leader).await;
    old.produce("t", index as i32, batch(&["before"])).await;

    broker.stop_node(leader).await.expect("stops");
    assert!(
        old.receive_frame().await.is_none(),
        "its connections are closed"
    );
    let during = partitions(&mut any).await.remove(index);
    assert_ne!(during.leader_id, leader);
    assert!(during.replica_nodes.contains(&during.leader_id));
    assert!(!during.isr_nodes.contains(&leader));
    assert_eq!(during.offline_replicas, [leader]);
    assert_eq!(during.leader_epoch, before[index].leader_epoch + 1);
    let mut new = Client::to(&broker, during.leader_id).await;
    assert_eq!(
        new.produce("t", index as i32, batch(&["after"]))
            .await
            .base_offset,
        1
    );
    let mut stale = fetch_request("t", &[(index as i32, 0)], 0);
    stale.topics[0].partitions[0].current_leader_epoch = before[index].leader_epoch;
    let fenced = new.call(12, &stale).await;
    let code = fenced.responses[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::FENCED_LEADER_EPOCH);
    stale.topics[0].partitions[0].current_leader_epoch = during.leader_epoch + 1;
    let unknown = new.call(12, &stale).await;
    let code = unknown.responses[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::UNKNOWN_LEADER_EPOCH);

    broker.start_node(leader).await.expect("starts");
    let after = partitions(&mut any).await.remove(index);
    assert_eq!(after.leader_id, during.leader_id, "leadership stays");
    assert!(after.isr_nodes.contains(&leader));
    assert_eq!(after.offline_replicas, [0; 0]);
    let mut back = Client::to(&broker, leader).await;
    // In sync again, it serves consumers (KIP-392), and has what was written meanwhile.
    let data = back.fetch("t", index as i32, 0).await;
    assert_eq!(values(&data.records).len(), 2);
}

#[tokio::test]
async fn acks_all_needs_enough_replicas_in_sync() {
    let builder = Broker::builder()
        .nodes(3)
        .config("min.insync.replicas", "2")
        .replicated_topic("t", 1, 3);
    let broker = builder.start().await.expect("starts");
    let mut any = Client::to(&broker, 1).await;
    let leader = partitions(&mut any).await[0].leader_id;
    let mut client = Client::to(&broker, leader).await;
    broker.set_isr("t", 0, &[leader]).await.expect("may be");
    let refused = client.produce("t", 0, batch(&["x"])).await;
    assert_eq!(refused.error_code, ErrorCode::NOT_ENOUGH_REPLICAS);
    let one = client
        .call(9, &produce_request("t", 1, &[(0, batch(&["x"]))]))
        .await;
    let code = one.responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::NONE, "acks=1 asks the leader alone");
    broker.set_isr("t", 0, &[1, 2, 3]).await.expect("may be");
    assert_eq!(
        client.produce("t", 0, batch(&["x"])).await.error_code,
        ErrorCode::NONE
    );
}

#[tokio::test]
async fn a_paused_node_answers_later_and_a_slow_one_slowly() {
    let broker = Broker::builder()
        .topic("t", 1)
        .start()
        .await
        .expect("starts");
    let mut client = Client::to(&broker, 1).await;
    broker.pause_node(1).expect("a node");
    client
        .send(9, &produce_request("t", -1, &[(0, batch(&["x"]))]))
        .await;
    let answered = tokio::time::timeout(Duration::from_millis(100), client.receive_frame()).await;
    assert!(answered.is_err(), "not while it is paused");
    broker.resume_node(1).expect("a node");
    client.receive_frame().await.expect("an answer");
    let delay = Duration::from_millis(80);
    broker.slow_node(1, delay).expect("a node");
    let begun = Instant::now();
    client.fetch("t", 0, 0).await;
    assert!(begun.elapsed() >= delay);
    assert_eq!(
        broker.pause_node(7).expect_err("no such node").kind(),
        ErrorKind::InvalidConfig
    );
}

#[tokio::test]
async fn a_fetch_that_waits_learns_of_a_new_leader() {
    let broker = five().await;
    let mut any = Client::to(&broker, 1).await;
    let partition = partitions(&mut any).await.remove(0);
    let old = partition.leader_id;
    let new = *partition
        .isr_nodes
        .iter()
        .find(|&&id| id != old)
        .expect("others");
    let mut consumer = Client::to(&broker, old).await;
    let mut request = fetch_request("t", &[(0, 0)], 60_000);
    request.topics[0].partitions[0].current_leader_epoch = partition.leader_epoch;
    consumer.send(12, &request).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    broker.set_leader("t", 0, new).await.expect("in sync");
    let response = consumer.receive::<FetchRequest>(12).await;
    let code = response.responses[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::FENCED_LEADER_EPOCH);
}

#[tokio::test]
async fn consumers_are_sent_to_the_replica_in_their_rack() {
    let broker = Broker::builder()
        .racks(["a", "b", "c"])
        .replicated_topic("t", 1, 3)
        .start()
        .await
        .expect("starts");
    let mut any = Client::to(&broker, 1).await;
    let leader = partitions(&mut any).await[0].leader_id;
    let mut client = Client::to(&broker, leader).await;
    client.produce("t", 0, batch(&["x"])).await;
    let near = leader % 3 + 1;
    let rack = ["a", "b", "c"][near as usize - 1];
    let request = |rack: &str| FetchRequest {
        rack_id: rack.to_owned(),
        ..fetch_request("t", &[(0, 0)], 1000)
    };
    let response = client.call(12, &request(rack)).await;
    let partition = &response.responses[0].partitions[0];
    assert_eq!(partition.preferred_read_replica, near);
    assert!(partition.records.is_empty());
    let mut follower = Client::to(&broker, near).await;
    let response = follower.call(12, &request(rack)).await;
    let partition = &response.responses[0].partitions[0];
    assert_eq!(
        (
            partition.preferred_read_replica,
            values(&partition.records).len()
        ),
        (-1, 1)
    );
}
