//! Whatever goes in comes out.

use copart_protocol::records::{
    BatchBuilder, Codec, Compression, Compressor, Decompressor, Header, Producer, RecordBatch,
    RecordView, Seal,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::{LIMIT, all_records, only_batch};

#[derive(Clone, Debug)]
struct Input {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Input {
    fn headers(&self) -> Vec<Header<'_>> {
        self.headers
            .iter()
            .map(|(key, value)| Header {
                key,
                value: value.as_deref(),
            })
            .collect()
    }
}

fn timestamp() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 1_700_000_000_000i64..1_700_000_100_000,
        1 => any::<i64>(),
        1 => Just(-1),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX)],
    ]
}

/// Lengths around where the length's own size changes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => vec(any::<u8>(), 0..40),
        2 => vec(any::<u8>(), 60..70),
        1 => (8188usize..8196).prop_map(|len| vec![7; len]),
        1 => Just(Vec::new()),
    ]
}

prop_compose! {
    fn input()(
        timestamp in timestamp(),
        key in option::of(bytes()),
        value in option::of(bytes()),
        // Few names, so that they come twice.
        headers in vec((vec(97u8..100, 0..2), option::of(bytes())), 0..5),
    ) -> Input {
        Input { timestamp, key, value, headers }
    }
}

prop_compose! {
    fn seal()(
        codec in 0..Codec::ALL.len(),
        id: i64,
        epoch: i16,
        base_sequence: i32,
        transactional: bool,
        control: bool,
        base_offset in prop_oneof![Just(0), 0..i64::MAX / 2, Just(i64::MAX - 100)],
        partition_leader_epoch: i32,
        log_append_time in option::weighted(0.2, timestamp()),
    ) -> Seal {
        Seal {
            compression: Compression::new(Codec::ALL[codec]),
            producer: Producer { id, epoch, base_sequence },
            transactional,
            control,
            base_offset,
            partition_leader_epoch,
            log_append_time,
            last_offset_delta: None,
        }
    }
}

fn build(inputs: &[Input]) -> BatchBuilder {
    let mut builder = BatchBuilder::new();
    for (i, input) in inputs.iter().enumerate() {
        let headers = input.headers();
        let (key, value) = (input.key.as_deref(), input.value.as_deref());
        let size = builder.size_with(input.timestamp, key, value, &headers);
        let index = builder
            .append(input.timestamp, key, value, &headers)
            .unwrap();
        assert_eq!((index as usize, builder.size()), (i, size));
    }
    builder
}

