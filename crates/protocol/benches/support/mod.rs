//! What both benches measure: the same thousand records, encoded and decoded
//! by this crate and by `kafka-protocol`.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{
    Batch, BatchBuilder, Batches, Compression, Compressor, Decompressor, Header, Seal,
};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression as OtherCompression, Record as OtherRecord, RecordBatchDecoder, RecordBatchEncoder,
    RecordEncodeOptions, TimestampType,
};

pub(crate) const RECORDS: usize = 1000;
const FIRST_TIMESTAMP: i64 = 1_764_000_000_000;

/// What the records hold besides a value of 100 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Value,
    KeyValue,
    KeyValueHeader,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::Value, Self::KeyValue, Self::KeyValueHeader];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::KeyValue => "key+value",
            Self::KeyValueHeader => "key+value+header",
        }
    }
}

/// The input of the encoders, in the form each of them takes.
pub(crate) struct Input {
    shape: Shape,
    keys: Vec<Bytes>,
    values: Vec<Bytes>,
    others: Vec<OtherRecord>,
}

impl Input {
    pub(crate) fn new(shape: Shape) -> Self {
        let keys: Vec<Bytes> = (0..RECORDS)
            .map(|i| format!("order-{i:010}").into())
            .collect();
        let values: Vec<Bytes> = (0..RECORDS)
            .map(|i| {
                let mut value = format!(
                    r#"{{"id":{i},"customer":"c-{}","amount":{}.{:02},"currency":"EUR","state":"#,
                    i * 7919 % 5003,
                    i * 31 % 997,
                    i % 100
                );
                value.push_str(["\"paid\"", "\"open\"", "\"void\""][i % 3]);
                value.push('}');
                while value.len() < 100 {
                    value.push(' ');
                }
                value.truncate(100);
                value.into()
            })
            .collect();
        let others = (0..RECORDS)
            .map(|i| OtherRecord {
                transactional: false,
                control: false,
                delete_horizon: false,
                partition_leader_epoch: -1,
                producer_id: -1,
                producer_epoch: -1,
                timestamp_type: TimestampType::Creation,
                offset: i as i64,
                // With NO_SEQUENCE this encoder writes a batch per record.
                sequence: i as i32 - 1,
                timestamp: FIRST_TIMESTAMP + i as i64 / 10,
                key: (shape != Shape::Value).then(|| keys[i].clone()),
                value: Some(values[i].clone()),
                headers: match shape {
                    Shape::KeyValueHeader => IndexMap::from([(
                        StrBytes::from_static_str("trace-id"),
                        Some(Bytes::from_static(b"0123456789abcdef")),
                    )]),
                    _ => IndexMap::new(),
                },
            })
            .collect();
        Self {
            shape,
            keys,
            values,
            others,
        }
    }

    /// Encodes with this crate, in a buffer that is used again.
    pub(crate) fn encode(
        &self,
        buffer: &mut Vec<u8>,
        compression: Compression,
        compressor: &mut Compressor,
    ) -> Bytes {
        let mut builder = BatchBuilder::with_buffer(std::mem::take(buffer));
        let header = [Header::new("trace-id", b"0123456789abcdef")];
        let headers: &[Header<'_>] = match self.shape {
            Shape::KeyValueHeader => &header,
            _ => &[],
        };
        for (i, (key, value)) in self.keys.iter().zip(&self.values).enumerate() {
            let key = match self.shape {
                Shape::Value => None,
                _ => Some(&key[..]),
            };
            builder
                .append(FIRST_TIMESTAMP + i as i64 / 10, key, Some(value), headers)
                .unwrap();
        }
        let seal = Seal {
            compression,
            ..Seal::default()
        };
        builder.seal(&seal, compressor).unwrap().into_bytes()
    }

    /// Encodes with `kafka-protocol`, in a buffer that is used again.
    pub(crate) fn encode_other(
        &self,
        buffer: &mut BytesMut,
        compression: OtherCompression,
    ) -> usize {
        buffer.clear();
        let options = RecordEncodeOptions {
            version: 2,
            compression,
        };
        RecordBatchEncoder::encode(buffer, &self.others, &options).unwrap();
        buffer.len()
    }
}

/// Decodes with this crate, and touches every key and value.
pub(crate) fn decode_borrowed(batch: &Bytes, decompressor: &mut Decompressor) -> usize {
    let mut sum = 0;
    for batch in Batches::new(batch.clone()) {
        let Batch::Records(batch) = batch.unwrap() else {
            unreachable!("only record batches here");
        };
        for record in &batch.records(decompressor).unwrap() {
            let record = record.unwrap();
            black_box(&record);
            sum += record.value.map_or(0, <[u8]>::len);
        }
    }
    sum
}

/// Decodes with this crate to records that outlive the loop.
pub(crate) fn decode_shared(batch: &Bytes, decompressor: &mut Decompressor) -> usize {
    let mut sum = 0;
    for batch in Batches::new(batch.clone()) {
        let records = batch.unwrap().records(decompressor).unwrap();
        let mut shared = Vec::with_capacity(records.len());
        shared.extend(records.iter_shared().map(Result::unwrap));
        sum += black_box(&shared).len();
    }
    sum
}

/// Decodes with `kafka-protocol`, whose records always outlive the loop.
pub(crate) fn decode_other(batch: &Bytes) -> usize {
    let set = RecordBatchDecoder::decode(&mut batch.clone()).unwrap();
    black_box(&set.records).len()
}
