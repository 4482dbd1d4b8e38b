//! Three groups in a row: each reads a topic and writes the next one, while its members come, leave, die and lose their
//! connections. Everything must come through: at least once, in the order of its key, and all of it committed.
//!
//! - [`plan`]: what is to be run.
//! - [`stage`], [`member`]: a group, and what happens to its members.
//! - [`network`]: connections that can be cut.
//! - [`judge`]: what has to be true of every topic, and is looked at as it comes.

#![allow(unreachable_pub, reason = "modules of a test and of a program")]

mod judge;
mod member;
mod network;
mod plan;
mod stage;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copart::admin::{NewTopic, OffsetSpec};
use copart::{Client, Partitioning, ProducerRecord, TopicPartition};
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::judge::Progress;
pub use self::judge::Verdict;
pub use self::plan::{Membership, Plan, STAGES};
pub use self::stage::Events;
use self::stage::Phase;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What came of it.
#[derive(Debug)]
pub struct Report {
    pub took: Duration,
    /// Of each stage: what happened to its members, and what is in the topic that it wrote.
    pub stages: Vec<(Events, Verdict)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} s", self.took.as_secs_f64())?;
        for (stage, (events, verdict)) in self.stages.iter().enumerate() {
            let Events {
                joined,
                left,
                killed,
                cut,
            } = events;
            let Verdict { records, again } = verdict;
            write!(
                f,
                "; stage {}: {joined} joined, {left} left, {killed} killed, {cut} connections cut, {records} records, {again} of them again",
                stage + 1
            )?;
        }
        Ok(())
    }
}

/// Runs it, and says what is wrong, if anything.
pub async fn run(plan: Plan) -> Result<Report, Failure> {
    let plan = Arc::new(plan);
    let client = Client::builder(&plan.bootstrap).connect().await?;
    for number in 0..=STAGES {
        let topic = NewTopic::new(plan.topic(number)).partitions(plan.partitions(number));
        client.admin().create_topics([topic]).await.all()?;
        known(&client, &plan.topic(number)).await?;
    }
    let started = Instant::now();
    let progress = Arc::new(Progress::default());
    let (phase, seen) = watch::channel(Phase::Filling);
    let mut stages = JoinSet::new();
    let mut judges = JoinSet::new();
    for stage in 0..STAGES {
        let events = stage::run(Arc::clone(&plan), stage, seen.clone());
        stages.spawn(async move { Ok((stage, events.await?)) });
        let verdict = judge::read(Arc::clone(&plan), stage + 1, Arc::clone(&progress));
        judges.spawn(async move { Ok::<_, Failure>((stage, verdict.await?)) });
    }
    let filling = fill(Arc::clone(&plan), client.clone());
    let mut filling = JoinSet::from_iter([filling]);

    let mut verdicts = [None; STAGES];
    let mut last = (0, Instant::now());
    let mut look = tokio::time::interval(Duration::from_secs(1));
    while verdicts.iter().any(Option::is_none) {
        tokio::select! {
            Some(judged) = judges.join_next() => {
                let (stage, verdict) = judged??;
                verdicts[stage] = Some(verdict);
            }
            Some(filled) = filling.join_next() => {
                filled??;
                phase.send(Phase::Filled)?;
            }
            Some(ended) = stages.join_next() => return Err(too_early(ended?)),
            _ = look.tick() => {
                let total = progress.total();
                if total > last.0 {
                    last = (total, Instant::now());
                } else if last.1.elapsed() > plan.patience {
                    return Err(stuck(&plan, &client, total).await);
                }
            }
        }
    }
    phase.send(Phase::Through)?;
    let mut events = [None; STAGES];
    while let Some(ended) = stages.join_next().await {
        let (stage, happened) = ended??;
        events[stage] = Some(happened);
    }
    check_committed(&plan, &client).await?;
    let report = Report {
        took: started.elapsed(),
        stages: events
            .into_iter()
            .flatten()
            .zip(verdicts.into_iter().flatten())
            .collect(),
    };
    for (events, _) in &report.stages {
        if events.joined < 4 || events.left == 0 || events.killed == 0 || events.cut == 0 {
            return Err(format!("too little happened to prove anything: {events:?}").into());
        }
    }
    Ok(report)
}

