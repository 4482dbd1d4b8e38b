//! The task that commits offsets: one request at a time, so that an older offset never overtakes a newer one.

use std::collections::HashMap;
use std::sync::Arc;

use copart_protocol::messages::offset_commit::OffsetCommitRequest;
use copart_protocol::{ApiKey, ErrorCode, Request};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::group::Identity;
use super::offsets::{self, COMMIT_VERSIONS, Committed, Verdict};
use super::shared::{Command, CommitRequest, Shared};
use crate::cluster::Route;
use crate::telemetry::{names, spans};
use crate::{Error, ErrorKind, Result, TopicPartition};

/// The first version that KIP-848's members can commit with.
const EPOCHS: i16 = 9;

pub(crate) async fn run(shared: Arc<Shared>, mut requests: mpsc::UnboundedReceiver<CommitRequest>) {
    while let Some(first) = requests.recv().await {
        let mut round = Round::new(&shared, first);
        // Whatever else waits goes along.
        while let Ok(next) = requests.try_recv() {
            round.add(next);
        }
        round.work().await;
    }
}

/// Someone who waits for an outcome.
struct Waiter {
    reply: Option<oneshot::Sender<Result<()>>>,
    partitions: Vec<TopicPartition>,
    error: Option<Error>,
}

/// What is committed with one request, and again until it is or never will be.
struct Round<'a> {
    shared: &'a Shared,
    offsets: HashMap<TopicPartition, (u64, Committed)>,
    waiters: Vec<Waiter>,
    deadline: Instant,
}

/// What came of one try.
enum Outcome {
    /// All is settled.
    Settled,
    /// The rest is to be tried again after a while, or, if it was for the member that it failed, as soon as that is
    /// another one.
    Again {
        error: Error,
        by: Option<Option<Identity>>,
    },
}

impl<'a> Round<'a> {
    fn new(shared: &'a Shared, first: CommitRequest) -> Self {
        let mut round = Self {
            shared,
            offsets: HashMap::new(),
            waiters: Vec::new(),
            deadline: first.deadline,
        };
        round.add(first);
        round
    }

    fn add(&mut self, request: CommitRequest) {
        self.deadline = self.deadline.max(request.deadline);
        let mut partitions = Vec::with_capacity(request.offsets.len());
        for one in request.offsets {
            partitions.push(one.partition.clone());
            // The one that was asked for last counts.
            self.offsets
                .insert(one.partition, (one.assignment, one.offset));
        }
        self.waiters.push(Waiter {
            reply: request.reply,
            partitions,
            error: None,
        });
    }

    async fn work(mut self) {
        let mut failures = 0;
        loop {
            self.drop_what_is_gone();
            if self.offsets.is_empty() {
                break;
            }
            let (error, by) = match timeout_at(self.deadline, self.attempt()).await {
                Ok(Outcome::Settled) => continue,
                Ok(Outcome::Again { error, by }) => (error, by),
                Err(_) => (Error::new(ErrorKind::Timeout, "no answer in time"), None),
            };
            tracing::debug!(group = %self.shared.settings.group, %error, "a commit is tried again");
            failures += 1;
            let next = Instant::now() + self.shared.settings.reader.backoff.after(failures);
            if next >= self.deadline {
                let reason = format!("offsets were not committed in time; the last try: {error}");
                let error = Error::new(ErrorKind::Timeout, reason).caused_by(error);
                let rest: Vec<_> = self
                    .offsets
                    .drain()
                    .map(|(partition, _)| partition)
                    .collect();
                for partition in rest {
                    self.failed(&partition, &error);
                }
                break;
            }
            let mut identity = self.shared.identity.subscribe();
            let another = identity.wait_for(|now| by.as_ref().is_some_and(|by| now != by));
            tokio::select! {
                _ = another => {}
                () = sleep_until(next) => {}
            }
        }
        for waiter in self.waiters {
            let outcome = waiter.error.map_or(Ok(()), Err);
            match waiter.reply {
                // Whoever does not wait any more does not care.
                Some(reply) => drop(reply.send(outcome)),
                None => {
                    if let Err(error) = outcome {
                        tracing::warn!(%error, "offsets were not committed");
                    }
                }
            }
        }
    }

    fn failed(&mut self, partition: &TopicPartition, error: &Error) {
        metrics::counter!(names::COMMIT_FAILURES, "topic" => partition.topic.to_string())
            .increment(1);
        let TopicPartition {
            topic,
            partition: index,
        } = partition;
        let error = error.clone().in_partition(Arc::clone(topic), *index);
        let error = error.in_group(Arc::clone(&self.shared.settings.group));
        for waiter in &mut self.waiters {
            if waiter.partitions.contains(partition) {
                waiter.error.get_or_insert_with(|| error.clone());
            }
        }
    }

