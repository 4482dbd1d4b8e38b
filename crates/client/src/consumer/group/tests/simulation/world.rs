//! Members, what is between them and their coordinator, and everything that goes wrong there.
//!
//! All the while no two members of a generation may have the same partition, no member may wait for nothing, and none
//! may be put out without need. When it is over, the group has to settle soon, with every partition at one member; and
//! when a member comes or goes then, nobody may lose anything by it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fastrand::Rng;

use super::super::*;
use super::classic_coordinator::ClassicCoordinator;
use super::epochs_coordinator::{EpochsCoordinator, Rules};
use super::{Coordinator, refusal};

const SESSION: Duration = Duration::from_secs(10);
const REBALANCE: Duration = Duration::from_secs(20);
/// How long everything goes wrong.
const TROUBLE: Duration = Duration::from_secs(240);
/// After that: for a request that was lost without a word, twice, for a session, and for two rebalances.
const CALM: Duration = Duration::from_secs(150);
/// How long a change may take when nothing goes wrong: a member that left is away for up to 15 seconds.
const CHANGE: Duration = Duration::from_secs(25);
/// How often a member may ask for something in one session's time. One that does not wait after a refusal asks more
/// often.
const MOST: usize = 100;

enum Event {
    /// A request reaches the coordinator.
    Ask(u64, GroupRequest),
    /// What became of a request reaches its member.
    Answer(u64, Result<Answer>),
    /// The program lets go of these.
    Release(usize, Vec<TopicPartition>),
    Know(usize),
    Resume(usize),
    /// A member that was stopped is started again.
    Start(usize),
}

struct Member {
    core: GroupCore,
    instance: Option<String>,
    /// Counts how often it was started.
    life: u32,
    /// What is under way.
    sent: BTreeSet<u64>,
    /// When it asked for something, lately.
    asked: VecDeque<Instant>,
    /// When the last request arrives.
    arrives: Instant,
    /// How many outcomes in a row told it nothing.
    missed: u32,
    /// How often in a row it was refused as it is in the group already.
    in_own_way: u32,
    /// The coordinator has moved since it was started.
    has_moved: bool,
    is_there: bool,
}

/// Whose request it is.
#[derive(Clone)]
struct Call {
    member: usize,
    life: u32,
    token: Token,
    /// A member of the consumer protocol says that it is in no epoch yet, under this id.
    joins_as: Option<String>,
}

pub(super) struct World {
    seed: u64,
    protocol: Protocol,
    chance: Rng,
    begin: Instant,
    now: Instant,
    coordinator: Box<dyn Coordinator>,
    /// Until when it reads what was stored.
    loads_until: Instant,
    /// How it was made.
    about: String,
    members: Vec<Member>,
    assignors: Vec<Assignor>,
    /// When, in the order in which it was planned, and what.
    events: BTreeMap<(Instant, u64), Event>,
    counter: u64,
    calls: BTreeMap<u64, Call>,
    count: usize,
    /// Members come and go, and nothing else happens.
    is_quiet: bool,
}

impl World {
    pub(super) fn new(seed: u64, protocol: Protocol) -> Self {
        let mut chance = Rng::with_seed(seed);
        // The backoff of members is by chance, too.
        fastrand::seed(seed);
        let lists: [&[Assignor]; 5] = [
            &[Assignor::Range],
            &[Assignor::RoundRobin],
            &[Assignor::Sticky],
            &[Assignor::CooperativeSticky],
            &[Assignor::CooperativeSticky, Assignor::Range],
        ];
        let assignors = lists[chance.usize(..lists.len())].to_vec();
        let begin = Instant::now();
        let count = chance.usize(1..8);
        let (coordinator, about): (Box<dyn Coordinator>, _) = match protocol {
            Protocol::Classic => (
                Box::new(ClassicCoordinator::new()),
                format!("{assignors:?}"),
            ),
            Protocol::Auto | Protocol::Consumer => {
                let lets_back = chance.u32(..3) > 0;
                let rules = Rules {
                    lets_back,
                    lets_static_back: lets_back && chance.bool(),
                    is_sticky: chance.bool(),
                };
                let coordinator = EpochsCoordinator::new(rules, seed, count);
                (Box::new(coordinator), format!("{rules:?}"))
            }
        };
        let mut world = Self {
            seed,
            protocol,
            count,
            chance,
            begin,
            now: begin,
            coordinator,
            loads_until: begin,
            about,
            is_quiet: false,
            members: Vec::new(),
            assignors,
            events: BTreeMap::new(),
            counter: 0,
            calls: BTreeMap::new(),
        };
        for number in 0..world.chance.usize(2..5) {
            let instance = world.chance.bool().then(|| format!("static-{number}"));
            let config = world.config(instance.as_deref());
            world.members.push(Member {
                core: GroupCore::new(config),
                instance,
                life: 0,
                sent: BTreeSet::new(),
                asked: VecDeque::new(),
                arrives: begin,
                missed: 0,
                in_own_way: 0,
                has_moved: false,
                is_there: false,
            });
            let wait = world.up_to(5_000);
            world.plan(wait, Event::Start(number));
        }
        world
    }

