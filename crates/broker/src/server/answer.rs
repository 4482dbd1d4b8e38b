//! What becomes of a request.

use std::fmt;
use std::pin::Pin;

use copart_protocol::frame::Frame;
use copart_protocol::{Request, Result};

use super::limits::Share;
use super::outgoing::Outgoing;

/// An answer that takes time. It is first polled when all requests before it are answered.
pub(crate) type Later = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What becomes of a request.
pub(crate) enum Answer {
    /// This is sent, and what it has of the shared memory is free afterwards.
    Send(Outgoing, Share),
    /// It takes time.
    Later(Later),
    /// Nothing is sent: a produce request that wants no acknowledgement.
    Silence,
    /// There is no answer that the client could read: the reason, for the broker's log.
    Close(String),
}

impl Answer {
    /// A response in the layout that the request had.
    pub(crate) fn respond<R: Request>(
        version: i16,
        correlation_id: i32,
        response: &R::Response,
    ) -> Self {
        Self::framed(Frame::response::<R>(version, correlation_id, response))
    }

    pub(crate) fn framed(frame: Result<Frame>) -> Self {
        match frame {
            Ok(frame) => Self::Send(frame.into(), Share::default()),
            Err(error) => Self::Close(format!("the answer cannot be written: {error}")),
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(outgoing, _) => f.debug_tuple("Send").field(outgoing).finish(),
            Self::Later(_) => f.write_str("Later"),
            Self::Silence => f.write_str("Silence"),
            Self::Close(reason) => f.debug_tuple("Close").field(reason).finish(),
        }
    }
}
