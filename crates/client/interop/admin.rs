//! Administration: topics and all that belongs to them, and groups.

use std::time::{Duration, Instant};

use bytes::Bytes;
use copart::admin::{
    AlterConfigs, ConfigResource, DeleteBefore, Election, GroupKind, NewPartitions, NewTopic,
    OffsetSpec,
};
use copart::protocol::messages::consumer_group_heartbeat::ConsumerGroupHeartbeatRequest;
use copart::protocol::messages::join_group::{JoinGroupRequest, JoinGroupRequestProtocol};
use copart::protocol::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment};
use copart::protocol::{ErrorCode, VersionRange};
use copart::{Client, Coordinated, ErrorKind, Partitioning, ProducerRecord, TopicPartition};

use crate::{Failure, has};

pub async fn all(client: &Client) -> Result<(), Failure> {
    topics(client).await?;
    println!("admin: topics, settings, offsets, disks, leaders");
    if has("groups") {
        offsets_of_groups(client).await?;
        classic_members(client).await?;
        consumer_members(client).await?;
        println!("admin: groups of both kinds, and their offsets");
    }
    Ok(())
}

fn code<T>(outcome: Option<&copart::Result<T>>) -> Option<ErrorCode> {
    match outcome {
        Some(Err(error)) => error.code(),
        _ => None,
    }
}