    fn config(&self, instance: Option<&str>) -> GroupConfig {
        GroupConfig {
            instance_id: instance.map(Arc::from),
            session_timeout: SESSION,
            heartbeat_interval: Duration::from_secs(1),
            rebalance_timeout: REBALANCE,
            request_timeout: Duration::from_secs(10),
            ..config(self.protocol, &self.assignors)
        }
    }

    fn up_to(&mut self, milliseconds: u64) -> Duration {
        Duration::from_millis(self.chance.u64(..milliseconds))
    }

    fn plan(&mut self, wait: Duration, event: Event) {
        self.counter += 1;
        self.events.insert((self.now + wait, self.counter), event);
    }

    fn is_calm(&self) -> bool {
        self.now >= self.begin + TROUBLE
    }

    fn in_trouble(&mut self, one_in: u32) -> bool {
        !self.is_calm() && self.chance.u32(..one_in) == 0
    }

    /// To the next thing that happens.
    fn step(&mut self) {
        let planned = self.events.keys().next().map(|(at, _)| *at);
        let members = self.members.iter().filter(|member| member.is_there);
        let deadlines = members.filter_map(|member| member.core.next_deadline());
        // The coordinator looks at its clock ten times a second.
        let tick = self.now + Duration::from_millis(100);
        let next = deadlines.chain(planned).chain([tick]).min();
        self.now = next.expect("a tick").max(self.now);
        while let Some(entry) = self.events.first_entry()
            && entry.key().0 <= self.now
        {
            let event = entry.remove();
            self.happens(event);
        }
        if self.now >= self.loads_until {
            self.coordinator.tick(self.now);
        }
        if self.in_trouble(300) {
            self.mischief();
        }
        for number in 0..self.members.len() {
            self.work(number);
        }
        self.answer();
        self.check();
    }

    fn happens(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Ask(call, request) => {
                // The connections of whoever is dead are closed.
                let is_alive = self.calls.get(&call).is_none_or(|caller| {
                    let member = &self.members[caller.member];
                    member.is_there && member.life == caller.life
                });
                if is_alive && now < self.loads_until {
                    self.refuse(call, &request, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
                } else if is_alive {
                    self.coordinator.ask(call, &request, now);
                }
            }
            Event::Answer(call, outcome) => {
                let Some(asked) = self.calls.remove(&call) else {
                    return;
                };
                let member = &mut self.members[asked.member];
                if member.life == asked.life && member.sent.remove(&call) {
                    self.judge(&asked, &outcome);
                    let member = &mut self.members[asked.member];
                    member.core.answered(asked.token, outcome, now);
                }
            }
            Event::Release(number, partitions) => {
                self.members[number].core.released(&partitions, now);
            }
            Event::Know(number) => {
                let known = topics(&[(TOPIC, self.count)]);
                self.members[number].core.set_topics(known, now);
            }
            Event::Resume(number) => self.members[number].core.processing_resumed(now),
            Event::Start(number) => {
                let config = self.config(self.members[number].instance.clone().as_deref());
                let member = &mut self.members[number];
                member.core = GroupCore::new(config);
                member.life += 1;
                member.sent.clear();
                member.asked.clear();
                member.arrives = now;
                member.missed = 0;
                member.in_own_way = 0;
                member.has_moved = false;
                member.is_there = true;
                let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
                let taken = member.core.subscribe(subscription, now);
                taken.expect("a good subscription");
            }
        }
    }

    fn refuse(&mut self, call: u64, request: &GroupRequest, code: ErrorCode) {
        let wait = self.up_to(50);
        self.plan(wait, Event::Answer(call, Ok(refusal(request, code))));
    }

