//! The task that carries out what the member of the group wants: requests, and the coming and going of partitions.
//!
//! It never waits for anything but the next thing to do, so that heartbeats go out whatever the application does.

use std::sync::Arc;

use copart_protocol::VersionRange;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::committer::Committer;
use super::group::{Action, Answer, GroupConfig, GroupCore, GroupRequest, Token};
use super::hooks::Rebalance;
use super::locate::{self, Located, Places};
use super::progress::Patience;
use super::release;
use super::shared::{Command, Shared};
use super::subscribed::Subscribed;
use crate::cluster::Use;
use crate::reader::{Anchor, Bound, OffsetReset, Origin, Start, time_before};
use crate::telemetry::names;
use crate::{Error, ErrorKind, Result, TopicPartition};

pub(crate) async fn run(shared: Arc<Shared>, commands: mpsc::UnboundedReceiver<Command>) {
    let now = Instant::now();
    let mut driver = Driver::new(Arc::clone(&shared), commands, now);
    if let Err(error) = driver.core.subscribe(shared.settings.subscription(), now) {
        shared.tell(error);
    } else {
        driver.work().await;
    }
    driver.end();
}

/// A member that is on its way out.
struct Closing {
    deadline: Instant,
    reply: oneshot::Sender<Result<()>>,
    error: Option<Error>,
}

/// Partitions that came, and where the program wants to begin.
type Started = (Located, std::collections::HashMap<TopicPartition, Start>);

struct Driver {
    shared: Arc<Shared>,
    core: GroupCore,
    commands: mpsc::UnboundedReceiver<Command>,
    subscribed: Subscribed,
    /// Requests of the member.
    requests: JoinSet<(Token, Result<Answer>)>,
    /// Of these, the JoinGroup or SyncGroup that was sent last.
    join: Option<Token>,
    /// Partitions that came, until it is known where they begin.
    starting: JoinSet<Started>,
    /// Partitions that go, until they are let go of and committed.
    releasing: JoinSet<(Vec<TopicPartition>, Option<Error>)>,
    /// Hooks that nothing waits for.
    hooks: JoinSet<()>,
    next_commit: Option<Instant>,
    closing: Option<Closing>,
    is_over: bool,
}

impl Driver {
    fn new(shared: Arc<Shared>, commands: mpsc::UnboundedReceiver<Command>, now: Instant) -> Self {
        let settings = &shared.settings;
        let config = GroupConfig {
            group: Arc::clone(&settings.group),
            instance_id: settings.instance_id.clone(),
            protocol: settings.protocol,
            assignors: settings.assignors.clone(),
            server_assignor: settings.server_assignor.clone(),
            session_timeout: settings.session_timeout,
            heartbeat_interval: settings.heartbeat_interval,
            rebalance_timeout: settings.rebalance_timeout(),
            request_timeout: shared.cluster.request_timeout(),
            rack: Some(settings.reader.rack.as_str())
                .filter(|rack| !rack.is_empty())
                .map(Arc::from),
            backoff: settings.reader.backoff,
        };
        Self {
            core: GroupCore::new(config),
            commands,
            subscribed: Subscribed::new(shared.cluster.clone()),
            requests: JoinSet::new(),
            join: None,
            starting: JoinSet::new(),
            releasing: JoinSet::new(),
            hooks: JoinSet::new(),
            next_commit: settings.commit.every().map(|every| now + every),
            closing: None,
            is_over: false,
            shared,
        }
    }

