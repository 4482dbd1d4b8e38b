//! Services that send page views, each with a producer of its own.

use std::collections::BTreeMap;

use copart::partitioners::{PartitionCount, Placement};
use copart::{
    Client, Guard, NamedPartitioner, Partitioning, Producer, ProducerBuilder, ProducerRecord,
};
use copart_audit::Error;
use serde_json::{Value, json};

use super::story::number;
use super::views::{Sender, View};

/// A service, and the client whose partitioner it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) sender: Sender,
    pub(super) like: &'static str,
}

pub(super) const WEB: Service = Service {
    sender: Sender::Web,
    like: "ruby-kafka",
};
pub(super) const MOBILE: Service = Service {
    sender: Sender::Mobile,
    like: "java",
};
/// As the web service places keys.
pub(super) const MOBILE_MENDED: Service = Service {
    sender: Sender::Mobile,
    like: WEB.like,
};

impl Service {
    pub(super) fn name(self) -> &'static str {
        match self.sender {
            Sender::Web => "web",
            Sender::Mobile => "mobile",
        }
    }

    pub(super) fn client(self) -> Result<copart_audit::Client, Error> {
        copart_audit::Client::parse(self.like)
    }

    pub(super) fn builder(
        self,
        client: &Client,
    ) -> Result<ProducerBuilder<NamedPartitioner>, Error> {
        Ok(client
            .producer()
            .partitioner(Partitioning::like(self.like)?))
    }

    pub(super) fn producer(self, client: &Client) -> Result<Producer, Error> {
        Ok(self.builder(client)?.build()?)
    }

    /// One that looks first at what is in the topic.
    pub(super) fn guarded(self, client: &Client, topic: &str) -> Result<Producer, Error> {
        let builder = self.builder(client)?;
        Ok(builder.verify_topic(topic, Guard::Refuse).build()?)
    }

    /// Sends views, and waits until all of them are acknowledged.
    pub(super) async fn send<'v>(
        self,
        producer: &Producer,
        topic: &str,
        views: impl Iterator<Item = &'v View>,
    ) -> Result<Sent, Error> {
        let mut waiting = Vec::new();
        for view in views {
            waiting.push((&view.user, producer.enqueue(record(topic, view)).await?));
        }
        producer.flush().await?;
        let mut sent = Sent::default();
        for (user, delivery) in waiting {
            let partition = delivery.await?.partition;
            sent.acknowledged += 1;
            let of_user = sent.partitions.entry(user.clone()).or_insert(partition);
            sent.wandering += u64::from(*of_user != partition);
        }
        Ok(sent)
    }
}

/// A view as a record: the user is its key.
pub(super) fn record<'v>(topic: &'v str, view: &'v View) -> ProducerRecord<'v, &'v str, String> {
    ProducerRecord::to(topic)
        .key(view.user.as_str())
        .value(view.value())
        .timestamp(view.timestamp)
}

/// What became of what a service sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// Records that a broker has acknowledged.
    pub(super) acknowledged: u64,
    /// Records on another partition than their user's first.
    wandering: u64,
    /// The partition of each user.
    pub(super) partitions: BTreeMap<String, i32>,
}

impl Sent {
    /// Records, or users, that are not where the service's client puts them.
    pub(super) fn misplaced(&self, service: Service, count: u32) -> Result<u64, Error> {
        let client = service.client()?;
        let count = PartitionCount::new(count).unwrap_or(PartitionCount::ONE);
        let elsewhere = self.partitions.iter().filter(|(user, partition)| {
            client.profile().place(Some(user.as_bytes()), count) != Placement::Pinned(**partition)
        });
        Ok(self.wandering + elsewhere.count() as u64)
    }

    /// How many partitions it is on.
    fn spread(&self) -> usize {
        let mut partitions: Vec<_> = self.partitions.values().collect();
        partitions.sort_unstable();
        partitions.dedup();
        partitions.len()
    }

    pub(super) fn row(&self, service: Service) -> Result<[String; 6], Error> {
        Ok([
            service.name().to_owned(),
            service.like.to_owned(),
            service.client()?.profile().keyed.to_string(),
            number(self.acknowledged),
            number(self.partitions.len() as u64),
            number(self.spread() as u64),
        ])
    }

    pub(super) fn facts(&self, service: Service) -> Result<Value, Error> {
        Ok(json!({
            "service": service.name(),
            "client": service.like,
            "rule": service.client()?.profile().keyed.to_string(),
            "records": self.acknowledged,
            "users": self.partitions.len(),
            "partitions": self.spread(),
        }))
    }
}

/// The headings of [`Sent::row`].
pub(super) const HEADS: [&str; 6] = [
    "service",
    "client",
    "rule",
    "records",
    "users",
    "partitions",
];

/// Users that two senders, or two rounds, have on different partitions: with both.
pub(super) fn apart<'s>(a: &'s Sent, b: &'s Sent) -> Vec<(&'s str, i32, i32)> {
    let both = a.partitions.iter();
    both.filter_map(|(user, &one)| {
        let &other = b.partitions.get(user)?;
        (one != other).then_some((user.as_str(), one, other))
    })
    .collect()
}
