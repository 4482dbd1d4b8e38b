//! Why a client's wish is refused.

use copart_protocol::ErrorCode;

/// What a client is told: a code of Kafka's, and a sentence of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

/// A result with [`ApiError`].
pub(crate) type ApiResult<T> = std::result::Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// The metadata log could not be written.
impl From<crate::Error> for ApiError {
    fn from(error: crate::Error) -> Self {
        Self::new(error.error_code(), error.to_string())
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ApiError {}
