//! A typed record costs no allocation: key and value go through a buffer that is kept, and then into the batch.
//! One test, because the allocator counts for the whole process.

#![allow(dead_code, unreachable_pub, reason = "modules of another test")]

#[path = "simulation/cluster.rs"]
mod cluster;
#[path = "simulation/faults.rs"]
mod faults;
#[path = "simulation/fetch.rs"]
mod fetch;
#[path = "simulation/network.rs"]
mod network;

use std::alloc::System;
use std::time::Duration;

use copart::serializers::{Format, Int32, Int64, Optional, Raw, Serialize, Utf8};
use copart::{Client, Partitioning, Producer, ProducerRecord};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Enqueues records, and returns how often memory was asked for by all but the first few, which open the batch
/// and warm the buffer up.
fn allocations<KS, VS, K, V>(producer: &Producer, ks: KS, vs: VS, key: K, value: V) -> usize
where
    K: Copy + std::fmt::Debug,
    V: Copy + std::fmt::Debug,
    KS: Format + Serialize<K>,
    VS: Format + Serialize<V>,
{
    let typed = producer.typed(ks, vs);
    let send = || {
        let record = ProducerRecord::to(cluster::TOPIC).key(key).value(value);
        drop(typed.try_enqueue(record).expect("there is room"));
    };
    send();
    let region = Region::new(ALLOCATOR);
    for _ in 0..50 {
        send();
    }
    let change = region.change();
    change.allocations + change.reallocations
}

#[test]
fn typed_records_allocate_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let cluster = cluster::SimCluster::new(1, 1, 1, faults::Faults::new(1, 0, false));
        let client = Client::builder("b0:9092")
            .transport(network::Network(cluster.clone()))
            .connect_lazily()
            .expect("the configuration is good");
        let producer = client
            .producer()
            .partitioner(Partitioning::like("java").expect("known"))
            .build()
            .expect("the configuration is good");
        producer.prepare(cluster::TOPIC).await.expect("there");
        let bytes: &[u8] = b"some bytes";
        let counts = [
            allocations(&producer, Utf8, Utf8, "a key", "a value"),
            allocations(&producer, Raw, Raw, bytes, bytes),
            allocations(&producer, Int32, Int64, 7, 8),
            allocations(
                &producer,
                Optional(Utf8),
                Optional(Int64),
                Some("key"),
                None::<i64>,
            ),
        ];
        // The batch's own buffer grows, by doubling.
        assert!(counts.iter().sum::<usize>() <= 2, "{counts:?}");
        producer.flush().await.expect("written");
        assert_eq!(cluster.records(0).len(), 4 * 51);
        assert!(producer.close(Duration::from_secs(10)).await.is_complete());
    });
}
