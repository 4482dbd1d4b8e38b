//! A consumer group whose members count page views by user and day, each on its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use copart::{Client, Committer, Consumer, OffsetReset};
use copart_audit::Error;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::stage::{PATIENCE, SOON};
use super::story::number;
use super::views::{Counts, Day, day};

pub(super) const MEMBERS: usize = 4;

pub(super) struct Group {
    topic: &'static str,
    members: Vec<Member>,
    stop: watch::Sender<bool>,
}

struct Member {
    name: String,
    committer: Committer,
    /// Its local state, which nobody else sees.
    counts: Arc<Mutex<Counts>>,
    task: JoinHandle<copart::Result<()>>,
}

impl Group {
    /// Members join, and count whatever comes.
    pub(super) fn join(client: &Client, name: &str, topic: &'static str) -> Result<Self, Error> {
        let (stop, _) = watch::channel(false);
        let members = (1..=MEMBERS).map(|index| {
            let member = format!("member-{index}");
            let consumer = client
                .consumer(name)
                .topic(topic)
                // Neighbouring partitions, in the order of the members' names: the same each time.
                .instance_id(member.as_str())
                .server_assignor("range")
                .offset_reset(OffsetReset::Earliest)
                .build()?;
            let counts = Arc::<Mutex<Counts>>::default();
            let committer = consumer.committer();
            let counting = count(consumer, Arc::clone(&counts), stop.subscribe());
            Ok(Member {
                name: member,
                committer,
                counts,
                task: tokio::spawn(counting),
            })
        });
        let members = members.collect::<Result<_, Error>>()?;
        Ok(Self {
            topic,
            members,
            stop,
        })
    }

    /// Waits until all partitions are shared out evenly.
    pub(super) async fn settle(&self, partitions: u32) -> Result<Assignment, Error> {
        let each = partitions as usize / MEMBERS;
        loop {
            self.check()?;
            let assignment = self.assignment();
            let all: BTreeSet<i32> = assignment.0.values().flatten().copied().collect();
            if all.len() == partitions as usize && assignment.0.values().all(|p| p.len() == each) {
                return Ok(assignment);
            }
            tokio::time::sleep(SOON).await;
        }
    }

    fn assignment(&self) -> Assignment {
        let of = |member: &Member| {
            let assigned = member.committer.assignment().into_iter();
            assigned.map(|at| at.partition).collect()
        };
        let members = self.members.iter();
        Assignment(members.map(|m| (m.name.clone(), of(m))).collect())
    }

    /// Waits until so many records are counted.
    pub(super) async fn counted(&self, records: u64) -> Result<Counted, Error> {
        loop {
            self.check()?;
            let counted = self.so_far();
            if counted.records() >= records {
                return Ok(counted);
            }
            tokio::time::sleep(SOON).await;
        }
    }

    fn so_far(&self) -> Counted {
        let members = self.members.iter().map(|member| {
            let counts = member.counts.lock().unwrap_or_else(PoisonError::into_inner);
            (member.name.clone(), counts.clone())
        });
        Counted(members.collect())
    }

    /// No member counts before it is told to stop.
    fn check(&self) -> Result<(), Error> {
        match self.members.iter().find(|member| member.task.is_finished()) {
            Some(member) => Err(Error::input(format!(
                "{} of the group on {} has stopped",
                member.name, self.topic
            ))),
            None => Ok(()),
        }
    }

    /// Members commit and leave; then nothing is counted any more.
    pub(super) async fn leave(self) -> Result<Counted, Error> {
        // Nobody listens to a member that has ended already: its task says why.
        let _ = self.stop.send(true);
        let mut counted = BTreeMap::new();
        for member in self.members {
            member.task.await.map_err(std::io::Error::other)??;
            let mut counts = member.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counted.insert(member.name, std::mem::take(&mut *counts));
        }
        Ok(Counted(counted))
    }
}

async fn count(
    mut consumer: Consumer,
    counts: Arc<Mutex<Counts>>,
    mut stop: watch::Receiver<bool>,
) -> copart::Result<()> {
    loop {
        let batch = tokio::select! {
            batch = consumer.recv() => batch,
            _ = stop.wait_for(|&stop| stop) => break,
        };
        let Some(batch) = batch else { break };
        let batch = batch?;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        for record in batch.records() {
            let user = String::from_utf8_lossy(record.key().unwrap_or_default());
            if let Some(day) = day(record.timestamp()) {
                *counts.entry((user.into_owned(), day)).or_default() += 1;
            }
        }
        drop(counts);
        batch.done();
    }
    consumer.close(PATIENCE).await
}

/// The partitions of each member.
#[derive(Debug)]
pub(super) struct Assignment(pub(super) BTreeMap<String, Vec<i32>>);

impl Assignment {
    /// The member that has a partition.
    pub(super) fn member_of(&self, partition: i32) -> Option<&str> {
        let mut members = self.0.iter();
        members
            .find(|(_, partitions)| partitions.contains(&partition))
            .map(|(member, _)| member.as_str())
    }

    pub(super) fn facts(&self) -> Value {
        let members = self.0.iter();
        members
            .map(|(member, partitions)| json!({ "member": member, "partitions": partitions }))
            .collect()
    }
}

/// The counts of each member.
#[derive(Debug)]
pub(super) struct Counted(pub(super) BTreeMap<String, Counts>);

impl Counted {
    pub(super) fn records(&self) -> u64 {
        self.0.values().flat_map(Counts::values).sum()
    }

    /// The counts of all members together.
    pub(super) fn total(&self) -> Counts {
        let mut total = Counts::new();
        for (what, count) in self.0.values().flatten() {
            *total.entry(what.clone()).or_default() += count;
        }
        total
    }

    /// What each member has of a user's day.
    pub(super) fn of(&self, user: &str, day: Day) -> Vec<(&str, u64)> {
        let what = (user.to_owned(), day);
        let members = self.0.iter();
        members
            .filter_map(|(member, counts)| Some((member.as_str(), *counts.get(&what)?)))
            .collect()
    }

    /// Days of users that are right with one member, and those of which no member has all.
    pub(super) fn judged(&self, right: &Counts) -> Judged {
        let mut judged = Judged::default();
        for ((user, day), &count) in right {
            let of = self.of(user, *day);
            if of.len() == 1 && of.iter().all(|&(_, counted)| counted == count) {
                judged.right += 1;
            } else {
                judged.wrong += 1;
                judged.users.insert(user.clone());
            }
        }
        judged
    }

    /// Each member with its records and users.
    fn members(&self) -> impl Iterator<Item = (&String, u64, usize)> {
        self.0.iter().map(|(member, counts)| {
            let users: BTreeSet<&str> = counts.keys().map(|(user, _)| user.as_str()).collect();
            (member, counts.values().sum(), users.len())
        })
    }

    /// A row for each member.
    pub(super) fn rows(&self) -> impl Iterator<Item = [String; 3]> {
        self.members()
            .map(|(member, records, users)| [member.clone(), number(records), number(users as u64)])
    }

    pub(super) fn facts(&self) -> Value {
        self.members()
            .map(|(member, records, users)| {
                json!({ "member": member, "records": records, "users": users })
            })
            .collect()
    }
}

/// The headings of [`Counted::rows`].
pub(super) const HEADS: [&str; 3] = ["member", "views", "users"];

/// How many counts are right.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) right: usize,
    pub(super) wrong: usize,
    /// Users with a wrong count.
    pub(super) users: BTreeSet<String>,
}
