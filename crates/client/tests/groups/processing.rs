//! Batches that are out while partitions are to go, and programs that are stuck.

use std::time::Duration;

use copart::{ErrorKind, GroupProtocol};

use crate::support::{
    PROTOCOLS, TOPIC, broker, client, close, committed, consumer, next, next_error, quick, settled,
    soon, take, write,
};

#[tokio::test]
async fn a_batch_that_is_out_defers_the_revocation_of_its_partition() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        let build = || {
            let builder = quick(&client, protocol);
            builder.build().expect("a consumer")
        };
        let mut one = build();
        settled(&mut [&mut one], 2).await;
        write(&client, TOPIC, 0, 0..1).await;
        write(&client, TOPIC, 1, 0..1).await;
        let batches = [next(&mut one).await, next(&mut one).await];
        let mut two = build();
        let early = tokio::time::timeout(Duration::from_secs(1), two.recv()).await;
        assert!(early.is_err(), "{protocol:?}: nothing is taken away");
        assert_eq!(two.assignment().len(), 0, "{protocol:?}");
        for batch in batches {
            assert!(batch.is_valid());
            batch.done();
        }
        settled(&mut [&mut one, &mut two], 2).await;
        // What was done in time was committed before it went.
        let moved = two.assignment()[0].partition;
        assert_eq!(committed(&two, moved).await.map(|it| it.offset), Some(1));
        write(&client, TOPIC, moved, 1..2).await;
        assert_eq!(take(&mut two, 1).await, [(moved, 1)].into());
        close(one).await;
        close(two).await;
    }
}

#[tokio::test]
async fn after_the_rebalance_timeout_it_is_taken_away() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        let build = || {
            quick(&client, protocol)
                .rebalance_timeout(Duration::from_secs(2))
                .build()
                .expect("a consumer")
        };
        let mut one = build();
        settled(&mut [&mut one], 2).await;
        write(&client, TOPIC, 0, 0..1).await;
        write(&client, TOPIC, 1, 0..1).await;
        let batches = [next(&mut one).await, next(&mut one).await];
        let mut two = build();
        let taken = next(&mut two).await;
        let moved = taken.partition();
        taken.done();
        let [first, second] = batches;
        let (gone, _kept) = if first.partition() == moved {
            (first, second)
        } else {
            (second, first)
        };
        soon("it is gone", async {
            while gone.is_valid() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        let error = gone.commit().await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Revoked, "{protocol:?}: {error}");
        drop(_kept);
        close(two).await;
    }
}

#[tokio::test]
async fn a_program_that_is_stuck_leaves_loudly_and_comes_back() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..2).await;
        let one = quick(&client, protocol).max_processing_time(Duration::from_secs(1));
        let mut one = one.build().expect("a consumer");
        let stuck = next(&mut one).await;
        // Another takes over while it is stuck.
        let mut two = consumer(&client, protocol);
        assert_eq!(take(&mut two, 2).await, [(0, 0), (0, 1)].into());
        assert!(!stuck.is_valid(), "{protocol:?}");
        let error = stuck.commit().await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Revoked);
        let error = next_error(&mut one).await;
        assert_eq!(error.kind(), ErrorKind::Stalled, "{protocol:?}: {error}");
        assert_eq!(error.context().partition, Some(0));
        close(two).await;
        // It joins again with the next call.
        write(&client, TOPIC, 0, 2..3).await;
        assert_eq!(take(&mut one, 1).await, [(0, 2)].into());
        close(one).await;
    }
}

#[tokio::test]
async fn a_close_waits_for_what_is_out() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, TOPIC, 0, 0..2).await;
    let mut one = consumer(&client, GroupProtocol::Consumer);
    let batch = next(&mut one).await;
    let worker = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        batch.done();
    });
    close(one).await;
    worker.await.expect("no panic");
    let mut two = consumer(&client, GroupProtocol::Consumer);
    assert_eq!(committed(&two, 0).await.map(|it| it.offset), Some(1));
    let batch = next(&mut two).await;
    assert_eq!(batch.first_offset(), 1);
    let error = soon("late", two.close(Duration::from_millis(300))).await;
    assert_eq!(error.expect_err("late").kind(), ErrorKind::Timeout);
    drop(batch);
}