fn check(view: &RecordView<'_>, input: &Input) {
    assert_eq!(view.key, input.key.as_deref());
    assert_eq!(view.value, input.value.as_deref());
    assert_eq!(view.headers.iter().collect::<Vec<_>>(), input.headers());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn records_and_header(inputs in vec(input(), 1..40), seal in seal()) {
        let builder = build(&inputs);
        let size = builder.size();
        let batch = builder.seal(&seal, &mut Compressor::new()).unwrap();
        if seal.compression.codec() == Codec::None {
            prop_assert_eq!(batch.bytes().len(), size);
        }
        let read = only_batch(batch.bytes());
        prop_assert_eq!(&read, &batch);
        let header = read.header();
        prop_assert_eq!(header.size, batch.bytes().len());
        prop_assert_eq!(header.base_offset, seal.base_offset);
        prop_assert_eq!(header.record_count as usize, inputs.len());
        prop_assert_eq!(header.last_offset_delta as usize, inputs.len() - 1);
        prop_assert_eq!(header.partition_leader_epoch, seal.partition_leader_epoch);
        prop_assert_eq!(header.producer, seal.producer);
        prop_assert_eq!(header.attributes.codec(), Some(seal.compression.codec()));
        prop_assert_eq!(header.attributes.is_control(), seal.control);
        prop_assert_eq!(header.attributes.is_transactional(), seal.transactional);
        prop_assert_eq!(header.log_append_time(), seal.log_append_time);
        let largest = inputs.iter().map(|input| input.timestamp).max().unwrap();
        prop_assert_eq!(
            header.max_timestamp,
            seal.log_append_time.unwrap_or(largest.max(-1))
        );

        let records = read.records(&mut Decompressor::new(LIMIT)).unwrap();
        prop_assert_eq!(records.len(), inputs.len());
        for (i, (record, input)) in records.iter().zip(&inputs).enumerate() {
            let view = record.unwrap();
            prop_assert_eq!(view.offset, seal.base_offset + i as i64);
            prop_assert_eq!(view.timestamp, seal.log_append_time.unwrap_or(input.timestamp));
            check(&view, input);
            assert_eq!(view.detach().view(), view);
        }
        for (record, input) in records.iter_shared().zip(&inputs) {
            let record = record.unwrap();
            check(&record.view(), input);
            assert_eq!(record.key_bytes().as_deref(), input.key.as_deref());
            assert_eq!(record.value_bytes().as_deref(), input.value.as_deref());
        }
    }

    #[test]
    fn values_written_in_place_are_the_same_batch(inputs in vec(input(), 1..20)) {
        let mut appended = BatchBuilder::new();
        let mut written = BatchBuilder::new();
        for input in &inputs {
            let (key, headers) = (input.key.as_deref(), input.headers());
            let value = input.value.as_deref().unwrap_or_default();
            appended.append(input.timestamp, key, Some(value), &headers).unwrap();
            written
                .append_with::<copart_protocol::Error>(input.timestamp, key, &headers, |out| {
                    out.extend_from_slice(value);
                    Ok(())
                })
                .unwrap();
            // A value that cannot be written leaves nothing behind.
            let failed = written.append_with(input.timestamp, key, &headers, |out| {
                out.extend_from_slice(b"half a val");
                Err(std::io::Error::other("cannot serialize").into())
            });
            let failed: Result<u32, Box<dyn std::error::Error>> = failed;
            prop_assert!(failed.is_err());
        }
        let seal = Seal::default();
        let mut compressor = Compressor::new();
        prop_assert_eq!(
            appended.seal(&seal, &mut compressor).unwrap(),
            written.seal(&seal, &mut compressor).unwrap()
        );
    }

    #[test]
    fn what_a_cleaner_keeps_stays_in_place(
        inputs in vec((input(), any::<bool>()), 1..30),
        codec in 0..Codec::ALL.len(),
        horizon in option::of(timestamp()),
    ) {
        let all: Vec<Input> = inputs.iter().map(|(input, _)| input.clone()).collect();
        let base_offset = 1000;
        let original = build(&all)
            .seal(&Seal { base_offset, ..Seal::default() }, &mut Compressor::new())
            .unwrap();
        let mut builder = BatchBuilder::new();
        if let Some(horizon) = horizon {
            builder = builder.with_delete_horizon(horizon);
        }
        let mut kept = Vec::new();
        for (record, (_, keep)) in all_records(original.bytes()).into_iter().zip(&inputs) {
            if *keep {
                builder.append_view(base_offset, &record.view()).unwrap();
                kept.push(record);
            }
        }
        let seal = Seal {
            base_offset,
            compression: Codec::ALL[codec].into(),
            last_offset_delta: Some(original.header().last_offset_delta),
            ..Seal::default()
        };
        let cleaned = match kept.len() {
            0 => RecordBatch::emptied(original.header()).unwrap(),
            _ => builder.seal(&seal, &mut Compressor::new()).unwrap(),
        };
        prop_assert_eq!(cleaned.header().next_offset(), original.header().next_offset());
        if !kept.is_empty() {
            prop_assert_eq!(cleaned.header().delete_horizon(), horizon);
        }
        prop_assert_eq!(all_records(cleaned.bytes()), kept);
    }
}
