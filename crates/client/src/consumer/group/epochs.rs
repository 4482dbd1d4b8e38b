//! A member by the consumer protocol (KIP-848): the broker assigns, and one request says and tells everything.
//!
//! A heartbeat says what the member has; its answer, what it is to have. Until the member no longer says that it has a
//! partition, nobody else is given it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, TopicPartitions,
};
use copart_protocol::{ApiKey, ErrorCode, Uuid};
use tokio::time::Instant;

use super::{
    Action, Answer, GroupConfig, GroupRequest, GroupState, Identity, Subscription, Token, Topics,
    Wanted,
};
use crate::{Error, ErrorKind, Result, TopicPartition};

/// Until the broker has said how often it wants to hear of us.
const FIRST_INTERVAL: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the group, or on its way into it with epoch 0.
    In,
    /// The program is stuck. After `In`, until it goes on.
    Stalled,
    /// On its way out for good. After any but `Ended`.
    Leaving,
    /// Out. After `Leaving`, or an error that it does not get over.
    Ended,
}

/// What goes out with a request that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// A heartbeat with epoch 0.
    Join,
    Heartbeat,
    Leave,
}

#[derive(Debug)]
pub(super) struct EpochMember {
    config: GroupConfig,
    state: State,
    member_id: Arc<str>,
    epoch: i32,
    subscription: Option<Subscription>,
    /// The broker does not know all that it has to: the next heartbeat says everything.
    is_full: bool,
    /// What the member has is to be said.
    is_changed: bool,
    /// It is in the group, or may be as far as the broker is concerned.
    is_known: bool,
    /// It was in the group at some time.
    has_joined: bool,
    /// The broker may know it although it is not in the group, as far as it knows: what came of a join or a
    /// leave is not certain, or it was fenced.
    is_in_doubt: bool,
    /// The broker does not let it join as long as it knows it from before, so it leaves first.
    leaves_first: bool,
    interval: Duration,
    next: Option<Instant>,
    sent: Option<(Token, Sent)>,
    failures: u32,
    counter: u64,
    names: BTreeMap<Uuid, Arc<str>>,
    ids: BTreeMap<Arc<str>, Uuid>,
    /// What the broker wants it to have.
    target: Option<Vec<TopicPartitions>>,
    held: BTreeSet<TopicPartition>,
    /// Of `held`, what the program is to let go of, and until when.
    releasing: BTreeMap<TopicPartition, Instant>,
    /// That another member has our instance id was told.
    has_warned: bool,
    actions: VecDeque<Action>,
}

impl EpochMember {
    pub(super) fn new(config: GroupConfig) -> Self {
        let mut id = Uuid(fastrand::u128(1..).to_be_bytes());
        // As Kafka's own: command lines take a leading dash for an option.
        while id.to_string().starts_with('-') {
            id = Uuid(fastrand::u128(1..).to_be_bytes());
        }
        Self {
            config,
            state: State::In,
            member_id: id.to_string().into(),
            epoch: 0,
            subscription: None,
            is_full: true,
            is_changed: false,
            is_known: false,
            has_joined: false,
            is_in_doubt: false,
            leaves_first: false,
            interval: FIRST_INTERVAL,
            next: None,
            sent: None,
            failures: 0,
            counter: 0,
            names: BTreeMap::new(),
            ids: BTreeMap::new(),
            target: None,
            held: BTreeSet::new(),
            releasing: BTreeMap::new(),
            has_warned: false,
            actions: VecDeque::new(),
        }
    }

    pub(super) fn subscribe(&mut self, subscription: Subscription, now: Instant) {
        let wanted = match &subscription {
            Subscription::Topics(topics) => Wanted::Topics(topics.iter().cloned().collect()),
            Subscription::Pattern(_) => Wanted::All,
        };
        self.actions.push_back(Action::Want(wanted));
        self.subscription = Some(subscription);
        self.is_full = true;
        self.next = Some(now);
    }

    pub(super) fn set_topics(&mut self, topics: Topics, now: Instant) {
        for (name, info) in topics {
            if let Some(info) = info.filter(|info| !info.id.is_zero()) {
                self.names.insert(info.id, Arc::clone(&name));
                self.ids.insert(name, info.id);
            }
        }
        self.reconcile(now);
    }

