//! The cluster: who its brokers are, who leads what, and connections to them.
//!
//! - `view`: what is known, as a value.
//! - `refresh`: the task that replaces it.
//! - `pool`: connections.
//! - `coordinator`: who coordinates what.
//! - `wanted`: which topics to ask for.
//! - `request`: any request to the broker it belongs to.

mod coordinator;
mod pool;
mod refresh;
mod request;
mod view;
mod wanted;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use copart_protocol::ErrorCode;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

pub use coordinator::Coordinated;
pub(crate) use pool::{Pool, Use};
pub(crate) use request::Target;
pub use request::{RequestBuilder, Route};
pub use view::{Broker, ClusterView, Partition, Topic};
use wanted::Wanted;
pub(crate) use wanted::{Hold, Interest};

use crate::backoff::Backoff;
use crate::net::{Address, Connection};
use crate::{Error, ErrorKind, Result};

/// How the cluster is found and watched.
#[derive(Clone, Debug)]
pub(crate) struct ClusterConfig {
    pub(crate) bootstrap: Vec<Address>,
    /// How old metadata may get.
    pub(crate) max_age: Duration,
    /// How long topics that nobody uses are kept.
    pub(crate) max_idle: Duration,
    /// The rack that the client stands in.
    pub(crate) rack: Option<Arc<str>>,
    pub(crate) backoff: Backoff,
    pub(crate) request_timeout: Duration,
    pub(crate) allow_auto_create: bool,
    pub(crate) has_sasl: bool,
}

/// A handle. The task that refreshes ends with the last one.
#[derive(Clone)]
pub(crate) struct Cluster {
    shared: Arc<Shared>,
}

struct Shared {
    config: ClusterConfig,
    pool: Pool,
    view: watch::Sender<Arc<ClusterView>>,
    attempts: watch::Sender<Attempts>,
    refresh: Arc<Notify>,
    wanted: Mutex<Wanted>,
    coordinators: Mutex<HashMap<Coordinated, i32>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The task sees that nobody is left.
        self.refresh.notify_one();
    }
}

/// How often metadata was asked for, and how the last time ended.
#[derive(Clone, Default)]
struct Attempts {
    count: u64,
    error: Option<Error>,
}

/// Answers in a row that say a topic does not exist until that is believed: a new topic is not known to all
/// brokers at once.
const UNKNOWN_TOPIC_TRIES: u32 = 5;

