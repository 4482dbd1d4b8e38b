//! Producers of typed keys and values.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use copart_protocol::records::Header;
use copart_serializers::{
    AddedHeaders, Context, ErrorKind as SerdeKind, Format, Headers, Optional, Part, Serialize,
    Sink, Void,
};
use tokio::time::{Instant, timeout_at};

use super::completion::{Delivery, Receipt};
use super::handle::{CloseReport, Producer, Rejection};
use super::record::{Null, ProducerRecord, RecordView};
use crate::{Error, ErrorKind, Result};

/// A [`Producer`] with a serializer for keys and one for values. Made by [`Producer::typed`].
///
/// What a serializer takes is a matter of types: a value that the serializer does not write does not compile.
///
/// ```no_run
/// # async fn run(producer: copart::Producer) -> copart::Result<()> {
/// use copart::ProducerRecord;
/// use copart::serializers::{Int64, Utf8};
///
/// let clicks = producer.typed(Int64, Utf8);
/// clicks.send(ProducerRecord::to("clicks").key(42).value("/home")).await?;
/// # Ok(()) }
/// ```
///
/// **Null is explicit.** Only `Optional` and `Void` write it. With `Optional`, `None` is null, and so is a key
/// or a value that is left out; without, leaving it out does not compile.
///
/// ```no_run
/// # async fn run(producer: copart::Producer) -> copart::Result<()> {
/// use copart::ProducerRecord;
/// use copart::serializers::{Optional, Utf8};
///
/// let profiles = producer.typed(Utf8, Optional(Utf8));
/// profiles.send(ProducerRecord::to("profiles").key("ann").value(Some("{}"))).await?;
/// // A tombstone: compaction removes ann.
/// profiles.send(ProducerRecord::to("profiles").key("ann").value(None::<&str>)).await?;
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0277
/// # async fn run(producer: copart::Producer) -> copart::Result<()> {
/// use copart::ProducerRecord;
/// use copart::serializers::Utf8;
///
/// // A forgotten value, not a tombstone.
/// producer.typed(Utf8, Utf8).send(ProducerRecord::to("profiles").key("ann")).await?;
/// # Ok(()) }
/// ```
///
/// A serializer that has to fetch something first, such as the id of a schema, does so before the first record
/// that needs it; [`prepare`](Self::prepare) does it ahead of that.
#[derive(Clone, Debug)]
pub struct TypedProducer<K, V> {
    producer: Producer,
    key: K,
    value: V,
}

impl Producer {
    /// The same producer, with these serializers for keys and values.
    ///
    /// Both may be used side by side: batches and order are the producer's.
    pub fn typed<K: Format, V: Format>(&self, key: K, value: V) -> TypedProducer<K, V> {
        TypedProducer {
            producer: self.clone(),
            key,
            value,
        }
    }
}

impl<KS: Format, VS: Format> TypedProducer<KS, VS> {
    /// The producer without serializers.
    pub fn producer(&self) -> &Producer {
        &self.producer
    }

    /// Sends a record, and waits until it is written. See [`Producer::send`].
    ///
    /// # Errors
    /// As [`Producer::send`]; [`ErrorKind::Encoding`] when a serializer refuses, with its own error as the source.
    ///
    /// # Cancel safety
    /// When the future is dropped, the record is sent or not; it is not known which.
    pub async fn send<K, V>(&self, record: ProducerRecord<'_, K, V>) -> Result<Receipt>
    where
        KS: Serialize<K>,
        VS: Serialize<V>,
    {
        self.accept(&record, true).await?.await
    }

    /// Takes a record, and returns as soon as it is in a batch. See [`Producer::enqueue`].
    ///
    /// # Errors
    /// As [`Producer::enqueue`]; [`ErrorKind::Encoding`] when a serializer refuses, with its own error as the
    /// source.
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, the record was not taken.
    pub async fn enqueue<K, V>(&self, record: ProducerRecord<'_, K, V>) -> Result<Delivery>
    where
        KS: Serialize<K>,
        VS: Serialize<V>,
    {
        self.accept(&record, false).await
    }

    /// Takes a record if that is possible without waiting, and gives it back if not. See
    /// [`Producer::try_enqueue`].
    ///
    /// # Errors
    /// The record, and why it was not taken: [`ErrorKind::Full`] while there is no room or no metadata, or while
    /// a serializer has to fetch something, which [`prepare`](Self::prepare) does.
    pub fn try_enqueue<'a, K, V>(
        &self,
        record: ProducerRecord<'a, K, V>,
    ) -> Result<Delivery, Rejection<ProducerRecord<'a, K, V>>>
    where
        KS: Serialize<K>,
        VS: Serialize<V>,
    {
        let taken = match self.encode(&record) {
            Ok(encoded) => {
                let headers = encoded.headers(record.header_list());
                self.producer.try_accept(&encoded.view(&record, &headers))
            }
            Err(error) if error.kind() == SerdeKind::Unprepared => Err(Error::new(
                ErrorKind::Full,
                format!("a serializer is not prepared for the topic: {error}"),
            )
            .in_topic(record.topic())
            .caused_by(error)),
            Err(error) => Err(refused(error, record.topic())),
        };
        taken.map_err(|error| Rejection::new(record, error))
    }

    /// Learns about a topic, runs its guards, and fetches what the serializers need for it, ahead of the first
    /// record.
    ///
    /// # Errors
    /// As [`Producer::prepare`], or when something could not be fetched in time.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn prepare(&self, topic: &str) -> Result<()> {
        self.producer.prepare(topic).await?;
        self.fetch(topic, &[]).await
    }

