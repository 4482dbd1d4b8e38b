//! JSON by serde.

mod canonical;
#[cfg(feature = "json-schema")]
mod schema;
mod writer;

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use serde_core::de::DeserializeOwned;

use crate::error::OTHER_SERIALIZER;
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

pub use canonical::CanonicalJson;
#[cfg(feature = "json-schema")]
pub use schema::JsonSchema;

/// Values of one type as compact JSON.
///
/// `None` is written as the text `null`, which is four bytes and no tombstone:
/// for that there is [`Optional`](crate::Optional) around it.
///
/// **Think twice before using it for keys.** Equal values must have equal bytes
/// to meet in one partition. serde writes fields in the order in which the
/// struct declares them, hash maps in any order, and other languages put spaces
/// where it puts none. NaN and infinities are written as `null`.
/// [`CanonicalJson`] has none of that.
///
/// ```
/// use copart_serializers::{Context, Deserialize, Json, Payload, Serialize};
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Order {
///     item: u32,
/// }
///
/// let value = Context::value("orders");
/// let json = Json::<Order>::new();
/// let bytes = json.to_vec(&value, &Order { item: 7 })?.unwrap_or_default();
/// assert_eq!(bytes, br#"{"item":7}"#);
/// assert_eq!(json.read(&value, Some(Payload::new(&bytes)))?, Order { item: 7 });
/// # Ok::<(), copart_serializers::Error>(())
/// ```
pub struct Json<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> Json<T> {
    /// JSON of this type.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: ?Sized> Format for Json<T> {}

impl<T, B> Serialize<B> for Json<T>
where
    T: serde_core::Serialize + ?Sized,
    B: Borrow<T> + ?Sized,
{
    fn serialize(&self, context: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        serde_json::to_writer(out, value.borrow()).map_err(|error| {
            Error::new(
                ErrorKind::Unserializable,
                context,
                format!("the value can't be written as JSON: {error}"),
            )
            .caused_by(error)
        })
    }
}

impl<T: DeserializeOwned> Deserialize for Json<T> {
    type Value = T;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<T> {
        serde_json::from_slice(payload.as_slice()).map_err(|error| {
            let reason = if error.is_data() {
                format!("JSON, but not of the expected type: {error}")
            } else {
                format!("not JSON: {error}")
            };
            Error::new(ErrorKind::Malformed, context, reason)
                .advise(OTHER_SERIALIZER)
                .caused_by(error)
        })
    }
}

// Not derived: a derive would ask all of it of T.
impl<T: ?Sized> Clone for Json<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Json<T> {}

impl<T: ?Sized> Default for Json<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for Json<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json<{}>", std::any::type_name::<T>())
    }
}
