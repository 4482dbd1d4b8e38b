//! The task that sends to one broker: all partitions that it leads, in as few requests as they fit into.
//!
//! One sink stands for no broker at all. It keeps the partitions that have no leader, so that their records
//! are told when their time is over.

use std::collections::VecDeque;
use std::sync::Arc;

use copart_protocol::messages::produce::{ProduceRequest, ProduceResponse};
use copart_protocol::records::Compressor;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::core::{Answered, Attention, Effects, ProducerId, SealJob, is_stale};
use super::dispatch::{Draft, Sent, read_answer};
use super::inbox::Inbox;
use super::shared::{Phase, Shared};
use super::topic::{NO_LEADER, PartitionHandle};
use crate::cluster::Use;
use crate::net::{Answer, BoxFuture, Connection};
use crate::telemetry::{names, spans};
use crate::{Error, ErrorKind, Result};

/// Batches up to this size are compressed by the sink itself. Larger ones would hold up the others.
const COMPRESS_HERE: usize = 32 << 10;

pub(crate) async fn run(node: i32, shared: Arc<Shared>, inbox: Arc<Inbox>) {
    let mut phases = shared.watch_phase();
    let mut sink = Sink {
        node,
        shared,
        inbox,
        active: Vec::new(),
        connection: None,
        connecting: None,
        connect_failures: 0,
        connect_not_before: None,
        last_error: None,
        throttled_until: None,
        requests: VecDeque::new(),
        compressor: Compressor::new(),
    };
    sink.work(&mut phases).await;
}

struct Sink {
    /// The broker, or [`NO_LEADER`].
    node: i32,
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
    /// Partitions that hold something.
    active: Vec<Arc<PartitionHandle>>,
    connection: Option<Connection>,
    connecting: Option<BoxFuture<'static, Result<Connection>>>,
    connect_failures: u32,
    connect_not_before: Option<Instant>,
    last_error: Option<Error>,
    throttled_until: Option<Instant>,
    /// Without an answer so far, oldest first.
    requests: VecDeque<Request>,
    compressor: Compressor,
}

struct Request {
    answer: Answer<ProduceRequest>,
    sent: Vec<Sent>,
    sent_at: Instant,
}

/// What a look at a partition led to.
enum Look {
    /// It stays on the list.
    Keep,
    /// It holds nothing, or belongs to another sink.
    Drop,
    /// Something changed: look again.
    Again,
}

/// One round over the partitions.
struct Round {
    now: Instant,
    id: Result<Option<ProducerId>>,
    may_send: bool,
    draft: Draft,
    /// When to wake up at the latest.
    next: Option<Instant>,
    /// Something could go out, but for the connection or the answers that are missing.
    blocked: bool,
    sent: bool,
}

impl Round {
    fn wake_at(&mut self, at: Instant) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }
}

impl Sink {
    async fn work(&mut self, phases: &mut watch::Receiver<Phase>) {
        loop {
            if *phases.borrow_and_update() == Phase::Stopped {
                return;
            }
            let next = self.send_what_is_due();
            tokio::select! {
                biased;
                answer = next_answer(&mut self.requests) => self.on_answer(answer),
                connected = connected(&mut self.connecting) => self.on_connected(connected),
                changed = phases.changed() => if changed.is_err() { return },
                () = self.inbox.woken() => {}
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            }
        }
    }

    /// Sends all that may go now. The result is when something else will be due.
    fn send_what_is_due(&mut self) -> Option<Instant> {
        self.inbox.take_listed(&mut self.active);
        if self.active.is_empty() {
            self.inbox.set_blocked(false, Instant::now());
            return None;
        }
        loop {
            let round = self.round();
            if !round.sent {
                self.inbox.set_blocked(round.blocked, round.now);
                return round.next;
            }
            self.inbox.set_blocked(false, round.now);
        }
    }

    fn round(&mut self) -> Round {
        let now = Instant::now();
        let idempotent = self.shared.core_config.idempotent;
        let mut round = Round {
            now,
            id: if idempotent && self.node != NO_LEADER {
                self.shared.identity.get(&self.shared)
            } else {
                Ok(None)
            },
            may_send: self.may_send(now),
            draft: Draft::default(),
            next: None,
            blocked: false,
            sent: false,
        };
        let mut partitions = std::mem::take(&mut self.active);
        // Another one begins each time, so that none is always last.
        let first = 1 % partitions.len();
        partitions.rotate_left(first);
        partitions.retain(|partition| {
            loop {
                match self.look(partition, &mut round) {
                    Look::Keep => return true,
                    Look::Drop => return false,
                    Look::Again => {}
                }
            }
        });
        self.active = partitions;
        if !round.draft.is_empty() {
            self.dispatch(&mut round);
        }
        round
    }

