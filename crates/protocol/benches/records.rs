//! Record batches on their own clock, for watching changes of this crate.
//! `cargo bench -p copart-protocol --bench records`

mod support;

use std::hint::black_box;

use bytes::BytesMut;
use copart_protocol::records::{Compression, Compressor, Decompressor};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kafka_protocol::records::Compression as OtherCompression;
use support::{Input, RECORDS, Shape};

fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(RECORDS as u64));
    for shape in Shape::ALL {
        let input = Input::new(shape);
        let mut compressor = Compressor::new();
        let mut buffer = Vec::new();
        group.bench_function(format!("copart/{}", shape.name()), |bencher| {
            bencher.iter(|| {
                let batch = input.encode(&mut buffer, Compression::NONE, &mut compressor);
                buffer = Vec::from(black_box(batch));
            });
        });
        let mut buffer = BytesMut::new();
        group.bench_function(format!("kafka-protocol/{}", shape.name()), |bencher| {
            bencher.iter(|| input.encode_other(&mut buffer, OtherCompression::None));
        });
    }
}

fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Elements(RECORDS as u64));
    for shape in Shape::ALL {
        let mut decompressor = Decompressor::new(1 << 20);
        let batch =
            Input::new(shape).encode(&mut Vec::new(), Compression::NONE, &mut Compressor::new());
        group.bench_function(format!("copart borrowed/{}", shape.name()), |bencher| {
            bencher.iter(|| support::decode_borrowed(&batch, &mut decompressor));
        });
        group.bench_function(format!("copart shared/{}", shape.name()), |bencher| {
            bencher.iter(|| support::decode_shared(&batch, &mut decompressor));
        });
        group.bench_function(format!("kafka-protocol/{}", shape.name()), |bencher| {
            bencher.iter(|| support::decode_other(&batch));
        });
    }
}

criterion_group!(benches, encode, decode);
criterion_main!(benches);
