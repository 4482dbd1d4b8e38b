//! The crate's error type.

use std::borrow::Cow;
use std::fmt;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as far as a program can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before the value does.
    Truncated,
    /// The bytes are not what the protocol allows at this place.
    Malformed,
    /// A checksum does not match, or compressed data does not decompress.
    Corrupt,
    /// The bytes ask for more than a limit given by the caller.
    LimitExceeded,
    /// A version, format or codec that this crate does not read or write.
    Unsupported,
    /// A value handed to an encoder does not fit the wire format.
    Unencodable,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::Corrupt => "corrupt",
            Self::LimitExceeded => "limit exceeded",
            Self::Unsupported => "unsupported",
            Self::Unencodable => "cannot be encoded",
        })
    }
}

/// Why bytes could not be decoded, or a value could not be encoded.
///
/// Printed as `where: reason (kind at byte offset)`.
// Boxed: an error is one pointer, so the `Result` of a hot decoder stays in
// registers, and the allocation is paid only when something is wrong.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    offset: Option<usize>,
    reason: Cow<'static, str>,
    context: Vec<Cow<'static, str>>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error without a byte offset.
    #[cold]
    pub fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            offset: None,
            reason: reason.into(),
            context: Vec::new(),
            source: None,
        }))
    }

    /// An error at byte `offset` of the decoder's input.
    #[cold]
    pub fn at(kind: ErrorKind, offset: usize, reason: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::new(kind, reason);
        error.0.offset = Some(offset);
        error
    }

    /// The same error for a decoder that was given a part of a larger input:
    /// `base` is where that part begins.
    #[must_use]
    #[cold]
    pub fn shifted(mut self, base: usize) -> Self {
        if let Some(offset) = &mut self.0.offset {
            *offset = offset.saturating_add(base);
        }
        self
    }

    /// Names the enclosing thing (a message, a field, a batch). Call it from
    /// the inside out; the outermost name is printed first.
    #[must_use]
    #[cold]
    pub fn within(mut self, context: impl Into<Cow<'static, str>>) -> Self {
        self.0.context.push(context.into());
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

    /// What went wrong, as far as a program can act on it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where in the input it went wrong, if the error came from bytes.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// What was wrong, for a person to read.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.0.context.iter().rev() {
            write!(f, "{context}: ")?;
        }
        write!(f, "{} ({}", self.0.reason, self.0.kind)?;
        match self.0.offset {
            Some(offset) => write!(f, " at byte {offset})"),
            None => f.write_str(")"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("offset", &self.0.offset)
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
    fn prints_place_reason_kind_and_offset() {
        let error = Error::at(ErrorKind::Truncated, 4, "needs 8 bytes, 2 are left")
            .shifted(100)
            .within("base offset")
            .within("batch 3");
        assert_eq!(
            error.to_string(),
            "batch 3: base offset: needs 8 bytes, 2 are left (truncated at byte 104)"
        );
        assert_eq!(error.offset(), Some(104));
        assert_eq!(error.kind(), ErrorKind::Truncated);
    }

    #[test]
    fn keeps_its_source() {
        let error = Error::new(ErrorKind::Corrupt, "gzip stream does not decompress")
            .caused_by(std::io::Error::other("bad block"));
        let source = std::error::Error::source(&error).expect("a source");
        assert_eq!(source.to_string(), "bad block");
        assert_eq!(
            error.to_string(),
            "gzip stream does not decompress (corrupt)"
        );
    }

    #[test]
    fn is_one_pointer() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }
}