/// Kafka says that a topic is created before all that ask are told of it.
async fn known(client: &Client, topic: &str) -> Result<(), Failure> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match client.topic(topic, Duration::from_secs(5)).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

fn key(number: u64) -> String {
    format!("user-{number}")
}

/// Numbers of each key from 0 on, key after key.
async fn fill(plan: Arc<Plan>, client: Client) -> Result<(), Failure> {
    let java = Partitioning::like("java")?;
    let producer = client.producer().partitioner(java).build()?;
    let topic = plan.topic(0);
    let started = tokio::time::Instant::now();
    let mut deliveries = Vec::new();
    for number in 0..plan.records {
        if number % 64 == 0 {
            let share = number as f64 / plan.records as f64;
            tokio::time::sleep_until(started + plan.filled_in.mul_f64(share)).await;
        }
        let record = ProducerRecord::to(&topic)
            .key(key(number % plan.keys))
            .value((number / plan.keys).to_string());
        deliveries.push(producer.enqueue(record).await?);
        if deliveries.len() >= 10_000 {
            for delivery in deliveries.drain(..) {
                delivery.await?;
            }
        }
    }
    for delivery in deliveries {
        delivery.await?;
    }
    Ok(())
}

/// All that a group has processed is committed when its members have left: to the end of its topic.
async fn check_committed(plan: &Plan, client: &Client) -> Result<(), Failure> {
    for stage in 0..STAGES {
        for (partition, committed, end) in offsets(plan, client, stage).await? {
            if committed != end {
                let group = plan.group(stage);
                return Err(format!(
                    "{group} has committed {partition} to {committed}, it ends at {end}"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Of each partition that a stage reads: how far it has committed, and where it ends.
async fn offsets(
    plan: &Plan,
    client: &Client,
    stage: usize,
) -> Result<Vec<(TopicPartition, i64, i64)>, Failure> {
    let topic = plan.topic(stage);
    let partitions = (0..plan.partitions(stage)).map(|it| TopicPartition::new(topic.as_str(), it));
    let latest = partitions.map(|partition| (partition, OffsetSpec::Latest));
    let ends = client.admin().list_offsets(latest).await.all()?;
    let groups = client.admin().list_group_offsets([plan.group(stage)]).await;
    let mut committed = std::collections::HashMap::new();
    for (partition, offset) in groups.all()?.into_iter().flat_map(|(_, offsets)| offsets) {
        committed.insert(partition, offset?.offset);
    }
    let ends = ends.into_iter().map(|(partition, end)| {
        let at = committed.get(&partition).copied().unwrap_or(0);
        (partition, at, end.offset.unwrap_or(0))
    });
    Ok(ends.collect())
}

fn too_early(ended: Result<(usize, Events), Failure>) -> Failure {
    match ended {
        Ok((stage, events)) => {
            format!("stage {} has ended too early: {events:?}", stage + 1).into()
        }
        Err(error) => error,
    }
}

async fn stuck(plan: &Plan, client: &Client, total: u64) -> Failure {
    let mut text = format!(
        "nothing has come through for {:?}, after {total} of {}",
        plan.patience,
        plan.records * STAGES as u64
    );
    for stage in 0..STAGES {
        match offsets(plan, client, stage).await {
            Ok(offsets) => {
                for (partition, committed, end) in offsets.iter().filter(|(_, at, end)| at < end) {
                    let group = plan.group(stage);
                    text += &format!("\n{group}: {partition} committed to {committed} of {end}");
                }
            }
            Err(error) => text += &format!("\n{}: {error}", plan.group(stage)),
        }
    }
    text.into()
}
