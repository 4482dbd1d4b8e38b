//! How bytes reach a broker: TCP, TLS over it, or whatever a test puts in their place.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::Address;

/// A future without a name.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connected byte stream. Vectored writes are used where the stream has them.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A stream without a name.
pub type BoxStream = Box<dyn Stream>;

/// Opens byte streams to brokers.
///
/// The client has one for TCP and one for TLS. Implement it for a proxy, a Unix socket, or a network in
/// memory; `connect` is given whatever address was configured or advertised, resolved or not.
pub trait Transport: Send + Sync + 'static {
    /// Opens a stream to `address`.
    ///
    /// Cancel-safe: the client drops the future when the time to connect is over.
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>>;

    /// What the streams are, for messages: `plaintext`, `TLS` or a name of the transport's own.
    fn name(&self) -> &'static str;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>> {
        (**self).connect(address)
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }
}

/// Plain TCP.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tcp {}

impl Tcp {
    /// Resolves the name, and tries its addresses one after the other.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) async fn open(&self, address: &Address) -> io::Result<TcpStream> {
        let candidates: Vec<_> = tokio::net::lookup_host((address.host(), address.port()))
            .await
            .map_err(|error| io::Error::new(error.kind(), format!("cannot resolve it: {error}")))?
            .collect();
        let mut failures = String::new();
        let mut last = io::ErrorKind::NotFound;
        for candidate in &candidates {
            // One address that swallows packets must not use up the time that the others need.
            let connected = tokio::time::timeout(PER_ADDRESS, TcpStream::connect(candidate)).await;
            let error = match connected {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Ok(Err(error)) => error,
                Err(_) => io::Error::new(io::ErrorKind::TimedOut, "no answer"),
            };
            if !failures.is_empty() {
                failures.push_str("; ");
            }
            // An address that was given as one needs no repetition.
            if candidates.len() > 1 || address.host().parse() != Ok(candidate.ip()) {
                failures.push_str(&format!("{}: ", candidate.ip()));
            }
            failures.push_str(&error.to_string());
            last = error.kind();
        }
        if failures.is_empty() {
            failures.push_str("the name has no address");
        }
        Err(io::Error::new(last, failures))
    }
}

/// The time that one of several addresses of a name gets.
const PER_ADDRESS: Duration = Duration::from_secs(10);

impl Transport for Tcp {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>> {
        Box::pin(async move { Ok(Box::new(self.open(address).await?) as BoxStream) })
    }

    fn name(&self) -> &'static str {
        "plaintext"
    }
}
