//! Groups in which everything goes wrong for a while: requests and answers are late or get lost, members are killed,
//! stuck, stopped and started, the coordinator is restarted, partitions are added, programs hold on to what they have.
//!
//! All the while no two members of a generation may have the same partition, and no member may wait for
//! nothing. When it is over, the group has to settle soon, with every partition at one member.

mod coordinator;

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;

use self::coordinator::Coordinator;
use super::*;

const SESSION: Duration = Duration::from_secs(10);
const REBALANCE: Duration = Duration::from_secs(20);
/// How long everything goes wrong.
const TROUBLE: Duration = Duration::from_secs(240);
/// After that: for a request that was lost without a word, twice, for a session, and for two rebalances.
const CALM: Duration = Duration::from_secs(150);

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
    is_there: bool,
}

struct World {
    seed: u64,
    chance: Rng,
    begin: Instant,
    now: Instant,
    coordinator: Coordinator,
    members: Vec<Member>,
    assignors: Vec<Assignor>,
    /// When, in the order in which it was planned, and what.
    events: BTreeMap<(Instant, u64), Event>,
    counter: u64,
    /// Whose request it is: the member, its life, and its token.
    calls: BTreeMap<u64, (usize, u32, Token)>,
    count: usize,
}

impl World {
    fn new(seed: u64) -> Self {
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
        let mut world = Self {
            seed,
            count: chance.usize(1..8),
            chance,
            begin,
            now: begin,
            coordinator: Coordinator::new(),
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
            ..config(Protocol::Classic, &self.assignors)
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
        self.coordinator.tick(self.now);
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
                let caller = self.calls.get(&call).copied();
                let is_alive = caller.is_none_or(|(number, life, _)| {
                    self.members[number].is_there && self.members[number].life == life
                });
                if is_alive {
                    self.coordinator.ask(call, &request, now);
                }
            }
            Event::Answer(call, outcome) => {
                let Some((number, life, token)) = self.calls.remove(&call) else {
                    return;
                };
                let member = &mut self.members[number];
                if member.life == life && member.sent.remove(&call) {
                    member.core.answered(token, outcome, now);
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
                member.is_there = true;
                let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
                let taken = member.core.subscribe(subscription, now);
                taken.expect("a good subscription");
            }
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
                Action::Fail(error) => panic!("seed {}: it fails: {error}", self.seed),
                Action::Warn(error) => panic!("seed {}: it warns: {error}", self.seed),
                Action::Assign(_) | Action::Lost(_) | Action::ForgetCoordinator => {}
            }
        }
    }

    fn send(&mut self, number: usize, token: Token, request: GroupRequest, timeout: Duration) {
        self.counter += 1;
        let call = self.counter;
        let member = &mut self.members[number];
        member.sent.insert(call);
        self.calls.insert(call, (number, member.life, token));
        let late = Error::new(ErrorKind::Timeout, "no answer in time");
        self.plan(timeout, Event::Answer(call, Err(late)));
        let wait = self.up_to(50);
        match self.chance.u32(..20) {
            // The connection ends, before or after the request has arrived.
            0 if !self.is_calm() => self.plan(wait, Event::Answer(call, Err(lost()))),
            1 if !self.is_calm() => {
                self.plan(wait, Event::Ask(call, request));
                self.plan(wait + wait, Event::Answer(call, Err(lost())));
            }
            // It is swallowed.
            2 if !self.is_calm() => {}
            3 if !self.is_calm() => {
                let wait = self.up_to(5_000);
                self.plan(wait, Event::Ask(call, request));
            }
            _ => self.plan(wait, Event::Ask(call, request)),
        }
    }

    fn answer(&mut self) {
        for (call, answer) in std::mem::take(&mut self.coordinator.answers) {
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
                for number in 0..self.members.len() {
                    let wait = self.up_to(2_000);
                    self.plan(wait, Event::Know(number));
                }
            }
            5 => {
                // On another broker: what is on its way to the old one does not reach it.
                self.coordinator.restart(self.now);
                self.events
                    .retain(|_, event| !matches!(event, Event::Ask(..)));
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
                assert!(member.core.assignment().is_empty() || state == GroupState::Leaving);
                continue;
            };
            // A static member that did not join in time stays in the group, and learns from its next heartbeat that its
            // generation is over.
            let is_behind = identity.generation != self.coordinator.generation();
            if !self.coordinator.knows(&identity.member_id)
                || (is_behind && member.instance.is_some())
            {
                continue;
            }
            for partition in member.core.assignment() {
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

    fn settle(&mut self) {
        let until = self.now + CALM;
        while !self.is_settled() {
            self.step();
            if self.now > until {
                let states: Vec<_> = self.members.iter().map(|it| it.core.state()).collect();
                panic!(
                    "seed {}, {:?}: not settled: {states:?}, {:#?}",
                    self.seed, self.assignors, self.members[0].core
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

    fn run(mut self) {
        self.pass(TROUBLE);
        self.settle();
        // A member that is dead may have nothing, and be missed only now.
        self.pass(SESSION + REBALANCE);
        self.settle();
        let generation = self.coordinator.generation();
        self.pass(SESSION + REBALANCE);
        assert!(self.is_settled(), "seed {}: it did not last", self.seed);
        let now = self.coordinator.generation();
        assert_eq!(
            now, generation,
            "seed {}: rebalanced for nothing",
            self.seed
        );
    }
}

#[test]
fn groups_get_over_everything() {
    let seeds = match std::env::var("COPART_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("a number");
            seed..seed + 1
        }
        Err(_) => 0..60,
    };
    for seed in seeds {
        World::new(seed).run();
    }
}
