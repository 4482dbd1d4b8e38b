//! What is sent.

use bytes::Bytes;
use copart_protocol::records::Header;

/// A key or value as bytes. `None` is null, which is not the empty string: a null key leaves the partition
/// to the partitioner, a null value deletes the key in a compacted topic.
pub trait Payload {
    /// The bytes, or null.
    fn bytes(&self) -> Option<&[u8]>;
}

/// The key or value that a record does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Null;

impl Payload for Null {
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
}

impl<T: Payload + ?Sized> Payload for &T {
    fn bytes(&self) -> Option<&[u8]> {
        (**self).bytes()
    }
}

impl<T: Payload> Payload for Option<T> {
    fn bytes(&self) -> Option<&[u8]> {
        self.as_ref().and_then(Payload::bytes)
    }
}

macro_rules! payload {
    ($($type:ty),+) => {
        $(impl Payload for $type {
            fn bytes(&self) -> Option<&[u8]> {
                Some(self.as_ref())
            }
        })+
    };
}

payload!([u8], Vec<u8>, Bytes, str, String);

impl<const N: usize> Payload for [u8; N] {
    fn bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// A record to send. It may borrow all that it holds: the producer encodes it at once.
///
/// ```
/// use copart::ProducerRecord;
/// let order = r#"{"item":7}"#;
/// let record = ProducerRecord::to("orders").key("customer-1").value(order).header("trace", b"abc");
/// let tombstone = ProducerRecord::to("orders").key("customer-1");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a record does nothing until it is given to a producer"]
pub struct ProducerRecord<'a, K = Null, V = Null> {
    topic: &'a str,
    partition: Option<i32>,
    timestamp: Option<i64>,
    key: K,
    value: V,
    headers: Vec<Header<'a>>,
}

impl<'a> ProducerRecord<'a> {
    /// A record for this topic, so far without key and value.
    pub fn to(topic: &'a str) -> Self {
        Self {
            topic,
            partition: None,
            timestamp: None,
            key: Null,
            value: Null,
            headers: Vec::new(),
        }
    }
}

impl<'a, K, V> ProducerRecord<'a, K, V> {
    /// Sets the key.
    pub fn key<T>(self, key: T) -> ProducerRecord<'a, T, V> {
        ProducerRecord {
            topic: self.topic,
            partition: self.partition,
            timestamp: self.timestamp,
            key,
            value: self.value,
            headers: self.headers,
        }
    }

    /// Sets the value.
    pub fn value<T>(self, value: T) -> ProducerRecord<'a, K, T> {
        ProducerRecord {
            topic: self.topic,
            partition: self.partition,
            timestamp: self.timestamp,
            key: self.key,
            value,
            headers: self.headers,
        }
    }

    /// Adds a header. Order is kept, and a name may come more than once.
    pub fn header(mut self, name: &'a str, value: &'a [u8]) -> Self {
        self.headers.push(Header::new(name, value));
        self
    }

    /// Adds headers as they are, also such with a null value.
    pub fn headers(mut self, headers: impl IntoIterator<Item = Header<'a>>) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Sends it to this partition, whatever the partitioner would say.
    pub fn partition(mut self, partition: i32) -> Self {
        self.partition = Some(partition);
        self
    }

    /// Sets its time, in milliseconds since 1970. By default it is the time at which it is enqueued.
    pub fn timestamp(mut self, milliseconds: i64) -> Self {
        self.timestamp = Some(milliseconds);
        self
    }

    /// The topic.
    pub fn topic(&self) -> &'a str {
        self.topic
    }

    /// Takes key and value out.
    pub fn into_parts(self) -> (K, V) {
        (self.key, self.value)
    }

    pub(crate) fn parts(&self) -> (&K, &V) {
        (&self.key, &self.value)
    }

    pub(crate) fn header_list(&self) -> &[Header<'a>] {
        &self.headers
    }

    /// The record with these bytes as its key and value.
    pub(crate) fn view_with<'v>(
        &'v self,
        key: Option<&'v [u8]>,
        value: Option<&'v [u8]>,
        headers: &'v [Header<'v>],
    ) -> RecordView<'v> {
        RecordView {
            topic: self.topic,
            partition: self.partition,
            timestamp: self.timestamp,
            key,
            value,
            headers,
        }
    }
}

impl<K: Payload, V: Payload> ProducerRecord<'_, K, V> {
    pub(crate) fn view(&self) -> RecordView<'_> {
        self.view_with(self.key.bytes(), self.value.bytes(), &self.headers)
    }
}

/// A record as partitioners see it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RecordView<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The partition that the record names. Such a record does not come to a partitioner.
    pub partition: Option<i32>,
    /// The time that the record names, in milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// The key as it is sent.
    pub key: Option<&'a [u8]>,
    /// The value as it is sent.
    pub value: Option<&'a [u8]>,
    /// The headers.
    pub headers: &'a [Header<'a>],
}

impl<'a> RecordView<'a> {
    /// The same record with other headers.
    pub(crate) fn with_headers<'h>(&'h self, headers: &'h [Header<'h>]) -> RecordView<'h> {
        RecordView { headers, ..*self }
    }
}
