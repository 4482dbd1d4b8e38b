//! Code of the user's that sees records and outcomes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use copart_protocol::records::Header;

use crate::{Error, RecordView};

/// Sees records on their way, and what became of them: for tracing, auditing, counting.
///
/// All methods do nothing unless they are implemented. They are called on the thread that sends, or on one of
/// the runtime's, so they should be quick and must not block. A panic in one is the caller's.
///
/// ```
/// use copart::{Interceptor, OutgoingRecord};
///
/// struct Origin;
///
/// impl Interceptor for Origin {
///     fn on_send(&self, record: &mut OutgoingRecord<'_>) {
///         record.set_header("origin", b"checkout");
///     }
/// }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// A record was given to a producer, and has no partition yet. Its headers may be changed; topic, key and
    /// value may not, for the key decides the partition.
    ///
    /// Called once for each record that `send` and `enqueue` are given, and each time that `try_enqueue` is.
    fn on_send(&self, record: &mut OutgoingRecord<'_>) {
        let _ = record;
    }

    /// A batch of records was written, or has failed. Records that were refused before they were in a batch
    /// are told to their sender alone.
    fn on_acknowledged(&self, batch: &Acknowledgement<'_>) {
        let _ = batch;
    }
}

/// A record on its way into a batch, as an [`Interceptor`] sees it.
#[derive(Debug)]
pub struct OutgoingRecord<'a> {
    record: RecordView<'a>,
    headers: Vec<OwnedHeader<'a>>,
}

#[derive(Debug)]
struct OwnedHeader<'a> {
    name: Cow<'a, [u8]>,
    value: Option<Cow<'a, [u8]>>,
}

impl<'a> OutgoingRecord<'a> {
    fn new(record: &RecordView<'a>) -> Self {
        let headers = record.headers.iter().map(|header| OwnedHeader {
            name: header.key.into(),
            value: header.value.map(Cow::from),
        });
        Self {
            headers: headers.collect(),
            record: *record,
        }
    }

    /// The topic.
    pub fn topic(&self) -> &'a str {
        self.record.topic
    }

    /// The partition, if the record names one.
    pub fn partition(&self) -> Option<i32> {
        self.record.partition
    }

    /// The time that the record names, in milliseconds since 1970.
    pub fn timestamp(&self) -> Option<i64> {
        self.record.timestamp
    }

    /// The key as it is sent.
    pub fn key(&self) -> Option<&'a [u8]> {
        self.record.key
    }

    /// The value as it is sent.
    pub fn value(&self) -> Option<&'a [u8]> {
        self.record.value
    }

    /// The headers, in order.
    pub fn headers(&self) -> impl Iterator<Item = Header<'_>> {
        self.headers.iter().map(|header| Header {
            key: &header.name,
            value: header.value.as_deref(),
        })
    }

    /// Whether there is a header of this name.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers
            .iter()
            .any(|header| *header.name == *name.as_bytes())
    }

    /// Adds a header behind the others. A name may come more than once.
    pub fn add_header(&mut self, name: &str, value: &[u8]) {
        self.headers.push(OwnedHeader {
            name: name.as_bytes().to_vec().into(),
            value: Some(value.to_vec().into()),
        });
    }

    /// Makes this the only header of its name.
    pub fn set_header(&mut self, name: &str, value: &[u8]) {
        self.remove_header(name);
        self.add_header(name, value);
    }

    /// Removes all headers of this name.
    pub fn remove_header(&mut self, name: &str) {
        self.headers
            .retain(|header| *header.name != *name.as_bytes());
    }

    pub(crate) fn header_list(&self) -> Vec<Header<'_>> {
        self.headers().collect()
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Acknowledgement<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The partition.
    pub partition: i32,
    /// How many records the batch has.
    pub records: u32,
    /// The offset of the first record, if the batch was written and the broker tells; those of the others
    /// follow without a gap.
    pub base_offset: Option<i64>,
    /// Why it was not written.
    pub error: Option<&'a Error>,
}

impl<'a> Acknowledgement<'a> {
    pub(crate) fn new(
        topic: &'a str,
        partition: i32,
        records: u32,
        outcome: Result<Option<i64>, &'a Error>,
    ) -> Self {
        Self {
            topic,
            partition,
            records,
            base_offset: outcome.ok().flatten(),
            error: outcome.err(),
        }
    }
}

/// Interceptors in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct Interceptors(Vec<Arc<dyn Interceptor>>);

impl Interceptors {
    pub(crate) fn add(&mut self, interceptor: impl Interceptor) {
        self.0.push(Arc::new(interceptor));
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn on_send<'a>(&self, record: &RecordView<'a>) -> OutgoingRecord<'a> {
        let mut outgoing = OutgoingRecord::new(record);
        for interceptor in &self.0 {
            interceptor.on_send(&mut outgoing);
        }
        outgoing
    }

    pub(crate) fn on_acknowledged(&self, batch: &Acknowledgement<'_>) {
        for interceptor in &self.0 {
            interceptor.on_acknowledged(batch);
        }
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interceptors({})", self.0.len())
    }
}