    async fn work(&mut self) {
        let mut views = self.shared.cluster.watch();
        loop {
            let next = self.look();
            if self.is_over {
                return;
            }
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.command(command),
                    // Cannot be: the sender is in `shared`.
                    None => return,
                },
                Some(done) = self.requests.join_next(), if !self.requests.is_empty() => {
                    // A task that panicked has taken its token with it, which is a bug that a test finds.
                    if let Ok((token, outcome)) = done {
                        self.answered(token, outcome);
                    }
                }
                Some(done) = self.starting.join_next(), if !self.starting.is_empty() => {
                    if let Ok(started) = done {
                        self.started(started);
                    }
                }
                Some(done) = self.releasing.join_next(), if !self.releasing.is_empty() => {
                    if let Ok((partitions, error)) = done {
                        self.released(&partitions, error);
                    }
                }
                Some(_) = self.hooks.join_next(), if !self.hooks.is_empty() => {}
                changed = views.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    views.borrow_and_update();
                    self.subscribed.view_changed();
                }
                () = self.subscribed.listed() => {}
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            }
        }
    }

    /// Carries out all that there is to do now, and says when to look again.
    fn look(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if let Some(topics) = self.subscribed.news(now) {
            self.core.set_topics(topics, now);
        }
        let stalled = self.check_patience(now);
        while let Some(action) = self.core.poll(now) {
            self.act(action, now);
        }
        let identity = self.core.identity();
        self.shared.identity.send_if_modified(|known| {
            let is_news = *known != identity;
            if is_news {
                *known = identity;
            }
            is_news
        });
        let commit = self.commit_by_itself(now);
        let closing = self.closing.as_ref().map(|closing| closing.deadline);
        if closing.is_some_and(|deadline| deadline <= now) {
            self.is_over = true;
        }
        let listing = self.subscribed.next();
        [self.core.next_deadline(), stalled, commit, closing, listing]
            .into_iter()
            .flatten()
            .min()
    }

    fn act(&mut self, action: Action, now: Instant) {
        match action {
            Action::Send {
                token,
                request,
                timeout: limit,
            } => {
                if request.waits_for_group() && self.join.replace(token).is_some() {
                    // The broker would not look at this one before it has answered that one.
                    self.forget_join_connections();
                }
                let shared = Arc::clone(&self.shared);
                self.requests.spawn(async move {
                    let outcome = timeout(limit, send(&shared, request, limit)).await;
                    let outcome = outcome.unwrap_or_else(|_| {
                        Err(Error::new(ErrorKind::Timeout, "no answer in time"))
                    });
                    (token, outcome)
                });
            }
            Action::ForgetCoordinator => self.shared.cluster.forget_coordinator(&self.shared.of),
            Action::Want(wanted) => {
                self.subscribed.want(wanted);
                if let Some(topics) = self.subscribed.news(now) {
                    self.core.set_topics(topics, now);
                }
            }
            Action::RefreshTopics => self.subscribed.refresh(now),
            Action::Assign(partitions) => self.assign(partitions),
            Action::Revoke(partitions) => self.revoke(partitions),
            Action::Lost(partitions) => self.lost(&partitions),
            Action::Warn(error) => self.shared.tell(error),
            Action::Fail(error) => {
                tracing::error!(group = %self.shared.settings.group, %error, "the consumer cannot go on");
                self.shared.tell(error.clone());
                if let Some(closing) = &mut self.closing {
                    closing.error.get_or_insert(error);
                }
                self.is_over = true;
            }
            Action::Left => self.is_over = true,
        }
    }

    fn answered(&mut self, token: Token, outcome: Result<Answer>) {
        if self.join == Some(token) {
            self.join = None;
            if outcome.is_err() {
                // An answer may be on its way all the same, and would be in the way.
                self.forget_join_connections();
            }
        }
        self.core.answered(token, outcome, Instant::now());
    }

    fn forget_join_connections(&self) {
        let cluster = &self.shared.cluster;
        for broker in cluster.view().brokers() {
            cluster.forget_connection(broker.id, Use::Join(self.shared.number));
        }
    }

    /// Partitions came: the program is told, and then asked for where to begin the coordinator.
    fn assign(&mut self, partitions: Vec<TopicPartition>) {
        let group = &self.shared.settings.group;
        metrics::counter!(names::ASSIGNED, "group" => group.to_string())
            .increment(partitions.len() as u64);
        tracing::info!(%group, partitions = %list(&partitions), "partitions were assigned");
        let places: Places = {
            let mut progress = self.shared.progress();
            let places = partitions.iter();
            places
                .map(|partition| (partition.clone(), progress.assign(partition.clone())))
                .collect()
        };
        self.shared.change();
        let shared = Arc::clone(&self.shared);
        self.starting.spawn(async move {
            let mut starts = std::collections::HashMap::new();
            if let Some(hook) = &shared.settings.hooks.assigned {
                let rebalance = Rebalance::new(partitions, Committer::new(&shared));
                hook(rebalance.clone()).await;
                starts = rebalance.take_starts();
            }
            (locate::locate(&shared, places).await, starts)
        });
    }

    /// It is known where partitions begin.
    fn started(&mut self, (located, starts): Started) {
        let reset = self.shared.settings.reader.reset;
        let mut assigned = Vec::new();
        for (partition, number, outcome) in located {
            let (committed, failure) = match outcome {
                Ok(committed) => (committed, None),
                Err(error) => (None, Some(error)),
            };
            let origin = match (starts.get(&partition), failure, &committed) {
                (Some(start), _, _) => Ok(start.origin()),
                (None, Some(error), _) => Err(error.about("where to begin is not known")),
                (None, None, Some(committed)) => Ok(Origin::At(committed.position())),
                (None, None, None) => origin_without(reset, &partition),
            };
            let start = match &origin {
                Ok(Origin::At(position)) => Some(*position),
                _ => None,
            };
            let mut progress = self.shared.progress();
            if progress.located(&partition, number, committed, start) {
                assigned.push((partition, origin, Bound::None));
            }
        }
        self.shared.reader.assign(assigned);
        self.shared.change();
    }

    /// Partitions are to go: nothing more of them is handed out; what is out is waited for.
    fn revoke(&mut self, partitions: Vec<TopicPartition>) {
        let group = &self.shared.settings.group;
        tracing::info!(%group, partitions = %list(&partitions), "partitions are given up");
        self.shared.progress().leave(&partitions);
        {
            let mut core = self.shared.reader.core();
            for partition in &partitions {
                core.pause(partition, true);
            }
        }
        self.shared.change();
        let deadline = self.closing.as_ref().map(|closing| closing.deadline);
        for piece in release::pieces(&self.shared, partitions) {
            let work = release::release(Arc::clone(&self.shared), piece, deadline);
            self.releasing.spawn(work);
        }
    }

    /// They are let go of and committed.
    fn released(&mut self, partitions: &[TopicPartition], error: Option<Error>) {
        if let (Some(closing), Some(error)) = (&mut self.closing, error) {
            closing.error.get_or_insert(error);
        }
        self.forget(partitions);
        self.core.released(partitions, Instant::now());
    }

    /// They are another's, perhaps.
    fn lost(&mut self, partitions: &[TopicPartition]) {
        let group = &self.shared.settings.group;
        metrics::counter!(names::LOST, "group" => group.to_string())
            .increment(partitions.len() as u64);
        tracing::warn!(%group, partitions = %list(partitions), "partitions were lost: what was not committed is processed again");
        self.forget(partitions);
        if let Some(hook) = &self.shared.settings.hooks.lost {
            let rebalance = Rebalance::new(partitions.to_vec(), Committer::new(&self.shared));
            self.hooks.spawn(hook(rebalance));
        }
    }

    fn forget(&self, partitions: &[TopicPartition]) {
        self.shared.progress().remove(partitions);
        self.shared.reader.revoke(partitions);
        self.shared.change();
    }

    fn command(&mut self, command: Command) {
        let now = Instant::now();
        match command {
            Command::Subscribe(subscription, reply) => {
                let outcome = self.core.subscribe(subscription, now);
                // Whoever does not wait any more does not care.
                let _ = reply.send(outcome);
            }
            Command::Resume => self.core.processing_resumed(now),
            Command::Committed(by, code) => self.core.committed(&by, code, now),
            Command::Leave(deadline, reply) => {
                self.shared.progress().let_go();
                self.shared.change();
                self.command(Command::Close(deadline, reply));
            }
            Command::Close(deadline, reply) => {
                // What is assigned and not begun with is not waited for.
                self.starting.abort_all();
                self.closing = Some(Closing {
                    deadline,
                    reply,
                    error: None,
                });
                self.core.leave(now);
            }
        }
    }

    /// Whether the application is stuck (`max.poll.interval.ms`). Says when it would be.
    fn check_patience(&mut self, now: Instant) -> Option<Instant> {
        if self.closing.is_some() {
            return None;
        }
        let shared = &self.shared;
        let oldest = {
            let progress = shared.progress();
            let oldest = progress.oldest();
            oldest.map(|(partition, since)| (partition.clone(), since))
        };
        let patience = Patience {
            limit: shared.settings.max_processing_time,
            idle_since: shared.reader.idle_since(),
        };
        let has_event = shared.reader.core().has_event();
        let since = oldest.as_ref().map(|(_, since)| *since);
        let deadline = patience.deadline(since, has_event)?;
        if deadline > now {
            return Some(deadline);
        }
        if self.core.assignment().is_empty() || shared.is_stalled() {
            return None;
        }
        let limit = patience.limit;
        let error = match oldest {
            Some((partition, since)) if since + limit <= now => Error::new(
                ErrorKind::Stalled,
                format!(
                    "a batch was not done within {limit:?}: the consumer has left the group, and others go on with \
                     its partitions; make handlers faster, or raise the max processing time"
                ),
            )
            .in_partition(partition.topic, partition.partition),
            _ => Error::new(
                ErrorKind::Stalled,
                format!(
                    "nobody has asked for the next batch for {limit:?}: the consumer has left the group, and others \
                     go on with its partitions; ask again sooner, or raise the max processing time"
                ),
            ),
        };
        let group = &shared.settings.group;
        tracing::error!(%group, %error, "the application is stuck");
        metrics::counter!(names::STALLS, "group" => group.to_string()).increment(1);
        shared.set_stalled();
        shared.tell(error);
        self.core.processing_stalled(now);
        None
    }

    /// Commits what was processed, if that is due. Says when it will be.
    fn commit_by_itself(&mut self, now: Instant) -> Option<Instant> {
        let every = self.shared.settings.commit.every()?;
        let due = self.next_commit?;
        if due > now {
            return Some(due);
        }
        let offsets = self.shared.progress().uncommitted(None);
        self.shared.commit_soon(offsets);
        self.shared.measure_lag();
        self.next_commit = Some(now + every);
        self.next_commit
    }

    fn end(mut self) {
        let all = self.shared.progress().assignment();
        self.forget(&all);
        self.forget_join_connections();
        self.shared.end();
        if let Some(closing) = self.closing.take() {
            let late = closing.deadline <= Instant::now() && closing.error.is_none();
            let late = late.then(|| {
                let reason = "the consumer was not closed in time: batches are held, or the coordinator does not \
                              answer; the group goes on without it once its session is over";
                Error::new(ErrorKind::Timeout, reason)
                    .in_group(Arc::clone(&self.shared.settings.group))
            });
            let outcome = late.or(closing.error).map_or(Ok(()), Err);
            // Whoever does not wait any more does not care.
            let _ = closing.reply.send(outcome);
        }
    }
}