    fn may_send(&mut self, now: Instant) -> bool {
        if self.throttled_until.is_some_and(|until| until <= now) {
            self.throttled_until = None;
        }
        if self
            .connection
            .as_ref()
            .is_some_and(|connection| !connection.is_open())
        {
            self.connection = None;
        }
        self.connection.is_some()
            && self.throttled_until.is_none()
            && self.requests.len() < self.shared.config.max_in_flight
    }

    fn look(&mut self, partition: &Arc<PartitionHandle>, round: &mut Round) -> Look {
        if partition.leader_node() != self.node {
            self.shared.list(partition);
            return Look::Drop;
        }
        let mut effects = Effects::default();
        let mut job = None;
        let mut taken = None;
        let mut slot = partition.lock();
        let core = &mut slot.core;
        let mut look = Look::Keep;
        let expired = core.expire(round.now, || {
            self.last_error.clone().or_else(|| self.shared.last_error())
        });
        if !expired.is_empty() {
            effects = expired;
            look = Look::Again;
        } else if let Err(error) = &round.id {
            effects = core.abort(error);
        } else {
            core.close_if_due(round.now, self.node);
            job = core.next_job();
        }
        if job.is_some() {
            look = Look::Again;
        } else if matches!(look, Look::Keep) {
            let id = round.id.as_ref().ok().copied().flatten();
            match core.attention(round.now, self.node) {
                Attention::Idle => {
                    slot.listed = false;
                    look = Look::Drop;
                }
                Attention::At(at) => round.wake_at(at),
                Attention::Now if self.node == NO_LEADER => round.wake_at(core.expiry(round.now)),
                Attention::Now if !round.may_send => {
                    round.blocked = true;
                    self.wait_for_connection(round);
                    round.wake_at(core.expiry(round.now));
                }
                Attention::Now => {
                    taken = core.take(round.now, self.node, id, &mut self.compressor, &mut effects);
                    match (&taken, id) {
                        (None, Some(id)) if core.has_used_up(id) => {
                            self.shared.identity.replace(id, &self.shared);
                        }
                        (None, _) if !effects.is_empty() => look = Look::Again,
                        _ => {}
                    }
                    // Woken by the id, by an answer or by the end of a compression before that.
                    round.wake_at(core.expiry(round.now));
                }
            }
        }
        partition.set_backlog(slot.core.backlog());
        drop(slot);
        self.shared.apply(effects);
        if let Some(job) = job {
            self.compress(partition, job);
        }
        if let Some(sending) = taken {
            let limit = self.shared.config.max_request_size;
            if !round.draft.fits(sending.batch.bytes().len(), limit) {
                self.dispatch(round);
            }
            let topic_id = self.shared.topic(&partition.topic).map(|topic| topic.id());
            let id = topic_id.unwrap_or_default();
            let connection = self.connection.as_ref();
            let broker = connection.map_or("", |connection| connection.broker());
            round.draft.add(Arc::clone(partition), id, sending, broker);
            // The draft is one request more, and is not counted among them yet.
            let open = self.requests.len() + 1;
            round.may_send = open < self.shared.config.max_in_flight
                || round.draft.fits(self.shared.core_config.batch_size, limit);
        }
        look
    }

    fn dispatch(&mut self, round: &mut Round) {
        let draft = std::mem::take(&mut round.draft);
        let Some(connection) = &self.connection else {
            return;
        };
        let (sent, result) = draft.send(connection, &self.shared);
        round.sent = true;
        match result {
            Ok(answer) => self.requests.push_back(Request {
                answer,
                sent,
                sent_at: round.now,
            }),
            Err(error) => {
                let answers = vec![Answered::Failed(error); sent.len()];
                self.settle(sent, answers);
            }
        }
    }

    fn wait_for_connection(&mut self, round: &mut Round) {
        if let Some(until) = self.throttled_until {
            return round.wake_at(until);
        }
        if self.connection.is_some() || self.connecting.is_some() {
            return;
        }
        match self.connect_not_before {
            Some(at) if at > round.now => round.wake_at(at),
            _ => {
                let (cluster, node) = (self.shared.cluster.clone(), self.node);
                self.connecting = Some(Box::pin(async move {
                    cluster.connection(node, Use::General).await
                }));
            }
        }
    }

