//! The cluster as admin clients see it: nodes, partitions, disks, producers, controllers.

use copart_broker::Broker;
use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_cluster::DescribeClusterRequest;
use copart_protocol::messages::describe_log_dirs::{
    DescribableLogDirTopic, DescribeLogDirsRequest,
};
use copart_protocol::messages::describe_producers::{self, DescribeProducersRequest};
use copart_protocol::messages::describe_quorum::{DescribeQuorumRequest, PartitionData, TopicData};
use copart_protocol::messages::describe_topic_partitions::{
    Cursor, DescribeTopicPartitionsRequest, TopicRequest,
};

use copart_protocol::messages::find_coordinator::FindCoordinatorRequest;

use super::client::{Client, batch, sealed};

#[tokio::test]
async fn nodes_are_described_in_every_version() {
    let broker = Broker::builder().racks(["a", "b", "c"]).start().await;
    let broker = broker.expect("starts");
    broker.stop_node(1).await.expect("stops");
    let mut client = Client::to(&broker, 3).await;
    for version in 0..=2 {
        let mut request = DescribeClusterRequest {
            include_cluster_authorized_operations: version == 1,
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        assert_eq!(response.cluster_id, broker.cluster_id());
        assert_eq!(response.controller_id, 2, "the lowest that runs");
        let ids: Vec<i32> = response.brokers.iter().map(|it| it.broker_id).collect();
        assert_eq!(ids, [2, 3]);
        assert_eq!(response.brokers[0].rack.as_deref(), Some("b"));
        assert_eq!(
            response.cluster_authorized_operations == i32::MIN,
            version != 1
        );
        if version == 2 {
            request.include_fenced_brokers = true;
            let response = client.call(version, &request).await;
            let fenced: Vec<bool> = response.brokers.iter().map(|it| it.is_fenced).collect();
            assert_eq!(fenced, [true, false, false]);
        }
        for (endpoint_type, code) in [
            (2, ErrorCode::MISMATCHED_ENDPOINT_TYPE),
            (3, ErrorCode::UNSUPPORTED_ENDPOINT_TYPE),
        ] {
            if version >= 1 {
                request.endpoint_type = endpoint_type;
                let response = client.call(version, &request).await;
                assert_eq!(response.error_code, code);
            }
        }
    }
}

#[tokio::test]
async fn partitions_are_described_page_by_page() {
    let builder = Broker::builder().topic("a", 3).topic("b", 4).topic("c", 1);
    let broker = builder.start().await.expect("starts");
    let mut client = Client::to(&broker, 1).await;
    let mut request = DescribeTopicPartitionsRequest {
        response_partition_limit: 2,
        ..Default::default()
    };
    let mut seen = Vec::new();
    for _page in 0..10 {
        let response = client.call(0, &request).await;
        for topic in &response.topics {
            assert_eq!(topic.error_code, ErrorCode::NONE);
            let name = topic.name.clone().expect("a name");
            assert_eq!(Some(topic.topic_id), broker.topic_id(&name));
            for partition in &topic.partitions {
                seen.push((name.clone(), partition.partition_index));
                assert_eq!(partition.leader_id, 1);
                // Empty, not null: Java's admin client fails on null.
                assert_eq!(partition.eligible_leader_replicas.as_deref(), Some(&[][..]));
                assert_eq!(partition.last_known_elr.as_deref(), Some(&[][..]));
            }
        }
        request.cursor = response.next_cursor;
        if request.cursor.is_none() {
            break;
        }
    }
    let topic = |name: &str, count: i32| (0..count).map(|it| (name.to_owned(), it)).collect();
    let expected: Vec<Vec<(String, i32)>> = vec![topic("a", 3), topic("b", 4), topic("c", 1)];
    assert_eq!(seen, expected.concat());

    let named = DescribeTopicPartitionsRequest {
        topics: ["c", "no", "n o"]
            .map(|name| TopicRequest {
                name: name.to_owned(),
            })
            .to_vec(),
        ..Default::default()
    };
    let response = client.call(0, &named).await;
    let codes: Vec<ErrorCode> = response.topics.iter().map(|it| it.error_code).collect();
    assert_eq!(
        codes,
        [
            ErrorCode::NONE,
            ErrorCode::INVALID_TOPIC_EXCEPTION,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ]
    );
    assert!(response.next_cursor.is_none());
    let backwards = DescribeTopicPartitionsRequest {
        cursor: Some(Cursor {
            topic_name: "a".to_owned(),
            partition_index: -1,
        }),
        ..named
    };
    let response = client.call(0, &backwards).await;
    assert!(
        response
            .topics
            .iter()
            .all(|it| it.error_code == ErrorCode::INVALID_REQUEST)
    );
}

#[tokio::test]
async fn disks_are_described_in_every_version() {
    let directory = tempfile::tempdir().expect("a directory");
    let builder = Broker::builder().nodes(2).data(directory.path());
    let broker = builder
        .replicated_topic("t", 2, 1)
        .start()
        .await
        .expect("starts");
    let mut clients = [Client::to(&broker, 1).await, Client::to(&broker, 2).await];
    for client in &mut clients {
        for partition in 0..2 {
            // One of the nodes leads it.
            client.produce("t", partition, batch(&["a"])).await;
        }
    }
    let all = DescribeLogDirsRequest { topics: None };
    for version in 1..=5 {
        let mut found = 0;
        for client in &mut clients {
            let response = client.call(version, &all).await;
            assert_eq!(response.error_code, ErrorCode::NONE);
            let result = &response.results[0];
            assert_eq!(result.log_dir, directory.path().display().to_string());
            if version >= 4 {
                assert!(result.total_bytes >= result.usable_bytes && result.usable_bytes > 0);
            }
            for partition in result.topics.iter().flat_map(|it| &it.partitions) {
                assert!(partition.partition_size > 60, "{partition:?}");
                assert!(!partition.is_future_key);
                found += 1;
            }
        }
        assert_eq!(found, 2, "each partition on the node that has it");
    }
    let one = DescribeLogDirsRequest {
        topics: Some(vec![DescribableLogDirTopic {
            topic: "t".to_owned(),
            partitions: vec![1],
        }]),
    };
    let mut found = Vec::new();
    for client in &mut clients {
        let response = client.call(4, &one).await;
        let topics = &response.results[0].topics;
        found.extend(
            topics
                .iter()
                .flat_map(|it| &it.partitions)
                .map(|it| it.partition_index),
        );
    }
    assert_eq!(found, [1]);
    let in_memory = Broker::builder().start().await.expect("starts");
    let response = Client::to(&in_memory, 1).await.call(4, &all).await;
    assert_eq!(response.results[0].usable_bytes, -1, "nobody knows");
}

#[tokio::test]
async fn producers_are_described() {
    let broker = Broker::builder()
        .nodes(2)
        .topic("t", 1)
        .start()
        .await
        .expect("starts");
    let mut clients = [Client::to(&broker, 1).await, Client::to(&broker, 2).await];
    for client in &mut clients {
        let bytes = sealed(&["a", "b"], Default::default(), Some((4711, 3, 0)));
        client.produce("t", 0, bytes).await;
    }
    let request = DescribeProducersRequest {
        topics: vec![describe_producers::TopicRequest {
            name: "t".to_owned(),
            partition_indexes: vec![0, 1],
        }],
    };
    let mut codes = Vec::new();
    for client in &mut clients {
        let response = client.call(0, &request).await;
        let partitions = &response.topics[0].partitions;
        assert_eq!(
            partitions[1].error_code,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        );
        codes.push(partitions[0].error_code);
        if partitions[0].error_code.is_none() {
            let producer = &partitions[0].active_producers[0];
            assert_eq!(partitions[0].active_producers.len(), 1);
            assert_eq!((producer.producer_id, producer.producer_epoch), (4711, 3));
            assert_eq!(
                (producer.last_sequence, producer.current_txn_start_offset),
                (1, -1)
            );
        } else {
            assert!(partitions[0].error_message.is_some());
        }
    }
    codes.sort();
    assert_eq!(codes, [ErrorCode::NONE, ErrorCode::NOT_LEADER_OR_FOLLOWER]);
}

#[tokio::test]
async fn controllers_are_described_in_every_version() {
    let broker = Broker::builder().nodes(3).start().await.expect("starts");
    let mut client = Client::to(&broker, 2).await;
    let request = DescribeQuorumRequest {
        topics: vec![TopicData {
            topic_name: "__cluster_metadata".to_owned(),
            partitions: vec![
                PartitionData { partition_index: 0 },
                PartitionData { partition_index: 1 },
            ],
        }],
    };
    for version in 0..=2 {
        let response = client.call(version, &request).await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        let partitions = &response.topics[0].partitions;
        assert_eq!(
            partitions[1].error_code,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        );
        let quorum = &partitions[0];
        assert_eq!((quorum.error_code, quorum.leader_id), (ErrorCode::NONE, 1));
        assert!(quorum.high_watermark > 0);
        let voters: Vec<i32> = quorum
            .current_voters
            .iter()
            .map(|it| it.replica_id)
            .collect();
        assert_eq!(voters, [1, 2, 3]);
        assert_eq!(response.nodes.len(), if version == 2 { 3 } else { 0 });
    }
}

/// librdkafka looks for version 0 before it compresses with LZ4.
#[tokio::test]
async fn coordinators_are_found_in_all_versions() {
    let broker = Broker::builder().nodes(3).start().await.expect("starts");
    let mut client = Client::to(&broker, 1).await;
    let port = |node| i32::from(broker.address(node).expect("a node").port());
    let mut nodes = Vec::new();
    for version in 0..=6 {
        let mut request = FindCoordinatorRequest::default();
        if version < 4 {
            request.key = "group".to_owned();
            let response = client.call(version, &request).await;
            assert_eq!(response.error_code, ErrorCode::NONE);
            assert_eq!(response.port, port(response.node_id));
            nodes.push(response.node_id);
        } else {
            request.coordinator_keys = vec!["group".to_owned(), "other".to_owned()];
            let response = client.call(version, &request).await;
            let found = response.coordinators.iter();
            let keys: Vec<&str> = found.map(|it| it.key.as_str()).collect();
            assert_eq!(keys, ["group", "other"]);
            for found in &response.coordinators {
                assert_eq!(found.error_code, ErrorCode::NONE);
                assert_eq!(found.port, port(found.node_id));
            }
            nodes.push(response.coordinators[0].node_id);
        }
    }
    nodes.dedup();
    assert_eq!(nodes.len(), 1, "it is always the same");
    // There are no transactions yet; the error is one after which clients ask again.
    let request = FindCoordinatorRequest {
        key_type: 1,
        coordinator_keys: vec!["id".to_owned()],
        ..Default::default()
    };
    let response = client.call(6, &request).await;
    let code = response.coordinators[0].error_code;
    assert_eq!(code, ErrorCode::COORDINATOR_NOT_AVAILABLE);
}
