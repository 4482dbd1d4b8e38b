//! Formats that know null.

use crate::error::OTHER_SERIALIZER;
use crate::{
    Context, Deserialize, Error, ErrorKind, Format, Payload, Preparation, Result, Serialize, Sink,
};

/// Writes and reads `None` as null, and everything else with the serializer
/// inside.
///
/// A null key leaves the record's partition to the partitioner. A null value is
/// a tombstone: compaction deletes its key.
///
/// ```
/// use copart_serializers::{Context, Deserialize, Optional, Payload, Serialize, Utf8};
///
/// let value = Context::value("profiles");
/// assert_eq!(Optional(Utf8).to_vec(&value, &None::<String>)?, None);
/// assert_eq!(Optional(Utf8).to_vec(&value, &Some(""))?, Some(vec![]));
/// assert_eq!(Optional(Utf8).read(&value, None)?, None);
/// assert_eq!(Optional(Utf8).read(&value, Some(Payload::new(b"")))?.as_deref(), Some(""));
/// assert!(Utf8.read(&value, None).is_err());
/// # Ok::<(), copart_serializers::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optional<S>(
    /// What writes and reads everything but null.
    pub S,
);

impl<S: Format> Format for Optional<S> {
    fn fixed_len(&self) -> Option<usize> {
        self.0.fixed_len()
    }

    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        payload: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        self.0.prepare(context, payload)
    }
}

impl<T, S: Serialize<T>> Serialize<Option<T>> for Optional<S> {
    fn serialize(
        &self,
        context: &Context<'_>,
        value: &Option<T>,
        out: &mut Sink<'_>,
    ) -> Result<()> {
        match value {
            Some(value) => self.0.serialize(context, value, out),
            None => Err(null_has_no_bytes(context)),
        }
    }

    fn is_null(&self, value: &Option<T>) -> bool {
        value.as_ref().is_none_or(|value| self.0.is_null(value))
    }
}

impl<T, S: Serialize<T>> Serialize<&Option<T>> for Optional<S> {
    fn serialize(
        &self,
        context: &Context<'_>,
        value: &&Option<T>,
        out: &mut Sink<'_>,
    ) -> Result<()> {
        self.serialize(context, *value, out)
    }

    fn is_null(&self, value: &&Option<T>) -> bool {
        self.is_null(*value)
    }
}

impl<S: Deserialize> Deserialize for Optional<S> {
    type Value = Option<S::Value>;

    #[inline]
    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<Self::Value> {
        self.0.deserialize(context, payload).map(Some)
    }

    fn null(&self, _: &Context<'_>) -> Result<Self::Value> {
        Ok(None)
    }
}

/// Always null: for topics whose keys, or values, carry nothing. Java's
/// `VoidSerializer`.
#[doc(alias = "VoidSerializer")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Void;

impl Format for Void {}

impl Serialize<()> for Void {
    fn serialize(&self, context: &Context<'_>, (): &(), _: &mut Sink<'_>) -> Result<()> {
        Err(null_has_no_bytes(context))
    }

    fn is_null(&self, (): &()) -> bool {
        true
    }
}

impl Deserialize for Void {
    type Value = ();

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<()> {
        let unit = if payload.len() == 1 { "byte" } else { "bytes" };
        let reason = format!("Void is always null, found {} {unit}", payload.len());
        Err(Error::new(ErrorKind::Malformed, context, reason).advise(OTHER_SERIALIZER))
    }

    fn null(&self, _: &Context<'_>) -> Result<()> {
        Ok(())
    }
}

/// The caller did not ask `is_null`.
#[cold]
fn null_has_no_bytes(context: &Context<'_>) -> Error {
    Error::new(ErrorKind::Null, context, "null has no bytes to write")
        .advise("ask is_null first, or use append or to_vec")
}