    fn on_connected(&mut self, result: Result<Connection>) {
        self.connecting = None;
        match result {
            Ok(connection) => {
                self.connection = Some(connection);
                self.connect_failures = 0;
                self.connect_not_before = None;
                self.last_error = None;
            }
            Err(error) => {
                tracing::warn!(%error, node = self.node, "no connection to the leader of partitions");
                self.connect_failures = self.connect_failures.saturating_add(1);
                let wait = self.shared.core_config.backoff.after(self.connect_failures);
                self.connect_not_before = Some(Instant::now() + wait);
                self.last_error = Some(error);
            }
        }
    }

    fn on_answer(&mut self, result: Result<Option<ProduceResponse>>) {
        let Some(request) = self.requests.pop_front() else {
            return;
        };
        metrics::histogram!(names::REQUEST_TIME).record(request.sent_at.elapsed().as_secs_f64());
        let answers = match result {
            Ok(Some(response)) => {
                if response.throttle_time_ms > 0 {
                    // The broker will not read from us before (KIP-219).
                    let wait = std::time::Duration::from_millis(response.throttle_time_ms as u64);
                    self.throttled_until = Some(Instant::now() + wait);
                }
                read_answer(&request.sent, response, &self.shared.cluster)
            }
            Ok(None) => {
                let written = Answered::Written {
                    base_offset: None,
                    append_time: None,
                };
                vec![written; request.sent.len()]
            }
            Err(error) => {
                if matches!(error.kind(), ErrorKind::Disconnected | ErrorKind::Timeout) {
                    // The broker may be gone, and others lead what it led.
                    self.shared.cluster.refresh_soon();
                }
                vec![Answered::Failed(error); request.sent.len()]
            }
        };
        self.settle(request.sent, answers);
    }

    fn settle(&self, sent: Vec<Sent>, answers: Vec<Answered>) {
        let now = Instant::now();
        let mut stale = false;
        for (sent, answer) in sent.into_iter().zip(answers) {
            let partition = &sent.partition;
            match &answer {
                Answered::Written { base_offset, .. } => spans::written(&sent.span, *base_offset),
                Answered::Refused(code, _) => {
                    spans::failed(&sent.span, code);
                    if is_stale(*code) {
                        // It may have been idle for so long that it was forgotten.
                        self.shared.cluster.touch(&partition.topic);
                        stale = true;
                    }
                }
                Answered::Failed(error) => spans::failed(&sent.span, &error.kind()),
            }
            let (effects, newly) = {
                let mut slot = partition.lock();
                let effects = slot.core.answered(now, sent.order, self.node, answer);
                partition.set_backlog(slot.core.backlog());
                let newly = !slot.listed && !slot.core.is_idle();
                slot.listed |= newly;
                (effects, newly)
            };
            if effects.retried {
                metrics::counter!(names::RETRIES).increment(1);
            }
            self.shared.apply(effects);
            // This sink looks at its partitions anyway after an answer; another one has to be told.
            if newly {
                self.shared.list(partition);
            } else if partition.leader_node() != self.node {
                self.shared.attend(partition);
            }
        }
        if stale {
            self.shared.cluster.refresh_soon();
        }
    }

    /// Compresses a batch: here if it is small, else on a thread for such work.
    fn compress(&mut self, partition: &Arc<PartitionHandle>, job: SealJob) {
        if job.size() <= COMPRESS_HERE {
            let sealed = job.run(&mut self.compressor);
            let effects = partition.lock().core.finish_job(sealed);
            return self.shared.apply(effects);
        }
        let (partition, shared) = (Arc::clone(partition), Arc::clone(&self.shared));
        tokio::task::spawn_blocking(move || {
            let sealed = COMPRESSOR.with_borrow_mut(|compressor| job.run(compressor));
            let effects = partition.lock().core.finish_job(sealed);
            shared.apply(effects);
            shared.attend(&partition);
        });
    }
}

thread_local! {
    /// A codec's working memory costs more to set up than a batch takes to compress.
    static COMPRESSOR: std::cell::RefCell<Compressor> = std::cell::RefCell::new(Compressor::new());
}

/// The next answer. Never, if nothing was asked.
async fn next_answer(requests: &mut VecDeque<Request>) -> Result<Option<ProduceResponse>> {
    match requests.front_mut() {
        Some(request) => std::future::poll_fn(|cx| request.answer.poll_response(cx)).await,
        None => std::future::pending().await,
    }
}

/// The connection that is being opened. Never, if none is.
async fn connected(
    connecting: &mut Option<BoxFuture<'static, Result<Connection>>>,
) -> Result<Connection> {
    match connecting {
        Some(connecting) => connecting.await,
        None => std::future::pending().await,
    }
}