    /// A member of the consumer protocol may be fenced for its epoch only if it did not learn of two in a row, and does
    /// not keep itself out for long.
    fn judge(&mut self, asked: &Call, outcome: &Result<Answer>) {
        let member = &mut self.members[asked.member];
        let code = match outcome {
            Ok(Answer::ConsumerHeartbeat(response)) => Some(response.error_code),
            _ => None,
        };
        let is_itself = asked
            .joins_as
            .as_ref()
            .is_some_and(|id| self.coordinator.has(id));
        member.in_own_way = match code {
            Some(ErrorCode::UNRELEASED_INSTANCE_ID | ErrorCode::FENCED_MEMBER_EPOCH)
                if is_itself =>
            {
                member.in_own_way + 1
            }
            // It may have left first.
            Some(ErrorCode::NONE) if asked.joins_as.is_none() => member.in_own_way,
            _ => 0,
        };
        let may_be = || {
            let identity = member.core.identity();
            identity.is_none_or(|it| self.coordinator.may_fence(&it))
        };
        let is_fair = member.in_own_way < 2
            && (code != Some(ErrorCode::FENCED_MEMBER_EPOCH)
                || asked.joins_as.is_some()
                || member.missed >= 2
                || (member.missed == 1 && may_be()));
        assert!(
            is_fair,
            "seed {}, {}: put out without need: {:#?}",
            self.seed, self.about, member.core
        );
        match code {
            Some(ErrorCode::NONE) => member.missed = 0,
            _ => member.missed += 1,
        }
    }

    /// What the member wants.
    fn work(&mut self, number: usize) {
        let mut left = 1_000;
        while self.members[number].is_there
            && let Some(action) = self.members[number].core.poll(self.now)
        {
            left -= 1;
            assert!(left > 0, "seed {}: it never stops: {action:?}", self.seed);
            match action {
                Action::Send {
                    token,
                    request,
                    timeout,
                } => self.send(number, token, request, timeout),
                Action::Revoke(partitions) => {
                    let longest = if self.is_calm() { 500 } else { 30_000 };
                    let wait = match self.chance.u32(..4) {
                        0 => self.up_to(longest),
                        _ => self.up_to(100),
                    };
                    self.plan(wait, Event::Release(number, partitions));
                }
                Action::Want(_) | Action::RefreshTopics => {
                    let wait = self.up_to(300);
                    self.plan(wait, Event::Know(number));
                }
                Action::Left => {
                    self.members[number].is_there = false;
                    let wait = self.up_to(15_000);
                    self.plan(wait, Event::Start(number));
                }
                // Kafka stores the id of a classic static member only once its generation is complete. If the coordinator
                // moves before that, the member has lost its place to what it was before.
                Action::Fail(error)
                    if error.code() == Some(ErrorCode::FENCED_INSTANCE_ID)
                        && self.protocol == Protocol::Classic
                        && self.members[number].has_moved =>
                {
                    self.members[number].is_there = false;
                    self.plan(Duration::ZERO, Event::Start(number));
                }
                Action::Fail(error) => panic!("seed {}: it fails: {error}", self.seed),
                // What it was before it was killed is still there.
                Action::Warn(error) if error.code() == Some(ErrorCode::UNRELEASED_INSTANCE_ID) => {}
                Action::Warn(error) => panic!("seed {}: it warns: {error}", self.seed),
                Action::Lost(lost) => assert!(
                    !self.is_quiet,
                    "seed {}, {}: {number} loses {lost:?} for nothing",
                    self.seed, self.about
                ),
                Action::Assign(_) | Action::ForgetCoordinator => {}
            }
        }
    }

    fn send(&mut self, number: usize, token: Token, request: GroupRequest, timeout: Duration) {
        self.counter += 1;
        let call = self.counter;
        let member = &mut self.members[number];
        member.sent.insert(call);
        member.asked.push_back(self.now);
        while member
            .asked
            .front()
            .is_some_and(|it| *it + SESSION < self.now)
        {
            member.asked.pop_front();
        }
        assert!(
            member.asked.len() <= MOST,
            "seed {}, {}: it asks all the time: {:#?}",
            self.seed,
            self.about,
            member.core
        );
        let life = member.life;
        let joins_as = match &request {
            GroupRequest::ConsumerHeartbeat(beat) if beat.member_epoch == 0 => {
                Some(beat.member_id.clone())
            }
            _ => None,
        };
        let asked = Call {
            member: number,
            life,
            token,
            joins_as,
        };
        self.calls.insert(call, asked);
        let late = Error::new(ErrorKind::Timeout, "no answer in time");
        self.plan(timeout, Event::Answer(call, Err(late)));
        let fate = match self.is_calm() {
            true => 19,
            false => self.chance.u32(..20),
        };
        let slow = if fate == 3 { 5_000 } else { 50 };
        // What a member sends arrives in that order.
        let member = &mut self.members[number];
        let arrives =
            (self.now + Duration::from_millis(self.chance.u64(..slow))).max(member.arrives);
        let wait = arrives - self.now;
        // The connection ends before the request has arrived, or after that, or the request is swallowed.
        if !matches!(fate, 0 | 2) {
            member.arrives = arrives;
            self.plan(wait, Event::Ask(call, request));
        }
        if matches!(fate, 0 | 1) {
            let wait = wait + self.up_to(50);
            self.plan(wait, Event::Answer(call, Err(lost())));
        }
    }

