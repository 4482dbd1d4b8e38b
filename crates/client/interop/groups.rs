//! Groups of both protocols on a real broker: members come, leave, die, go on where they were, and come back under the
//! name that they had.

use std::collections::BTreeSet;
use std::time::Duration;

use copart::{
    Assignor, Client, Commit, Consumer, ConsumerBuilder, GroupProtocol, Partitioning,
    ProducerRecord,
};
use tokio::time::{Instant, timeout};

use crate::{Failure, create_topic, has, variable};

const PARTITIONS: i32 = 6;
/// How long a group may take to settle. `run` sees to it that dead members are missed after a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a group's members are set up.
#[derive(Clone, Copy)]
struct Setup {
    name: &'static str,
    protocol: GroupProtocol,
    assignors: &'static [Assignor],
}

const CLASSIC: [Setup; 5] = [
    classic("range", &[Assignor::Range]),
    classic("round-robin", &[Assignor::RoundRobin]),
    classic("sticky", &[Assignor::Sticky]),
    classic("cooperative", &[Assignor::CooperativeSticky]),
    classic("both", &[Assignor::CooperativeSticky, Assignor::Range]),
];

const fn classic(name: &'static str, assignors: &'static [Assignor]) -> Setup {
    Setup {
        name,
        protocol: GroupProtocol::Classic,
        assignors,
    }
}

pub async fn all(client: &Client) -> Result<(), Failure> {
    let mut setups = CLASSIC.to_vec();
    if has("epochs") {
        setups.push(Setup {
            name: "consumer",
            protocol: GroupProtocol::Consumer,
            assignors: &[Assignor::Range],
        });
    }
    for setup in setups {
        let begun = Instant::now();
        let told = |error: Failure| format!("group of the setup {}: {error}", setup.name);
        come_and_go(client, setup).await.map_err(told)?;
        come_back(client, setup).await.map_err(told)?;
        println!(
            "group, {}: {:.1} s",
            setup.name,
            begun.elapsed().as_secs_f64()
        );
    }
    chosen(client).await
}

fn builder(client: &Client, topic: &str, setup: Setup) -> ConsumerBuilder {
    client
        .consumer(format!("{topic}-group"))
        .topic(topic)
        .protocol(setup.protocol)
        .assignors(setup.assignors.iter().copied())
        .session_timeout(Duration::from_secs(6))
        .heartbeat_interval(Duration::from_millis(500))
        .rebalance_timeout(Duration::from_secs(20))
        .commit(Commit::Manual)
}

/// A group, what its members have read, and what has been written.
struct Group<'a> {
    client: &'a Client,
    topic: String,
    written: u64,
}

impl Group<'_> {
    async fn write(&mut self) -> Result<(), Failure> {
        let producer = self.client.producer();
        let producer = producer.partitioner(Partitioning::manual()).build()?;
        for partition in 0..PARTITIONS {
            let record = ProducerRecord::to(self.topic.as_str()).partition(partition);
            producer
                .send(record.value(self.written.to_string()))
                .await?;
        }
        self.written += 1;
        Ok(())
    }

    /// Writes to each partition, and has these members read it, each record once.
    async fn work(&mut self, members: &mut [&mut Consumer]) -> Result<(), Failure> {
        self.write().await?;
        let expected = (self.written - 1).to_string();
        let mut seen = Vec::new();
        let until = Instant::now() + PATIENCE;
        while seen.len() < PARTITIONS as usize {
            if Instant::now() > until {
                return Err(format!("not all was read in time: partitions {seen:?}").into());
            }
            for member in &mut *members {
                let Ok(batch) = timeout(Duration::from_millis(20), member.recv()).await else {
                    continue;
                };
                let batch = batch.ok_or("a member has ended")??;
                for record in batch.records() {
                    if record.value() != Some(expected.as_bytes()) {
                        return Err(format!("{:?} came again", record.value()).into());
                    }
                    seen.push(record.partition());
                }
                batch.done();
            }
        }
        let distinct: BTreeSet<i32> = seen.iter().copied().collect();
        if distinct.len() != seen.len() {
            return Err(format!("records came twice: partitions {seen:?}").into());
        }
        for member in members {
            member.commit().await?;
        }
        Ok(())
    }
}

