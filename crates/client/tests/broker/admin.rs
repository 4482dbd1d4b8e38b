//! Administration: what each call does.

use copart::admin::{
    AlterConfigs, ConfigResource, ConfigSource, DeleteBefore, Election, NewPartitions, NewTopic,
    OffsetSpec,
};
use copart::protocol::ErrorCode;
use copart::{Client, ErrorKind, Partitioning, ProducerRecord, Result, TopicPartition};

use crate::cluster;

fn code<T>(outcome: Option<&Result<T>>) -> Option<ErrorCode> {
    match outcome {
        Some(Err(error)) => error.code(),
        _ => None,
    }
}

async fn write(client: &Client, topic: &str, partition: i32, timestamps: &[i64]) {
    let producer = client.producer().partitioner(Partitioning::manual());
    let producer = producer.build().unwrap();
    for &timestamp in timestamps {
        let record = ProducerRecord::to(topic).partition(partition).value("v");
        producer.send(record.timestamp(timestamp)).await.unwrap();
    }
}

#[tokio::test]
async fn topics_come_and_go() {
    let (broker, client) = cluster().await;
    let admin = client.admin();
    let topics = || {
        [
            NewTopic::new("orders")
                .partitions(5)
                .replication_factor(3)
                .config("retention.ms", "3600000"),
            NewTopic::new("placed")
                .replicas(0, [2, 1])
                .replicas(1, [3, 2]),
            NewTopic::new("defaults"),
            NewTopic::new("bad name").partitions(1),
            NewTopic::new("bad config").partitions(0).replicas(0, [1]),
            NewTopic::new("orders").partitions(7),
        ]
    };
    let checked = admin.check_new_topics(topics()).await;
    assert!(checked.get("orders").unwrap().is_ok());
    assert!(client.admin().list_topics().await.unwrap().is_empty());

    let created = admin.create_topics(topics()).await;
    let orders = created.get("orders").unwrap().as_ref().unwrap();
    assert_eq!(orders.partitions, Some(5));
    assert_eq!(orders.replication_factor, Some(3));
    assert_eq!(Some(orders.id.0), broker.topic_id("orders").map(|id| id.0));
    let configs = orders.configs.as_ref().unwrap();
    let retention = configs.iter().find(|c| c.name == "retention.ms").unwrap();
    assert_eq!(retention.value.as_deref(), Some("3600000"));
    assert_eq!(retention.source, ConfigSource::Topic);
    assert!(created.get("defaults").unwrap().is_ok());
    let name = created.get("bad name");
    assert_eq!(code(name), Some(ErrorCode::INVALID_TOPIC_EXCEPTION));
    // Found before anything was sent, both violations at once; the others were sent all the same.
    let error = created.get("bad config").unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(
        error.to_string().starts_with("topic bad config: "),
        "{error}"
    );
    assert!(error.reason().contains("not both"), "{error}");
    assert!(error.reason().contains("at least one partition"), "{error}");
    let (_, twin) = created.iter().last().unwrap();
    assert!(twin.as_ref().is_err_and(|e| e.reason().contains("twice")));

    let again = admin
        .create_topics([NewTopic::new("orders").partitions(5)])
        .await;
    assert_eq!(
        code(again.get("orders")),
        Some(ErrorCode::TOPIC_ALREADY_EXISTS)
    );

    let listed = admin.list_topics().await.unwrap();
    let names: Vec<_> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["defaults", "orders", "placed"]);
    let described = admin.describe_topics(["placed", "missing"]).await;
    let placed = described.get("placed").unwrap().as_ref().unwrap();
    let replicas: Vec<_> = placed.partitions.iter().map(|p| &p.replicas[..]).collect();
    assert_eq!(replicas, [&[2, 1][..], &[3, 2]]);
    assert_eq!(placed.partitions[1].leader, Some(3));
    let missing = code(described.get("missing"));
    assert_eq!(missing, Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));

    let id = placed.id;
    let deleted = admin.delete_topics(["orders", "missing"]).await;
    assert!(deleted.get("orders").unwrap().is_ok());
    let missing = code(deleted.get("missing"));
    assert_eq!(missing, Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    let deleted = admin.delete_topics_by_id([id]).await;
    deleted.all().unwrap();
    let deleted = admin.delete_topics_by_id([id]).await;
    assert_eq!(code(deleted.get(&id)), Some(ErrorCode::UNKNOWN_TOPIC_ID));
    assert_eq!(admin.list_topics().await.unwrap().len(), 1);
}

