//! The task that keeps the view of the cluster fresh.

use std::sync::{Arc, Weak};
use std::time::Duration;

use copart_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse,
};
use copart_protocol::{ErrorCode, VersionRange};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::pool::Use;
use super::{Cluster, Shared};
use crate::net::{Address, Connection};
use crate::telemetry::names;
use crate::{Error, ErrorKind, Result};

/// How much later the next bootstrap address is tried.
const STAGGER: Duration = Duration::from_millis(250);

/// Runs until the last handle of the cluster is gone.
pub(super) async fn run(weak: Weak<Shared>) {
    let mut failures = 0u32;
    let mut last = Instant::now();
    loop {
        let Some(shared) = weak.upgrade() else { return };
        let refresh = Arc::clone(&shared.refresh);
        let age = last + shared.config.max_age;
        let backoff = shared.config.backoff;
        drop(shared);
        tokio::select! {
            () = refresh.notified() => {}
            () = sleep_until(age) => {}
        }
        let Some(shared) = weak.upgrade() else { return };
        // Not more often than that, except for topics that nobody has asked for yet.
        let earliest = last + backoff.after(failures.max(1));
        if failures > 0 || !shared.wanted().is_urgent() {
            drop(shared);
            sleep_until(earliest).await;
        }
        let Some(shared) = weak.upgrade() else { return };
        let cluster = Cluster::from(shared);
        let result = cluster.refresh_now().await;
        last = Instant::now();
        match &result {
            Ok(()) => failures = 0,
            Err(error) => {
                failures = failures.saturating_add(1);
                tracing::warn!(%error, failures, "metadata could not be refreshed");
                cluster.shared.refresh.notify_one();
            }
        }
        cluster.shared.attempts.send_modify(|attempts| {
            attempts.count += 1;
            attempts.error = result.err();
        });
    }
}

impl Cluster {
    /// Asks for metadata until a broker answers: brokers that we are connected to, then all that are known,
    /// then those of the configuration (KIP-899).
    ///
    /// Cancel-safe.
    pub(crate) async fn refresh_now(&self) -> Result<()> {
        let view = self.view();
        let mut open = Vec::new();
        let mut others = Vec::new();
        for broker in view.brokers() {
            match self
                .shared
                .pool
                .open(broker.id, Use::General, &broker.address)
            {
                Some(connection) => open.push(connection),
                None => others.push(broker.clone()),
            }
        }
        fastrand::shuffle(&mut open);
        fastrand::shuffle(&mut others);
        let mut failures = Vec::new();
        for connection in open {
            match self.refresh_from(&connection).await {
                Ok(()) => return Ok(()),
                Err(error) => failures.push(error),
            }
        }
        for broker in others {
            let pool = &self.shared.pool;
            let attempt = async {
                let connection = pool
                    .connect(broker.id, Use::General, &broker.address, false)
                    .await?;
                self.refresh_from(&connection).await
            };
            match attempt.await {
                Ok(()) => return Ok(()),
                Err(error) => failures.push(error),
            }
        }
        self.bootstrap(failures).await
    }

    /// Starts from the addresses of the configuration, as at the beginning. They are tried side by side, each
    /// a little later than the one before, so that one which swallows packets does not use up the time.
    async fn bootstrap(&self, mut failures: Vec<Error>) -> Result<()> {
        if !failures.is_empty() {
            tracing::info!("no known broker answers: going back to the bootstrap addresses");
        }
        let timeout = self.shared.pool.dialer().connect_timeout;
        let deadline = Instant::now() + timeout;
        let mut addresses: Vec<&Address> = self.shared.config.bootstrap.iter().collect();
        fastrand::shuffle(&mut addresses);
        let mut attempts = JoinSet::new();
        for (place, address) in (0..).zip(addresses) {
            let (cluster, address) = (self.clone(), address.clone());
            attempts.spawn(async move {
                let attempt = async {
                    tokio::time::sleep(STAGGER * place).await;
                    // Not kept: the same broker is dialled as a node once its id is known.
                    let connection = cluster.shared.pool.dialer().dial(&address, None).await?;
                    cluster.refresh_from(&connection).await
                };
                tokio::time::timeout_at(deadline, attempt)
                    .await
                    .unwrap_or_else(|_| {
                        let reason = format!("no answer within {timeout:?}");
                        Err(Error::new(ErrorKind::Connect, reason).at_broker(address.to_string()))
                    })
            });
        }
        while let Some(attempt) = attempts.join_next().await {
            match attempt {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => failures.push(error),
                Err(error) => failures.push(Error::new(ErrorKind::Closed, error.to_string())),
            }
        }
        Err(unreachable(failures))
    }

