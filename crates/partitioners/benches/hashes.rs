//! Hashing 1,000 keys of 36 bytes: this crate's lanes beside the crates that stay its oracles,
//! and the three default clients together.

use std::hint::black_box;

use copart_partitioners::{Hash, PartitionCount, Reduction};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const KEYS: usize = 1_000;
const LEN: usize = 36;

fn data() -> Vec<u8> {
    let mut x = 88_172_645_463_325_252u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        b"0123456789abcdef"[(x & 15) as usize]
    };
    (0..KEYS * LEN).map(|_| next()).collect()
}

fn hashes(c: &mut Criterion) {
    let data = data();
    let keys: Vec<&[u8]> = data.chunks(LEN).collect();
    let mut out = vec![0u32; KEYS];
    let mut group = c.benchmark_group("36-byte keys");
    group.throughput(Throughput::Elements(KEYS as u64));
    group.bench_function("murmur2, the crate", |b| {
        b.iter(|| {
            for (key, hash) in black_box(&keys).iter().zip(&mut out) {
                *hash = murmur2::murmur2(key, murmur2::KAFKA_SEED);
            }
            black_box(&out);
        });
    });
    group.bench_function("crc32, the crate crc32fast", |b| {
        b.iter(|| {
            for (key, hash) in black_box(&keys).iter().zip(&mut out) {
                *hash = crc32fast::hash(key);
            }
            black_box(&out);
        });
    });
    for hash in [Hash::Murmur2, Hash::Crc32, Hash::Fnv1a32] {
        group.bench_function(format!("{hash}, of_each"), |b| {
            b.iter(|| {
                hash.of_each(black_box(&keys), &mut out);
                black_box(&out);
            });
        });
    }
    let n = PartitionCount::new(12).unwrap();
    let mut crc = vec![0u32; KEYS];
    group.bench_function("java + ruby-kafka + librdkafka, placed", |b| {
        b.iter(|| {
            // ruby-kafka and librdkafka share the hash and the reduction.
            Hash::Murmur2.of_each(black_box(&keys), &mut out);
            Hash::Crc32.of_each(black_box(&keys), &mut crc);
            for (murmur2, crc32) in out.iter_mut().zip(&mut crc) {
                *murmur2 = Reduction::MaskSign.index(*murmur2, n).unwrap_or(0);
                *crc32 = Reduction::Unsigned.index(*crc32, n).unwrap_or(0);
            }
            black_box((&out, &crc));
        });
    });
    group.finish();
}

criterion_group!(benches, hashes);
criterion_main!(benches);
