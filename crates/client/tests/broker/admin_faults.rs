//! Administration when brokers say no, hang up, or lead no more.

use std::time::Duration;

use copart::admin::{DeleteBefore, NewTopic, OffsetSpec};
use copart::protocol::{ApiKey, ErrorCode};
use copart::{Client, ErrorKind};
use copart_broker::Fault;

use crate::cluster;

#[tokio::test]
async fn a_controller_that_is_none_any_more_is_looked_for() {
    let (broker, client) = cluster().await;
    let fault = Fault::Error(ErrorCode::NOT_CONTROLLER);
    broker.inject(ApiKey::CreateTopics, None, 2, fault);
    let topic = NewTopic::new("a").partitions(1);
    client.admin().create_topics([topic]).await.all().unwrap();

    let fault = Fault::Error(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    broker.inject(ApiKey::ListOffsets, None, 2, fault);
    let admin = client.admin();
    let offsets = admin.list_offsets([(("a", 0), OffsetSpec::Latest)]);
    assert_eq!(offsets.await.all().unwrap()[0].1.offset, Some(0));
}

#[tokio::test]
async fn a_leader_that_does_not_know_its_partition_yet_is_asked_again() {
    let (broker, client) = cluster().await;
    let admin = client.admin();
    let topic = NewTopic::new("a").partitions(1);
    admin.create_topics([topic]).await.all().unwrap();
    let fault = Fault::Error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    broker.inject(ApiKey::ListOffsets, None, 2, fault);
    let listed = admin.list_offsets([(("a", 0), OffsetSpec::Latest)]).await;
    assert_eq!(listed.all().unwrap()[0].1.offset, Some(0));
    // A topic that is gone is told all the same, also by a client that knew it.
    admin.delete_topics(["a"]).await.all().unwrap();
    let listed = admin.list_offsets([(("a", 0), OffsetSpec::Latest)]).await;
    let error = listed.all().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownTopic, "{error}");
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_only_where_that_is_harmless() {
    let (broker, client) = cluster().await;
    let admin = client.admin();
    let topics = ["a", "b"].map(|name| NewTopic::new(name).partitions(1));
    admin.create_topics(topics).await.all().unwrap();

    broker.inject(ApiKey::DeleteRecords, None, 1, Fault::ApplyThenDisconnect);
    let deleted = admin.delete_records([(("a", 0), DeleteBefore::HighWatermark)]);
    deleted.await.all().unwrap();

    broker.inject(ApiKey::DeleteTopics, None, 1, Fault::ApplyThenDisconnect);
    let deleted = admin.delete_topics(["a"]).await;
    let error = deleted.get("a").unwrap().as_ref().unwrap_err();
    assert!(error.possibly_written(), "{error}");
    assert_eq!(error.kind(), ErrorKind::Disconnected);
    assert_eq!(error.context().topic.as_deref(), Some("a"));
    let left = admin.list_topics().await.unwrap();
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn time_runs_out_with_the_reason() {
    let (broker, client) = cluster().await;
    let fault = Fault::Error(ErrorCode::NOT_CONTROLLER);
    broker.inject(ApiKey::CreateTopics, None, 10_000, fault);
    let admin = client.admin().timeout(Duration::from_millis(500));
    let created = admin
        .create_topics([NewTopic::new("a").partitions(1)])
        .await;
    let error = created.get("a").unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.code(), Some(ErrorCode::NOT_CONTROLLER));
    assert!(error.reason().contains("NOT_CONTROLLER"), "{error}");
}

#[tokio::test]
async fn leaders_that_moved_are_found() {
    let (mut broker, client) = cluster().await;
    let admin = client.admin();
    let new = NewTopic::new("a").partitions(6).replication_factor(3);
    admin.create_topics([new]).await.all().unwrap();
    let all = || (0..6).map(|p| (("a", p), OffsetSpec::Latest));
    assert_eq!(admin.list_offsets(all()).await.all().unwrap().len(), 6);
    broker.stop_node(2).await.unwrap();
    assert_eq!(admin.list_offsets(all()).await.all().unwrap().len(), 6);
    broker.start_node(2).await.unwrap();
    assert_eq!(admin.describe_cluster().await.unwrap().brokers.len(), 3);
}

#[tokio::test]
async fn a_cluster_that_is_gone_is_told_for_each_item() {
    let (broker, client) = cluster().await;
    broker.stop().await.unwrap();
    let admin = client.admin().timeout(Duration::from_millis(700));
    let described = admin.describe_topics(["a", "b"]).await;
    assert_eq!(described.len(), 2);
    for (topic, outcome) in &described {
        let error = outcome.as_ref().unwrap_err();
        assert!(error.is_retriable(), "{error:?}");
        assert_eq!(error.context().topic.as_deref(), Some(topic.as_str()));
    }
}

/// All calls can be spawned.
#[tokio::test]
async fn futures_are_send() {
    fn is_send<T: Send>(future: T) -> T {
        future
    }
    let client = Client::builder("localhost:1").connect_lazily().unwrap();
    let admin = client.admin();
    drop(is_send(admin.list_topics()));
    drop(is_send(admin.list_groups()));
    drop(is_send(admin.describe_groups(["g"])));
    drop(is_send(
        admin.list_offsets([(("a", 0), OffsetSpec::Latest)]),
    ));
    drop(is_send(admin.create_topics([NewTopic::new("a")])));
}
