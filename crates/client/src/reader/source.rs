//! The task that fetches from one broker: one request at a time, for all partitions that are read from it.

use std::sync::Arc;

use copart_protocol::messages::fetch::{FetchRequest, FetchResponse};
use copart_protocol::{ApiKey, Body, VersionRange};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::core::{Aftermath, Offered, Plan, TOPIC_IDS, Turn, read_answer};
use super::shared::Shared;
use crate::net::{Address, Connection};
use crate::telemetry::spans;
use crate::{Error, ErrorKind, Result};

pub(crate) async fn run(node: i32, shared: Arc<Shared>, woken: Arc<Notify>) {
    let mut source = Source {
        node,
        shared: Arc::clone(&shared),
        connection: None,
    };
    tokio::select! {
        () = shared.closed() => {}
        () = source.work(&woken) => {}
    }
    source.close().await;
}

struct Source {
    node: i32,
    shared: Arc<Shared>,
    connection: Option<(Connection, Offered)>,
}

impl Source {
    async fn work(&mut self, woken: &Notify) {
        loop {
            if self.connection.as_ref().is_some_and(|(c, _)| !c.is_open()) {
                self.connection = None;
            }
            let offered = self.connection.as_ref().map(|(_, offered)| *offered);
            let turn = self
                .shared
                .core()
                .poll_fetch(self.node, Instant::now(), offered);
            match turn {
                Turn::Wait(until) => tokio::select! {
                    () = woken.notified() => {}
                    () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {}
                },
                Turn::Connect => self.connect().await,
                Turn::Fetch(plan) => self.fetch(plan).await,
            }
        }
    }

    async fn connect(&mut self) {
        let cluster = &self.shared.cluster;
        let connected = cluster.connection(self.node, self.shared.usage()).await;
        let offered = connected.and_then(|connection| {
            let offered = offered(&connection)?;
            Ok((connection, offered))
        });
        match offered {
            Ok(connected) => self.connection = Some(connected),
            Err(error) => {
                self.shared.set_trouble(Some(&error));
                let now = Instant::now();
                let mut core = self.shared.core();
                if is_lasting(&error) {
                    core.locked_out(self.node, &error, now);
                } else {
                    core.unreachable(self.node, now);
                }
                drop(core);
                self.shared.wake_reader();
                self.shared.stir();
            }
        }
    }

    async fn fetch(&mut self, plan: Plan) {
        let Some((connection, _)) = &self.connection else {
            return;
        };
        let timeout = self.shared.cluster.request_timeout() + plan.wait;
        let group = self.shared.settings.group.as_deref();
        let span = spans::poll(group, connection.broker(), plan.partitions());
        let answer = match connection.send(plan.version, &plan.request, timeout) {
            Ok(answer) => answer.await,
            Err(error) => Err(error),
        };
        let mut aftermath = Aftermath::default();
        match answer {
            Ok(mut response) => {
                if !span.is_disabled() {
                    spans::received(&span, size(&response));
                }
                for endpoint in std::mem::take(&mut response.node_endpoints) {
                    if let Some(address) = Address::advertised(&endpoint.host, endpoint.port) {
                        let rack = endpoint.rack.as_deref();
                        let cluster = &self.shared.cluster;
                        cluster.learn_broker(endpoint.node_id, address, rack);
                    }
                }
                let answered = read_answer(response);
                let now = Instant::now();
                aftermath = self.shared.core().fetched(self.node, &plan, answered, now);
                self.shared.set_trouble(None);
            }
            Err(error) => {
                spans::unanswered(&span, &error);
                self.connection = None;
                self.shared.set_trouble(Some(&error));
                self.shared.core().lost(self.node, &plan, Instant::now());
                aftermath.refresh = true;
            }
        }
        self.shared.wake_reader();
        for (partition, leader, epoch) in aftermath.leaders {
            let cluster = &self.shared.cluster;
            cluster.learn_leader(&partition.topic, partition.partition, leader, epoch);
        }
        if aftermath.refresh {
            self.shared.cluster.refresh_soon();
        }
        // A position may be out of range, or a partition be read from another node from now on.
        self.shared.supervise.notify_one();
    }

    /// Tells the broker that the session is not used any more, as brokers keep a limited number of them, and
    /// closes the connection. The answer stands behind that to the last fetch, which may be waiting for records.
    async fn close(&mut self) {
        let cluster = &self.shared.cluster;
        cluster.forget_connection(self.node, self.shared.usage());
        let Some((connection, offered)) = self.connection.take() else {
            return;
        };
        let Some(session_id) = self.shared.core().session_to_close(self.node) else {
            return;
        };
        let request = FetchRequest {
            session_id,
            session_epoch: -1,
            ..FetchRequest::default()
        };
        let timeout = cluster.request_timeout() + self.shared.settings.max_wait;
        if let Ok(answer) = connection.send(offered.latest, &request, timeout) {
            // Whether it was told or not, it ends here.
            let _ = answer.await;
        }
    }
}

/// Bytes of batches in an answer.
fn size(response: &FetchResponse) -> usize {
    let topics = response.responses.iter();
    let partitions = topics.flat_map(|topic| &topic.partitions);
    partitions.map(|data| data.records.len()).sum()
}

fn offered(connection: &Connection) -> Result<Offered> {
    let all = FetchRequest::VERSIONS;
    Ok(Offered {
        latest: connection.negotiate(ApiKey::Fetch, all)?,
        by_name: connection.negotiate(ApiKey::Fetch, VersionRange::new(all.min, TOPIC_IDS - 1))?,
    })
}

/// Whether trying again is in vain until somebody changes something.
fn is_lasting(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Authentication
            | ErrorKind::Authorization
            | ErrorKind::UnsupportedVersion
            | ErrorKind::Config
    )
}