    /// See [`Producer::flush`].
    ///
    /// # Errors
    /// The first failure among what it waited for.
    ///
    /// # Cancel safety
    /// Cancel-safe: what was taken is sent all the same.
    pub async fn flush(&self) -> Result<()> {
        self.producer.flush().await
    }

    /// Closes the producer, also for its other handles. See [`Producer::close`].
    ///
    /// # Cancel safety
    /// As [`Producer::close`].
    pub async fn close(&self, timeout: Duration) -> CloseReport {
        self.producer.close(timeout).await
    }

    async fn accept<K, V>(
        &self,
        record: &ProducerRecord<'_, K, V>,
        urgent: bool,
    ) -> Result<Delivery>
    where
        KS: Serialize<K>,
        VS: Serialize<V>,
    {
        let encoded = match self.encode(record) {
            Ok(encoded) => encoded,
            Err(error) if error.kind() == SerdeKind::Unprepared => {
                self.fetch(record.topic(), record.header_list()).await?;
                self.encode(record)
                    .map_err(|error| refused(error, record.topic()))?
            }
            Err(error) => return Err(refused(error, record.topic())),
        };
        let headers = encoded.headers(record.header_list());
        self.producer
            .accept(&encoded.view(record, &headers), urgent)
            .await
    }

    /// Writes key and value one behind the other. The key has to be there before the partition is known, the
    /// value's length before there is memory and a batch for it; and a serializer's code does not run under a
    /// partition's lock. The batch then takes both with the copy that putting lengths in front of them costs
    /// anyway.
    fn encode<K, V>(
        &self,
        record: &ProducerRecord<'_, K, V>,
    ) -> Result<Encoded, copart_serializers::Error>
    where
        KS: Serialize<K>,
        VS: Serialize<V>,
    {
        let mut encoded = Encoded::default();
        let headers = HeaderList(record.header_list());
        let (key, value) = record.parts();
        let context = Context::key(record.topic()).with_headers(&headers);
        encoded.key = encoded.put(&self.key, &context, key)?;
        let context = Context::value(record.topic()).with_headers(&headers);
        encoded.value = encoded.put(&self.value, &context, value)?;
        Ok(encoded)
    }

    /// Has both serializers fetch what they need.
    async fn fetch(&self, topic: &str, headers: &[Header<'_>]) -> Result<()> {
        let max_block = self.producer.max_block();
        let deadline = Instant::now() + max_block;
        let headers = HeaderList(headers);
        for part in [Part::Key, Part::Value] {
            let context = Context::new(topic, part).with_headers(&headers);
            let preparation = match part {
                Part::Key => self.key.prepare(&context, None),
                Part::Value => self.value.prepare(&context, None),
            };
            let Some(preparation) = preparation else {
                continue;
            };
            match timeout_at(deadline, preparation).await {
                Ok(result) => result.map_err(|error| refused(error, topic))?,
                Err(_) => {
                    let reason =
                        format!("the {part}'s serializer was not prepared within {max_block:?}");
                    return Err(Error::new(ErrorKind::Timeout, reason).in_topic(topic));
                }
            }
        }
        Ok(())
    }
}

#[cold]
fn refused(error: copart_serializers::Error, topic: &str) -> Error {
    Error::new(
        ErrorKind::Encoding,
        format!("{}: {}", error.part(), error.reason()),
    )
    .in_topic(topic)
    .caused_by(error)
}

/// A key or a value that is left out is null, where null may be.
impl<S: Format> Serialize<Null> for Optional<S> {
    fn serialize(
        &self,
        context: &Context<'_>,
        _: &Null,
        _: &mut Sink<'_>,
    ) -> copart_serializers::Result<()> {
        Err(null_has_no_bytes(context))
    }

