//! The crate's error type.

use std::borrow::Cow;
use std::fmt;

use crate::{Context, Part};

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as far as a program can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not what the deserializer reads. The same bytes will fail
    /// again: skip the record, or set it aside.
    Malformed,
    /// A null, where none is expected.
    Null,
    /// A value that the serializer can't write.
    Unserializable,
    /// Something has to be fetched first: await
    /// [`Format::prepare`](crate::Format::prepare), and try again.
    Unprepared,
    /// What has to be fetched could not be had now. It may later.
    Unavailable,
    /// A schema can't be used: it does not parse, is not known to the registry,
    /// is not compatible, or does not lead to the reader's.
    Schema,
    /// What has to be fetched is not to be had with these settings: an address,
    /// a certificate or credentials are wrong.
    Settings,
    /// The bytes of a key would depend on something that changes.
    UnstableKey,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Null => "unexpected null",
            Self::Unserializable => "cannot be serialized",
            Self::Unprepared => "not prepared",
            Self::Unavailable => "not available",
            Self::Schema => "unusable schema",
            Self::Settings => "unusable settings",
            Self::UnstableKey => "unstable key",
        })
    }
}

/// Why a value could not be written, or bytes could not be read.
///
/// Printed as `topic "orders", key: reason (advice)`, without the place if there
/// is none. Reasons of this crate's
/// fixed layouts give lengths and places, never the data; those of `Json`
/// are serde's, which may quote a value.
// Boxed: an error is one pointer, so that the hot path's `Result` is small.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    topic: String,
    part: Part,
    reason: Cow<'static, str>,
    advice: Option<Cow<'static, str>>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error in the key or value that `context` names.
    #[cold]
    pub fn new(
        kind: ErrorKind,
        context: &Context<'_>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self(Box::new(Inner {
            kind,
            topic: context.topic().to_owned(),
            part: context.part(),
            reason: reason.into(),
            advice: None,
            source: None,
        }))
    }

    /// An error in a schema, or of a registry, before there is a record.
    #[cold]
    #[cfg(feature = "schema")]
    pub(crate) fn of_schema(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(kind, &Context::value(""), reason)
    }

    /// The same error, in this key or value.
    #[must_use]
    #[cold]
    #[cfg(feature = "registry")]
    pub(crate) fn in_context(mut self, context: &Context<'_>) -> Self {
        self.0.topic = context.topic().to_owned();
        self.0.part = context.part();
        self
    }

    /// Says what to do about it.
    #[must_use]
    #[cold]
    pub fn advise(mut self, advice: impl Into<Cow<'static, str>>) -> Self {
        self.0.advice = Some(advice.into());
        self
    }

    /// Attaches the error that caused this one.
    #[must_use]
    #[cold]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error in an element of the value, such as `element 3`.
    #[must_use]
    #[cold]
    pub(crate) fn within(mut self, place: impl fmt::Display) -> Self {
        self.0.reason = format!("{place}: {}", self.0.reason).into();
        self
    }

    /// What went wrong, as far as a program can act on it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The topic of the record. Empty if there was no record yet, as when a
    /// schema does not parse.
    pub fn topic(&self) -> &str {
        &self.0.topic
    }

    /// Whether it was the key or the value.
    pub fn part(&self) -> Part {
        self.0.part
    }

    /// What was wrong, for a person to read.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// What to do about it, if there is something to say.
    pub fn advice(&self) -> Option<&str> {
        self.0.advice.as_deref()
    }

    /// Whether the same call can succeed later: with
    /// [`Unavailable`](ErrorKind::Unavailable) after a while, with
    /// [`Unprepared`](ErrorKind::Unprepared) after preparing.
    pub fn is_retriable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Unavailable | ErrorKind::Unprepared)
    }

    /// The bytes have another length than the layout.
    #[cold]
    pub(crate) fn wrong_length(
        context: &Context<'_>,
        name: &str,
        expected: usize,
        found: usize,
    ) -> Self {
        let unit = if expected == 1 { "byte" } else { "bytes" };
        Self::new(
            ErrorKind::Malformed,
            context,
            format!("{name} takes {expected} {unit}, found {found}"),
        )
        .advise(OTHER_SERIALIZER)
    }
}

/// Hexadecimal digits, in lower case.
#[cfg(feature = "schema")]
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is wrong most of the time when bytes don't fit.
pub(crate) const OTHER_SERIALIZER: &str = "was it written with another serializer?";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            topic,
            part,
            reason,
            advice,
            ..
        } = &*self.0;
        if topic.is_empty() {
            f.write_str(reason)?;
        } else {
            write!(f, "topic {topic:?}, {part}: {reason}")?;
        }
        match advice {
            Some(advice) => write!(f, " ({advice})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &format_args!("{self}"))
            .field("source", &self.0.source)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_what_and_what_to_do() {
        let error = Error::wrong_length(&Context::value("clicks"), "Bool", 1, 0)
            .within("element 3")
            .caused_by(std::io::Error::other("cause"));
        assert_eq!(
            error.to_string(),
            "topic \"clicks\", value: element 3: Bool takes 1 byte, found 0 \
             (was it written with another serializer?)"
        );
        assert_eq!(error.kind(), ErrorKind::Malformed);
        assert_eq!((error.topic(), error.part()), ("clicks", Part::Value));
        assert!(!error.is_retriable());
        assert!(std::error::Error::source(&error).is_some());
    }

    #[test]
    fn is_one_pointer() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }
}
