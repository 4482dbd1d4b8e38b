//! Deserializers of keys and values, and what becomes of records that they can't read.

use std::sync::Arc;
use std::time::Duration;

use copart_serializers::{
    Context, DeadLetterHeaders, Deserialize, Error as SerdeError, ErrorKind as SerdeKind, Format,
    Origin, Part, Payload, Poison,
};
use tokio::time::timeout;

use crate::net::BoxFuture;
use crate::producer::{Delivery, Producer, ProducerRecord};
use crate::reader::{HeadersOf, OwnedRecord};
use crate::telemetry::names;
use crate::{Error, ErrorKind, Header, Result};

/// Reads keys and values.
pub(crate) struct Decoder<K, V> {
    key: K,
    value: V,
    poison: Poison,
    dead_letters: Option<Producer>,
    /// Who reads.
    group: Option<Arc<str>>,
    /// How long what deserializers need may take to come.
    patience: Duration,
}

/// What is done about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is left out.
    Skip,
    /// It goes to the dead-letter topic.
    SetAside,
    /// The program is told, and reading stops before it.
    Stop,
    /// The program is told, and it is tried again.
    Again,
}

impl<K, V> Decoder<K, V> {
    pub(crate) fn new(key: K, value: V, group: Option<Arc<str>>, patience: Duration) -> Self {
        Self {
            key,
            value,
            poison: Poison::Fail,
            dead_letters: None,
            group,
            patience,
        }
    }

    pub(crate) fn skip(&mut self) {
        self.poison = Poison::Skip;
        self.dead_letters = None;
    }

    pub(crate) fn set_aside(&mut self, topic: String, producer: Producer) {
        self.poison = Poison::DeadLetter { topic };
        self.dead_letters = Some(producer);
    }

    pub(crate) fn poison(&self) -> &Poison {
        &self.poison
    }

    pub(super) fn verdict(&self, record: &OwnedRecord, error: &SerdeError) -> Verdict {
        if error.is_retriable() {
            return Verdict::Again;
        }
        if !Poison::decides(error) {
            return Verdict::Stop;
        }
        match &self.poison {
            Poison::Skip => Verdict::Skip,
            // What is set aside there would come back for ever.
            Poison::DeadLetter { topic } if **record.topic() != **topic => Verdict::SetAside,
            _ => Verdict::Stop,
        }
    }

    /// The deserializer's error, as the program is told it.
    pub(super) fn tell(&self, record: &OwnedRecord, error: SerdeError) -> Error {
        let mut reason = format!("{}: {}", error.part(), error.reason());
        if let Some(advice) = error.advice() {
            reason.push_str(&format!(" ({advice})"));
        }
        self.place(record, Error::new(ErrorKind::Decoding, reason))
            .caused_by(error)
    }

    fn place(&self, record: &OwnedRecord, error: Error) -> Error {
        let error = error
            .in_partition(Arc::clone(record.topic()), record.partition())
            .at_offset(record.offset());
        match &self.group {
            Some(group) => error.in_group(Arc::clone(group)),
            None => error,
        }
    }

    /// Why a record could not be set aside.
    pub(super) fn not_set_aside(&self, record: &OwnedRecord, error: Error) -> Error {
        let what = "a record that can't be decoded was not written to the dead-letter topic, and is not processed";
        let told = Error::new(error.kind(), format!("{what}: {error}"))
            .like_code_of(&error)
            .maybe_written(error.possibly_written())
            .caused_by(error);
        self.place(record, told)
    }

    pub(super) fn report(&self, record: &OwnedRecord, error: &SerdeError, outcome: &'static str) {
        let (topic, partition, offset) = (record.topic(), record.partition(), record.offset());
        metrics::counter!(
            names::POISON,
            "topic" => topic.to_string(),
            "part" => error.part().to_string(),
            "outcome" => outcome,
        )
        .increment(1);
        tracing::warn!(%topic, partition, offset, %error, outcome, "a record cannot be decoded");
    }

    /// Writes a record, as it came, to the dead-letter topic.
    pub(super) fn letter(
        &self,
        record: &OwnedRecord,
        error: &SerdeError,
    ) -> Option<BoxFuture<'static, Result<Delivery>>> {
        let (Poison::DeadLetter { topic }, Some(producer)) = (&self.poison, &self.dead_letters)
        else {
            return None;
        };
        let (topic, producer) = (topic.clone(), producer.clone());
        let origin = Origin {
            topic: record.topic(),
            partition: record.partition(),
            offset: record.offset(),
            timestamp: record.timestamp(),
        };
        let added = DeadLetterHeaders::new(&origin, error);
        let record = record.clone();
        Some(Box::pin(async move {
            let added = added.iter().map(|(name, value)| Header::new(name, value));
            // It has the time at which it is set aside: with its own, retention might delete it at once.
            let letter = ProducerRecord::to(&topic)
                .key(record.key_bytes())
                .value(record.value_bytes())
                .headers(record.headers())
                .headers(added);
            producer.enqueue(letter).await
        }))
    }
}

impl<K: Deserialize, V: Deserialize> Decoder<K, V> {
    pub(super) fn read(&self, record: &OwnedRecord) -> Result<(K::Value, V::Value), SerdeError> {
        let key = record.key_as(&self.key)?;
        let value = record.value_as(&self.value)?;
        Ok((key, value))
    }
}

impl<K: Format + 'static, V: Format + 'static> Decoder<K, V> {
    /// Has the deserializer of the key or of the value fetch what it needs for a record.
    pub(super) fn prepare(
        self: &Arc<Self>,
        record: &OwnedRecord,
        part: Part,
    ) -> BoxFuture<'static, Result<(), SerdeError>> {
        let (this, record) = (Arc::clone(self), record.clone());
        Box::pin(async move {
            let headers = HeadersOf(record.headers());
            let context = Context::new(record.topic(), part).with_headers(&headers);
            let bytes = match part {
                Part::Key => record.key_bytes(),
                Part::Value => record.value_bytes(),
            };
            let payload = bytes.as_ref().map(Payload::shared);
            let preparation = match part {
                Part::Key => this.key.prepare(&context, payload),
                Part::Value => this.value.prepare(&context, payload),
            };
            let Some(preparation) = preparation else {
                return Ok(());
            };
            let patience = this.patience;
            timeout(patience, preparation).await.unwrap_or_else(|_| {
                let reason =
                    format!("what the deserializer needs did not come within {patience:?}");
                Err(SerdeError::new(SerdeKind::Unavailable, &context, reason))
            })
        })
    }
}