    fn is_null(&self, _: &Null) -> bool {
        true
    }
}

/// A key or a value that is left out is null, where it always is.
impl Serialize<Null> for Void {
    fn serialize(
        &self,
        context: &Context<'_>,
        _: &Null,
        _: &mut Sink<'_>,
    ) -> copart_serializers::Result<()> {
        Err(null_has_no_bytes(context))
    }

    fn is_null(&self, _: &Null) -> bool {
        true
    }
}

/// The caller did not ask `is_null`.
#[cold]
fn null_has_no_bytes(context: &Context<'_>) -> copart_serializers::Error {
    copart_serializers::Error::new(SerdeKind::Null, context, "null has no bytes to write")
}

/// A record's headers, as serializers ask for them.
struct HeaderList<'a>(&'a [Header<'a>]);

impl Headers for HeaderList<'_> {
    fn last(&self, name: &str) -> Option<&[u8]> {
        self.0
            .iter()
            .rfind(|header| header.key == name.as_bytes())?
            .value
    }
}

/// Key and value as bytes, in a buffer that goes from record to record.
struct Encoded {
    scratch: Scratch,
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

#[derive(Default)]
struct Scratch {
    bytes: Vec<u8>,
    added: AddedHeaders,
}

/// A buffer that one large record has made larger than this is not kept.
const KEPT_SCRATCH: usize = 64 << 10;

thread_local! {
    /// Taken out while it is used, so that a serializer may send records itself.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

impl Default for Encoded {
    fn default() -> Self {
        Self {
            scratch: SCRATCH.take().unwrap_or_default(),
            key: None,
            value: None,
        }
    }
}

impl Drop for Encoded {
    fn drop(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        if scratch.bytes.capacity() <= KEPT_SCRATCH {
            scratch.bytes.clear();
            scratch.added.clear();
            // Not there any more while the thread ends.
            let _ = SCRATCH.try_with(|kept| kept.set(Some(scratch)));
        }
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoded({} bytes)", self.scratch.bytes.len())
    }
}

impl Encoded {
    fn put<S: Serialize<T>, T>(
        &mut self,
        serializer: &S,
        context: &Context<'_>,
        value: &T,
    ) -> Result<Option<Range<usize>>, copart_serializers::Error> {
        if serializer.is_null(value) {
            return Ok(None);
        }
        let Scratch { bytes, added } = &mut self.scratch;
        let start = bytes.len();
        serializer.serialize(context, value, &mut Sink::with_headers(bytes, added))?;
        if bytes.len() < start {
            return Err(copart_serializers::Error::new(
                SerdeKind::Unserializable,
                context,
                "the serializer removed bytes that were not its own",
            ));
        }
        Ok(Some(start..bytes.len()))
    }

    /// The record's headers, and those that the serializers added behind them.
    fn headers<'a>(&'a self, own: &'a [Header<'a>]) -> Cow<'a, [Header<'a>]> {
        if self.scratch.added.is_empty() {
            return Cow::Borrowed(own);
        }
        let added = self.scratch.added.iter();
        Cow::Owned(
            own.iter()
                .copied()
                .chain(added.map(|(name, value)| Header::new(name, value)))
                .collect(),
        )
    }

    fn view<'a, K, V>(
        &'a self,
        record: &'a ProducerRecord<'_, K, V>,
        headers: &'a [Header<'a>],
    ) -> RecordView<'a> {
        let bytes = |range: &Option<Range<usize>>| {
            let range = range.clone()?;
            self.scratch.bytes.get(range)
        };
        record.view_with(bytes(&self.key), bytes(&self.value), headers)
    }
}
