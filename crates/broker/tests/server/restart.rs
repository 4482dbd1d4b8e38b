//! What a data directory keeps.

use std::time::Duration;

use copart_broker::{Broker, Builder, DirectoryRepair, Durability, ErrorKind};
use copart_protocol::ErrorCode;
use copart_protocol::records::Compression;

use super::client::{Client, batch, init_producer_id, sealed, values};

/// Starts a broker in the directory of one that was dropped: its connections end, and with the last of them its
/// lock, when their tasks are next looked at.
pub(super) async fn start_after_drop(builder: Builder) -> Broker {
    loop {
        match builder.clone().start().await {
            Ok(broker) => return broker,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Locked),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn everything_is_there_again() {
    for durability in [Durability::Disk, Durability::Process] {
        let directory = tempfile::tempdir().expect("a directory");
        let start = || {
            Broker::builder()
                .data(directory.path())
                .durability(durability)
                .topic("t", 2)
                .start()
        };
        let broker = start().await.expect("starts");
        let (cluster, topic) = (broker.cluster_id(), broker.topic_id("t"));
        let mut client = Client::to(&broker, 1).await;
        let identity = client.call(4, &init_producer_id()).await;
        let producer = |sequence| Some((identity.producer_id, 0, sequence));
        let first = sealed(&["a"], Compression::default(), producer(0));
        client.produce("t", 1, first.clone()).await;
        let taken = start().await.expect_err("one broker at a time");
        assert_eq!(taken.kind(), ErrorKind::Locked);
        broker.stop().await.expect("stores everything");

        let broker = start().await.expect("starts again");
        assert_eq!(
            (broker.cluster_id(), broker.topic_id("t")),
            (cluster, topic)
        );
        let mut client = Client::to(&broker, 1).await;
        let again = client.produce("t", 1, first).await;
        assert_eq!((again.error_code, again.base_offset), (ErrorCode::NONE, 0));
        let second = sealed(&["b"], Compression::default(), producer(1));
        assert_eq!(client.produce("t", 1, second).await.base_offset, 1);
        assert_eq!(client.values("t", 1, 0).await.len(), 2);
        let other = client.call(4, &init_producer_id()).await;
        assert!(other.producer_id > identity.producer_id);
        // Without a word: as after a crash.
        drop((client, broker));
        let builder = Broker::builder().data(directory.path());
        let broker = start_after_drop(builder.durability(durability).topic("t", 2)).await;
        let mut client = Client::to(&broker, 1).await;
        assert_eq!(client.values("t", 1, 0).await.len(), 2);
        assert_eq!(client.produce("t", 1, batch(&["c"])).await.base_offset, 2);
    }
}

#[tokio::test]
async fn a_damaged_partition_keeps_no_other_from_working() {
    let directory = tempfile::tempdir().expect("a directory");
    let start = || {
        Broker::builder()
            .data(directory.path())
            .topic("t", 2)
            .start()
    };
    let broker = start().await.expect("starts");
    let mut client = Client::to(&broker, 1).await;
    for partition in 0..2 {
        client.produce("t", partition, batch(&["precious"])).await;
    }
    broker.stop().await.expect("stops");
    let log = directory.path().join("t-0/00000000000000000000.log");
    let mut bytes = std::fs::read(&log).expect("there");
    *bytes.last_mut().expect("not empty") ^= 1;
    std::fs::write(&log, &bytes).expect("written");

    let broker = start().await.expect("starts all the same");
    let mut client = Client::to(&broker, 1).await;
    let data = client.fetch("t", 0, 0).await;
    assert_eq!(data.error_code, ErrorCode::KAFKA_STORAGE_ERROR);
    // After a clean stop damage is found when it is met.
    assert_eq!(broker.damaged_partitions().len(), 1);
    assert_eq!(client.values("t", 1, 0).await.len(), 1);
    assert_eq!(
        client.produce("t", 1, batch(&["x"])).await.error_code,
        ErrorCode::NONE
    );
    broker.stop().await.expect("stops");
    assert_eq!(
        std::fs::read(&log).expect("there"),
        bytes,
        "nothing was changed"
    );

    let look = || DirectoryRepair::new(directory.path()).expect("free");
    let mut repair = look();
    assert_eq!(repair.plans.len(), 1);
    let plan = repair.plans.remove(0);
    assert!(plan.to_string().contains("drop offsets 0 to 0"), "{plan}");
    let repaired = plan.carry_out().expect("repaired");
    assert_eq!((repaired.dropped_offsets, repaired.kept.len()), (1, 1));
    drop(repair);
    assert!(look().plans.is_empty());
    let broker = start().await.expect("starts");
    assert_eq!(broker.damaged_partitions(), []);
    let mut client = Client::to(&broker, 1).await;
    let produced = client.produce("t", 0, batch(&["x"])).await;
    assert_eq!(produced.base_offset, 1, "offsets stay");
    assert_eq!(client.values("t", 0, 1).await.len(), 1);
}

/// Long reads are sent from the file; they end before damage as short ones do.
#[tokio::test]
async fn long_reads_are_checked_before_they_are_sent() {
    let directory = tempfile::tempdir().expect("a directory");
    let broker = Broker::builder()
        .data(directory.path())
        .topic("t", 1)
        .start()
        .await
        .expect("starts");
    let mut client = Client::to(&broker, 1).await;
    let sent: Vec<String> = (0..40).map(|i| format!("{i:010000}")).collect();
    for value in &sent {
        client.produce("t", 0, batch(&[value])).await;
    }
    let all = client.fetch("t", 0, 0).await.records;
    let received = values(&all).into_iter().map(|(_, value)| value);
    assert!(received.eq(sent), "other values than were sent");

    let log = directory.path().join("t-0/00000000000000000000.log");
    let mut bytes = std::fs::read(&log).expect("there");
    bytes[all.len() / 40 * 20 + 5000] ^= 1;
    std::fs::write(&log, &bytes).expect("written");
    let before = client.fetch("t", 0, 0).await;
    assert_eq!(values(&before.records).len(), 20);
    let data = client.fetch("t", 0, 20).await;
    assert_eq!(data.error_code, ErrorCode::KAFKA_STORAGE_ERROR);
    assert_eq!(broker.damaged_partitions().len(), 1);
}
