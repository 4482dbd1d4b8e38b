//! Every future of the producer and the reader, dropped at every point at which it waits.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use copart::{End, Partitioning, Producer, ProducerRecord, Reader};

use crate::cluster::{SimCluster, TOPIC};
use crate::faults::Faults;
use crate::poll::poll_at_most;
use crate::workload::{client, runtime};

fn producer(cluster: &Arc<SimCluster>, memory: usize) -> Producer {
    client(cluster)
        .producer()
        .partitioner(Partitioning::like("java").expect("java is known"))
        .batch_size(512)
        .max_request_size(1024)
        .buffer_memory(memory)
        .build()
        .expect("the configuration is good")
}

/// Runs `with` for each number of polls until the future was ready once by itself.
fn at_every_poll<Fut: Future<Output = bool>>(with: impl Fn(usize) -> Fut) {
    let mut completed = false;
    for polls in 0..200 {
        completed = runtime().block_on(with(polls));
        if completed && polls > 5 {
            break;
        }
    }
    assert!(completed, "the future is never ready");
}

fn cluster() -> Arc<SimCluster> {
    SimCluster::new(1, 3, 3, Faults::new(1, 0, false))
}

fn total(cluster: &SimCluster) -> usize {
    (0..cluster.partition_count() as i32)
        .map(|p| cluster.log(p).len())
        .sum()
}

#[test]
fn an_enqueue_that_was_dropped_took_nothing() {
    at_every_poll(|polls| async move {
        let cluster = cluster();
        let producer = producer(&cluster, 1 << 20);
        let record = ProducerRecord::to(TOPIC).key("k").value("0 k");
        let taken = poll_at_most(producer.enqueue(record), polls).await;
        let expected = usize::from(taken.is_some());
        drop(taken);
        assert!(producer.close(Duration::from_secs(60)).await.is_complete());
        assert_eq!(total(&cluster), expected);
        expected == 1
    });
}

#[test]
fn an_enqueue_that_waits_for_memory_gives_its_share_back() {
    at_every_poll(|polls| async move {
        let cluster = cluster();
        let producer = producer(&cluster, 1024);
        producer.prepare(TOPIC).await.expect("there");
        let large = vec![b'x'; 700];
        let first = producer.enqueue(ProducerRecord::to(TOPIC).key("k").value(&large));
        drop(first.await.expect("room"));
        let second = producer.enqueue(ProducerRecord::to(TOPIC).key("k").value(&large));
        let taken = poll_at_most(second, polls).await.is_some();
        // If the share of the second were lost, this would wait for ever.
        let third = producer.send(ProducerRecord::to(TOPIC).key("k").value(&large));
        let third = tokio::time::timeout(Duration::from_secs(50), third).await;
        third.expect("in time").expect("written");
        assert_eq!(total(&cluster), 2 + usize::from(taken));
        taken
    });
}

#[test]
fn a_send_that_was_dropped_is_written_once_or_not_at_all() {
    at_every_poll(|polls| async move {
        let cluster = cluster();
        let producer = producer(&cluster, 1 << 20);
        let record = ProducerRecord::to(TOPIC).key("k").value("0 k");
        let done = poll_at_most(producer.send(record), polls).await;
        assert!(producer.close(Duration::from_secs(60)).await.is_complete());
        let written = total(&cluster);
        match &done {
            Some(receipt) => {
                assert!(receipt.is_ok());
                assert_eq!(written, 1);
            }
            None => assert!(written <= 1),
        }
        done.is_some()
    });
}

#[test]
fn a_delivery_or_flush_that_was_dropped_changes_nothing() {
    at_every_poll(|polls| async move {
        let cluster = cluster();
        let producer = producer(&cluster, 1 << 20);
        let mut deliveries = Vec::new();
        for _ in 0..5 {
            let record = ProducerRecord::to(TOPIC).key("k").value("0 k");
            deliveries.push(producer.enqueue(record).await.expect("taken"));
        }
        let flushed = poll_at_most(producer.flush(), polls).await;
        let first = poll_at_most(deliveries.remove(0), polls).await;
        assert!(producer.close(Duration::from_secs(60)).await.is_complete());
        assert_eq!(total(&cluster), 5);
        for delivery in deliveries {
            delivery.await.expect("written");
        }
        flushed.is_some() && first.is_some()
    });
}

