//! Topics and partitions, as admin clients make, move and remove them.

use copart_broker::Broker;
use copart_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use copart_protocol::messages::create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsTopic,
};
use copart_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
    CreateTopicsResponse,
};
use copart_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use copart_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};
use copart_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsTopics,
};
use copart_protocol::{ErrorCode, Uuid};

use super::client::{Client, batch};

async fn nodes(count: usize) -> Broker {
    let builder = Broker::builder().nodes(count).seed(1);
    builder.start().await.expect("starts")
}

fn topic(name: &str, partitions: i32, replication_factor: i16) -> CreatableTopic {
    CreatableTopic {
        name: name.to_owned(),
        num_partitions: partitions,
        replication_factor,
        ..Default::default()
    }
}

fn create(topics: Vec<CreatableTopic>) -> CreateTopicsRequest {
    CreateTopicsRequest {
        topics,
        ..Default::default()
    }
}

fn codes(response: &CreateTopicsResponse) -> Vec<ErrorCode> {
    response.topics.iter().map(|it| it.error_code).collect()
}

#[tokio::test]
async fn topics_are_created_in_every_version() {
    let broker = nodes(3).await;
    let mut client = Client::to(&broker, 2).await;
    for version in 2..=7 {
        let name = format!("v{version}");
        let mut wanted = topic(&name, 4, 2);
        wanted.configs.push(CreatableTopicConfig {
            name: "retention.ms".to_owned(),
            value: Some("1234".to_owned()),
        });
        let mut response = client.call(version, &create(vec![wanted])).await;
        let result = response.topics.remove(0);
        assert_eq!(result.error_code, ErrorCode::NONE, "{result:?}");
        assert_eq!(result.error_message, None);
        assert_eq!(result.topic_id.is_zero(), version < 7);
        if version < 5 {
            continue;
        }
        // KIP-525: all settings, and never null.
        assert_eq!((result.num_partitions, result.replication_factor), (4, 2));
        let configs = result.configs.expect("a list");
        assert!(configs.len() > 30, "{}", configs.len());
        let own = configs.iter().find(|it| it.name == "retention.ms");
        let own = own.expect("it was set");
        assert_eq!((own.value.as_deref(), own.config_source), (Some("1234"), 1));
        let other = configs.iter().find(|it| it.name == "segment.bytes");
        assert_eq!(other.expect("a default").config_source, 5);
    }
}