    fn answer(&mut self) {
        for (call, answer) in self.coordinator.answers() {
            let wait = match self.in_trouble(20) {
                true => self.up_to(5_000),
                false => self.up_to(50),
            };
            if !self.in_trouble(30) {
                self.plan(wait, Event::Answer(call, Ok(answer)));
            }
        }
    }

    fn mischief(&mut self) {
        let number = self.chance.usize(..self.members.len());
        let wait = self.up_to(15_000);
        match self.chance.u32(..6) {
            0 | 1 if self.members[number].is_there => {
                // Killed.
                self.members[number].is_there = false;
                self.plan(wait, Event::Start(number));
            }
            2 if self.members[number].is_there => {
                self.members[number].core.processing_stalled(self.now);
                self.plan(wait, Event::Resume(number));
            }
            3 if self.members[number].is_there => self.members[number].core.leave(self.now),
            4 => {
                self.count += 1;
                self.coordinator.set_partitions(self.count);
                for number in 0..self.members.len() {
                    let wait = self.up_to(2_000);
                    self.plan(wait, Event::Know(number));
                }
            }
            5 => {
                // On another broker: what is on its way to the old one does not reach it.
                self.loads_until = self.now + self.up_to(2_000);
                self.coordinator.restart(self.loads_until);
                self.members.iter_mut().for_each(|it| it.has_moved = true);
                let asks = self
                    .events
                    .extract_if(.., |_, it| matches!(it, Event::Ask(..)));
                for (_, event) in asks.collect::<Vec<_>>() {
                    if let Event::Ask(call, request) = event
                        && self.chance.bool()
                    {
                        self.refuse(call, &request, ErrorCode::NOT_COORDINATOR);
                    }
                }
            }
            _ => {}
        }
    }

    fn check(&self) {
        let mut owners = BTreeMap::new();
        for (number, member) in self.members.iter().enumerate() {
            if !member.is_there {
                continue;
            }
            let waits = member.core.next_deadline().is_some() || !member.sent.is_empty();
            let state = member.core.state();
            let is_out = matches!(state, GroupState::Stalled | GroupState::Ended);
            assert!(
                waits || is_out,
                "seed {}: stalled: {:?}",
                self.seed,
                member.core
            );
            let Some(identity) = member.core.identity() else {
                assert!(
                    member.core.assignment().is_empty() || state == GroupState::Leaving,
                    "seed {}: it is out, and keeps what it has: {:#?}",
                    self.seed,
                    member.core
                );
                continue;
            };
            if !self.coordinator.counts_on(&identity) {
                continue;
            }
            for partition in member.core.assignment() {
                assert!(
                    self.coordinator.grants(&identity, partition.partition),
                    "seed {}, {}: {partition} is not granted to {number}: {:#?}",
                    self.seed,
                    self.about,
                    member.core
                );
                let other = owners.insert(partition.clone(), number);
                assert_eq!(
                    other, None,
                    "seed {}: {partition} is owned twice, also by {number}",
                    self.seed
                );
            }
        }
    }

    /// Does everybody have what it is to have?
    fn is_settled(&self) -> bool {
        let mut all = Vec::new();
        for member in &self.members {
            let generation = member.core.identity().map(|it| it.generation);
            if !member.is_there
                || member.core.state() != GroupState::Stable
                || generation != Some(self.coordinator.generation())
            {
                return false;
            }
            all.extend(member.core.assignment().iter().map(|it| it.partition));
        }
        all.sort_unstable();
        self.coordinator.is_stable() && all.iter().copied().eq(0..self.count as i32)
    }

    fn settle(&mut self, within: Duration) {
        let until = self.now + within;
        while !self.is_settled() {
            self.step();
            if self.now > until {
                let states: Vec<_> = self.members.iter().map(|it| it.core.state()).collect();
                panic!(
                    "seed {}, {}: not settled: {states:?}, {:#?}",
                    self.seed, self.about, self.members[0].core
                );
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.step();
        }
    }

    pub(super) fn run(mut self) {
        self.pass(TROUBLE);
        self.settle(CALM);
        // A member that is dead may have nothing, and be missed only now.
        self.pass(SESSION + REBALANCE);
        self.settle(CALM);
        let generation = self.coordinator.generation();
        self.pass(SESSION + REBALANCE);
        assert!(self.is_settled(), "seed {}: it did not last", self.seed);
        let now = self.coordinator.generation();
        assert_eq!(
            now, generation,
            "seed {}: rebalanced for nothing",
            self.seed
        );
        self.is_quiet = true;
        for number in 0..self.members.len() {
            self.members[number].core.leave(self.now);
            self.settle(CHANGE);
        }
    }
}
