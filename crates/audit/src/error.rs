use std::error::Error as StdError;
use std::fmt;

/// What went wrong in an audit: one opaque type, with a [kind](Error::kind) to act on.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kinds of [`Error`], each with the exit code the command line gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The question makes no sense: an unknown client, a partition count of 0 (exit code 2).
    Usage,
    /// The input can't be read, or what it holds is not what it was said to be (exit code 3).
    Input,
    /// The cluster can't be reached, does not answer, or refuses access (exit code 5).
    Cluster,
    /// The answer can't be written. When [`Error::is_closed_pipe`], nobody wants it any more.
    Output,
}

impl Error {
    /// An error of the kind [`ErrorKind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Usage,
            message: message.into(),
            source: None,
        }
    }

    /// An error of the kind [`ErrorKind::Input`].
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Input,
            message: message.into(),
            source: None,
        }
    }

    #[cfg(any(feature = "client", test))]
    pub(crate) fn cluster(
        message: impl Into<String>,
        source: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self {
            kind: ErrorKind::Cluster,
            message: message.into(),
            source: Some(Box::new(source)),
        }
    }

    /// The cluster did not do something in time.
    #[cfg(feature = "client")]
    pub(crate) fn timed_out(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Cluster,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn unreadable(name: &str, source: std::io::Error) -> Self {
        Self {
            kind: ErrorKind::Input,
            message: format!("{name}: {source}"),
            source: Some(Box::new(source)),
        }
    }

    pub(crate) fn unwritable(name: &str, source: std::io::Error) -> Self {
        Self {
            kind: ErrorKind::Output,
            message: format!("{name}: {source}"),
            source: Some(Box::new(source)),
        }
    }

    /// What kind of problem this is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether writing failed because the reader of the output went away.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        self.source()
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .is_some_and(|e| {
                self.kind == ErrorKind::Output && e.kind() == std::io::ErrorKind::BrokenPipe
            })
    }
}

impl From<std::io::Error> for Error {
    /// For writing results: reading goes through `Error::unreadable`, which knows the file.
    fn from(source: std::io::Error) -> Self {
        Self {
            kind: ErrorKind::Output,
            message: format!("the result could not be written: {source}"),
            source: Some(Box::new(source)),
        }
    }
}

#[cfg(feature = "client")]
impl From<copart::Error> for Error {
    /// What the cluster says of what it was asked is the question's fault; all else is the cluster's.
    fn from(error: copart::Error) -> Self {
        use copart::ErrorKind as Kind;
        use copart::protocol::ErrorCode;

        let refused = error
            .code()
            .is_some_and(|code| !code.is_retriable() && code != ErrorCode::UNKNOWN_SERVER_ERROR);
        match error.kind() {
            Kind::Authentication | Kind::Authorization => Self::cluster(error.to_string(), error),
            Kind::Config | Kind::UnknownTopic | Kind::Partitioning | Kind::Guard => {
                Self::usage(error.to_string())
            }
            _ if refused => Self::usage(error.to_string()),
            _ => Self::cluster(error.to_string(), error),
        }
    }
}

#[cfg(feature = "serializers")]
impl From<copart_serializers::Error> for Error {
    /// A registry that can't be reached, or refuses access, is as a cluster that does. What it says of what it
    /// was asked is the question's fault, and bytes that can't be read are the input's.
    fn from(error: copart_serializers::Error) -> Self {
        use copart_serializers::ErrorKind as Kind;

        let kind = match error.kind() {
            Kind::Unavailable | Kind::Settings => ErrorKind::Cluster,
            Kind::Schema | Kind::UnstableKey => ErrorKind::Usage,
            _ => ErrorKind::Input,
        };
        Self {
            kind,
            message: error.to_string(),
            source: Some(Box::new(error)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