impl Shared {
    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn coordinators(&self) -> MutexGuard<'_, HashMap<Coordinated, i32>> {
        self.coordinators
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Arc<Shared>> for Cluster {
    fn from(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl Cluster {
    /// Starts the task that refreshes. Nothing is asked yet.
    pub(crate) fn start(config: ClusterConfig, pool: Pool) -> Self {
        let shared = Arc::new(Shared {
            config,
            pool,
            view: watch::Sender::new(Arc::new(ClusterView::default())),
            attempts: watch::Sender::new(Attempts::default()),
            refresh: Arc::new(Notify::new()),
            wanted: Mutex::new(Wanted::new()),
            coordinators: Mutex::default(),
        });
        tokio::spawn(refresh::run(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// What is known now.
    pub(crate) fn view(&self) -> Arc<ClusterView> {
        Arc::clone(&self.shared.view.borrow())
    }

    /// Told of each new view.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.shared.view.subscribe()
    }

    /// The rack that the client stands in, if it was told.
    pub(crate) fn rack(&self) -> Option<&Arc<str>> {
        self.shared.config.rack.as_ref()
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        self.shared.config.request_timeout
    }

    pub(crate) fn metadata_max_age(&self) -> Duration {
        self.shared.config.max_age
    }

    pub(crate) fn backoff(&self) -> Backoff {
        self.shared.config.backoff
    }

    /// Asks for new metadata soon, and returns at once.
    pub(crate) fn refresh_soon(&self) {
        self.shared.refresh.notify_one();
    }

    /// Waits for metadata that was asked for from now on, or until `deadline`.
    ///
    /// Cancel-safe.
    pub(crate) async fn refreshed(&self, deadline: Instant) {
        let mut attempts = self.shared.attempts.subscribe();
        attempts.borrow_and_update();
        self.refresh_soon();
        let _ = tokio::time::timeout_at(deadline, attempts.changed()).await;
    }

    /// Asks for a topic until the result is dropped, also while nobody uses it.
    pub(crate) fn hold(&self, topic: &str) -> Hold {
        self.shared.wanted().hold(topic)
    }

    /// Asks for a topic while it is used: until it was not for as long as topics are kept.
    pub(crate) fn touch(&self, topic: &str) -> Arc<Interest> {
        self.shared.wanted().touch(topic)
    }

    /// A topic that exists. Waits for metadata until `deadline`.
    ///
    /// Cancel-safe.
    pub(crate) async fn topic(&self, name: &str, deadline: Instant) -> Result<Arc<Topic>> {
        let mut attempts = self.shared.attempts.subscribe();
        let mut unknown = 0;
        self.touch(name);
        loop {
            let seen = attempts.borrow_and_update().clone();
            let view = self.view();
            if let Some(topic) = view.topic(name) {
                return Ok(Arc::clone(topic));
            }
            // Only an answer that came after the topic was wanted says anything about it.
            let code = view.topic_error(name);
            match code {
                Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) => unknown += 1,
                Some(code) if !code.is_retriable() => {
                    return Err(Error::from_code(code, None).in_topic(name));
                }
                _ => unknown = 0,
            }
            if unknown > UNKNOWN_TOPIC_TRIES && !self.shared.config.allow_auto_create {
                return Err(Error::from_code(
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                    Some("create it first, or allow brokers to create topics that are asked for"),
                )
                .in_topic(name));
            }
            self.refresh_soon();
            if tokio::time::timeout_at(deadline, attempts.changed())
                .await
                .is_err()
            {
                let reason = match (&seen.error, code) {
                    (Some(error), _) => format!("no metadata in time; the last try: {error}"),
                    (None, Some(code)) => format!("no metadata in time; the brokers say {code}"),
                    (None, None) => "no metadata in time".to_owned(),
                };
                let error = Error::new(ErrorKind::Timeout, reason).in_topic(name);
                return Err(match seen.error {
                    Some(cause) => error.caused_by(cause),
                    None => error,
                });
            }
        }
    }

    /// Who leads a partition now, as a broker said in another answer (KIP-951).
    pub(crate) fn learn_leader(
        &self,
        topic: &str,
        partition: i32,
        leader: i32,
        epoch: i32,
    ) -> bool {
        self.shared.view.send_if_modified(|view| {
            match view.with_leader(topic, partition, leader, epoch) {
                Some(news) => {
                    *view = Arc::new(news);
                    true
                }
                None => false,
            }
        })
    }

    /// Where a broker listens, as another one said.
    pub(crate) fn learn_broker(&self, id: i32, address: Address, rack: Option<&str>) {
        self.shared.view.send_if_modified(|view| {
            match view.with_broker(id, address.clone(), rack) {
                Some(news) => {
                    *view = Arc::new(news);
                    true
                }
                None => false,
            }
        });
    }

    /// A connection to a node, dialled if need be.
    ///
    /// Cancel-safe.
    pub(crate) async fn connection(&self, node: i32, usage: Use) -> Result<Connection> {
        let view = self.view();
        let Some(broker) = view.broker(node) else {
            return Err(Error::new(
                ErrorKind::Connect,
                format!("node {node} is not a broker of the cluster, as far as is known"),
            ));
        };
        let result = self
            .shared
            .pool
            .connect(node, usage, &broker.address, true)
            .await;
        if result.is_err() {
            // It may have moved, or be gone and its partitions be led by others.
            self.refresh_soon();
        }
        result
    }
}

impl Cluster {
    /// Forgets a connection that nobody will ask for again. It closes with its last handle.
    pub(crate) fn forget_connection(&self, node: i32, usage: Use) {
        self.shared.pool.forget(node, usage);
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}