#[tokio::test]
async fn a_created_topic_takes_records_at_once_and_nothing_is_left_of_a_deleted_one() {
    let broker = nodes(1).await;
    let mut client = Client::to(&broker, 1).await;
    client.create_topic("t", 1, &[]).await;
    let first = broker.topic_id("t").expect("there");
    assert_eq!(
        client.produce("t", 0, batch(&["a", "b"])).await.base_offset,
        0
    );
    let request = DeleteTopicsRequest {
        topic_names: vec!["t".to_owned()],
        ..Default::default()
    };
    let response = client.call(5, &request).await;
    assert_eq!(response.responses[0].error_code, ErrorCode::NONE);
    let gone = client.produce("t", 0, batch(&["c"])).await;
    assert_eq!(gone.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    client.create_topic("t", 1, &[]).await;
    assert_ne!(broker.topic_id("t"), Some(first));
    assert_eq!(client.produce("t", 0, batch(&["c"])).await.base_offset, 0);
}

#[tokio::test]
async fn each_topic_of_a_request_is_answered_for_itself() {
    let broker = nodes(2).await;
    let mut client = Client::to(&broker, 1).await;
    let mut unknown_config = topic("config", 1, 1);
    unknown_config.configs.push(CreatableTopicConfig {
        name: "no.such".to_owned(),
        value: Some("1".to_owned()),
    });
    let mut twice_assigned = topic("assigned", -1, -1);
    twice_assigned.assignments = [1, 2]
        .map(|node| CreatableReplicaAssignment {
            partition_index: 0,
            broker_ids: vec![node],
        })
        .to_vec();
    let wanted = vec![
        topic("good", -1, -1),
        topic("bad name", 1, 1),
        topic("wide", 1, 3),
        unknown_config,
        topic("twice", 1, 1),
        topic("twice", 1, 1),
        twice_assigned,
        topic("__cluster_metadata", 1, 1),
        topic("none", 0, 1),
    ];
    let response = client.call(7, &create(wanted)).await;
    assert_eq!(
        codes(&response),
        [
            ErrorCode::NONE,
            ErrorCode::INVALID_TOPIC_EXCEPTION,
            ErrorCode::INVALID_REPLICATION_FACTOR,
            ErrorCode::INVALID_CONFIG,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::INVALID_REPLICA_ASSIGNMENT,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::INVALID_PARTITIONS,
        ]
    );
    for failed in &response.topics[1..] {
        assert!(failed.error_message.is_some(), "{failed:?}");
        assert!(failed.configs.is_some(), "never null");
    }
    let again = client.call(7, &create(vec![topic("good", 1, 1)])).await;
    assert_eq!(codes(&again), [ErrorCode::TOPIC_ALREADY_EXISTS]);
    // A few bytes that ask for very much.
    let many = (0..3).map(|n| topic(&format!("m{n}"), 4000, 1)).collect();
    let response = client.call(7, &create(many)).await;
    assert_eq!(codes(&response), [ErrorCode::POLICY_VIOLATION; 3]);
    let mut dry = create(vec![topic("dry", 2, 1)]);
    dry.validate_only = true;
    let response = client.call(7, &dry).await;
    assert_eq!(codes(&response), [ErrorCode::NONE]);
    assert_eq!(response.topics[0].num_partitions, 2);
    assert_eq!(broker.topic_id("dry"), None);
}

#[tokio::test]
async fn topics_are_deleted_by_name_and_by_id() {
    let broker = nodes(1).await;
    let mut client = Client::to(&broker, 1).await;
    for version in 1..=6 {
        let name = format!("v{version}");
        client.create_topic(&name, 1, &[]).await;
        let mut request = DeleteTopicsRequest::default();
        match version {
            6 => request.topics.push(DeleteTopicState {
                name: Some(name.clone()),
                ..Default::default()
            }),
            _ => request.topic_names.push(name.clone()),
        }
        let response = client.call(version, &request).await;
        let result = &response.responses[0];
        assert_eq!(
            (result.error_code, result.name.as_ref()),
            (ErrorCode::NONE, Some(&name))
        );
        assert_eq!(broker.topic_id(&name), None);
    }
    client.create_topic("t", 1, &[]).await;
    let id = broker.topic_id("t").expect("there");
    let state = |name: Option<&str>, topic_id| DeleteTopicState {
        name: name.map(str::to_owned),
        topic_id,
    };
    let request = DeleteTopicsRequest {
        topics: vec![
            state(None, id),
            state(None, Uuid([9; 16])),
            state(Some("no"), Uuid::ZERO),
            state(Some("t"), id),
            state(None, Uuid::ZERO),
            state(Some("twice"), Uuid::ZERO),
            state(Some("twice"), Uuid::ZERO),
        ],
        ..Default::default()
    };
    let response = client.call(6, &request).await;
    let codes: Vec<ErrorCode> = response.responses.iter().map(|it| it.error_code).collect();
    assert_eq!(
        codes,
        [
            ErrorCode::NONE,
            ErrorCode::UNKNOWN_TOPIC_ID,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::INVALID_REQUEST,
        ]
    );
    let deleted = &response.responses[0];
    assert_eq!((deleted.name.as_deref(), deleted.topic_id), (Some("t"), id));
}

#[tokio::test]
async fn partitions_are_added_in_every_version() {
    let broker = nodes(3).await;
    let mut client = Client::to(&broker, 3).await;
    client.create_topic("t", 1, &[]).await;
    for version in 0..=3 {
        let count = 2 + i32::from(version);
        let request = CreatePartitionsRequest {
            topics: vec![
                CreatePartitionsTopic {
                    name: "t".to_owned(),
                    count,
                    assignments: (version == 3).then(|| {
                        vec![CreatePartitionsAssignment {
                            broker_ids: vec![3],
                        }]
                    }),
                },
                CreatePartitionsTopic {
                    name: "no".to_owned(),
                    count: 1,
                    assignments: None,
                },
            ],
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        assert_eq!(
            response.results[0].error_code,
            ErrorCode::NONE,
            "{response:?}"
        );
        assert_eq!(
            response.results[1].error_code,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        );
        let again = client.call(version, &request).await;
        assert_eq!(again.results[0].error_code, ErrorCode::INVALID_PARTITIONS);
        assert!(again.results[0].error_message.is_some());
    }
    // The last one was assigned to node 3, and takes records there.
    assert_eq!(
        client.produce("t", 4, batch(&["a"])).await.error_code,
        ErrorCode::NONE
    );
    assert_ne!(
        client.produce("t", 5, batch(&["a"])).await.error_code,
        ErrorCode::NONE
    );
}

#[tokio::test]
async fn leadership_is_given_back() {
    let mut broker = nodes(3).await;
    let mut wanted = topic("t", -1, -1);
    wanted.assignments.push(CreatableReplicaAssignment {
        partition_index: 0,
        broker_ids: vec![1, 2, 3],
    });
    let mut client = Client::to(&broker, 3).await;
    client.call(7, &create(vec![wanted])).await;
    broker.stop_node(1).await.expect("stops");
    let named = |election_type| ElectLeadersRequest {
        election_type,
        topic_partitions: Some(vec![TopicPartitions {
            topic: "t".to_owned(),
            partitions: vec![0, 7],
        }]),
        ..Default::default()
    };
    let unavailable = [
        ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ];
    for version in 0..=2 {
        let response = client.call(version, &named(0)).await;
        let results = &response.replica_election_results[0].partition_result;
        let codes: Vec<ErrorCode> = results.iter().map(|it| it.error_code).collect();
        assert_eq!(codes, unavailable);
    }
    broker.start_node(1).await.expect("starts");
    // A null list is all partitions, of which one needs an election.
    let all = ElectLeadersRequest {
        topic_partitions: None,
        ..Default::default()
    };
    let response = client.call(2, &all).await;
    let results = &response.replica_election_results;
    assert_eq!((results.len(), results[0].partition_result.len()), (1, 1));
    assert_eq!(results[0].partition_result[0].error_code, ErrorCode::NONE);
    let mut first = Client::to(&broker, 1).await;
    assert_eq!(
        first.produce("t", 0, batch(&["a"])).await.error_code,
        ErrorCode::NONE
    );
    let response = client.call(2, &all).await;
    assert!(response.replica_election_results.is_empty());
    let response = client.call(2, &named(1)).await;
    let result = &response.replica_election_results[0].partition_result[0];
    assert_eq!(result.error_code, ErrorCode::ELECTION_NOT_NEEDED);
    let response = client.call(1, &named(9)).await;
    assert_eq!(response.error_code, ErrorCode::INVALID_REQUEST);
}

fn reassign(replicas: Option<Vec<i32>>) -> AlterPartitionReassignmentsRequest {
    AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: "t".to_owned(),
            partitions: vec![ReassignablePartition {
                partition_index: 0,
                replicas,
            }],
        }],
        ..Default::default()
    }
}

