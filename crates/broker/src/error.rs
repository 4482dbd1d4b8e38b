//! The crate's error type.

use std::fmt;

use copart_protocol::ErrorCode;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as far as a program can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A producer's bytes are damaged or no record batch.
    CorruptMessage,
    /// A producer's batch breaks a rule, such as a key that is missing.
    InvalidRecord,
    /// A producer's batch is larger than `max.message.bytes`.
    TooLarge,
    /// A record's timestamp is out of the range that the topic allows.
    InvalidTimestamp,
    /// A producer's sequence number does not follow its last one.
    OutOfOrderSequence,
    /// A producer has an older epoch than one seen before.
    InvalidProducerEpoch,
    /// A transaction marker comes from a coordinator that was replaced.
    CoordinatorFenced,
    /// An offset is outside of the log.
    OffsetOutOfRange,
    /// The disk is full. Writes go on when there is space again.
    StorageFull,
    /// The log takes no writes after an earlier error. Reads go on.
    ReadOnly,
    /// The file system reports an error.
    Io,
    /// Bytes that were stored are damaged or missing.
    Damaged,
    /// Another process uses the data directory.
    Locked,
    /// What a broker was told to be cannot be.
    InvalidConfig,
    /// The data directory is another cluster's or node's.
    WrongDirectory,
    /// No topic can have this name.
    InvalidTopic,
}

/// Why the log refused or failed. Printed as `where: reason`.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    reason: String,
    context: Vec<String>,
    records: Vec<RecordError>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What is wrong with one record of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The record's index in its batch.
    pub index: u32,
    /// What is wrong with it.
    pub reason: String,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            reason: reason.into(),
            context: Vec::new(),
            records: Vec::new(),
            source: None,
        }))
    }

    /// An error of the file system while `doing` something.
    #[cold]
    pub(crate) fn io(doing: impl fmt::Display, source: std::io::Error) -> Self {
        let kind = match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                ErrorKind::StorageFull
            }
            _ => ErrorKind::Io,
        };
        let mut error = Self::new(kind, format!("{doing}: {source}"));
        error.0.source = Some(source.into());
        error
    }

    /// An error of the system while the process around a broker starts.
    pub fn starting(what: impl fmt::Display, source: std::io::Error) -> Self {
        Self::io(format_args!("starting {what}"), source)
    }

    /// What the user of a broker asks for cannot be.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidConfig, reason)
    }

    #[must_use]
    #[cold]
    pub(crate) fn within(mut self, context: impl Into<String>) -> Self {
        self.0.context.push(context.into());
        self
    }

    #[must_use]
    #[cold]
    pub(crate) fn with_records(mut self, records: Vec<RecordError>) -> Self {
        self.0.records = records;
        self
    }

    #[must_use]
    #[cold]
    pub(crate) fn caused_by(mut self, source: copart_protocol::Error) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong, as far as a program can act on it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was wrong, for a person to read.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The records at fault, when the error is about single records.
    pub fn records(&self) -> &[RecordError] {
        &self.0.records
    }

    /// The code that Kafka's brokers answer with.
    pub fn error_code(&self) -> ErrorCode {
        match self.0.kind {
            ErrorKind::CorruptMessage => ErrorCode::CORRUPT_MESSAGE,
            ErrorKind::InvalidRecord => ErrorCode::INVALID_RECORD,
            ErrorKind::TooLarge => ErrorCode::MESSAGE_TOO_LARGE,
            ErrorKind::InvalidTimestamp => ErrorCode::INVALID_TIMESTAMP,
            ErrorKind::OutOfOrderSequence => ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
            ErrorKind::InvalidProducerEpoch => ErrorCode::INVALID_PRODUCER_EPOCH,
            ErrorKind::CoordinatorFenced => ErrorCode::TRANSACTION_COORDINATOR_FENCED,
            ErrorKind::OffsetOutOfRange => ErrorCode::OFFSET_OUT_OF_RANGE,
            ErrorKind::InvalidTopic => ErrorCode::INVALID_TOPIC_EXCEPTION,
            ErrorKind::StorageFull
            | ErrorKind::ReadOnly
            | ErrorKind::Io
            | ErrorKind::Damaged
            | ErrorKind::Locked
            | ErrorKind::WrongDirectory => ErrorCode::KAFKA_STORAGE_ERROR,
            ErrorKind::InvalidConfig => ErrorCode::INVALID_CONFIG,
        }
    }

    /// Can the same call succeed later, with nothing done about it here?
    pub fn is_retriable(&self) -> bool {
        self.0.kind == ErrorKind::StorageFull
    }

    /// Is the log unusable for writes from now on?
    pub fn is_fatal(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::ReadOnly
                | ErrorKind::Io
                | ErrorKind::Damaged
                | ErrorKind::Locked
                | ErrorKind::WrongDirectory
        )
    }

    /// May the records have been written all the same?
    pub fn possibly_written(&self) -> bool {
        self.0.kind == ErrorKind::Io
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.0.context.iter().rev() {
            write!(f, "{context}: ")?;
        }
        f.write_str(&self.0.reason)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &format_args!("{self}"))
            .field("records", &self.0.records)
            .field("source", &self.0.source)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
