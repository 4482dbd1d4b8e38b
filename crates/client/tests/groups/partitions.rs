//! A stream for each partition.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::{Client, PartitionStream, Partitions, Start};

use crate::support::{
    PROTOCOLS, TOPIC, all, broker, client, close, committed, consumer, number, quick, settled,
    soon, take, write,
};

async fn next(partitions: &mut Partitions) -> PartitionStream {
    let next = soon("a partition", partitions.next()).await;
    next.expect("more").expect("a partition")
}

async fn all_of(partitions: &mut Partitions, count: usize) -> BTreeMap<i32, PartitionStream> {
    let mut streams = BTreeMap::new();
    while streams.len() < count {
        let stream = next(partitions).await;
        streams.insert(stream.topic_partition().partition, stream);
    }
    streams
}

async fn next_numbers(stream: &mut PartitionStream) -> Vec<u64> {
    let batch = soon("a batch", stream.next()).await;
    let batch = batch.expect("more").expect("a batch");
    assert_eq!(batch.topic_partition(), stream.topic_partition());
    let numbers = batch.records().map(|r| number(r.value())).collect();
    batch.done();
    numbers
}

async fn start(client: &Client, count: usize) -> (Partitions, BTreeMap<i32, PartitionStream>) {
    let builder = quick(client, PROTOCOLS[1]);
    let mut partitions = builder.build().expect("a consumer").into_partitions();
    let streams = all_of(&mut partitions, count).await;
    (partitions, streams)
}

async fn end(partitions: Partitions) {
    let closed = partitions.close(Duration::from_secs(30));
    soon("closed", closed).await.expect("closed in order");
}

#[tokio::test]
async fn a_slow_partition_does_not_keep_the_others_waiting() {
    let broker = broker().topic(TOPIC, 3).start().await.expect("starts");
    let client = client(&broker).await;
    for partition in 0..3 {
        write(&client, TOPIC, partition, 0..5).await;
    }
    let (partitions, streams) = start(&client, 3).await;
    let taken = Arc::new(Mutex::new(Vec::new()));
    let mut streams = streams.into_values();
    // Nobody asks the first one.
    let mut slow = streams.next().expect("three");
    let tasks: Vec<_> = streams
        .map(|mut stream| {
            let taken = Arc::clone(&taken);
            tokio::spawn(async move {
                while let Some(batch) = stream.next().await {
                    let batch = batch.expect("a batch");
                    let numbers = batch.records().map(|r| (r.partition(), number(r.value())));
                    taken.lock().expect("no panic").extend(numbers);
                    batch.done();
                }
            })
        })
        .collect();
    soon("the others", async {
        while taken.lock().expect("no panic").len() < 10 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let mut expected: Vec<_> = all(3, 0..5).into_iter().filter(|it| it.0 > 0).collect();
    taken.lock().expect("no panic").sort_unstable();
    expected.sort_unstable();
    assert_eq!(*taken.lock().expect("no panic"), expected);
    let mut of_slow = Vec::new();
    while of_slow.len() < 5 {
        of_slow.extend(next_numbers(&mut slow).await);
    }
    assert_eq!(of_slow, [0, 1, 2, 3, 4]);
    let committer = partitions.committer();
    soon("committed", committer.commit())
        .await
        .expect("committed");
    end(partitions).await;
    // All streams end.
    assert!(soon("the end", slow.next()).await.is_none());
    for task in tasks {
        soon("the end", task).await.expect("no panic");
    }
    let probe = consumer(&client, PROTOCOLS[1]);
    for partition in 0..3 {
        let offset = committed(&probe, partition).await.map(|it| it.offset);
        assert_eq!(offset, Some(5), "partition {partition}");
    }
    close(probe).await;
}

#[tokio::test]
async fn a_stream_ends_when_its_partition_goes_and_a_batch_that_is_out_defers_that() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    let (mut partitions, mut streams) = start(&client, 2).await;
    for partition in 0..2 {
        write(&client, TOPIC, partition, 0..1).await;
    }
    let mut held = Vec::new();
    for stream in streams.values_mut() {
        let batch = soon("a batch", stream.next()).await;
        held.push(batch.expect("more").expect("a batch"));
    }
    let mut other = consumer(&client, PROTOCOLS[1]);
    let early = tokio::time::timeout(Duration::from_secs(1), other.recv()).await;
    assert!(early.is_err(), "nothing is taken away");
    assert_eq!(other.assignment().len(), 0);
    assert!(held.iter().all(copart::GroupBatch::is_valid));
    for batch in held {
        batch.done();
    }
    soon("one moves", async {
        while other.assignment().len() != 1 {
            let _ = tokio::time::timeout(Duration::from_millis(20), other.recv()).await;
        }
    })
    .await;
    let moved = other.assignment()[0].partition;
    let mut gone = streams.remove(&moved).expect("there");
    assert!(soon("the end", gone.next()).await.is_none());
    assert!(soon("the end", gone.next()).await.is_none(), "for good");
    let offset = committed(&other, moved).await.map(|it| it.offset);
    assert_eq!(offset, Some(1), "it was committed before it went");
    // The other one goes on.
    let stays = 1 - moved;
    let stream = streams.get_mut(&stays).expect("there");
    write(&client, TOPIC, stays, 1..2).await;
    assert_eq!(next_numbers(stream).await, [1]);
    write(&client, TOPIC, moved, 1..2).await;
    assert_eq!(take(&mut other, 1).await, [(moved, 1)].into());
    // When the other member leaves, it comes back, and goes on where that one was.
    close(other).await;
    let mut back = next(&mut partitions).await;
    assert_eq!(back.topic_partition().partition, moved);
    write(&client, TOPIC, moved, 2..3).await;
    assert_eq!(next_numbers(&mut back).await, [2]);
    end(partitions).await;
}

#[tokio::test]
async fn a_stream_that_is_dropped_comes_again_with_what_is_not_done() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, TOPIC, 0, 0..3).await;
    let (mut partitions, mut streams) = start(&client, 1).await;
    let mut stream = streams.remove(&0).expect("there");
    assert_eq!(next_numbers(&mut stream).await, [0]);
    let failed = soon("a batch", stream.next()).await;
    drop(stream);
    drop(failed);
    let mut stream = next(&mut partitions).await;
    assert_eq!(next_numbers(&mut stream).await, [1]);
    // A call that is dropped loses nothing.
    for _ in 0..50 {
        let polled = tokio::time::timeout(Duration::ZERO, stream.next()).await;
        if let Ok(batch) = polled {
            let batch = batch.expect("more").expect("a batch");
            assert_eq!(number(batch.get(0).expect("one").value()), 2);
            batch.done();
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let processed = partitions.committer().processed((TOPIC, 0));
    assert_eq!(processed, Some(3));
    stream.seek(Start::Offset(1)).await.expect("ours");
    assert_eq!(next_numbers(&mut stream).await, [1]);
    // Dropping the whole leaves the group.
    drop(partitions);
    assert!(
        soon("the end", async {
            loop {
                match stream.next().await {
                    Some(batch) => batch.expect("a batch").done(),
                    None => return true,
                }
            }
        })
        .await
    );
    let mut other = consumer(&client, PROTOCOLS[1]);
    settled(&mut [&mut other], 1).await;
    close(other).await;
}
