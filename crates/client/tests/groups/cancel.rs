//! Every future of the consumer, dropped at every point at which it waits.

use std::time::Duration;

use copart::GroupProtocol;

use crate::poll::poll_at_most;
use crate::support::{
    TOPIC, all, broker, client, close, committed, consumer, next, number, settled, soon, take,
    write,
};

#[tokio::test]
async fn a_recv_or_a_commit_that_was_dropped_loses_nothing() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    let mut one = consumer(&client, GroupProtocol::Consumer);
    settled(&mut [&mut one], 2).await;
    let mut written = 0;
    for polls in 0..12 {
        write(&client, TOPIC, 0, written..written + 2).await;
        let first = poll_at_most(one.recv(), polls).await;
        let mut seen = Vec::new();
        if let Some(batch) = first {
            let batch = batch.expect("more").expect("a batch");
            seen.extend(batch.records().map(|r| number(r.value())));
            // Whether or not anybody waits for it, it is done.
            let _ = poll_at_most(batch.commit(), polls % 4).await;
        }
        while seen.last() != Some(&(written + 1)) {
            let batch = next(&mut one).await;
            seen.extend(batch.records().map(|r| number(r.value())));
            batch.done();
        }
        let done = poll_at_most(one.commit(), polls % 5).await;
        done.unwrap_or(Ok(())).expect("no error");
        // A commit that was not begun counts nothing as done that is not.
        assert!(one.processed((TOPIC, 0)) <= Some(written as i64 + 2));
        seen.dedup();
        let expected: Vec<u64> = (written..written + 2).collect();
        assert!(
            seen.iter().rev().take(2).rev().eq(expected.iter()),
            "{seen:?}"
        );
        written += 2;
    }
    soon("committed", one.commit()).await.expect("committed");
    let _ = poll_at_most(one.committed([(TOPIC, 0)]), 1).await;
    assert!(committed(&one, 0).await.is_some());
    close(one).await;
}

#[tokio::test]
async fn a_close_that_was_dropped_goes_on() {
    for polls in 0..4 {
        let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..3).await;
        let mut one = consumer(&client, GroupProtocol::Consumer);
        assert_eq!(take(&mut one, 3).await, all(1, 0..3));
        let _ = poll_at_most(one.close(Duration::from_secs(20)), polls).await;
        let mut two = consumer(&client, GroupProtocol::Consumer);
        settled(&mut [&mut two], 1).await;
        assert_eq!(committed(&two, 0).await.map(|it| it.offset), Some(3));
        close(two).await;
    }
}
