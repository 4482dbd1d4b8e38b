//! Damaged record batches: no panic, and no memory that the batch's bytes and the limit do not account for.
//!
//! `COPART_FUZZ_FRAMES=10000000 cargo test --release --test hostile_records` runs it for longer.

#[path = "common/mutate.rs"]
mod mutate;
#[path = "../fuzz/fuzz_targets/read_records.rs"]
mod read_records;

use std::alloc::System;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use copart_protocol::records::{
    BATCH_HEADER_LEN, BatchBuilder, BatchEditor, Codec, Compressor, Decompressor, Header, Producer,
    Seal, TransactionMarker,
};
use copart_protocol_codegen::sample::Rng;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

// It counts what this process asks for. One test only in this file, so that all of it is the decoder's. What the C
// libraries allocate is not seen: a zstd context, and two blocks of the size that an LZ4 frame names, 4 MiB at most.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Small, so that memory which a length field asked for stands out.
const LIMIT: usize = 8 << 10;
/// Memory for each byte that is there, compressed or decompressed, over the whole decoding: a record of 7 bytes
/// takes 48 as a range.
const PER_BYTE: usize = 12;
/// Memory besides: an LZ4 reader's buffer, an inflater, and the error.
const BESIDES: usize = 64 << 10;

/// Batches of all codecs and shapes, and message sets, to start from.
struct Corpus {
    whole: Vec<Vec<u8>>,
    /// Record batches that are not compressed, to be damaged before they are.
    plain: Vec<Vec<u8>>,
}

impl Corpus {
    fn new(rng: &mut Rng) -> Self {
        let mut compressor = Compressor::new();
        let mut whole = Vec::new();
        let mut plain = Vec::new();
        for index in 0..200 {
            let mut builder = BatchBuilder::new();
            for _ in 0..=rng.below(12) {
                append(&mut builder, rng);
            }
            let seal = Seal {
                compression: Codec::ALL[index % 5].into(),
                producer: Producer {
                    id: 5,
                    epoch: 1,
                    base_sequence: i32::MAX - 2,
                },
                transactional: rng.below(2) == 0,
                control: rng.below(4) == 0,
                log_append_time: (rng.below(4) == 0).then_some(77),
                ..Seal::default()
            };
            let uncompressed = Seal {
                compression: Codec::None.into(),
                ..seal.clone()
            };
            let batch = builder.clone().seal(&seal, &mut compressor).unwrap();
            whole.push(batch.bytes().to_vec());
            let batch = builder.seal(&uncompressed, &mut compressor).unwrap();
            plain.push(batch.bytes().to_vec());
        }
        let marker = TransactionMarker {
            commit: true,
            coordinator_epoch: 3,
        };
        whole.push(marker.to_batch(5, 1, 77).unwrap().bytes().to_vec());
        // Message sets come from Kafka's own writer; ours does not exist.
        for line in include_str!("records/kafka_clients.txt").lines() {
            let Some((name, hex)) = line.split_once(": ") else {
                continue;
            };
            if name.starts_with("v0") || name.starts_with("v1") {
                let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16);
                let bytes = hex.as_bytes().as_chunks::<2>().0;
                whole.push(bytes.iter().map(|pair| byte(pair).unwrap()).collect());
            }
        }
        Self { whole, plain }
    }

    /// Damaged bytes of one of four kinds.
    fn damaged(&self, rng: &mut Rng, compressor: &mut Compressor) -> Vec<u8> {
        let mut bytes = self.whole[rng.below(self.whole.len())].clone();
        let other = &self.whole[rng.below(self.whole.len())];
        match rng.below(4) {
            // Anywhere, lengths and counts included.
            0 => mutate::mutate(&mut bytes, other, rng),
            // Behind other batches.
            1 => {
                mutate::mutate(&mut bytes, other, rng);
                bytes.splice(0..0, other.iter().copied());
            }
            // In the records alone, under a header that fits.
            2 => {
                let plain = &self.plain[rng.below(self.plain.len())];
                bytes = damaged_records(plain, other, Codec::None, rng, compressor);
            }
            // In the records, which are then compressed as if nothing were.
            _ => {
                let plain = &self.plain[rng.below(self.plain.len())];
                let codec = Codec::ALL[rng.below(5)];
                bytes = damaged_records(plain, other, codec, rng, compressor);
            }
        }
        bytes
    }
}

fn append(builder: &mut BatchBuilder, rng: &mut Rng) {
    let key = vec![b'k'; rng.below(20)];
    let value = vec![rng.number() as u8; rng.below(300)];
    let headers: Vec<_> = (0..rng.below(4))
        .map(|_| Header {
            key: b"name",
            value: (rng.below(3) > 0).then_some(&value[..value.len() / 4]),
        })
        .collect();
    builder
        .append(
            1_700_000_000_000 + rng.below(100_000) as i64,
            (rng.below(3) > 0).then_some(&key),
            (rng.below(5) > 0).then_some(&value),
            &headers,
        )
        .unwrap();
}

