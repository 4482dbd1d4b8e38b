//! What is committed, and when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::protocol::{ApiKey, ErrorCode};
use copart::{Commit, Committed, ErrorKind, OffsetReset, Start, TopicPartition};
use copart_broker::Fault;

use crate::support::{
    PROTOCOLS, TOPIC, broker, client, close, committed, consumer, next, next_error, number, quick,
    settled, soon, take, write,
};

fn manual() -> Commit {
    Commit::Manual
}

#[tokio::test]
async fn only_what_is_done_without_a_gap_is_committed() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..6).await;
        let one = quick(&client, protocol).commit(manual());
        let mut one = one.build().expect("a consumer");
        let mut batches = Vec::new();
        for _ in 0..6 {
            batches.push(next(&mut one).await);
        }
        batches.remove(4).done();
        batches.remove(1).done();
        one.commit().await.expect("committed");
        assert_eq!(committed(&one, 0).await.map(|it| it.offset), Some(0));
        batches.remove(0).commit().await.expect("committed");
        assert_eq!(committed(&one, 0).await.map(|it| it.offset), Some(2));
        assert_eq!(one.processed((TOPIC, 0)), Some(2));
        // Those that are left are dropped: they come again, the one that was done does not.
        drop(batches);
        let mut again = Vec::new();
        for _ in 0..3 {
            let batch = next(&mut one).await;
            again.push(number(batch.get(0).expect("one").value()));
            batch.done();
        }
        assert_eq!(again, [2, 3, 5], "{protocol:?}");
        one.commit().await.expect("committed");
        assert_eq!(committed(&one, 0).await.map(|it| it.offset), Some(6));
        close(one).await;
    }
}

#[tokio::test]
async fn records_are_done_one_by_one() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, TOPIC, 0, 0..5).await;
    let mut one = consumer(&client, PROTOCOLS[1]);
    let mut records = one.records();
    let mut held = Vec::new();
    for _ in 0..5 {
        let record = soon("a record", records.next()).await;
        held.push(record.expect("more").expect("a record"));
    }
    held.remove(2).done();
    held.remove(0).done();
    assert_eq!(one.processed((TOPIC, 0)), Some(1));
    drop(held);
    let again: Vec<u64> = take(&mut one, 3)
        .await
        .into_iter()
        .map(|(_, n)| n)
        .collect();
    assert_eq!(again, [1, 3, 4]);
    close(one).await;
}

#[tokio::test]
async fn what_was_delivered_is_committed_without_being_done() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, TOPIC, 0, 0..4).await;
    let every = Duration::from_millis(100);
    let one = quick(&client, PROTOCOLS[0]).commit(Commit::Delivered { every });
    let mut one = one.build().expect("a consumer");
    for _ in 0..3 {
        drop(next(&mut one).await);
    }
    let held = next(&mut one).await;
    soon("committed", async {
        while committed(&one, 0).await.map(|it| it.offset) != Some(3) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    drop(held);
    close(one).await;
    let two = consumer(&client, PROTOCOLS[0]);
    assert_eq!(committed(&two, 0).await.map(|it| it.offset), Some(4));
}

#[tokio::test]
async fn commits_come_by_themselves_and_from_elsewhere() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..3).await;
        let every = Duration::from_millis(100);
        let one = quick(&client, protocol).commit(Commit::Processed { every });
        let mut one = one.build().expect("a consumer");
        take(&mut one, 3).await;
        soon("committed", async {
            while committed(&one, 0).await.map(|it| it.offset) != Some(3) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        // With a note and an epoch, from another task.
        let committer = one.committer();
        let offset = Committed::new(1).leader_epoch(0).metadata("half");
        let told =
            tokio::spawn(async move { committer.commit_offsets([((TOPIC, 0), offset)]).await });
        told.await.expect("no panic").expect("committed");
        let kept = committed(&one, 0).await.expect("something");
        assert!(kept.offset == 3 || kept.metadata == "half", "{kept:?}");
        let error = one.commit_offsets([((TOPIC, 7), 1)]).await.expect_err("no");
        assert_eq!(error.kind(), ErrorKind::Revoked);
        assert_eq!(error.context().partition, Some(7));
        let error = one
            .commit_offsets([((TOPIC, 0), -1)])
            .await
            .expect_err("no");
        assert_eq!(error.kind(), ErrorKind::Config);
        let committer = one.committer();
        close(one).await;
        let error = committer.commit_offsets([((TOPIC, 0), 1)]).await;
        assert!(error.is_err());
    }
}

#[tokio::test]
async fn a_coordinator_that_falters_is_asked_again() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..8).await;
        let one = quick(&client, protocol).commit(manual());
        let mut one = one.build().expect("a consumer");
        for (number, fault) in [
            Fault::Disconnect,
            Fault::ApplyThenDisconnect,
            Fault::Error(ErrorCode::NOT_COORDINATOR),
            Fault::Error(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
            Fault::Error(ErrorCode::REBALANCE_IN_PROGRESS),
            Fault::Error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        ]
        .into_iter()
        .enumerate()
        {
            let batch = next(&mut one).await;
            broker.inject(ApiKey::OffsetCommit, None, 2, fault);
            let outcome = soon("committed", batch.commit()).await;
            outcome.unwrap_or_else(|error| panic!("{protocol:?}, {fault:?}: {error}"));
            broker.clear_faults();
            let offset = committed(&one, 0).await.map(|it| it.offset);
            assert_eq!(offset, Some(number as i64 + 1), "{fault:?}");
        }
        // One that waiting does not mend is told at once.
        let batch = next(&mut one).await;
        let fault = Fault::Error(ErrorCode::GROUP_AUTHORIZATION_FAILED);
        broker.inject(ApiKey::OffsetCommit, None, 1, fault);
        let error = soon("told", batch.commit()).await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Authorization, "{error}");
        broker.clear_faults();
        close(one).await;
    }
}

