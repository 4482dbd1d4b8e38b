//! One connection to one broker: requests go out in order, answers come back in order.
//!
//! A writer task takes what is queued and writes it in as few system calls as it can; a reader task hands
//! answers to whoever waits. When either meets an error the connection is poisoned: everybody who waits, and
//! everybody who comes later, gets that one error.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use copart_protocol::frame::{self, Frame};
use copart_protocol::header::{RequestHeader, ResponseHeader};
use copart_protocol::versions::BrokerVersions;
use copart_protocol::{ApiKey, Request, VersionRange};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, Sleep, sleep_until};

use super::transport::BoxStream;
use super::{reader, writer};
use crate::{Error, ErrorKind, Result};

/// What a connection needs to know about the client it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionConfig {
    pub(crate) client_id: Arc<str>,
    /// The largest answer that is read.
    pub(crate) max_response: usize,
    /// How long an answer may take.
    pub(crate) request_timeout: Duration,
}

/// A handle. The connection closes when the last one is gone.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    _close: Arc<CloseOnDrop>,
}

struct CloseOnDrop(Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.poison(Error::new(
            ErrorKind::Closed,
            "the connection is not used any more",
        ));
    }
}

/// What the handles and the two tasks share.
pub(super) struct Shared {
    pub(super) broker: Arc<str>,
    pub(super) config: ConnectionConfig,
    versions: OnceLock<BrokerVersions>,
    next_correlation: AtomicI32,
    state: Mutex<State>,
    /// Wakes the writer: something is queued, or all is over.
    pub(super) writable: Notify,
    /// Wakes the reader: all is over.
    pub(super) stop_reader: Notify,
}

struct State {
    /// To be written.
    queue: VecDeque<Outgoing>,
    /// To be written when the session is authenticated again.
    held: VecDeque<Outgoing>,
    gate: Gate,
    /// Written, or about to be; answers come in this order.
    waiting: VecDeque<Waiting>,
    poison: Option<Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Requests go out.
    Open,
    /// Only those of authentication do: a broker takes nothing else in between (KIP-368).
    Closed,
}

/// Who a request comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Normal,
    Authentication,
}

struct Outgoing {
    frame: Frame,
    waiting: Waiting,
}

struct Waiting {
    correlation_id: i32,
    api: ApiKey,
    version: i16,
    /// Whether the broker answers; a Produce with acks=0 has none.
    answered: bool,
    reply: oneshot::Sender<Result<Bytes>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails everybody who waits and everybody who comes later. The first error is the one that stays.
    pub(super) fn poison(&self, error: Error) {
        let mut state = self.state();
        if state.poison.is_some() {
            return;
        }
        let error = match error.context().broker {
            Some(_) => error,
            None => error.at_broker(Arc::clone(&self.broker)),
        };
        state.poison = Some(error.clone());
        let unsent: Vec<_> = state.queue.drain(..).collect();
        let held: Vec<_> = state.held.drain(..).collect();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.writable.notify_one();
        self.stop_reader.notify_one();
        if error.kind() != ErrorKind::Closed {
            tracing::debug!(broker = %self.broker, %error, "connection ended");
        }
        for outgoing in unsent.into_iter().chain(held) {
            let _ = outgoing.waiting.reply.send(Err(error.clone()));
        }
        for one in waiting {
            let error = error.clone().in_api(one.api, one.version);
            let _ = one.reply.send(Err(error.maybe_written(true)));
        }
    }

    pub(super) fn is_poisoned(&self) -> bool {
        self.state().poison.is_some()
    }

    /// Moves all that is queued to `frames`. From here on an answer may come. The replies are those of
    /// requests without an answer, to be told when they are written.
    pub(super) fn take_queued(
        &self,
        frames: &mut VecDeque<Frame>,
        unanswered: &mut Vec<oneshot::Sender<Result<Bytes>>>,
    ) {
        let mut state = self.state();
        let state = &mut *state;
        for outgoing in state.queue.drain(..) {
            frames.push_back(outgoing.frame);
            if outgoing.waiting.answered {
                state.waiting.push_back(outgoing.waiting);
            } else {
                unanswered.push(outgoing.waiting.reply);
            }
        }
    }