#[tokio::test]
async fn partitions_are_added_and_never_taken_away() {
    let (_broker, client) = cluster().await;
    let admin = client.admin();
    let topics = ["a", "b"].map(|name| NewTopic::new(name).partitions(3));
    admin.create_topics(topics).await.all().unwrap();
    let wanted = || [NewPartitions::total("a", 6), NewPartitions::total("b", 2)];
    let checked = admin.check_new_partitions(wanted()).await;
    assert!(checked.get("a").unwrap().is_ok());
    let added = admin.create_partitions(wanted()).await;
    assert!(added.get("a").unwrap().is_ok());
    assert_eq!(code(added.get("b")), Some(ErrorCode::INVALID_PARTITIONS));
    let described = admin.describe_topics(["a", "b"]).await.all().unwrap();
    let counts: Vec<_> = described.iter().map(|(_, t)| t.partitions.len()).collect();
    assert_eq!(counts, [6, 3]);

    // The client that knew of three finds the new ones too.
    let ends = async |partition: i32| {
        let listed = admin
            .list_offsets([(("b", partition), OffsetSpec::Latest)])
            .await;
        listed.all().map(|ends| ends[0].1.offset)
    };
    assert_eq!(ends(2).await.unwrap(), Some(0));
    let more = [NewPartitions::total("b", 5)];
    admin.create_partitions(more).await.all().unwrap();
    assert_eq!(ends(4).await.unwrap(), Some(0));
    assert_eq!(ends(5).await.unwrap_err().kind(), ErrorKind::UnknownTopic);
}