#[test]
fn a_close_that_was_dropped_still_closes() {
    at_every_poll(|polls| async move {
        let cluster = cluster();
        let producer = producer(&cluster, 1 << 20);
        let record = ProducerRecord::to(TOPIC).key("k").value("0 k");
        let delivery = producer.enqueue(record).await.expect("taken");
        let closed = poll_at_most(producer.close(Duration::from_secs(60)), polls).await;
        if polls > 0 {
            let late = producer.enqueue(ProducerRecord::to(TOPIC).key("k").value("1 k"));
            assert!(late.await.is_err());
            delivery.await.expect("written");
        }
        closed.is_some()
    });
}

#[test]
fn dropping_the_last_handle_sends_what_was_taken() {
    runtime().block_on(async {
        let cluster = cluster();
        let producer = producer(&cluster, 1 << 20);
        let mut deliveries = Vec::new();
        for _ in 0..50 {
            let record = ProducerRecord::to(TOPIC).key("k").value("0 k");
            deliveries.push(producer.enqueue(record).await.expect("taken"));
        }
        drop(producer);
        for delivery in deliveries {
            delivery.await.expect("written");
        }
        assert_eq!(total(&cluster), 50);
    });
}

/// A cluster with ten records in three partitions, and a reader that ends with the last.
async fn reader_of_ten() -> (Arc<SimCluster>, Reader) {
    let cluster = cluster();
    let producer = producer(&cluster, 1 << 20);
    for number in 0..10 {
        let value = number.to_string();
        let record = ProducerRecord::to(TOPIC)
            .partition(number % 3)
            .value(&value);
        producer.send(record).await.expect("written");
    }
    let reader = client(&cluster).reader().topic(TOPIC).until(End::Latest);
    let reader = reader.build().await.expect("a reader");
    (cluster, reader)
}

/// The offsets that are left, by partition.
async fn rest(reader: &mut Reader) -> Vec<(i32, i64)> {
    let mut rest = Vec::new();
    while let Some(batch) = reader.recv().await {
        let batch = batch.expect("no error");
        rest.extend(
            batch
                .records()
                .map(|record| (record.partition(), record.offset())),
        );
    }
    rest
}

fn all_ten() -> Vec<(i32, i64)> {
    let counts = [(0, 4), (1, 3), (2, 3)];
    counts
        .iter()
        .flat_map(|&(partition, count)| (0..count).map(move |offset| (partition, offset)))
        .collect()
}

#[test]
fn a_recv_that_was_dropped_took_nothing() {
    at_every_poll(|polls| async move {
        let (_cluster, mut reader) = reader_of_ten().await;
        let first = poll_at_most(reader.recv(), polls).await;
        let mut seen = Vec::new();
        if let Some(batch) = &first {
            let batch = batch.as_ref().expect("more").as_ref().expect("no error");
            seen.extend(
                batch
                    .records()
                    .map(|record| (record.partition(), record.offset())),
            );
        }
        seen.extend(rest(&mut reader).await);
        seen.sort_unstable();
        assert_eq!(seen, all_ten());
        first.is_some()
    });
}

#[test]
fn a_next_record_that_was_dropped_took_nothing() {
    at_every_poll(|polls| async move {
        let (_cluster, mut reader) = reader_of_ten().await;
        let mut seen = Vec::new();
        let mut records = reader.records();
        let first = poll_at_most(records.next(), polls).await;
        let second = poll_at_most(records.next(), polls).await;
        for record in [&first, &second].into_iter().flatten() {
            let record = record.as_ref().expect("more").as_ref().expect("no error");
            seen.push((record.partition(), record.offset()));
        }
        seen.extend(rest(&mut reader).await);
        seen.sort_unstable();
        assert_eq!(seen, all_ten());
        second.is_some()
    });
}

#[test]
fn building_and_asking_can_be_dropped() {
    at_every_poll(|polls| async move {
        let (cluster, mut reader) = reader_of_ten().await;
        let ends = poll_at_most(reader.end_offsets(), polls).await;
        let other = client(&cluster).reader().topic(TOPIC).until(End::Latest);
        let built = poll_at_most(other.clone().build(), polls).await;
        if let Some(built) = built {
            let mut seen = rest(&mut built.expect("a reader")).await;
            seen.sort_unstable();
            assert_eq!(seen, all_ten());
        }
        assert_eq!(rest(&mut reader).await.len(), 10);
        ends.is_some_and(|ends| ends.is_ok())
    });
}
