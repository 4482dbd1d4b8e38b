//! One stage: members that come, leave, die and are cut off.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Failure;
use super::member::Member;
use super::plan::Plan;

const FEWEST: usize = 1;
const MOST: usize = 5;

/// What happened to the members of a stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events {
    pub joined: u32,
    pub left: u32,
    pub killed: u32,
    pub cut: u32,
}

#[derive(Clone, Copy)]
enum Event {
    Join,
    Leave,
    Kill,
    Cut,
}

/// How far the whole has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The first topic is filled, and there is no peace in any stage.
    Filling,
    /// It is full. Those who are there work on.
    Filled,
    /// All has come through. Everyone leaves, in order.
    Through,
}

/// Runs until all has come through.
pub async fn run(
    plan: Arc<Plan>,
    stage: usize,
    mut phase: watch::Receiver<Phase>,
) -> Result<Events, Failure> {
    let mut stage = Stage {
        random: fastrand::Rng::with_seed(plan.seed + stage as u64),
        plan,
        stage,
        members: Vec::new(),
        leaving: Vec::new(),
        events: Events::default(),
    };
    for _ in 0..3 {
        stage.join();
    }
    // Each of them happens in every run; then chance decides.
    let mut events = [Event::Cut, Event::Kill, Event::Join, Event::Leave].into_iter();
    loop {
        let peace = stage.peace();
        tokio::select! {
            _ = phase.wait_for(|phase| *phase >= Phase::Filled) => break,
            () = tokio::time::sleep(peace) => {}
        }
        let event = events.next().unwrap_or_else(|| stage.chance());
        stage.happen(event).await?;
    }
    tokio::select! {
        _ = phase.wait_for(|phase| *phase == Phase::Through) => {}
        error = stage.watch() => return Err(error),
    }
    while let Some(member) = stage.members.pop() {
        stage.leaving.push(member.leave());
    }
    for leaving in stage.leaving {
        leaving.await??;
    }
    Ok(stage.events)
}

struct Stage {
    plan: Arc<Plan>,
    stage: usize,
    random: fastrand::Rng,
    members: Vec<Member>,
    leaving: Vec<JoinHandle<Result<(), Failure>>>,
    events: Events,
}

impl Stage {
    fn peace(&mut self) -> Duration {
        let peace = &self.plan.peace;
        peace.start + (peace.end - peace.start).mul_f64(self.random.f64())
    }

    fn chance(&mut self) -> Event {
        match self.random.u8(..8) {
            0 | 1 => Event::Join,
            2 => Event::Leave,
            3 => Event::Kill,
            _ => Event::Cut,
        }
    }

    /// No member may end by itself.
    async fn check(&mut self) -> Result<(), Failure> {
        let Some(ended) = self.members.iter().position(Member::has_ended) else {
            return Ok(());
        };
        self.members.swap_remove(ended).leave().await??;
        Err("a member has ended that was not to".into())
    }

    async fn watch(&mut self) -> Failure {
        loop {
            if let Err(error) = self.check().await {
                return error;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn happen(&mut self, event: Event) -> Result<(), Failure> {
        self.check().await?;
        match event {
            Event::Join if self.members.len() < MOST => self.join(),
            Event::Leave if self.members.len() > FEWEST => {
                let member = self.pick();
                self.leaving.push(member.leave());
                self.events.left += 1;
            }
            Event::Kill if self.members.len() > FEWEST => {
                self.pick().kill();
                self.events.killed += 1;
                if self.plan.membership.is_static {
                    self.join();
                }
            }
            Event::Join | Event::Leave | Event::Kill | Event::Cut => {
                let one = self.random.usize(..self.members.len());
                if self.members[one].network.cut(&mut self.random) {
                    self.events.cut += 1;
                }
            }
        }
        Ok(())
    }

    /// A new member, in the first place that is free.
    fn join(&mut self) {
        let taken = |place: &usize| self.members.iter().all(|member| member.place != *place);
        let place = (0..).find(taken).unwrap_or_default();
        let member = Member::start(&self.plan, self.stage, place);
        self.members.push(member);
        self.events.joined += 1;
    }

    fn pick(&mut self) -> Member {
        let one = self.random.usize(..self.members.len());
        self.members.swap_remove(one)
    }
}
