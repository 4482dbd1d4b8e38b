//! Members that join, leave, die, are slow and lose answers, by chance, and what must hold all the same: no partition
//! has two owners in one generation, and when the turmoil ends everybody gets its part.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use copart_protocol::ErrorCode;
use copart_protocol::messages::join_group::JoinGroupResponse;
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment};

use super::super::env::Token;
use super::consumer::Consumer;
use super::{Bench, join_request};
use crate::files::Random;

const PARTITIONS: u8 = 6;

/// What a classic client is doing.
#[derive(Clone, Debug)]
enum Doing {
    Nothing,
    Joining(Token),
    Joined(JoinGroupResponse),
    Syncing(JoinGroupResponse, Token),
    /// It has these partitions, in this generation.
    Consuming(JoinGroupResponse, Vec<u8>),
    Dead,
}

#[derive(Clone, Debug)]
struct Classic {
    id: String,
    doing: Doing,
}

impl Classic {
    /// Does its next step.
    fn step(&mut self, bench: &mut Bench) {
        self.doing = match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Dead => Doing::Dead,
            Doing::Nothing => Doing::Joining(bench.join(9, &join_request(&self.id, &["range"]))),
            Doing::Joining(token) => match bench.joined(token) {
                None => Doing::Joining(token),
                Some(joined) => match joined.error_code {
                    ErrorCode::NONE => Doing::Joined(joined),
                    ErrorCode::MEMBER_ID_REQUIRED => {
                        self.id = joined.member_id;
                        Doing::Nothing
                    }
                    ErrorCode::UNKNOWN_MEMBER_ID => {
                        self.id.clear();
                        Doing::Nothing
                    }
                    ErrorCode::REBALANCE_IN_PROGRESS => Doing::Nothing,
                    code => panic!("a join: {code}"),
                },
            },
            Doing::Joined(joined) => {
                let token = bench.sync(assign(&joined));
                Doing::Syncing(joined, token)
            }
            Doing::Syncing(joined, token) => match bench.synced(token) {
                None => Doing::Syncing(joined, token),
                Some(synced) if synced.error_code.is_none() => {
                    Doing::Consuming(joined, synced.assignment.to_vec())
                }
                Some(_) => Doing::Nothing,
            },
            Doing::Consuming(joined, has) => match bench.beat(&self.id, joined.generation_id) {
                ErrorCode::NONE => Doing::Consuming(joined, has),
                ErrorCode::UNKNOWN_MEMBER_ID => {
                    self.id.clear();
                    Doing::Nothing
                }
                ErrorCode::REBALANCE_IN_PROGRESS | ErrorCode::ILLEGAL_GENERATION => Doing::Nothing,
                code => panic!("a heartbeat: {code}"),
            },
        };
    }

    fn is_dead(&self) -> bool {
        matches!(self.doing, Doing::Dead)
    }
}

/// The leader deals the partitions out.
fn assign(joined: &JoinGroupResponse) -> SyncGroupRequest {
    let count = joined.members.len();
    let assignments = joined.members.iter().enumerate().map(|(index, member)| {
        let partitions = (0..PARTITIONS).filter(|it| usize::from(*it) % count == index);
        SyncGroupRequestAssignment {
            member_id: member.member_id.clone(),
            assignment: Bytes::from_iter(partitions),
        }
    });
    SyncGroupRequest {
        group_id: "g".to_owned(),
        generation_id: joined.generation_id,
        member_id: joined.member_id.clone(),
        assignments: assignments.collect(),
        ..Default::default()
    }
}

/// In no generation has a partition two owners.
fn check_classic(members: &[Classic], seed: u64) {
    let mut owners = BTreeMap::new();
    for member in members {
        if let Doing::Consuming(joined, has) = &member.doing {
            for partition in has {
                let other = owners.insert((joined.generation_id, *partition), &member.id);
                assert_eq!(other, None, "seed {seed}: partition {partition}");
            }
        }
    }
}

