//! The crate's error type.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use copart_protocol::{ApiKey, ErrorCode};

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as far as a program can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was configured cannot work. The message lists every violation.
    Config,
    /// No connection to a broker came about.
    Connect,
    /// The broker does not accept who we are.
    Authentication,
    /// The broker does not allow what was asked.
    Authorization,
    /// A connection ended while something waited for an answer on it.
    Disconnected,
    /// Something took longer than it may.
    Timeout,
    /// The peer sent what Kafka's protocol does not allow, or does not speak it at all.
    Protocol,
    /// The broker does not have an API or a version that is needed.
    UnsupportedVersion,
    /// The broker answered with an error code that no other kind stands for: see [`Error::code`].
    Broker,
    /// The topic or the partition does not exist.
    UnknownTopic,
    /// A position is not in the partition's log: what was there is deleted, or not written yet.
    OffsetOutOfRange,
    /// Records that were read are not in the log any more: a leader that did not have them was elected. The
    /// context has the first offset that differs, if it is known.
    LogTruncated,
    /// A record or batch is larger than a limit of ours or of the broker's.
    TooLarge,
    /// The partitioner gives the record no partition.
    Partitioning,
    /// A guard refuses to write: keys would not go where they went before.
    Guard,
    /// A value cannot be encoded.
    Encoding,
    /// A key or a value cannot be decoded: it is not what the deserializer reads, or what it needs for that is not there.
    /// The source is the deserializer's own error.
    Decoding,
    /// A newer producer has taken this producer's place.
    Fenced,
    /// The partition is not this consumer's, or not any more: its group has given it to another member.
    Revoked,
    /// A record was not processed in the time that the group grants.
    Stalled,
    /// The buffer has no room for the record now.
    Full,
    /// The client or the producer was closed.
    Closed,
}