    pub(super) fn poll(&mut self, now: Instant) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        self.release_late(now);
        self.heartbeat(now);
        self.actions.pop_front()
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let heartbeat = self.next.filter(|_| self.sent.is_none());
        let release = self.releasing.values().min().copied();
        match (heartbeat, release) {
            (Some(heartbeat), Some(release)) => Some(heartbeat.min(release)),
            (heartbeat, release) => heartbeat.or(release),
        }
    }

    /// Time is up for what the program does not let go of.
    fn release_late(&mut self, now: Instant) {
        let late = self.releasing.iter().filter(|(_, until)| **until <= now);
        let late: Vec<TopicPartition> = late.map(|(partition, _)| partition.clone()).collect();
        if !late.is_empty() {
            self.actions.push_back(Action::Lost(late.clone()));
            self.forget(&late, now);
        }
    }

    fn forget(&mut self, partitions: &[TopicPartition], now: Instant) {
        for partition in partitions {
            self.releasing.remove(partition);
            if self.held.remove(partition) {
                self.is_changed = true;
                self.next = Some(now);
            }
        }
    }

    pub(super) fn released(&mut self, partitions: &[TopicPartition], now: Instant) {
        let asked = partitions.iter();
        let asked: Vec<_> = asked
            .filter(|partition| self.releasing.contains_key(partition))
            .cloned()
            .collect();
        self.forget(&asked, now);
        self.reconcile(now);
    }

    fn heartbeat(&mut self, now: Instant) {
        if self.sent.is_some() || self.next.is_none_or(|at| at > now) {
            return;
        }
        let leaves = match self.state {
            State::In => self.leaves_first && self.epoch <= 0,
            State::Stalled => self.is_known,
            State::Leaving if !self.held.is_empty() => false,
            State::Leaving if !self.is_known => {
                self.end(Action::Left);
                return;
            }
            State::Leaving => true,
            State::Ended => return,
        };
        if self.state == State::Stalled && !leaves {
            self.next = None;
            return;
        }
        if self.state == State::Leaving && !self.is_known {
            // Waits for the program to let go, and is in no group meanwhile.
            self.next = None;
            return;
        }
        let Some(subscription) = &self.subscription else {
            self.next = None;
            return;
        };
        self.counter += 1;
        let token = Token(self.counter);
        let mut request = ConsumerGroupHeartbeatRequest {
            group_id: self.config.group.to_string(),
            member_id: self.member_id.to_string(),
            member_epoch: self.epoch,
            instance_id: self.config.instance_id.as_deref().map(str::to_owned),
            rack_id: None,
            rebalance_timeout_ms: -1,
            subscribed_topic_names: None,
            subscribed_topic_regex: None,
            server_assignor: None,
            topic_partitions: None,
        };
        if leaves {
            // A static member that comes back (-2) keeps its place.
            let stays = self.config.instance_id.is_some();
            request.member_epoch = if stays { -2 } else { -1 };
            self.sent = Some((token, Sent::Leave));
        } else {
            if self.is_full {
                let timeout = self.config.rebalance_timeout.as_millis();
                request.rebalance_timeout_ms = i32::try_from(timeout).unwrap_or(i32::MAX);
                request.rack_id = self.config.rack.as_deref().map(str::to_owned);
                request.server_assignor = self.config.server_assignor.clone();
                match subscription {
                    Subscription::Topics(topics) => {
                        let topics = topics.iter().map(|topic| topic.to_string());
                        request.subscribed_topic_names = Some(topics.collect());
                    }
                    Subscription::Pattern(pattern) => {
                        request.subscribed_topic_regex = Some(pattern.clone());
                    }
                }
            }
            if self.is_full || self.is_changed {
                request.topic_partitions = Some(self.owned());
            }
            self.is_full = false;
            self.is_changed = false;
            let sent = match self.epoch {
                0 => Sent::Join,
                _ => Sent::Heartbeat,
            };
            self.sent = Some((token, sent));
        }
        self.is_known = true;
        self.actions.push_back(Action::Send {
            token,
            request: GroupRequest::ConsumerHeartbeat(request),
            timeout: self.config.request_timeout,
        });
    }

    /// As requests have it. A member that joins has nothing.
    fn owned(&self) -> Vec<TopicPartitions> {
        let mut owned: BTreeMap<Uuid, Vec<i32>> = BTreeMap::new();
        if self.epoch > 0 {
            for partition in &self.held {
                if let Some(id) = self.ids.get(&partition.topic) {
                    owned.entry(*id).or_default().push(partition.partition);
                }
            }
        }
        let owned = owned.into_iter();
        let owned = owned.map(|(topic_id, partitions)| TopicPartitions {
            topic_id,
            partitions,
        });
        owned.collect()
    }

    pub(super) fn answered(&mut self, token: Token, outcome: Result<Answer>, now: Instant) {
        let Some((_, sent)) = self.sent.take_if(|(known, _)| *known == token) else {
            return;
        };
        // A coordinator that moves may have stored it all the same.
        let is_open = match &outcome {
            Ok(Answer::ConsumerHeartbeat(response)) => response.error_code.is_retriable(),
            _ => true,
        };
        match sent {
            Sent::Join => self.is_in_doubt |= is_open,
            Sent::Heartbeat => {}
            Sent::Leave => self.is_in_doubt = is_open,
        }
        if sent == Sent::Leave {
            // If the broker was not told, it notices by itself.
            if outcome.is_err() {
                self.actions.push_back(Action::ForgetCoordinator);
            }
            self.left(now);
            return;
        }
        match outcome {
            Ok(Answer::ConsumerHeartbeat(response)) => self.told(sent, response, now),
            Ok(_) => {
                let error = Error::new(ErrorKind::Protocol, "the answer is to another request");
                self.fail(error);
            }
            Err(error) if error.is_retriable() => {
                self.actions.push_back(Action::ForgetCoordinator);
                self.back_off(now);
            }
            Err(error) => self.fail(error),
        }
    }

    /// Whether this outcome says that the consumer protocol cannot be spoken here, before the member was ever in the
    /// group: the broker does not have it, or the group is a classic one that stays so.
    pub(super) fn is_refused(&self, token: Token, outcome: &Result<Answer>) -> bool {
        if self.has_joined || self.sent != Some((token, Sent::Join)) {
            return false;
        }
        match outcome {
            Ok(Answer::ConsumerHeartbeat(response)) => matches!(
                response.error_code,
                ErrorCode::UNSUPPORTED_VERSION
                    | ErrorCode::GROUP_ID_NOT_FOUND
                    | ErrorCode::INCONSISTENT_GROUP_PROTOCOL
            ),
            Ok(_) => false,
            Err(error) => error.kind() == ErrorKind::UnsupportedVersion,
        }
    }

    /// Where the next one's requests are to be counted from.
    pub(super) fn counter(&self) -> u64 {
        self.counter
    }

    /// What is subscribed to.
    pub(super) fn subscription(&self) -> Option<&Subscription> {
        self.subscription.as_ref()
    }

    fn left(&mut self, now: Instant) {
        self.epoch = 0;
        self.is_known = false;
        self.is_full = true;
        self.leaves_first = false;
        match self.state {
            State::Leaving => self.end(Action::Left),
            // Goes on if the program has done so meanwhile.
            State::In => self.next = Some(now),
            State::Stalled | State::Ended => self.next = None,
        }
    }

    fn told(&mut self, sent: Sent, response: ConsumerGroupHeartbeatResponse, now: Instant) {
        let code = response.error_code;
        match code {
            ErrorCode::NONE => {
                self.failures = 0;
                self.has_joined = true;
                self.is_in_doubt = false;
                if self.state != State::Stalled {
                    self.epoch = response.member_epoch;
                }
                if let Some(id) = response.member_id.filter(|id| !id.is_empty()) {
                    self.member_id = id.into();
                }
                if let Ok(milliseconds @ 1..) = u64::try_from(response.heartbeat_interval_ms) {
                    self.interval = Duration::from_millis(milliseconds);
                }
                // Whoever is on the way out has nothing to say as long as the program does not let go.
                let is_going = self.state != State::In && self.held.is_empty();
                let soon = self.is_full || self.is_changed || is_going;
                self.next = Some(if soon { now } else { now + self.interval });
                if let Some(assignment) = response.assignment {
                    self.target = Some(assignment.topic_partitions);
                }
                self.reconcile(now);
            }
            // Brokers without KAFKA-19233 know it under an epoch, and do not let it come back with epoch 0.
            ErrorCode::FENCED_MEMBER_EPOCH if sent == Sent::Join => self.leave_first(now),
            // It was silent for too long, or took too long to let go of something. A group that nobody was left in may
            // have been deleted meanwhile.
            ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::FENCED_MEMBER_EPOCH => self.fenced(now),
            ErrorCode::GROUP_ID_NOT_FOUND if sent == Sent::Heartbeat => self.fenced(now),
            ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_NOT_AVAILABLE => {
                self.actions.push_back(Action::ForgetCoordinator);
                self.back_off(now);
            }
            // The other member that has our instance id may be this one.
            ErrorCode::UNRELEASED_INSTANCE_ID if self.is_in_doubt => self.leave_first(now),
            // Another member has our instance id, or has died with it not long ago.
            ErrorCode::UNRELEASED_INSTANCE_ID => {
                if !std::mem::replace(&mut self.has_warned, true) {
                    let error = self.error(code, response.error_message.as_deref());
                    self.actions.push_back(Action::Warn(error));
                }
                self.back_off(now);
            }
            code if code.is_retriable() => self.back_off(now),
            code => {
                let error = self.error(code, response.error_message.as_deref());
                self.fail(error);
            }
        }
    }

    fn error(&self, code: ErrorCode, message: Option<&str>) -> Error {
        Error::from_code(code, message)
            .in_group(Arc::clone(&self.config.group))
            .in_api(ApiKey::ConsumerGroupHeartbeat, 1)
    }

    fn back_off(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.is_full = true;
        self.next = Some(now + self.config.backoff.after(self.failures));
    }

    fn leave_first(&mut self, now: Instant) {
        self.leaves_first = true;
        self.is_in_doubt = false;
        self.back_off(now);
    }

    fn lose_all(&mut self) {
        let all: Vec<_> = std::mem::take(&mut self.held).into_iter().collect();
        self.releasing.clear();
        self.target = None;
        if !all.is_empty() {
            self.actions.push_back(Action::Lost(all));
        }
    }

    fn fenced(&mut self, now: Instant) {
        self.is_in_doubt = true;
        self.lose_all();
        self.epoch = 0;
        self.is_known = false;
        self.is_full = true;
        self.next = Some(now);
    }

    fn fail(&mut self, error: Error) {
        self.lose_all();
        self.end(Action::Fail(error));
    }

    fn end(&mut self, last: Action) {
        self.state = State::Ended;
        self.epoch = 0;
        self.next = None;
        self.actions.push_back(last);
    }

    /// From what the member has towards what it is to have.
    fn reconcile(&mut self, now: Instant) {
        if self.state != State::In || self.epoch <= 0 {
            return;
        }
        let Some(target) = &self.target else {
            return;
        };
        let mut wanted = BTreeSet::new();
        let mut is_known = true;
        for topic in target {
            let Some(name) = self.names.get(&topic.topic_id) else {
                is_known = false;
                continue;
            };
            let partitions = topic.partitions.iter();
            wanted.extend(partitions.map(|&index| TopicPartition::new(Arc::clone(name), index)));
        }
        if !is_known {
            self.actions.push_back(Action::RefreshTopics);
        }
        let until = now + self.config.release_timeout();
        let gone = self.held.difference(&wanted);
        let gone: Vec<TopicPartition> = gone
            .filter(|partition| !self.releasing.contains_key(partition))
            .cloned()
            .collect();
        let new: Vec<TopicPartition> = wanted.difference(&self.held).cloned().collect();
        if !gone.is_empty() {
            let all = gone.iter().map(|partition| (partition.clone(), until));
            self.releasing.extend(all);
            self.actions.push_back(Action::Revoke(gone));
        }
        // The broker goes by what the member said last: it may give what was not said to somebody else.
        let may_take = self.sent.is_none() && !self.is_full;
        if may_take && !new.is_empty() {
            self.held.extend(new.iter().cloned());
            self.is_changed = true;
            self.next = Some(now);
            self.actions.push_back(Action::Assign(new));
        }
    }

    pub(super) fn committed(&mut self, by: &Identity, code: ErrorCode, now: Instant) {
        let is_of_member = matches!(
            code,
            ErrorCode::UNKNOWN_MEMBER_ID
                | ErrorCode::FENCED_MEMBER_EPOCH
                | ErrorCode::STALE_MEMBER_EPOCH
        );
        // The heartbeat tells for certain.
        if is_of_member && self.identity().as_ref() == Some(by) && self.state == State::In {
            self.next = Some(now);
        }
    }

    pub(super) fn processing_stalled(&mut self, now: Instant) {
        if self.state == State::In {
            self.lose_all();
            self.state = State::Stalled;
            self.is_in_doubt = self.is_known;
            self.epoch = 0;
            self.next = Some(now);
        }
    }

    pub(super) fn processing_resumed(&mut self, now: Instant) {
        if self.state == State::Stalled {
            self.state = State::In;
            self.is_full = true;
            self.next = Some(now);
        }
    }

    pub(super) fn leave(&mut self, now: Instant) {
        if matches!(self.state, State::Leaving | State::Ended) {
            return;
        }
        self.state = State::Leaving;
        self.next = Some(now);
        let until = now + self.config.release_timeout();
        let all = self.held.iter();
        let all: Vec<TopicPartition> = all
            .filter(|partition| !self.releasing.contains_key(partition))
            .cloned()
            .collect();
        if !all.is_empty() {
            let each = all.iter().map(|partition| (partition.clone(), until));
            self.releasing.extend(each);
            self.actions.push_back(Action::Revoke(all));
        }
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        (self.epoch > 0).then(|| Identity {
            is_epoch: true,
            member_id: Arc::clone(&self.member_id),
            generation: self.epoch,
            instance_id: self.config.instance_id.clone(),
        })
    }

    pub(super) fn assignment(&self) -> &BTreeSet<TopicPartition> {
        &self.held
    }

    pub(super) fn state(&self) -> GroupState {
        match self.state {
            State::In if self.subscription.is_none() => GroupState::Idle,
            State::In if self.epoch <= 0 => GroupState::Joining,
            State::In if !self.releasing.is_empty() => GroupState::Releasing,
            State::In => GroupState::Stable,
            State::Stalled => GroupState::Stalled,
            State::Leaving => GroupState::Leaving,
            State::Ended => GroupState::Ended,
        }
    }
}