#[test]
fn classic_members_by_chance() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut bench = Bench::new(&[]);
        let mut members: Vec<Classic> = Vec::new();
        for _ in 0..400 {
            bench.pass(random.below(1_500));
            match random.below(20) {
                0 if members.len() < 8 => members.push(Classic {
                    id: String::new(),
                    doing: Doing::Nothing,
                }),
                1 if !members.is_empty() => {
                    // Dies: nobody hears of it again, and answers to it are lost.
                    let index = random.below(members.len() as u64) as usize;
                    members[index].doing = Doing::Dead;
                }
                2 if !members.is_empty() => {
                    let index = random.below(members.len() as u64) as usize;
                    let gone = members.swap_remove(index);
                    if !gone.id.is_empty() {
                        bench.leave(&gone.id, None);
                    }
                }
                3 if !members.is_empty() => {
                    // Loses its connection, and what was on it.
                    let index = random.below(members.len() as u64) as usize;
                    if !members[index].is_dead() {
                        members[index].doing = Doing::Nothing;
                    }
                }
                4 if random.below(4) == 0 => {
                    // The coordinator moves: who waits is sent away.
                    bench.restart();
                    for member in &mut members {
                        if matches!(member.doing, Doing::Joining(_) | Doing::Syncing(..)) {
                            member.doing = Doing::Nothing;
                        }
                    }
                }
                _ if !members.is_empty() => {
                    let index = random.below(members.len() as u64) as usize;
                    members[index].step(&mut bench);
                }
                _ => {}
            }
            check_classic(&members, seed);
        }
        // The turmoil ends. The dead ones' sessions do, too.
        members.retain(|member| !member.is_dead());
        for _ in 0..200 {
            bench.pass(1_000);
            for member in &mut members {
                member.step(&mut bench);
                member.step(&mut bench);
            }
            check_classic(&members, seed);
        }
        let mut all: Vec<u8> = Vec::new();
        for member in &members {
            let Doing::Consuming(_, has) = &member.doing else {
                panic!("seed {seed}: {member:?} is stuck in {}", bench.state());
            };
            all.extend(has);
        }
        all.sort_unstable();
        let expected: Vec<u8> = match members.is_empty() {
            true => Vec::new(),
            false => (0..PARTITIONS).collect(),
        };
        assert_eq!(all, expected, "seed {seed}");
    }
}

/// What members have never overlaps, whatever epoch they are in: each has what it was told until it says otherwise.
fn check_consumers(consumers: &[Consumer], seed: u64) {
    let mut owners = BTreeMap::new();
    for consumer in consumers {
        for place in &consumer.has {
            let other = owners.insert(*place, &consumer.id);
            assert_eq!(other, None, "seed {seed}: {place:?}");
        }
    }
}

#[test]
fn consumers_by_chance() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut bench = Bench::new(&[]);
        bench.cluster.set("u", 3);
        let mut consumers: Vec<Consumer> = Vec::new();
        let mut born = 0;
        for _ in 0..400 {
            bench.pass(random.below(2_000));
            match random.below(16) {
                0 if consumers.len() < 6 => {
                    born += 1;
                    let topics: &[&str] =
                        [&["t"][..], &["u"], &["t", "u"]][random.below(3) as usize];
                    consumers.push(Consumer::new(&format!("m{born}"), topics));
                }
                1 if !consumers.is_empty() => {
                    // Dies. Its partitions are free when its session ends, so it does not count from now on.
                    let index = random.below(consumers.len() as u64) as usize;
                    consumers.swap_remove(index);
                }
                2 if !consumers.is_empty() => {
                    let index = random.below(consumers.len() as u64) as usize;
                    let mut gone = consumers.swap_remove(index);
                    let _ = gone.leave(&mut bench, -1);
                }
                3 => {
                    let partitions = bench.cluster.topics["u"].partitions + 1;
                    if partitions < 9 {
                        bench.cluster.set("u", partitions);
                    }
                }
                4 if random.below(4) == 0 => bench.restart(),
                _ if !consumers.is_empty() => {
                    let index = random.below(consumers.len() as u64) as usize;
                    beat(&mut bench, &mut consumers[index]);
                }
                _ => {}
            }
            give_up(&bench, &mut consumers);
            check_consumers(&consumers, seed);
        }
        for _ in 0..60 {
            bench.pass(2_000);
            for consumer in &mut consumers {
                beat(&mut bench, consumer);
            }
            check_consumers(&consumers, seed);
        }
        if consumers.is_empty() {
            continue;
        }
        assert_eq!(bench.state(), "Stable", "seed {seed}");
        let wanted: BTreeSet<String> = bench
            .coordinator
            .describe_consumer("g", &bench.cluster)
            .expect("there")
            .members
            .into_iter()
            .flat_map(|member| member.subscribed_topic_names)
            .collect();
        let expected: i32 = wanted
            .iter()
            .map(|name| bench.cluster.topics[name].partitions)
            .sum();
        let has: usize = consumers.iter().map(|it| it.has.len()).sum();
        assert_eq!(has as i32, expected, "seed {seed}");
    }
}

/// A client that could send no heartbeat for a whole session knows that others may have its partitions.
fn give_up(bench: &Bench, consumers: &mut [Consumer]) {
    for consumer in consumers {
        if bench.elapsed_ms - consumer.last_ms >= 45_000 {
            consumer.has.clear();
        }
    }
}

/// A client that was fenced gives up what it has, and joins again.
fn beat(bench: &mut Bench, consumer: &mut Consumer) {
    match consumer.beat(bench) {
        Ok(()) => {}
        Err(
            ErrorCode::UNKNOWN_MEMBER_ID
            | ErrorCode::FENCED_MEMBER_EPOCH
            | ErrorCode::GROUP_ID_NOT_FOUND,
        ) => {
            consumer.epoch = 0;
            consumer.has.clear();
        }
        Err(code) => panic!("a heartbeat: {code}"),
    }
}
