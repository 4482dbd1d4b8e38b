//! One member of a stage: writes what it reads to the next topic, and then says that it is done.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use copart::{
    Client, Consumer, Delivery, ErrorKind, GroupBatch, Partitioning, Producer, ProducerRecord,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Failure;
use super::network::Network;
use super::plan::Plan;

/// How long a member may take to leave in order.
const FAREWELL: Duration = Duration::from_secs(60);
/// How many batches are on their way at a time.
const AT_ONCE: usize = 100;

#[derive(Debug)]
pub struct Member {
    /// A static member's number; it has the name of one that was there before.
    pub place: usize,
    pub network: Arc<Network>,
    leave: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Failure>>,
}

impl Member {
    pub fn start(plan: &Arc<Plan>, stage: usize, place: usize) -> Self {
        let network = Network::new();
        let (leave, asked) = oneshot::channel();
        let work = work(Arc::clone(plan), stage, place, Arc::clone(&network), asked);
        Self {
            place,
            network,
            leave,
            task: tokio::spawn(work),
        }
    }

    /// Dies without a word.
    pub fn kill(self) {
        self.network.take_off();
        self.task.abort();
    }

    /// Has it leave in order; what comes of it.
    pub fn leave(self) -> JoinHandle<Result<(), Failure>> {
        // One that has ended has said why.
        let _ = self.leave.send(());
        self.task
    }

    /// It should not have, unless it was asked to leave.
    pub fn has_ended(&self) -> bool {
        self.task.is_finished()
    }
}

async fn work(
    plan: Arc<Plan>,
    stage: usize,
    place: usize,
    network: Arc<Network>,
    mut asked: oneshot::Receiver<()>,
) -> Result<(), Failure> {
    let client = Client::builder(&plan.bootstrap)
        .transport(network)
        .connect_lazily()?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .linger(Duration::from_millis(5))
        .build()?;
    let mut consumer = plan.consumer(&client, stage, place).build()?;
    let output = plan.topic(stage + 1);
    let mut copies = Copies::default();
    let worked = loop {
        tokio::select! {
            biased;
            _ = &mut asked => break copies.settle_all().await,
            settled = copies.settle(), if !copies.0.is_empty() => if let Err(error) = settled {
                break Err(error);
            },
            batch = consumer.recv(), if copies.0.len() < AT_ONCE => match batch {
                // Cut connections and lost generations: it goes on.
                Some(Err(error)) => eprintln!("{}: member {place}: {error}", plan.group(stage)),
                Some(Ok(batch)) => if let Err(error) = copies.add(batch, &producer, &output).await {
                    break Err(error);
                },
                None => break Err("its consumer has ended".into()),
            },
        }
    };
    // Batches that are not done come again to another member.
    drop(copies);
    let closed = close(consumer, &producer).await;
    worked
        .and(closed)
        .map_err(|error| format!("{}: member {place}: {error}", plan.group(stage)).into())
}

/// Batches whose records are on their way to the next topic, in the order in which they came.
#[derive(Default)]
struct Copies(VecDeque<(GroupBatch, VecDeque<Delivery>)>);

impl Copies {
    async fn add(
        &mut self,
        batch: GroupBatch,
        producer: &Producer,
        topic: &str,
    ) -> Result<(), Failure> {
        let mut deliveries = VecDeque::with_capacity(batch.len());
        for record in &batch {
            let copy = ProducerRecord::to(topic)
                .key(record.key())
                .value(record.value());
            deliveries.push_back(producer.enqueue(copy).await?);
        }
        self.0.push_back((batch, deliveries));
        Ok(())
    }

    /// Waits for the first batch to be written, and says that it is done. Nothing is lost if it is dropped meanwhile.
    async fn settle(&mut self) -> Result<(), Failure> {
        let Some((_, deliveries)) = self.0.front_mut() else {
            return Ok(());
        };
        while let Some(delivery) = deliveries.front_mut() {
            let delivered = delivery.await;
            deliveries.pop_front();
            delivered?;
        }
        if let Some((batch, _)) = self.0.pop_front() {
            batch.done();
        }
        Ok(())
    }

    async fn settle_all(&mut self) -> Result<(), Failure> {
        while !self.0.is_empty() {
            self.settle().await?;
        }
        Ok(())
    }
}

async fn close(consumer: Consumer, producer: &Producer) -> Result<(), Failure> {
    match consumer.close(FAREWELL).await {
        // Its session ended while it was cut off: others have its partitions, and read again what it did not commit.
        Err(error) if error.kind() == ErrorKind::Revoked => {
            eprintln!("left without its last commit: {error}")
        }
        closed => closed?,
    }
    let report = producer.close(FAREWELL).await;
    if !report.is_complete() {
        return Err(format!("its producer has closed early: {report:?}").into());
    }
    Ok(())
}
