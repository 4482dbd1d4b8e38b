//! What clients are told instead of an answer.

use std::fmt;

/// An error with the number that Confluent's registry gives it: its first three digits are the HTTP status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Such as 40401.
    pub code: u32,
    /// What is wrong, and with what.
    pub message: String,
}

/// A result with this crate's [`ApiError`].
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    #[cold]
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        let status = match self.code {
            code if code >= 10_000 => code / 100,
            code => code,
        };
        u16::try_from(status).unwrap_or(500)
    }

    /// No version of this subject.
    pub(crate) fn subject_not_found(subject: &str) -> Self {
        Self::new(40401, format!("Subject '{subject}' not found."))
    }

    pub(crate) fn version_not_found(version: impl fmt::Display) -> Self {
        Self::new(40402, format!("Version {version} not found."))
    }

    pub(crate) fn schema_not_found() -> Self {
        Self::new(40403, "Schema not found")
    }

    pub(crate) fn incompatible(message: impl Into<String>) -> Self {
        Self::new(40901, message)
    }

    pub(crate) fn invalid_schema(message: impl Into<String>) -> Self {
        Self::new(42201, message)
    }

    pub(crate) fn not_permitted(message: impl Into<String>) -> Self {
        Self::new(42205, message)
    }

    /// What the request asks for is understood, and is not here.
    pub(crate) fn not_implemented(message: impl Into<String>) -> Self {
        Self::new(501, message)
    }

    /// The state cannot be stored, or read.
    pub fn store(message: impl Into<String>) -> Self {
        Self::new(50001, message)
    }

    /// It was not stored in time, and may be later.
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(50002, message)
    }

    /// The request is larger than it may be.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(42209, message)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (error code {})", self.message, self.code)
    }
}

impl std::error::Error for ApiError {}