    /// What is not ours any more must not be committed: another member goes on from what it found.
    fn drop_what_is_gone(&mut self) {
        let gone: Vec<TopicPartition> = {
            let progress = self.shared.progress();
            let all = self.offsets.iter();
            all.filter(|(partition, (number, _))| {
                progress.assignment_of(partition) != Some(*number)
            })
            .map(|(partition, _)| partition.clone())
            .collect()
        };
        for partition in gone {
            self.offsets.remove(&partition);
            let error = self.shared.not_ours(&partition);
            self.failed(&partition, &error);
        }
    }

    async fn attempt(&mut self) -> Outcome {
        let Some(by) = self.shared.identity.borrow().clone() else {
            let error = Error::new(
                ErrorKind::Timeout,
                "the consumer is on its way into the group",
            );
            return Outcome::Again {
                error,
                by: Some(None),
            };
        };
        match self.send(&by).await {
            Ok(outcomes) => self.answered(&by, &outcomes),
            Err(error) => {
                self.shared.cluster.forget_coordinator(&self.shared.of);
                if error.is_retriable() {
                    return Outcome::Again { error, by: None };
                }
                let rest: Vec<_> = self
                    .offsets
                    .drain()
                    .map(|(partition, _)| partition)
                    .collect();
                for partition in rest {
                    self.failed(&partition, &error);
                }
                Outcome::Settled
            }
        }
    }

    async fn send(&self, by: &Identity) -> Result<HashMap<TopicPartition, ErrorCode>> {
        let cluster = &self.shared.cluster;
        let route = Route::Coordinator(self.shared.of.clone());
        let connection = cluster.route(&route).await?;
        let mut versions = COMMIT_VERSIONS;
        if by.is_epoch {
            versions.min = EPOCHS;
        } else if by.instance_id.is_some() {
            versions.min = 7;
        }
        let version = connection.negotiate(OffsetCommitRequest::API, versions)?;
        let offsets = self.offsets.iter();
        let request = offsets::commit_request(
            &self.shared.settings.group,
            by,
            offsets.map(|(partition, (_, offset))| (partition, offset)),
        );
        let timeout = cluster.request_timeout();
        let span = spans::commit(
            &self.shared.settings.group,
            connection.broker(),
            self.offsets
                .iter()
                .map(|(partition, (_, offset))| (partition, offset)),
            self.offsets.len(),
        );
        let answer = match connection.send(version, &request, timeout) {
            Ok(answer) => answer.await,
            Err(error) => Err(error),
        };
        let response = answer.inspect_err(|error| spans::unanswered(&span, error))?;
        let outcomes = offsets::commit_outcomes(&response);
        if let Some(refusal) = outcomes.values().find(|code| !code.is_none()) {
            spans::failed(&span, refusal);
        }
        Ok(outcomes)
    }

    fn answered(
        &mut self,
        by: &Identity,
        outcomes: &HashMap<TopicPartition, ErrorCode>,
    ) -> Outcome {
        let mut again = None;
        let mut of_member = None;
        let mut refused = Vec::new();
        {
            let mut progress = self.shared.progress();
            self.offsets.retain(|partition, (number, offset)| {
                let code = outcomes.get(partition).copied();
                let code = code.unwrap_or(ErrorCode::UNKNOWN_SERVER_ERROR);
                if code.is_none() {
                    if progress.assignment_of(partition) == Some(*number) {
                        progress.committed(partition, offset.clone());
                    }
                    metrics::counter!(names::COMMITS, "topic" => partition.topic.to_string())
                        .increment(1);
                    return false;
                }
                let error = Error::from_code(code, None).in_api(ApiKey::OffsetCommit, EPOCHS);
                match Verdict::of(code) {
                    Verdict::Move => {
                        self.shared.cluster.forget_coordinator(&self.shared.of);
                        again = Some((error, false));
                        true
                    }
                    Verdict::Retry => {
                        again = Some((error, false));
                        true
                    }
                    Verdict::AfterRebalance => {
                        of_member = Some(code);
                        again = Some((error, true));
                        true
                    }
                    Verdict::Gone => {
                        of_member = Some(code);
                        // The member may have joined again since, and have kept the partition.
                        if self.shared.identity.borrow().as_ref() != Some(by) {
                            again = Some((error, false));
                            return true;
                        }
                        refused.push((partition.clone(), None));
                        false
                    }
                    Verdict::Refused => {
                        refused.push((partition.clone(), Some(error)));
                        false
                    }
                }
            });
        }
        for (partition, error) in refused {
            let error = error.unwrap_or_else(|| self.shared.not_ours(&partition));
            self.failed(&partition, &error);
        }
        if let Some(code) = of_member {
            // If the driver is gone, so is the member.
            let _ = self
                .shared
                .commands
                .send(Command::Committed(by.clone(), code));
        }
        match again {
            Some((error, wait)) => Outcome::Again {
                error,
                by: wait.then(|| Some(by.clone())),
            },
            None => Outcome::Settled,
        }
    }
}
