//! This crate's record batches against those of `kafka-protocol`, as ratios.
//!
//! The two are measured in turn, a few milliseconds each, over and over, and
//! the best of each counts: what else runs on the machine then hits both alike.
//! `cargo bench -p copart-protocol --bench records_ratio`

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{Codec, Compression, Compressor, Decompressor};
use kafka_protocol::records::Compression as OtherCompression;
use support::{Input, RECORDS, Shape};

/// How often each of the two is measured.
const ROUNDS: usize = 150;
/// How long one measurement takes, about.
const SLICE: Duration = Duration::from_millis(4);

fn main() {
    // `cargo test` runs benches too, once; then there is nothing to measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!(
        "{:<42} {:>12} {:>16} {:>7}",
        "1000 records of 100 bytes", "copart M/s", "kafka-protocol", "ratio"
    );
    for shape in Shape::ALL {
        let input = Input::new(shape);
        let mut compressor = Compressor::new();
        let mut decompressor = Decompressor::new(1 << 20);
        let batch = input.encode(&mut Vec::new(), Compression::NONE, &mut compressor);
        let (mut buffer, mut other_buffer) = (Vec::new(), BytesMut::new());

        row(
            &format!("encode {}", shape.name()),
            || {
                let batch = input.encode(&mut buffer, Compression::NONE, &mut compressor);
                buffer = Vec::from(batch);
                buffer.len()
            },
            || input.encode_other(&mut other_buffer, OtherCompression::None),
        );
        row(
            &format!("decode borrowed {}", shape.name()),
            || support::decode_borrowed(&batch, &mut decompressor),
            || support::decode_other(&batch),
        );
        row(
            &format!("decode shared {}", shape.name()),
            || support::decode_shared(&batch, &mut decompressor),
            || support::decode_other(&batch),
        );
    }
    for (codec, other) in [
        (Codec::Gzip, OtherCompression::Gzip),
        (Codec::Snappy, OtherCompression::Snappy),
        (Codec::Lz4, OtherCompression::Lz4),
        (Codec::Zstd, OtherCompression::Zstd),
    ] {
        let input = Input::new(Shape::KeyValue);
        let mut compressor = Compressor::new();
        let mut decompressor = Decompressor::new(1 << 20);
        let (mut buffer, mut other_buffer) = (Vec::new(), BytesMut::new());
        let batch = input.encode(&mut buffer, codec.into(), &mut compressor);
        input.encode_other(&mut other_buffer, other);
        let other_batch = Bytes::copy_from_slice(&other_buffer);
        println!(
            "{codec}: {} bytes, kafka-protocol {}",
            batch.len(),
            other_batch.len()
        );
        row(
            &format!("encode key+value {codec}"),
            || {
                input
                    .encode(&mut buffer, codec.into(), &mut compressor)
                    .len()
            },
            || input.encode_other(&mut other_buffer, other),
        );
        row(
            &format!("decode borrowed key+value {codec}"),
            || support::decode_borrowed(&batch, &mut decompressor),
            || support::decode_other(&other_batch),
        );
    }
}

fn row(name: &str, mut ours: impl FnMut() -> usize, mut theirs: impl FnMut() -> usize) {
    let (our_runs, their_runs) = (runs_in_slice(&mut ours), runs_in_slice(&mut theirs));
    let (mut our_best, mut their_best) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        our_best = our_best.min(seconds_a_run(&mut ours, our_runs));
        their_best = their_best.min(seconds_a_run(&mut theirs, their_runs));
    }
    let rate = |seconds: f64| RECORDS as f64 / seconds / 1e6;
    println!(
        "{name:<42} {:>12.2} {:>16.2} {:>7.2}",
        rate(our_best),
        rate(their_best),
        their_best / our_best
    );
}

fn runs_in_slice(run: &mut impl FnMut() -> usize) -> u32 {
    black_box(run());
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < SLICE {
        black_box(run());
        runs += 1;
    }
    runs
}

fn seconds_a_run(run: &mut impl FnMut() -> usize, runs: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..runs {
        black_box(run());
    }
    start.elapsed().as_secs_f64() / f64::from(runs)
}
