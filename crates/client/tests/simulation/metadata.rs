//! Topics that are forgotten while nobody uses them, and metadata on demand.

use std::sync::atomic::Ordering;
use std::time::Duration;

use copart::{Client, Partitioning, ProducerRecord};

use crate::cluster::{SimCluster, TOPIC};
use crate::faults::Faults;
use crate::network::Network;
use crate::workload::{client, runtime};

#[test]
fn an_idle_topic_is_forgotten_and_its_sequences_go_on() {
    runtime().block_on(async {
        let cluster = SimCluster::new(1, 1, 1, Faults::new(1, 0, false));
        let client = Client::builder("b0:9092")
            .transport(Network(cluster.clone()))
            .metadata_max_age(Duration::from_secs(1))
            .metadata_max_idle(Duration::from_secs(5))
            .connect_lazily()
            .expect("the configuration is good");
        let producer = client
            .producer()
            .partitioner(Partitioning::like("java").expect("known"))
            .build()
            .expect("the configuration is good");
        let asked = || cluster.topics_asked.load(Ordering::Relaxed);
        for round in 0..3 {
            for number in 0..10 {
                let value = format!("{round} {number}");
                let record = ProducerRecord::to(TOPIC).key("k").value(&value);
                // With pauses that are not long enough.
                tokio::time::sleep(Duration::from_secs(1)).await;
                producer.send(record).await.expect("written");
                assert_eq!(asked(), 1);
            }
            tokio::time::sleep(Duration::from_secs(10)).await;
            assert_eq!(asked(), 0, "round {round}");
            assert!(client.cluster().topic(TOPIC).is_none());
            if round == 1 {
                // Does not wait, and asks for it.
                let record = ProducerRecord::to(TOPIC).key("k").value("not known");
                assert!(producer.try_enqueue(record).is_err());
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert_eq!(asked(), 1);
            }
        }
        // Each was written once, by one producer whose sequences have no gap: the cluster checks that.
        assert_eq!(cluster.log(0).len(), 30);
    });
}

#[test]
fn refresh_tells_of_new_partitions_at_once() {
    runtime().block_on(async {
        let cluster = SimCluster::new(1, 1, 3, Faults::new(1, 0, false));
        let client = client(&cluster);
        let count = async || {
            let topic = client.topic(TOPIC, Duration::from_secs(10)).await;
            topic.expect("there").partitions.len()
        };
        assert_eq!(count().await, 3);
        cluster.grow(2);
        assert_eq!(count().await, 3);
        client.refresh().await.expect("answered");
        assert_eq!(count().await, 5);
    });
}