#[tokio::test]
async fn settings_are_read_and_changed() {
    let (_broker, client) = cluster().await;
    let admin = client.admin();
    let topic = ConfigResource::topic("a");
    let new = NewTopic::new("a")
        .partitions(1)
        .config("segment.bytes", "2097152");
    admin.create_topics([new]).await.all().unwrap();
    let change = AlterConfigs::of(topic.clone())
        .set("retention.ms", "1000")
        .append("cleanup.policy", "compact")
        .reset("segment.bytes");
    let missing = ConfigResource::topic("missing");
    let changes = [
        change,
        AlterConfigs::of(missing.clone()).set("retention.ms", "1"),
        AlterConfigs::of(ConfigResource::Broker(2)),
    ];
    admin
        .check_configs(changes[..1].to_vec())
        .await
        .all()
        .unwrap();
    let value = async |name: &str| {
        let described = admin.describe_configs([topic.clone()]).await.all().unwrap();
        let entry = described[0].1.iter().find(|entry| entry.name == name);
        let entry = entry.cloned().unwrap();
        (entry.value.clone().unwrap_or_default(), entry.is_own())
    };
    assert_eq!(value("segment.bytes").await, ("2097152".to_owned(), true));
    let altered = admin.alter_configs(changes).await;
    assert!(altered.get(&topic).unwrap().is_ok(), "{altered:?}");
    let code = code(altered.get(&missing));
    assert_eq!(code, Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    let nothing = altered.get(&ConfigResource::Broker(2)).unwrap();
    let nothing = nothing.as_ref().unwrap_err();
    assert!(
        nothing.to_string().starts_with("broker 2: no change"),
        "{nothing}"
    );
    assert_eq!(value("retention.ms").await, ("1000".to_owned(), true));
    let policy = value("cleanup.policy").await;
    assert_eq!(policy, ("delete,compact".to_owned(), true));
    assert!(!value("segment.bytes").await.1);

    let unknown = AlterConfigs::of(topic.clone()).set("no.such.setting", "1");
    let refused = admin.alter_configs([unknown]).await;
    assert!(refused.get(&topic).unwrap().is_err());
    let brokers = [ConfigResource::Broker(1), ConfigResource::Broker(3)];
    assert_eq!(
        admin.describe_configs(brokers).await.all().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn offsets_are_found_and_old_records_deleted() {
    let (_broker, client) = cluster().await;
    let admin = client.admin();
    let new = NewTopic::new("a").partitions(3).replication_factor(3);
    admin.create_topics([new]).await.all().unwrap();
    write(&client, "a", 0, &[1000, 3000, 2000, 4000]).await;
    write(&client, "a", 2, &[5000]).await;
    let listed = async |partition: i32, spec: OffsetSpec| {
        let listed = admin.list_offsets([(("a", partition), spec)]).await;
        listed.all().unwrap()[0].1.offset
    };
    assert_eq!(listed(0, OffsetSpec::Earliest).await, Some(0));
    assert_eq!(listed(0, OffsetSpec::Timestamp(1500)).await, Some(1));
    assert_eq!(listed(0, OffsetSpec::Timestamp(4001)).await, None);
    assert_eq!(listed(0, OffsetSpec::MaxTimestamp).await, Some(3));
    // Partitions of several leaders, and both isolation levels, in one call; in the order of the question.
    let several = admin
        .list_offsets([
            (("a", 2), OffsetSpec::Latest),
            (("a", 0), OffsetSpec::LastStable),
            (("a", 1), OffsetSpec::Latest),
            (("a", 9), OffsetSpec::Latest),
            (("a", 0), OffsetSpec::Latest),
        ])
        .await;
    let offsets: Vec<_> = several
        .iter()
        .map(|(p, found)| (p.partition, found.as_ref().ok().and_then(|f| f.offset)))
        .collect();
    assert_eq!(
        offsets,
        [
            (2, Some(1)),
            (0, Some(4)),
            (1, Some(0)),
            (9, None),
            (0, None)
        ]
    );
    let beyond = several.get(&TopicPartition::new("a", 9)).unwrap();
    let beyond = beyond.as_ref().unwrap_err();
    assert!(beyond.to_string().starts_with("a-9: "), "{beyond}");
    let negative = admin
        .list_offsets([(("a", 0), OffsetSpec::Timestamp(-7))])
        .await;
    assert!(negative.all().is_err_and(|e| e.kind() == ErrorKind::Config));

    let deleted = admin
        .delete_records([
            (("a", 0), DeleteBefore::Offset(2)),
            (("a", 2), DeleteBefore::HighWatermark),
            (("a", 1), DeleteBefore::Offset(5)),
        ])
        .await;
    let low = |p: i32| deleted.get(&TopicPartition::new("a", p)).unwrap();
    assert_eq!(low(0).as_ref().ok(), Some(&2));
    assert_eq!(low(2).as_ref().ok(), Some(&1));
    assert_eq!(code(Some(low(1))), Some(ErrorCode::OFFSET_OUT_OF_RANGE));
    assert_eq!(listed(0, OffsetSpec::Earliest).await, Some(2));
}

#[tokio::test]
async fn the_cluster_its_disks_and_its_leaders() {
    let (broker, client) = cluster().await;
    let admin = client.admin();
    let cluster = admin.describe_cluster().await.unwrap();
    assert_eq!(cluster.cluster_id, Some(broker.cluster_id()));
    let ids: Vec<_> = cluster.brokers.iter().map(|broker| broker.id).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(cluster.controller.is_some());

    let new = NewTopic::new("a").replicas(0, [1, 2]).replicas(1, [2, 1]);
    admin.create_topics([new]).await.all().unwrap();
    write(&client, "a", 0, &[1]).await;
    let disks = admin.describe_log_dirs([1, 3, 9]).await;
    let replicas = disks.get(&1).unwrap().as_ref().unwrap();
    let replicas = replicas.iter().flat_map(|dir| &dir.replicas);
    let sizes: Vec<_> = replicas
        .map(|r| (r.partition.to_string(), r.size > 0))
        .collect();
    assert_eq!(sizes, [("a-0".to_owned(), true), ("a-1".to_owned(), false)]);
    let none = disks.get(&3).unwrap().as_ref().unwrap();
    assert!(none.iter().all(|dir| dir.replicas.is_empty()));
    let unknown = disks.get(&9).unwrap().as_ref().unwrap_err();
    assert!(unknown.to_string().contains("broker 9"), "{unknown}");

    broker.set_leader("a", 0, 2).await.unwrap();
    let elected = admin
        .elect_leaders(Election::Preferred, [("a", 0), ("a", 1), ("a", 7)])
        .await;
    assert!(elected.get(&TopicPartition::new("a", 0)).unwrap().is_ok());
    // It leads already: what was asked for is so.
    assert!(elected.get(&TopicPartition::new("a", 1)).unwrap().is_ok());
    let missing = code(elected.get(&TopicPartition::new("a", 7)));
    assert_eq!(missing, Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    let described = admin.describe_topics(["a"]).await.all().unwrap();
    assert_eq!(described[0].1.partitions[0].leader, Some(1));
}
