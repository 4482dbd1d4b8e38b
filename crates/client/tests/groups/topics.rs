//! Topics that come, grow, and match.

use std::time::Duration;

use copart::Client;
use copart::admin::{NewPartitions, NewTopic};

use crate::support::{
    GROUP, PROTOCOLS, TOPIC, broker, client, close, consumer, quick, settled, take, write,
};

async fn create(client: &Client, topic: &str, partitions: i32) {
    let topic = NewTopic::new(topic).partitions(partitions);
    let created = client.admin().create_topics([topic]).await;
    created.all().expect("created");
}

#[tokio::test]
async fn partitions_that_are_added_are_read() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
        let client = client(&broker).await;
        let mut one = consumer(&client, protocol);
        settled(&mut [&mut one], 1).await;
        let more = NewPartitions::total(TOPIC, 3);
        let added = client.admin().create_partitions([more]).await;
        added.all().expect("added");
        client.refresh().await.expect("refreshed");
        for partition in 0..3 {
            write(&client, TOPIC, partition, 0..2).await;
        }
        let expected = crate::support::all(3, 0..2);
        assert_eq!(take(&mut one, 6).await, expected, "{protocol:?}");
        close(one).await;
    }
}

#[tokio::test]
async fn a_pattern_takes_topics_that_come_later() {
    for protocol in PROTOCOLS {
        let broker = broker().topic("orders-eu", 1).topic("other", 1);
        let broker = broker.start().await.expect("starts");
        let client = client(&broker).await;
        let one = client
            .consumer(GROUP)
            .pattern("orders-.*")
            .protocol(protocol)
            .heartbeat_interval(Duration::from_millis(100))
            .session_timeout(Duration::from_secs(2));
        let mut one = one.build().expect("a consumer");
        settled(&mut [&mut one], 1).await;
        create(&client, "orders-us", 2).await;
        settled(&mut [&mut one], 3).await;
        write(&client, "other", 0, 0..1).await;
        write(&client, "orders-us", 1, 7..8).await;
        assert_eq!(take(&mut one, 1).await, [(1, 7)].into(), "{protocol:?}");
        close(one).await;
    }
}

#[tokio::test]
async fn a_topic_that_comes_later_is_waited_for() {
    for protocol in PROTOCOLS {
        let broker = broker().start().await.expect("starts");
        let client = client(&broker).await;
        // By the usual age of metadata alone, it would not look for it for minutes.
        let patient = Client::builder(broker.bootstrap()).connect();
        let patient = patient.await.expect("a broker");
        let mut one = consumer(&patient, protocol);
        let nothing = tokio::time::timeout(Duration::from_millis(500), one.recv()).await;
        assert!(nothing.is_err(), "{protocol:?}: {nothing:?}");
        create(&client, TOPIC, 2).await;
        write(&client, TOPIC, 1, 0..1).await;
        assert_eq!(take(&mut one, 1).await, [(1, 0)].into());
        close(one).await;
    }
}

#[tokio::test]
async fn a_subscription_changes() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).topic("refunds", 1);
        let broker = broker.start().await.expect("starts");
        let client = client(&broker).await;
        let mut one = quick(&client, protocol).build().expect("a consumer");
        settled(&mut [&mut one], 2).await;
        one.subscribe(["refunds"]).await.expect("taken");
        write(&client, "refunds", 0, 5..6).await;
        assert_eq!(take(&mut one, 1).await, [(0, 5)].into(), "{protocol:?}");
        settled(&mut [&mut one], 1).await;
        assert!(one.subscribe([""]).await.is_err());
        close(one).await;
    }
}