async fn topics(client: &Client) -> Result<(), Failure> {
    let admin = client.admin();
    let new = || {
        NewTopic::new("admin")
            .partitions(2)
            .config("retention.ms", "3600000")
    };
    admin.check_new_topics([new()]).await.all()?;
    let created = admin.create_topics([new()]).await.all()?;
    assert_eq!(created[0].1.partitions, Some(2));
    let again = admin.create_topics([new()]).await;
    assert_eq!(
        code(again.get("admin")),
        Some(ErrorCode::TOPIC_ALREADY_EXISTS)
    );
    admin
        .create_partitions([NewPartitions::total("admin", 3)])
        .await
        .all()?;
    let fewer = admin
        .create_partitions([NewPartitions::total("admin", 1)])
        .await;
    assert_eq!(
        code(fewer.get("admin")),
        Some(ErrorCode::INVALID_PARTITIONS)
    );

    let topic = ConfigResource::topic("admin");
    let change = AlterConfigs::of(topic.clone())
        .reset("retention.ms")
        .append("cleanup.policy", "compact");
    admin.alter_configs([change]).await.all()?;
    // Brokers learn of a change a little after the controller has made it.
    let deadline = Instant::now() + Duration::from_secs(20);
    let configs = loop {
        let both = [topic.clone(), ConfigResource::Broker(1)];
        let configs = admin.describe_configs(both).await.all()?;
        let policy = configs[0]
            .1
            .iter()
            .find(|entry| entry.name == "cleanup.policy");
        let policy = policy.and_then(|policy| policy.value.as_deref());
        if policy == Some("delete,compact") {
            break configs;
        }
        assert!(Instant::now() < deadline, "{policy:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let node = configs[1].1.iter().find(|entry| entry.name == "node.id");
    assert!(node.is_some_and(|node| node.is_read_only && node.value.as_deref() == Some("1")));
    let reset = AlterConfigs::of(ConfigResource::topic("admin")).set("cleanup.policy", "delete");
    admin.alter_configs([reset]).await.all()?;

    let producer = client
        .producer()
        .partitioner(Partitioning::manual())
        .build()?;
    for timestamp in [1000, 3000, 2000] {
        let record = ProducerRecord::to("admin")
            .partition(1)
            .value("v")
            .timestamp(timestamp);
        producer.send(record).await?;
    }
    let found = admin.list_offsets([
        (("admin", 1), OffsetSpec::MaxTimestamp),
        (("admin", 0), OffsetSpec::Latest),
        (("admin", 2), OffsetSpec::LastStable),
    ]);
    let found: Vec<_> = found
        .await
        .all()?
        .into_iter()
        .map(|(_, found)| found.offset)
        .collect();
    assert_eq!(found, [Some(1), Some(0), Some(0)]);
    let deleted = admin
        .delete_records([(("admin", 1), DeleteBefore::Offset(2))])
        .await
        .all()?;
    assert_eq!(deleted[0].1, 2);

    let cluster = admin.describe_cluster().await?;
    assert_eq!(cluster.brokers.len(), 1);
    let disks = admin.describe_log_dirs([1]).await.all()?;
    let replicas = disks[0].1.iter().flat_map(|dir| &dir.replicas);
    let sizes = replicas.filter(|replica| &*replica.partition.topic == "admin");
    assert!(sizes.map(|replica| replica.size).sum::<i64>() > 0);
    admin
        .elect_leaders(Election::Preferred, [("admin", 0)])
        .await
        .all()?;
    let listed = admin.list_topics().await?;
    assert!(listed.get("admin").is_some_and(Result::is_ok));
    admin.delete_topics(["admin"]).await.all()?;
    let deleted = admin.delete_topics(["admin"]).await;
    assert_eq!(
        code(deleted.get("admin")),
        Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
    );
    Ok(())
}

async fn offsets_of_groups(client: &Client) -> Result<(), Failure> {
    let admin = client.admin();
    admin
        .create_topics([NewTopic::new("read").partitions(3)])
        .await
        .all()?;
    let offsets = [(("read", 0), 5), (("read", 2), 7)];
    admin.alter_group_offsets("offline", offsets).await.all()?;
    let wrong = admin
        .alter_group_offsets("offline", [(("gone", 0), 5)])
        .await;
    let wrong = wrong.all().expect_err("no such topic");
    assert!(
        wrong.to_string().contains("group offline: gone-0: "),
        "{wrong}"
    );
    let listed = admin.list_group_offsets(["offline", "never"]).await.all()?;
    let offsets: Vec<_> = listed[0]
        .1
        .iter()
        .map(|(partition, outcome)| {
            (
                partition.to_string(),
                outcome.as_ref().map(|committed| committed.offset).ok(),
            )
        })
        .collect();
    assert_eq!(
        offsets,
        [
            ("read-0".to_owned(), Some(5)),
            ("read-2".to_owned(), Some(7))
        ]
    );
    assert!(listed[1].1.is_empty());
    let groups = admin.list_groups().await?;
    assert!(groups.failures.is_empty());
    let offline = groups.groups.iter().find(|group| group.group == "offline");
    let offline = offline.ok_or("the group is not listed")?;
    assert_eq!(
        (offline.state.as_deref(), &offline.kind),
        (Some("Empty"), &Some(GroupKind::Classic))
    );
    admin
        .delete_group_offsets("offline", [("read", 0)])
        .await
        .all()?;
    let left = admin.list_group_offsets(["offline"]).await.all()?;
    assert_eq!(left[0].1.len(), 1);
    let deleted = admin.delete_groups(["offline", "never"]).await;
    assert!(
        deleted.get("offline").is_some_and(Result::is_ok),
        "{deleted:?}"
    );
    assert_eq!(
        code(deleted.get("never")),
        Some(ErrorCode::GROUP_ID_NOT_FOUND)
    );
    let described = admin.describe_groups(["offline"]).await;
    assert_eq!(
        code(described.get("offline")),
        Some(ErrorCode::GROUP_ID_NOT_FOUND)
    );
    Ok(())
}

/// A member of the protocol in which members assign, as far as it takes to be described.
async fn classic_members(client: &Client) -> Result<(), Failure> {
    let of = Coordinated::Group("classic".into());
    let mut join = JoinGroupRequest {
        group_id: "classic".into(),
        session_timeout_ms: 30_000,
        rebalance_timeout_ms: 30_000,
        protocol_type: "consumer".into(),
        protocols: vec![JoinGroupRequestProtocol {
            name: "range".into(),
            metadata: Bytes::from_static(b"\0\0\0\0\0\x01\0\x04read\xff\xff\xff\xff"),
        }],
        ..JoinGroupRequest::default()
    };
    let asked = client
        .request(join.clone())
        .coordinator(of.clone())
        .send()
        .await?;
    assert_eq!(asked.error_code, ErrorCode::MEMBER_ID_REQUIRED);
    join.member_id = asked.member_id;
    let joined = client
        .request(join.clone())
        .coordinator(of.clone())
        .send()
        .await?;
    joined.error_code.ok()?;
    let assignment =
        Bytes::from_static(b"\0\0\0\0\0\x01\0\x04read\0\0\0\x02\0\0\0\0\0\0\0\x02\xff\xff\xff\xff");
    let sync = SyncGroupRequest {
        group_id: "classic".into(),
        generation_id: joined.generation_id,
        member_id: joined.member_id.clone(),
        protocol_type: joined.protocol_type,
        protocol_name: joined.protocol_name,
        assignments: vec![SyncGroupRequestAssignment {
            member_id: joined.member_id,
            assignment,
        }],
        ..SyncGroupRequest::default()
    };
    client
        .request(sync)
        .coordinator(of)
        .send()
        .await?
        .error_code
        .ok()?;
    let described = client.admin().describe_groups(["classic"]).await.all()?;
    let group = &described[0].1;
    assert_eq!(
        (&group.kind, group.state.as_str(), group.assignor.as_str()),
        (&GroupKind::Classic, "Stable", "range")
    );
    let expected = [("read", 0), ("read", 2)].map(TopicPartition::from);
    assert_eq!(group.members[0].assignment.partitions(), expected);
    assert_eq!(group.members[0].client_id, "copart");
    let busy = client.admin().delete_groups(["classic"]).await;
    assert_eq!(code(busy.get("classic")), Some(ErrorCode::NON_EMPTY_GROUP));
    let busy = client
        .admin()
        .delete_group_offsets("classic", [("read", 0)])
        .await;
    assert!(
        busy.all()
            .is_err_and(|e| e.code() == Some(ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC))
    );
    Ok(())
}

/// A member of the protocol in which the coordinator assigns (KIP-848).
async fn consumer_members(client: &Client) -> Result<(), Failure> {
    let of = Coordinated::Group("consumers".into());
    let mut join = ConsumerGroupHeartbeatRequest {
        group_id: "consumers".into(),
        member_id: "AAAAAAAAAAAAAAAAAAAAAQ".into(),
        rebalance_timeout_ms: 30_000,
        subscribed_topic_names: Some(vec!["read".into()]),
        topic_partitions: Some(Vec::new()),
        ..ConsumerGroupHeartbeatRequest::default()
    };
    // From version 1 on members choose their ids.
    let beat = async |heartbeat: &ConsumerGroupHeartbeatRequest| {
        let request = client.request(heartbeat.clone()).coordinator(of.clone());
        request.versions(VersionRange::new(1, 1)).send().await
    };
    let mut joined = match beat(&join).await {
        // Before Kafka 4.0.
        Err(error) if error.kind() == ErrorKind::UnsupportedVersion => return Ok(()),
        joined => joined?,
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    let described = loop {
        joined.error_code.ok()?;
        let described = client
            .admin()
            .describe_groups(["consumers", "classic"])
            .await
            .all()?;
        let members = &described[0].1.members;
        assert_eq!(
            (&described[0].1.kind, members.len()),
            (&GroupKind::Consumer, 1)
        );
        let assigned = members[0].assignment.partitions();
        if assigned.len() == 3 {
            break described;
        }
        assert!(Instant::now() < deadline, "{assigned:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        join.member_epoch = joined.member_epoch;
        joined = beat(&join).await?;
    };
    assert_eq!(described[1].1.kind, GroupKind::Classic);
    Ok(())
}