    async fn refresh_from(&self, connection: &Connection) -> Result<()> {
        let topics = self.shared.wanted().to_ask();
        let request = MetadataRequest {
            topics: Some(
                topics
                    .iter()
                    .map(|name| MetadataRequestTopic {
                        name: Some(name.to_string()),
                        ..MetadataRequestTopic::default()
                    })
                    .collect(),
            ),
            allow_auto_topic_creation: self.shared.config.allow_auto_create,
            ..MetadataRequest::default()
        };
        let response = self.metadata(connection, &request).await?;
        self.accept(&response, &topics)
    }

    /// In version 4 and later: before that, auto-creation cannot be turned off.
    async fn metadata(
        &self,
        connection: &Connection,
        request: &MetadataRequest,
    ) -> Result<MetadataResponse> {
        let api = copart_protocol::ApiKey::Metadata;
        let version = connection.negotiate(api, VersionRange::new(4, api.versions().max))?;
        connection
            .send(version, request, self.shared.config.request_timeout)?
            .await
            .map_err(|error| match error.kind() {
                ErrorKind::Disconnected if !self.shared.config.has_sasl => Error::new(
                    ErrorKind::Disconnected,
                    format!("{}: does the listener expect SASL?", error.reason()),
                )
                .at_broker(Arc::clone(connection.broker()))
                .caused_by(error),
                _ => error.maybe_written(false),
            })
    }

    fn accept(&self, response: &MetadataResponse, asked: &[Arc<str>]) -> Result<()> {
        if response.error_code == ErrorCode::REBOOTSTRAP_REQUIRED {
            return Err(Error::from_code(response.error_code, None));
        }
        if response.brokers.is_empty() {
            return Err(Error::new(
                ErrorKind::Protocol,
                "the broker says that the cluster has no brokers",
            ));
        }
        let mut merged = Arc::clone(&self.view());
        {
            // Held over both, so that whoever wants a topic finds either the old or the new state of things.
            let mut wanted = self.shared.wanted();
            wanted.answered(asked);
            let idle = wanted.forget_idle(self.shared.config.max_idle);
            self.shared.view.send_modify(|view| {
                let mut news = view.merge(response);
                news.forget(&idle);
                *view = Arc::new(news);
                merged = Arc::clone(view);
            });
        }
        tracing::debug!(brokers = merged.brokers().len(), "metadata refreshed");
        self.shared
            .pool
            .retain(|node| merged.broker(node).is_some());
        metrics::counter!(names::REFRESHES).increment(1);
        Ok(())
    }
}

/// One error for all that was tried.
fn unreachable(mut failures: Vec<Error>) -> Error {
    if failures.len() == 1 {
        return failures.remove(0);
    }
    // If one was reached and refused us, that is what has to be mended.
    let kind = failures
        .iter()
        .map(Error::kind)
        .find(|kind| matches!(kind, ErrorKind::Authentication | ErrorKind::Authorization))
        .unwrap_or(ErrorKind::Connect);
    let reasons: Vec<String> = failures.iter().map(ToString::to_string).collect();
    let error = Error::new(
        kind,
        format!("no broker could be reached: {}", reasons.join("; ")),
    );
    match failures.pop() {
        Some(last) => error.caused_by(last),
        None => error,
    }
}