    /// Hands an answer to whoever waits for it.
    pub(super) fn answer(&self, content: Bytes) -> Result<()> {
        let id = ResponseHeader::peek(&content)?.correlation_id;
        let Some(waiting) = self.state().waiting.pop_front() else {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!("an answer with correlation id {id} came, and nothing was asked"),
            ));
        };
        if waiting.correlation_id != id {
            let error = Error::new(
                ErrorKind::Protocol,
                format!(
                    "the answer to {} has correlation id {id}, not {}: answers are out of step",
                    waiting.api, waiting.correlation_id
                ),
            );
            let _ = waiting.reply.send(Err(error.clone().maybe_written(true)));
            return Err(error);
        }
        // Nobody listens when the request was given up.
        let _ = waiting.reply.send(Ok(content));
        Ok(())
    }
}

impl Connection {
    /// Starts the two tasks on `stream`. ApiVersions and authentication are the caller's to do first.
    pub(super) fn start(stream: BoxStream, broker: Arc<str>, config: ConnectionConfig) -> Self {
        let shared = Arc::new(Shared {
            broker,
            config,
            versions: OnceLock::new(),
            next_correlation: AtomicI32::new(0),
            state: Mutex::new(State {
                queue: VecDeque::new(),
                held: VecDeque::new(),
                gate: Gate::Open,
                waiting: VecDeque::new(),
                poison: None,
            }),
            writable: Notify::new(),
            stop_reader: Notify::new(),
        });
        let (read, write) = tokio::io::split(stream);
        tokio::spawn(reader::run(read, Arc::clone(&shared)));
        tokio::spawn(writer::run(write, Arc::clone(&shared)));
        Self {
            _close: Arc::new(CloseOnDrop(Arc::clone(&shared))),
            shared,
        }
    }

    /// The broker, for messages.
    pub(crate) fn broker(&self) -> &Arc<str> {
        &self.shared.broker
    }

    /// Whether it still works, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.shared.is_poisoned()
    }

    /// Resolves when the connection has ended, without keeping it open.
    pub(super) fn downgrade(&self) -> WeakConnection {
        WeakConnection {
            shared: Arc::clone(&self.shared),
            close: Arc::downgrade(&self._close),
        }
    }

    pub(super) fn set_versions(&self, versions: BrokerVersions) {
        // Set once, by the handshake.
        let _ = self.shared.versions.set(versions);
    }

    /// The version of an API to speak: the highest that both sides and `wanted` have.
    pub(crate) fn negotiate(&self, api: ApiKey, wanted: VersionRange) -> Result<i16> {
        let Some(versions) = self.shared.versions.get() else {
            // Before ApiVersions was answered, only authentication asks, and says which version it wants.
            return Ok(wanted.max);
        };
        versions
            .negotiate_in(api, wanted)
            .map_err(|error| Error::from(error).at_broker(Arc::clone(&self.shared.broker)))
    }

    pub(super) fn set_gate(&self, open: bool) {
        let mut state = self.shared.state();
        if open {
            state.gate = Gate::Open;
            let held = std::mem::take(&mut state.held);
            state.queue.extend(held);
            drop(state);
            self.shared.writable.notify_one();
        } else {
            state.gate = Gate::Closed;
        }
    }

    /// Queues a request in a version that was negotiated before. The answer can be awaited or forgotten; the
    /// request goes out in either case.
    pub(crate) fn send<R: Request>(
        &self,
        version: i16,
        request: &R,
        timeout: Duration,
    ) -> Result<Answer<R>> {
        self.enqueue(version, request, timeout, Lane::Normal, true)
    }

    /// Queues a request that the broker does not answer. Resolves when it was written.
    pub(crate) fn send_unanswered<R: Request>(
        &self,
        version: i16,
        request: &R,
        timeout: Duration,
    ) -> Result<Answer<R>> {
        self.enqueue(version, request, timeout, Lane::Normal, false)
    }

    pub(super) fn enqueue<R: Request>(
        &self,
        version: i16,
        request: &R,
        timeout: Duration,
        lane: Lane,
        answered: bool,
    ) -> Result<Answer<R>> {
        let shared = &self.shared;
        let correlation_id = shared.next_correlation.fetch_add(1, Ordering::Relaxed) & i32::MAX;
        let client_id = Some(shared.config.client_id.to_string());
        let header = RequestHeader::new::<R>(version, correlation_id, client_id);
        // Encoded before the lock is taken. Ids may then go out in another order, which nothing minds.
        let frame = Frame::request(&header, request)?;
        let (reply, receiver) = oneshot::channel();
        let outgoing = Outgoing {
            frame,
            waiting: Waiting {
                correlation_id,
                api: R::API,
                version,
                answered,
                reply,
            },
        };
        let mut state = shared.state();
        if let Some(error) = &state.poison {
            return Err(error.clone());
        }
        if state.gate == Gate::Closed && lane == Lane::Normal {
            state.held.push_back(outgoing);
        } else {
            state.queue.push_back(outgoing);
            drop(state);
            shared.writable.notify_one();
        }
        Ok(Answer {
            receiver,
            deadline: Box::pin(sleep_until(Instant::now() + timeout)),
            timeout,
            version,
            answered,
            shared: Arc::clone(shared),
            request: PhantomData,
        })
    }

    /// Sends a request in the highest common version, and waits for the answer.
    ///
    /// Cancel-safe: the request goes out or not, the answer is dropped.
    pub(crate) async fn call<R: Request>(&self, request: &R) -> Result<R::Response> {
        let version = self.negotiate(R::API, R::VERSIONS)?;
        self.send(version, request, self.shared.config.request_timeout)?
            .await
    }

    pub(super) fn poison(&self, error: Error) {
        self.shared.poison(error);
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("broker", &self.shared.broker)
            .field("open", &self.is_open())
            .finish_non_exhaustive()
    }
}

