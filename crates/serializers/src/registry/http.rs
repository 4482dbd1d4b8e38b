//! One request, and trying it again.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::{Error, ErrorKind, Result};

use super::wire;

/// No schema is that long. What a registry sends is not trusted to end.
const MAX_RESPONSE: usize = 16 << 20;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// One address of the registry.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) tls: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and port as the address has them.
    pub(super) authority: String,
    /// In front of each request's path; empty if there is none.
    pub(super) path: String,
}

/// Sends requests. Each has a connection of its own: what is asked is kept, so
/// requests are few.
pub(super) struct Http {
    bases: Vec<Base>,
    /// The address that answered last.
    current: AtomicUsize,
    authorization: Option<HeaderValue>,
    tls: Option<Arc<ClientConfig>>,
    timeout: Duration,
    retries: u32,
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Http {
    pub(super) fn new(
        bases: Vec<Base>,
        authorization: Option<HeaderValue>,
        tls: Option<Arc<ClientConfig>>,
        timeout: Duration,
        retries: u32,
    ) -> Self {
        Self {
            bases,
            current: AtomicUsize::new(0),
            authorization,
            tls,
            timeout,
            retries,
        }
    }

    /// The body of the answer. All requests of the registry may be sent twice.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Bytes> {
        let body = body.map(Bytes::from);
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            let turn = self.current.load(Ordering::Relaxed);
            // There is at least one: the text of addresses has a first part.
            let base = &self.bases[turn % self.bases.len()];
            let asked = self.request(base, &method, path, body.clone());
            let failure = match tokio::time::timeout(self.timeout, asked).await {
                Ok(Ok((status, body))) if status.is_success() => return Ok(body),
                Ok(Ok((status, body))) => refusal(base, &method, path, status, &body),
                Ok(Err(cause)) => unavailable(base, &cause.to_string()).caused_by(cause),
                Err(_) => unavailable(base, &format!("no answer within {:?}", self.timeout)),
            };
            if failure.kind() != ErrorKind::Unavailable || tries == self.retries {
                return Err(failure);
            }
            tries += 1;
            // Unless another request has moved on already.
            let next = turn.wrapping_add(1);
            let _ = self
                .current
                .compare_exchange(turn, next, Ordering::Relaxed, Ordering::Relaxed);
            // Between half the pause and all of it, so that many clients don't
            // come back at once.
            tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn request(
        &self,
        base: &Base,
        method: &Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<(StatusCode, Bytes), Cause> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", base.path))
            .header(HOST, &base.authority)
            .header(ACCEPT, wire::CONTENT_TYPE);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, wire::CONTENT_TYPE);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Full::new(body.unwrap_or_default()))?;

        let stream = TcpStream::connect((base.host.as_str(), base.port)).await?;
        let stream: Box<dyn Stream> = match &self.tls {
            Some(tls) if base.tls => {
                let name = ServerName::try_from(base.host.clone())?;
                Box::new(
                    TlsConnector::from(Arc::clone(tls))
                        .connect(name, stream)
                        .await?,
                )
            }
            _ => Box::new(stream),
        };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let mut exchange = pin!(async {
            let (head, body) = sender.send_request(request).await?.into_parts();
            let body = Limited::new(body, MAX_RESPONSE).collect().await?;
            Ok((head.status, body.to_bytes()))
        });
        // The connection moves only when it is polled. Here rather than in a
        // task of its own, so that it is gone when the request is dropped.
        let mut connection = pin!(connection);
        let mut open = true;
        poll_fn(|cx| {
            if let Poll::Ready(done) = exchange.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            if open && connection.as_mut().poll(cx).is_ready() {
                // Its error, if any, reaches the exchange.
                open = false;
                return exchange.as_mut().poll(cx);
            }
            Poll::Pending
        })
        .await
    }
}

#[cold]
fn unavailable(base: &Base, why: &str) -> Error {
    Error::of_schema(
        ErrorKind::Unavailable,
        format!("schema registry {}: {why}", base.authority),
    )
}

/// What the registry says against it.
#[cold]
fn refusal(base: &Base, method: &Method, path: &str, status: StatusCode, body: &[u8]) -> Error {
    let said = match serde_json::from_slice::<wire::ErrorResponse>(body) {
        Ok(error) => format!("{} (error code {})", error.message, error.error_code),
        Err(_) => "no reason was given".to_owned(),
    };
    let kind = match status.as_u16() {
        401 | 403 | 407 => ErrorKind::Settings,
        408 | 429 | 500..=599 => ErrorKind::Unavailable,
        _ => ErrorKind::Schema,
    };
    let error = Error::of_schema(
        kind,
        format!(
            "schema registry {}, {method} {path}: {}: {said}",
            base.authority,
            status.as_u16()
        ),
    );
    match status.as_u16() {
        401 | 403 => error.advise("check the credentials, and what they are allowed to do"),
        _ => error,
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.bases.iter().map(|base| &base.authority).collect();
        f.debug_tuple("Http").field(&hosts).finish()
    }
}