impl ErrorKind {
    /// The kind that stands for a broker's error code.
    pub(crate) fn of_code(code: ErrorCode) -> Self {
        match code {
            ErrorCode::TOPIC_AUTHORIZATION_FAILED
            | ErrorCode::GROUP_AUTHORIZATION_FAILED
            | ErrorCode::CLUSTER_AUTHORIZATION_FAILED
            | ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED => Self::Authorization,
            ErrorCode::SASL_AUTHENTICATION_FAILED
            | ErrorCode::UNSUPPORTED_SASL_MECHANISM
            | ErrorCode::ILLEGAL_SASL_STATE => Self::Authentication,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
            | ErrorCode::UNKNOWN_TOPIC_ID
            | ErrorCode::INVALID_TOPIC_EXCEPTION => Self::UnknownTopic,
            ErrorCode::OFFSET_OUT_OF_RANGE => Self::OffsetOutOfRange,
            ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => Self::TooLarge,
            ErrorCode::UNSUPPORTED_VERSION => Self::UnsupportedVersion,
            ErrorCode::REQUEST_TIMED_OUT => Self::Timeout,
            ErrorCode::PRODUCER_FENCED | ErrorCode::INVALID_PRODUCER_EPOCH => Self::Fenced,
            _ => Self::Broker,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Config => "configuration",
            Self::Connect => "no connection",
            Self::Authentication => "authentication",
            Self::Authorization => "authorization",
            Self::Disconnected => "disconnected",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::UnsupportedVersion => "unsupported version",
            Self::Broker => "broker error",
            Self::UnknownTopic => "unknown topic",
            Self::OffsetOutOfRange => "offset out of range",
            Self::LogTruncated => "log truncated",
            Self::TooLarge => "too large",
            Self::Partitioning => "partitioning",
            Self::Guard => "guard",
            Self::Encoding => "encoding",
            Self::Decoding => "decoding",
            Self::Fenced => "fenced",
            Self::Revoked => "revoked",
            Self::Stalled => "stalled",
            Self::Full => "buffer full",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an error is about, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The topic.
    pub topic: Option<Arc<str>>,
    /// The partition.
    pub partition: Option<i32>,
    /// The consumer group.
    pub group: Option<Arc<str>>,
    /// The offset.
    pub offset: Option<i64>,
    /// The broker, as `host:port` or `host:port (node 1)`.
    pub broker: Option<Arc<str>>,
    /// The API, and the version of it that was spoken.
    pub api: Option<(ApiKey, i16)>,
}

/// Why something failed.
///
/// Cheap to clone: all records of a failed batch, and all requests of a failed connection, share one.
/// Printed as `what: reason (kind)`; [`source`](std::error::Error::source) has the cause.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    reason: Cow<'static, str>,
    code: Option<ErrorCode>,
    possibly_written: bool,
    context: Context,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner {
            kind,
            reason: reason.into(),
            code: None,
            possibly_written: false,
            context: Context::default(),
            source: None,
        }))
    }

    /// What a broker's answer says; `message` is the broker's own, if it has one.
    #[cold]
    pub(crate) fn from_code(code: ErrorCode, message: Option<&str>) -> Self {
        let reason = match message.filter(|message| !message.is_empty()) {
            Some(message) => format!("the broker answered {code}: {message}"),
            None => format!("the broker answered {code}"),
        };
        Self::new(ErrorKind::of_code(code), reason).change(|inner| inner.code = Some(code))
    }

    #[cold]
    fn change(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    pub(crate) fn at_broker(self, broker: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.context.broker = Some(broker.into()))
    }

    pub(crate) fn in_api(self, api: ApiKey, version: i16) -> Self {
        self.change(|inner| inner.context.api = Some((api, version)))
    }

    pub(crate) fn in_topic(self, topic: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.context.topic = Some(topic.into()))
    }

    pub(crate) fn in_partition(self, topic: impl Into<Arc<str>>, partition: i32) -> Self {
        self.in_topic(topic)
            .change(|inner| inner.context.partition = Some(partition))
    }

    pub(crate) fn in_group(self, group: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.context.group = Some(group.into()))
    }

    /// Puts what it is about in front of the reason.
    pub(crate) fn about(self, what: impl fmt::Display) -> Self {
        let reason = format!("{what}: {}", self.0.reason);
        self.change(|inner| inner.reason = reason.into())
    }

    /// The code behind an error that says more than it.
    pub(crate) fn with_code(self, code: ErrorCode) -> Self {
        self.change(|inner| inner.code = Some(code))
    }

    /// With the broker's error code of another one.
    pub(crate) fn like_code_of(self, other: &Self) -> Self {
        let code = other.code();
        self.change(|inner| inner.code = code)
    }

    pub(crate) fn at_offset(self, offset: i64) -> Self {
        self.change(|inner| inner.context.offset = Some(offset))
    }

    pub(crate) fn maybe_written(self, possibly_written: bool) -> Self {
        if self.0.possibly_written == possibly_written {
            return self;
        }
        self.change(|inner| inner.possibly_written = possibly_written)
    }

    pub(crate) fn caused_by(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.change(|inner| inner.source = Some(Arc::new(source)))
    }

    /// What went wrong, as far as a program can act on it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The broker's error code, if a broker answered.
    pub fn code(&self) -> Option<ErrorCode> {
        self.0.code
    }

    /// What was wrong, for a person to read.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// What it is about.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Whether the same call may succeed later. The producer has retried by itself already, until its
    /// delivery timeout.
    pub fn is_retriable(&self) -> bool {
        match self.0.kind {
            ErrorKind::Connect | ErrorKind::Disconnected | ErrorKind::Timeout | ErrorKind::Full => {
                true
            }
            // A registry that did not answer may do so later.
            ErrorKind::Encoding | ErrorKind::Decoding => self
                .0
                .source
                .as_deref()
                .and_then(|source| source.downcast_ref::<copart_serializers::Error>())
                .is_some_and(copart_serializers::Error::is_retriable),
            _ => self.0.code.is_some_and(ErrorCode::is_retriable),
        }
    }

    /// Whether the producer or client that gave it can do no more.
    pub fn is_fatal(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Fenced | ErrorKind::Closed)
    }

    /// Whether the record may be in the log all the same: a request went out, and what became of it is not
    /// known. Sending the record again can write it twice.
    pub fn possibly_written(&self) -> bool {
        self.0.possibly_written
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = &self.0.context;
        if let Some(broker) = &context.broker {
            write!(f, "{broker}: ")?;
        }
        if let Some((api, version)) = context.api {
            write!(f, "{api} v{version}: ")?;
        }
        if let Some(group) = &context.group {
            write!(f, "group {group}: ")?;
        }
        match (&context.topic, context.partition) {
            (Some(topic), Some(partition)) => write!(f, "{topic}-{partition}: ")?,
            (Some(topic), None) => write!(f, "topic {topic}: ")?,
            _ => {}
        }
        if let Some(offset) = context.offset {
            write!(f, "offset {offset}: ")?;
        }
        write!(f, "{} ({}", self.0.reason, self.0.kind)?;
        if self.0.possibly_written {
            f.write_str(", possibly written")?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &format_args!("{self}"))
            .field("code", &self.0.code)
            .field("source", &self.0.source)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<copart_protocol::Error> for Error {
    /// For bytes that came from a peer; what we cannot encode ourselves has its own kind.
    fn from(error: copart_protocol::Error) -> Self {
        let kind = match error.kind() {
            copart_protocol::ErrorKind::Unencodable => ErrorKind::Encoding,
            copart_protocol::ErrorKind::Unsupported => ErrorKind::UnsupportedVersion,
            _ => ErrorKind::Protocol,
        };
        Self::new(kind, error.to_string()).caused_by(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_place_reason_and_kind() {
        let error = Error::from_code(ErrorCode::MESSAGE_TOO_LARGE, None)
            .in_partition("orders", 3)
            .at_broker("b1:9092");
        assert_eq!(
            error.to_string(),
            "b1:9092: orders-3: the broker answered MESSAGE_TOO_LARGE (10) (too large)"
        );
        assert!(!error.is_retriable() && !error.is_fatal() && !error.possibly_written());
        assert_eq!(error.code(), Some(ErrorCode::MESSAGE_TOO_LARGE));
    }

    #[test]
    fn clones_share_and_changes_do_not_leak() {
        let first = Error::new(ErrorKind::Disconnected, "the connection ended");
        let second = first.clone().maybe_written(true);
        assert!(second.possibly_written() && !first.possibly_written());
        assert!(second.is_retriable());
        assert_eq!(
            second.to_string(),
            "the connection ended (disconnected, possibly written)"
        );
    }
}