/// A connection that closes without regard to this.
pub(super) struct WeakConnection {
    shared: Arc<Shared>,
    close: std::sync::Weak<CloseOnDrop>,
}

impl WeakConnection {
    pub(super) fn upgrade(&self) -> Option<Connection> {
        let close = self.close.upgrade()?;
        (!self.shared.is_poisoned()).then(|| Connection {
            shared: Arc::clone(&self.shared),
            _close: close,
        })
    }
}

/// The answer to come. When it does not come in time, the connection is given up: answers are in order, so
/// none behind it would come either.
pub(crate) struct Answer<R: Request> {
    receiver: oneshot::Receiver<Result<Bytes>>,
    deadline: Pin<Box<Sleep>>,
    timeout: Duration,
    version: i16,
    answered: bool,
    shared: Arc<Shared>,
    request: PhantomData<fn() -> R>,
}

impl<R: Request> Answer<R> {
    fn decode(&self, content: Bytes) -> Result<R::Response> {
        frame::read_response::<R>(self.version, content)
            .map(|(_, response)| response)
            .map_err(|error| {
                Error::from(error)
                    .at_broker(Arc::clone(&self.shared.broker))
                    .maybe_written(true)
            })
    }

    /// The answer; `None` when the request has none, and was handed to the operating system.
    pub(crate) fn poll_response(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<R::Response>>> {
        let content = ready!(self.poll_content(cx));
        Poll::Ready(
            content.and_then(|content| self.answered.then(|| self.decode(content)).transpose()),
        )
    }

    /// The content of the answer's frame, not decoded.
    pub(super) fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes>> {
        if let Poll::Ready(received) = Pin::new(&mut self.receiver).poll(cx) {
            return Poll::Ready(received.unwrap_or_else(|_| {
                // Only when the runtime is going down.
                Err(Error::new(ErrorKind::Closed, "the connection's task ended")
                    .maybe_written(true))
            }));
        }
        ready!(self.deadline.as_mut().poll(cx));
        let error = Error::new(
            ErrorKind::Timeout,
            format!("no answer within {:?}", self.timeout),
        )
        .at_broker(Arc::clone(&self.shared.broker));
        self.shared.poison(error.clone());
        // Poisoning has told our own receiver, and knows better whether the request went out.
        Poll::Ready(match self.receiver.try_recv() {
            Ok(received) => received,
            Err(_) => Err(error.in_api(R::API, self.version).maybe_written(true)),
        })
    }
}

impl<R: Request> Future for Answer<R> {
    type Output = Result<R::Response>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let content = ready!(self.poll_content(cx));
        Poll::Ready(content.and_then(|content| self.decode(content)))
    }
}

/// What the end of a stream means, for the error.
pub(super) fn io_error(doing: &str, error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::TimedOut => ErrorKind::Timeout,
        _ => ErrorKind::Disconnected,
    };
    Error::new(kind, format!("{doing}: {error}"))
}