#[tokio::test]
async fn where_a_group_begins() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, TOPIC, 0, 0..3).await;
    let build = |group: &str, reset| {
        let builder = client.consumer(group).topic(TOPIC).offset_reset(reset);
        builder.build().expect("a consumer")
    };
    let mut latest = build("latest", OffsetReset::Latest);
    settled(&mut [&mut latest], 1).await;
    soon("located", async {
        while latest.position((TOPIC, 0)).is_none() {
            let _ = tokio::time::timeout(Duration::from_millis(20), latest.recv()).await;
        }
    })
    .await;
    write(&client, TOPIC, 0, 3..4).await;
    assert_eq!(take(&mut latest, 1).await, [(0, 3)].into());
    let mut none = build("none", OffsetReset::Error);
    let error = next_error(&mut none).await;
    assert_eq!(error.kind(), ErrorKind::OffsetOutOfRange, "{error}");
    assert_eq!(error.context().partition, Some(0));
    none.seek((TOPIC, 0), Start::Offset(2)).expect("ours");
    assert_eq!(take(&mut none, 2).await, [(0, 2), (0, 3)].into());
    close(none).await;
    // Where it is now is committed, and that counts.
    let mut none = build("none", OffsetReset::Error);
    write(&client, TOPIC, 0, 4..5).await;
    assert_eq!(take(&mut none, 1).await, [(0, 4)].into());
}

#[tokio::test]
async fn seeking_and_pausing() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..4).await;
        write(&client, TOPIC, 1, 0..4).await;
        let mut one = consumer(&client, protocol);
        take(&mut one, 8).await;
        let held = {
            one.seek((TOPIC, 0), Start::Offset(1)).expect("ours");
            next(&mut one).await
        };
        assert_eq!(held.first_offset(), 1);
        one.seek((TOPIC, 0), Start::Offset(3)).expect("ours");
        assert!(!held.is_valid());
        held.done();
        assert_eq!(
            one.processed((TOPIC, 0)),
            Some(3),
            "what was before is void"
        );
        assert_eq!(take(&mut one, 1).await, [(0, 3)].into());
        one.pause((TOPIC, 0)).expect("ours");
        write(&client, TOPIC, 0, 4..5).await;
        write(&client, TOPIC, 1, 4..5).await;
        assert_eq!(take(&mut one, 1).await, [(1, 4)].into());
        assert!(one.is_paused((TOPIC, 0)));
        let nothing = tokio::time::timeout(Duration::from_millis(300), one.recv()).await;
        assert!(nothing.is_err());
        one.resume((TOPIC, 0)).expect("ours");
        assert_eq!(take(&mut one, 1).await, [(0, 4)].into());
        let error = one.seek((TOPIC, 9), Start::Earliest).expect_err("not ours");
        assert_eq!(error.kind(), ErrorKind::Revoked);
        let times = one.offsets_for_times([(TopicPartition::new(TOPIC, 1), 0)]);
        assert_eq!(times.await.expect("told")[0].1.map(|it| it.offset), Some(0));
        close(one).await;
    }
}

#[tokio::test]
async fn hooks_say_what_comes_and_goes_and_can_commit() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..4).await;
        write(&client, TOPIC, 1, 0..4).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (assigned, revoked) = (Arc::clone(&seen), Arc::clone(&seen));
        let one = quick(&client, protocol)
            .commit(manual())
            .on_assigned(move |rebalance| {
                let seen = Arc::clone(&assigned);
                async move {
                    for partition in rebalance.partitions() {
                        let start = Start::Offset(2);
                        rebalance.start_of(partition.clone(), start).expect("ours");
                        seen.lock().expect("no panic").push(format!("+{partition}"));
                    }
                    assert!(rebalance.start_of((TOPIC, 9), Start::Latest).is_err());
                }
            })
            .on_revoked(move |rebalance| {
                let seen = Arc::clone(&revoked);
                async move {
                    rebalance.committer().commit().await.expect("committed");
                    for partition in rebalance.partitions() {
                        seen.lock().expect("no panic").push(format!("-{partition}"));
                    }
                }
            });
        let mut one = one.build().expect("a consumer");
        let expected = [(0, 2), (0, 3), (1, 2), (1, 3)].into();
        assert_eq!(take(&mut one, 4).await, expected);
        let error = one.close(Duration::from_secs(30)).await;
        error.expect("closed");
        let two = consumer(&client, protocol);
        for partition in 0..2 {
            let kept = committed(&two, partition).await.map(|it| it.offset);
            assert_eq!(kept, Some(4), "the hook has committed");
        }
        let mut seen = seen.lock().expect("no panic").clone();
        seen.sort();
        assert_eq!(seen, ["+orders-0", "+orders-1", "-orders-0", "-orders-1"]);
    }
}