#[tokio::test]
async fn partitions_are_moved_and_keep_their_records() {
    let broker = nodes(3).await;
    let mut wanted = topic("t", -1, -1);
    wanted.assignments.push(CreatableReplicaAssignment {
        partition_index: 0,
        broker_ids: vec![1],
    });
    let mut client = Client::to(&broker, 1).await;
    client.call(7, &create(vec![wanted])).await;
    client.produce("t", 0, batch(&["a"])).await;
    let response = client.call(0, &reassign(Some(vec![2]))).await;
    assert_eq!(
        response.responses[0].partitions[0].error_code,
        ErrorCode::NONE
    );
    let refused = client.produce("t", 0, batch(&["b"])).await;
    assert_eq!(refused.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    let mut second = Client::to(&broker, 2).await;
    assert_eq!(second.produce("t", 0, batch(&["b"])).await.base_offset, 1);
    assert_eq!(second.values("t", 0, 0).await.len(), 2);

    // To a node that does not run: it waits, is listed, and can be cancelled.
    broker.stop_node(3).await.expect("stops");
    let mut request = reassign(Some(vec![3]));
    let response = client.call(1, &request).await;
    assert_eq!(
        response.responses[0].partitions[0].error_code,
        ErrorCode::NONE
    );
    let all = ListPartitionReassignmentsRequest {
        topics: None,
        ..Default::default()
    };
    let response = client.call(0, &all).await;
    let moving = &response.topics[0].partitions[0];
    assert_eq!(moving.replicas, [3, 2]);
    assert_eq!(
        (&moving.adding_replicas[..], &moving.removing_replicas[..]),
        (&[3][..], &[2][..])
    );
    let named = ListPartitionReassignmentsRequest {
        topics: Some(vec![ListPartitionReassignmentsTopics {
            name: "t".to_owned(),
            partition_indexes: vec![1],
        }]),
        ..Default::default()
    };
    assert!(client.call(0, &named).await.topics.is_empty());
    let response = client.call(1, &reassign(None)).await;
    assert_eq!(
        response.responses[0].partitions[0].error_code,
        ErrorCode::NONE
    );
    assert!(client.call(0, &all).await.topics.is_empty());
    let response = client.call(1, &reassign(None)).await;
    assert_eq!(
        response.responses[0].partitions[0].error_code,
        ErrorCode::NO_REASSIGNMENT_IN_PROGRESS
    );
    // KIP-860
    request = reassign(Some(vec![1, 2]));
    request.allow_replication_factor_change = false;
    let response = client.call(1, &request).await;
    assert!(!response.allow_replication_factor_change);
    assert_eq!(
        response.responses[0].partitions[0].error_code,
        ErrorCode::INVALID_REPLICATION_FACTOR
    );
}
