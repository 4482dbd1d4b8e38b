//! Any request, to the broker that it belongs to.

use std::sync::Arc;
use std::time::Duration;

use copart_protocol::{Request, VersionRange};
use tokio::time::Instant;

use super::{Cluster, Coordinated, Use};
use crate::client::bounded;
use crate::net::Connection;
use crate::{Error, ErrorKind, Result};

/// Which broker a request goes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// Any that can be reached.
    #[default]
    Any,
    /// The one with this node id.
    Node(i32),
    /// The leader of a partition.
    Leader(Arc<str>, i32),
    /// The controller.
    Controller,
    /// The coordinator of a group or a transactional id.
    Coordinator(Coordinated),
}

/// Where a route leads to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Any,
    Node(i32, Use),
}

/// A request that was not sent yet.
///
/// By default it goes to any broker, in the highest version that both sides have.
#[must_use = "a request goes out when `send` is awaited"]
#[derive(Debug)]
pub struct RequestBuilder<R> {
    cluster: Cluster,
    request: R,
    route: Route,
    versions: VersionRange,
    timeout: Duration,
}

impl<R: Request> RequestBuilder<R> {
    pub(crate) fn new(cluster: Cluster, request: R) -> Self {
        let timeout = cluster.request_timeout();
        Self {
            cluster,
            request,
            route: Route::Any,
            versions: R::VERSIONS,
            timeout,
        }
    }

    /// Sends it along `route`.
    pub fn route(mut self, route: Route) -> Self {
        self.route = route;
        self
    }

    /// Sends it to any broker.
    pub fn any_broker(self) -> Self {
        self.route(Route::Any)
    }

    /// Sends it to the broker with this node id.
    pub fn node(self, id: i32) -> Self {
        self.route(Route::Node(id))
    }

    /// Sends it to the leader of a partition.
    pub fn leader(self, topic: impl Into<Arc<str>>, partition: i32) -> Self {
        self.route(Route::Leader(topic.into(), partition))
    }

    /// Sends it to the controller.
    pub fn controller(self) -> Self {
        self.route(Route::Controller)
    }

    /// Sends it to a coordinator.
    pub fn coordinator(self, of: Coordinated) -> Self {
        self.route(Route::Coordinator(of))
    }

    /// Uses no version outside of these.
    pub fn versions(mut self, versions: VersionRange) -> Self {
        self.versions = versions;
        self
    }

    /// How long the answer may take, from when the request is sent. A broker that takes longer loses the
    /// connection, and whatever else waits on it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = bounded(timeout);
        self
    }

    /// Sends it once, and waits for the answer. Error codes inside of the answer are the caller's to look
    /// at.
    ///
    /// # Errors
    /// When the broker is not found or not reached, has no such API or version, or does not answer. Then
    /// [`Error::possibly_written`] says whether it may have seen the request.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the broker acts on the request. The connection stays good.
    pub async fn send(self) -> Result<R::Response> {
        let connection = self.cluster.route(&self.route).await?;
        let version = connection.negotiate(R::API, self.versions)?;
        connection.send(version, &self.request, self.timeout)?.await
    }
}

impl Cluster {
    /// A connection to whoever a route leads to.
    ///
    /// Cancel-safe.
    pub(crate) async fn route(&self, route: &Route) -> Result<Connection> {
        let target = self.locate(route).await?;
        self.reach(target).await
    }

    /// Where a route leads to.
    ///
    /// Cancel-safe.
    pub(crate) async fn locate(&self, route: &Route) -> Result<Target> {
        Ok(match route {
            Route::Any => Target::Any,
            Route::Node(id) => Target::Node(*id, Use::General),
            Route::Controller => match self.view().controller() {
                Some(id) => Target::Node(id, Use::General),
                None => Target::Any,
            },
            Route::Leader(topic, partition) => {
                Target::Node(self.leader(topic, *partition).await?, Use::General)
            }
            Route::Coordinator(of) => {
                Target::Node(self.coordinator_boxed(of).await?, Use::Coordination)
            }
        })
    }

    /// A connection to where a route has led.
    ///
    /// Cancel-safe.
    pub(crate) async fn reach(&self, target: Target) -> Result<Connection> {
        match target {
            Target::Any => self.any().await,
            Target::Node(id, usage) => self.connection(id, usage).await,
        }
    }

    /// Finding a coordinator takes a route of its own, to any broker.
    fn coordinator_boxed<'a>(
        &'a self,
        of: &'a Coordinated,
    ) -> crate::net::BoxFuture<'a, Result<i32>> {
        Box::pin(self.coordinator(of))
    }

    async fn leader(&self, topic: &str, partition: i32) -> Result<i32> {
        let deadline = Instant::now() + self.request_timeout();
        let mut views = self.watch();
        let mut asked_again = false;
        loop {
            let known = self.topic(topic, deadline).await?;
            let index = usize::try_from(partition).unwrap_or(usize::MAX);
            let Some(found) = known.partitions.get(index) else {
                // It may have been added since metadata was asked for.
                if !asked_again {
                    asked_again = true;
                    self.refreshed(deadline).await;
                    continue;
                }
                return Err(Error::new(
                    ErrorKind::UnknownTopic,
                    format!("the topic has {} partitions", known.partitions.len()),
                )
                .in_partition(topic, partition));
            };
            if let Some(leader) = found.leader {
                return Ok(leader);
            }
            views.borrow_and_update();
            self.refresh_soon();
            if tokio::time::timeout_at(deadline, views.changed())
                .await
                .is_err()
            {
                return Err(
                    Error::new(ErrorKind::Timeout, "the partition has no leader")
                        .in_partition(topic, partition),
                );
            }
        }
    }

    async fn any(&self) -> Result<Connection> {
        let view = self.view();
        let mut brokers: Vec<_> = view.brokers().collect();
        fastrand::shuffle(&mut brokers);
        for broker in &brokers {
            if let Some(open) = self
                .shared
                .pool
                .open(broker.id, Use::General, &broker.address)
            {
                return Ok(open);
            }
        }
        let mut last = None;
        for broker in brokers {
            match self.connection(broker.id, Use::General).await {
                Ok(connection) => return Ok(connection),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| {
            Error::new(
                ErrorKind::Connect,
                "no broker is known yet: connect first, or wait for metadata",
            )
        }))
    }
}