/// Waits until these members share all partitions.
async fn settled(what: &str, members: &mut [&mut Consumer]) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    loop {
        for member in &mut *members {
            if let Ok(batch) = timeout(Duration::from_millis(20), member.recv()).await {
                batch.ok_or("a member has ended")??.done();
            }
        }
        let has: Vec<_> = members.iter().map(|member| member.assignment()).collect();
        let all: BTreeSet<_> = has.iter().flatten().collect();
        let total: usize = has.iter().map(Vec::len).sum();
        let complete = total == PARTITIONS as usize && all.len() == total;
        if complete && has.iter().all(|one| !one.is_empty()) {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!("{what}: not settled in time: {has:?}").into());
        }
    }
}

async fn come_and_go(client: &Client, setup: Setup) -> Result<(), Failure> {
    let topic = format!("groups-{}", setup.name);
    create_topic(client, &topic, PARTITIONS).await?;
    let mut group = Group {
        client,
        topic: topic.clone(),
        written: 0,
    };
    let build = || builder(client, &topic, setup).build();
    let mut one = build()?;
    settled("one", &mut [&mut one]).await?;
    group.work(&mut [&mut one]).await?;
    let mut two = build()?;
    settled("two", &mut [&mut one, &mut two]).await?;
    let (runtime, mut doomed) = doomed(&topic, setup).await?;
    settled("three", &mut [&mut one, &mut two, &mut doomed]).await?;
    group.work(&mut [&mut one, &mut two, &mut doomed]).await?;
    runtime.shutdown_background();
    settled("one was killed", &mut [&mut one, &mut two]).await?;
    group.work(&mut [&mut one, &mut two]).await?;
    // The oldest one, which leads a classic group.
    one.close(Duration::from_secs(10)).await?;
    settled("the first one left", &mut [&mut two]).await?;
    group.work(&mut [&mut two]).await?;
    two.close(Duration::from_secs(10)).await?;
    drop(doomed);
    // What is written while nobody is there is read by whoever comes.
    group.write().await?;
    group.written -= 1;
    let mut heir = build()?;
    let mut seen = 0;
    while seen < PARTITIONS {
        let batch = timeout(PATIENCE, heir.recv()).await?;
        let batch = batch.ok_or("the member has ended")??;
        let news = group.written.to_string();
        if batch
            .records()
            .any(|record| record.value() != Some(news.as_bytes()))
        {
            return Err("a group went on too early".into());
        }
        seen += i32::try_from(batch.len())?;
        batch.done();
    }
    heir.close(Duration::from_secs(10)).await?;
    Ok(())
}

/// A member in a runtime of its own, which can end without a word.
async fn doomed(topic: &str, setup: Setup) -> Result<(tokio::runtime::Runtime, Consumer), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let (bootstrap, topic) = (variable("COPART_PLAIN")?, topic.to_owned());
    let built = runtime.spawn(async move {
        let client = Client::builder(bootstrap).connect().await?;
        builder(&client, &topic, setup).build()
    });
    Ok((runtime, built.await??))
}

/// Static members that are restarted have what they had.
async fn come_back(client: &Client, setup: Setup) -> Result<(), Failure> {
    let topic = format!("static-{}", setup.name);
    create_topic(client, &topic, PARTITIONS).await?;
    let build = |name: &'static str| builder(client, &topic, setup).instance_id(name).build();
    let mut one = build("one")?;
    let mut two = build("two")?;
    settled("static", &mut [&mut one, &mut two]).await?;
    let had = (one.assignment(), two.assignment());
    let generation = one.membership().ok_or("not in the group")?.generation;
    two.close(Duration::from_secs(10)).await?;
    let mut two = build("two")?;
    settled("static, again", &mut [&mut one, &mut two]).await?;
    if had != (one.assignment(), two.assignment()) {
        return Err("a static member came back to something else".into());
    }
    let now = one.membership().ok_or("not in the group")?.generation;
    if setup.protocol == GroupProtocol::Classic && now != generation {
        return Err("the group was rebalanced for a static member that came back".into());
    }
    one.close(Duration::from_secs(10)).await?;
    two.close(Duration::from_secs(10)).await?;
    Ok(())
}

/// Without a choice it is the protocol that the broker has.
async fn chosen(client: &Client) -> Result<(), Failure> {
    create_topic(client, "groups-auto", PARTITIONS).await?;
    let setup = Setup {
        name: "auto",
        protocol: GroupProtocol::Auto,
        assignors: &[Assignor::CooperativeSticky],
    };
    let mut one = builder(client, "groups-auto", setup).build()?;
    settled("auto", &mut [&mut one]).await?;
    let membership = one.membership().ok_or("not in the group")?;
    if membership.is_consumer_protocol != has("epochs") {
        return Err("the other protocol was chosen".into());
    }
    one.close(Duration::from_secs(10)).await?;
    Ok(())
}
