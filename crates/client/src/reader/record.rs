//! A record that was read: borrowed from its batch, or on its own.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use copart_protocol::records::{self, Headers, RecordRange, RecordView, TimestampType};
use copart_serializers::{Context, Deserialize, Payload};

use super::batch::Batch;

/// A record, borrowed from its [`Batch`].
#[derive(Clone, Copy)]
pub struct Record<'a> {
    batch: &'a Batch,
    range: &'a RecordRange,
    view: RecordView<'a>,
}

impl<'a> Record<'a> {
    #[inline]
    pub(super) fn new(batch: &'a Batch, range: &'a RecordRange) -> Self {
        Self {
            batch,
            range,
            view: batch.cut.records.view(range),
        }
    }

    /// The topic.
    pub fn topic(&self) -> &'a Arc<str> {
        &self.batch.topic
    }

    /// The partition.
    pub fn partition(&self) -> i32 {
        self.batch.partition
    }

    /// Its place in the partition.
    #[inline]
    pub fn offset(&self) -> i64 {
        self.view.offset
    }

    /// Its time in milliseconds since 1970; -1 for none.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        self.view.timestamp
    }

    /// Whether that is when it was made or when the broker wrote it.
    pub fn timestamp_type(&self) -> TimestampType {
        self.batch.cut.timestamp_type
    }

    /// The epoch of the leader that wrote it; -1 if it is not known.
    pub fn leader_epoch(&self) -> i32 {
        self.batch.cut.leader_epoch
    }

    /// The key, if there is one. An empty key is one.
    #[inline]
    pub fn key(&self) -> Option<&'a [u8]> {
        self.view.key
    }

    /// The value. A record with a key and without a value deletes its key from a compacted topic.
    #[inline]
    pub fn value(&self) -> Option<&'a [u8]> {
        self.view.value
    }

    /// The headers, in the producer's order.
    #[inline]
    pub fn headers(&self) -> Headers<'a> {
        self.view.headers
    }

    /// The key, read by a deserializer.
    ///
    /// # Errors
    /// The deserializer's: the key is null, or is not what it reads.
    pub fn key_as<D: Deserialize>(&self, deserializer: &D) -> copart_serializers::Result<D::Value> {
        let key = self.view.key.map(|key| self.payload(key));
        let context = Context::key(&self.batch.topic);
        read(self.view.headers, context, key, deserializer)
    }

    /// The value, read by a deserializer.
    ///
    /// # Errors
    /// The deserializer's: the value is null, or is not what it reads.
    pub fn value_as<D: Deserialize>(
        &self,
        deserializer: &D,
    ) -> copart_serializers::Result<D::Value> {
        let value = self.view.value.map(|value| self.payload(value));
        let context = Context::value(&self.batch.topic);
        read(self.view.headers, context, value, deserializer)
    }

    /// The record on its own, sharing the batch's buffer, which stays in memory as long as the record does. Costs
    /// two reference counts, whatever the record holds.
    pub fn share(&self) -> OwnedRecord {
        self.owned(self.batch.cut.records.record(self.range))
    }

    /// A copy of the record that keeps nothing else in memory.
    pub fn detach(&self) -> OwnedRecord {
        self.owned(self.view.detach())
    }

    fn payload(&self, bytes: &'a [u8]) -> Payload<'a> {
        Payload::within(self.batch.cut.records.data(), bytes)
    }

    fn owned(&self, record: records::Record) -> OwnedRecord {
        OwnedRecord {
            record,
            topic: Arc::clone(&self.batch.topic),
            partition: self.batch.partition,
            leader_epoch: self.batch.cut.leader_epoch,
            timestamp_type: self.batch.cut.timestamp_type,
        }
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, self.topic(), self.partition(), &self.view)
    }
}

/// A record on its own.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedRecord {
    record: records::Record,
    topic: Arc<str>,
    partition: i32,
    leader_epoch: i32,
    timestamp_type: TimestampType,
}

impl OwnedRecord {
    /// The topic.
    pub fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// The partition.
    pub fn partition(&self) -> i32 {
        self.partition
    }

    /// Its place in the partition.
    pub fn offset(&self) -> i64 {
        self.record.offset()
    }

    /// Its time in milliseconds since 1970; -1 for none.
    pub fn timestamp(&self) -> i64 {
        self.record.timestamp()
    }

    /// Whether that is when it was made or when the broker wrote it.
    pub fn timestamp_type(&self) -> TimestampType {
        self.timestamp_type
    }

    /// The epoch of the leader that wrote it; -1 if it is not known.
    pub fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    /// The key, if there is one. An empty key is one.
    pub fn key(&self) -> Option<&[u8]> {
        self.record.key()
    }

    /// The value. A record with a key and without a value deletes its key from a compacted topic.
    pub fn value(&self) -> Option<&[u8]> {
        self.record.value()
    }

    /// The key, as a slice of the record's buffer.
    pub fn key_bytes(&self) -> Option<Bytes> {
        self.record.key_bytes()
    }

    /// The value, as a slice of the record's buffer.
    pub fn value_bytes(&self) -> Option<Bytes> {
        self.record.value_bytes()
    }

    /// The headers, in the producer's order.
    pub fn headers(&self) -> Headers<'_> {
        self.record.headers()
    }

    /// The key, read by a deserializer.
    ///
    /// # Errors
    /// The deserializer's: the key is null, or is not what it reads.
    pub fn key_as<D: Deserialize>(&self, deserializer: &D) -> copart_serializers::Result<D::Value> {
        let key = self.key_bytes();
        let context = Context::key(&self.topic);
        let payload = key.as_ref().map(Payload::shared);
        read(self.headers(), context, payload, deserializer)
    }

    /// The value, read by a deserializer.
    ///
    /// # Errors
    /// The deserializer's: the value is null, or is not what it reads.
    pub fn value_as<D: Deserialize>(
        &self,
        deserializer: &D,
    ) -> copart_serializers::Result<D::Value> {
        let value = self.value_bytes();
        let context = Context::value(&self.topic);
        let payload = value.as_ref().map(Payload::shared);
        read(self.headers(), context, payload, deserializer)
    }

    /// A copy of the record that keeps nothing else in memory.
    pub fn detach(&self) -> Self {
        Self {
            record: self.record.view().detach(),
            ..self.clone()
        }
    }
}

impl AsRef<Self> for OwnedRecord {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl fmt::Debug for OwnedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, &self.topic, self.partition, &self.record.view())
    }
}

fn debug(
    f: &mut fmt::Formatter<'_>,
    topic: &str,
    partition: i32,
    view: &RecordView<'_>,
) -> fmt::Result {
    f.debug_struct("Record")
        .field("topic", &topic)
        .field("partition", &partition)
        .field("record", view)
        .finish()
}

/// Headers as deserializers ask for them.
pub(crate) struct HeadersOf<'a>(pub(crate) Headers<'a>);

impl copart_serializers::Headers for HeadersOf<'_> {
    fn last(&self, name: &str) -> Option<&[u8]> {
        self.0.last(name)?.value
    }
}

fn read<D: Deserialize>(
    headers: Headers<'_>,
    context: Context<'_>,
    payload: Option<Payload<'_>>,
    deserializer: &D,
) -> copart_serializers::Result<D::Value> {
    let headers = HeadersOf(headers);
    let context = context.with_headers(&headers);
    deserializer.read(&context, payload)
}