/// Where to begin if nothing is committed.
fn origin_without(reset: OffsetReset, partition: &TopicPartition) -> Result<Origin> {
    Ok(Origin::Find(match reset {
        OffsetReset::Earliest => Anchor::Earliest,
        OffsetReset::Latest => Anchor::Latest,
        OffsetReset::Ago(ago) => Anchor::Time(time_before(ago)),
        OffsetReset::Error => {
            let reason = "the group has committed nothing here, and there is no reset policy: seek, or commit an \
                          offset to begin with";
            let TopicPartition { topic, partition } = partition;
            return Err(Error::new(ErrorKind::OffsetOutOfRange, reason)
                .in_partition(Arc::clone(topic), *partition));
        }
    }))
}

fn list(partitions: &[TopicPartition]) -> String {
    let names: Vec<String> = partitions.iter().map(ToString::to_string).collect();
    names.join(", ")
}

async fn send(
    shared: &Shared,
    request: GroupRequest,
    limit: std::time::Duration,
) -> Result<Answer> {
    let cluster = &shared.cluster;
    let node = cluster.coordinator(&shared.of).await?;
    let usage = match request.waits_for_group() {
        true => Use::Join(shared.number),
        false => Use::Coordination,
    };
    let connection = cluster.connection(node, usage).await?;
    macro_rules! ask {
        ($request:expr, $version:expr, $answer:expr) => {
            $answer(connection.send($version, &$request, limit)?.await?)
        };
    }
    let version = |api, versions: VersionRange| connection.negotiate(api, versions);
    use copart_protocol::ApiKey;
    let api = match &request {
        GroupRequest::Join(_) => ApiKey::JoinGroup,
        GroupRequest::Sync(_) => ApiKey::SyncGroup,
        GroupRequest::Heartbeat(_) => ApiKey::Heartbeat,
        GroupRequest::Leave(_) => ApiKey::LeaveGroup,
        GroupRequest::ConsumerHeartbeat(_) => ApiKey::ConsumerGroupHeartbeat,
    };
    let version = version(api, request.versions())?;
    Ok(match request.in_version(version) {
        GroupRequest::Join(request) => ask!(request, version, Answer::Join),
        GroupRequest::Sync(request) => ask!(request, version, Answer::Sync),
        GroupRequest::Heartbeat(request) => ask!(request, version, Answer::Heartbeat),
        GroupRequest::Leave(request) => ask!(request, version, Answer::Leave),
        GroupRequest::ConsumerHeartbeat(request) => {
            ask!(request, version, Answer::ConsumerHeartbeat)
        }
    })
}