fn damaged_records(
    plain: &[u8],
    other: &[u8],
    codec: Codec,
    rng: &mut Rng,
    compressor: &mut Compressor,
) -> Vec<u8> {
    let (header, records) = plain.split_at(BATCH_HEADER_LEN);
    let mut records = records.to_vec();
    mutate::mutate(&mut records, other, rng);
    let mut bytes = header.to_vec();
    compressor
        .compress(codec.into(), &records, &mut bytes)
        .unwrap();
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    bytes[22] = bytes[22] & !0b111 | codec.id();
    // The count too, now and then.
    if rng.below(4) == 0 {
        let bits = 1 + rng.below(30);
        let count = rng.below(1 << bits) as i32;
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
    }
    // And sometimes the checksum is right.
    if rng.below(2) == 0
        && let Ok(mut editor) = BatchEditor::new(&mut bytes)
    {
        let producer = editor.header().producer;
        editor.set_producer(producer).unwrap();
    }
    bytes
}

#[test]
fn damaged_batches_neither_panic_nor_ask_for_memory() {
    let mut rng = Rng::new(11);
    let mut compressor = Compressor::new();
    let corpus = Corpus::new(&mut rng);
    let mut decompressor = Decompressor::new(LIMIT);
    let frames = mutate::frames(60_000);
    let (mut with_records, mut worst) = (0, 0);
    for _ in 0..frames {
        let data = Bytes::from(corpus.damaged(&mut rng, &mut compressor));
        let read = catch_unwind(AssertUnwindSafe(|| {
            let mut region = Region::new(ALLOCATOR);
            let mut size = 0;
            let count = read_records::read_records(&data, &mut decompressor, |batch| match batch {
                Some(bytes) => {
                    size = bytes;
                    region = Region::new(ALLOCATOR);
                }
                None => {
                    let allocated = region.change().bytes_allocated;
                    worst = worst.max(allocated);
                    assert!(
                        allocated <= PER_BYTE * (size + LIMIT) + BESIDES,
                        "{allocated} bytes for a batch of {size}"
                    );
                }
            });
            read_records::write_records(&data, &mut decompressor, &mut compressor);
            count
        }));
        match read {
            Ok(0) => (),
            Ok(_) => with_records += 1,
            Err(_) => panic!("with the input {data:?}"),
        }
    }
    // Most damage leaves some records, and some leaves none: neither must be all there is.
    println!(
        "{frames} inputs, {with_records} with records; at most {worst} bytes of memory a batch"
    );
    assert!(
        (frames / 10..frames * 99 / 100).contains(&with_records),
        "{with_records} of {frames}"
    );

    counts_are_not_believed();
    damaged_streams(&mut rng, &mut compressor);
}

/// Headers that claim two thousand million records, and records that claim as many headers.
fn counts_are_not_believed() {
    let mut builder = BatchBuilder::new();
    builder.append(0, None, Some(b"v"), &[]).unwrap();
    let batch = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    let mut many_records = batch.bytes().to_vec();
    many_records[57..61].copy_from_slice(&i32::MAX.to_be_bytes());

    // Length, attributes, two deltas, a null key, an empty value, and i32::MAX headers.
    let record = [20, 0, 0, 0, 1, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f];
    let mut many_headers = batch.bytes()[..BATCH_HEADER_LEN].to_vec();
    many_headers.extend_from_slice(&record);
    let length = many_headers.len() as i32 - 12;
    many_headers[8..12].copy_from_slice(&length.to_be_bytes());

    for bytes in [many_records, many_headers] {
        let data = Bytes::from(bytes);
        let mut decompressor = Decompressor::new(1 << 30);
        let region = Region::new(ALLOCATOR);
        let count = read_records::read_records(&data, &mut decompressor, |_| ());
        let allocated = region.change().bytes_allocated;
        assert_eq!(count, 0);
        assert!(allocated < 4096, "{allocated} bytes");
    }
}

/// Compressed data by itself, under a limit that nothing reaches: memory follows what comes out.
fn damaged_streams(rng: &mut Rng, compressor: &mut Compressor) {
    let inputs: Vec<(Codec, Vec<u8>)> = (0..40)
        .map(|index| {
            let codec = Codec::ALL[index % 5];
            let text = format!("record {}", rng.number()).repeat(1 + rng.below(500));
            let mut stream = Vec::new();
            compressor
                .compress(codec.into(), text.as_bytes(), &mut stream)
                .unwrap();
            (codec, stream)
        })
        .collect();
    let mut worst = 0;
    for _ in 0..mutate::frames(60_000) / 10 {
        let (codec, stream) = &inputs[rng.below(inputs.len())];
        let mut stream = stream.clone();
        mutate::mutate(&mut stream, &inputs[rng.below(inputs.len())].1, rng);
        let mut decompressor = Decompressor::new(1 << 30);
        let mut out = Vec::new();
        let region = Region::new(ALLOCATOR);
        let outcome = decompressor.decompress(*codec, &stream, &mut out);
        let allocated = region.change().bytes_allocated;
        worst = worst.max(allocated);
        // No codec yields more than this from a byte; zstd has four for 128 KiB.
        let ratio = match codec {
            Codec::None => 1,
            Codec::Gzip => 1032,
            Codec::Snappy => 22,
            Codec::Lz4 => 255,
            Codec::Zstd => 32 << 10,
        };
        assert!(
            out.capacity() <= 2 * ratio * stream.len() + 4096,
            "room for {} bytes, {codec} {outcome:?} {stream:?}",
            out.capacity()
        );
        // Growing by doubling allocates twice what there is room for in the end.
        assert!(
            allocated <= 2 * out.capacity() + BESIDES,
            "{allocated} bytes, {codec} {outcome:?} {stream:?}"
        );
    }
    println!("at most {worst} bytes of memory a stream");
}
