//! rdkafka: librdkafka, compiled in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, NewPartitions, NewTopic, ResourceSpecifier,
    TopicReplication,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};
use serde_json::{Value, json};

use crate::wire::{
    At, Found, NotOffered, Outcome, Partition, Placed, Produce, Request, Seen, hexed,
};

const SOON: Duration = Duration::from_secs(10);

pub struct Client {
    config: ClientConfig,
    admin: AdminClient<DefaultClientContext>,
    consumer: BaseConsumer,
}

impl Client {
    pub fn connect(bootstrap: &str) -> Outcome<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", bootstrap);
        let consumer = reader(&config)?;
        Ok(Self {
            admin: config.create()?,
            consumer,
            config,
        })
    }

    pub async fn act(&self, request: Request) -> Outcome<Value> {
        let options = AdminOptions::new()
            .request_timeout(Some(SOON))
            .operation_timeout(Some(SOON));
        Ok(match request {
            Request::Hello => {
                let (_, librdkafka) = rdkafka::util::get_rdkafka_version();
                json!({ "version": format!("{} (librdkafka {librdkafka})", crate::release("rdkafka")), "lacks": {
                    "groups": "its groups are librdkafka's, which confluent-kafka drives"
                } })
            }
            Request::Create {
                topic,
                partitions,
                configs,
            } => {
                let mut new = NewTopic::new(&topic, partitions, TopicReplication::Fixed(1));
                for (name, value) in &configs {
                    new = new.set(name, value);
                }
                each(self.admin.create_topics(&[new], &options).await?)?
            }
            Request::Produce(produce) => json!(self.produce(produce).await?),
            Request::Read { topic, ends } => {
                let config = self.config.clone();
                // librdkafka's poll blocks.
                json!(tokio::task::spawn_blocking(move || read(&config, &topic, ends)).await??)
            }
            Request::Offset {
                topic,
                partition,
                at,
            } => json!(self.offset(&topic, partition, at)?),
            Request::Describe { topic } => {
                let metadata = self.consumer.fetch_metadata(Some(&topic), SOON)?;
                let partitions = metadata.topics()[0]
                    .partitions()
                    .iter()
                    .map(|one| Partition {
                        partition: one.id(),
                        leader: Some(one.leader()),
                        replicas: Some(one.replicas().to_vec()),
                        isr: Some(one.isr().to_vec()),
                    });
                json!({ "partitions": partitions.collect::<Vec<_>>() })
            }
            Request::Configs { topic } => {
                let answers = self
                    .admin
                    .describe_configs(&[ResourceSpecifier::Topic(&topic)], &options)
                    .await?;
                let mut values = BTreeMap::new();
                for answer in answers {
                    for entry in answer.map_err(|code| code.to_string())?.entries {
                        values.insert(entry.name, entry.value);
                    }
                }
                json!(values)
            }
            Request::Alter { topic, name, value } => {
                let change = AlterConfig::new(ResourceSpecifier::Topic(&topic)).set(&name, &value);
                for answer in self.admin.alter_configs(&[change], &options).await? {
                    answer.map_err(|(_, code)| code.to_string())?;
                }
                Value::Null
            }
            Request::Grow { topic, partitions } => {
                let count = usize::try_from(partitions)?;
                each(
                    self.admin
                        .create_partitions(&[NewPartitions::new(&topic, count)], &options)
                        .await?,
                )?
            }
            Request::DeleteRecords {
                topic,
                partition,
                before,
            } => {
                let mut offsets = TopicPartitionList::new();
                offsets.add_partition_offset(&topic, partition, Offset::Offset(before))?;
                let answer = self.admin.delete_records(&offsets, &options).await?;
                let one = answer
                    .find_partition(&topic, partition)
                    .ok_or("no answer for the partition")?;
                one.error()?;
                json!({ "low_watermark": one.offset().to_raw() })
            }
            Request::Delete { topic } => {
                each(self.admin.delete_topics(&[&topic], &options).await?)?
            }
        })
    }

    async fn produce(&self, produce: Produce) -> Outcome<Vec<Placed>> {
        let mut config = self.config.clone();
        config.set("acks", produce.acks.to_string());
        config.set("compression.type", &produce.compression);
        config.set("enable.idempotence", produce.idempotent.to_string());
        config.set("linger.ms", "20");
        let producer: FutureProducer = config.create()?;
        let mut sent = Vec::new();
        for record in &produce.records {
            let mut headers = OwnedHeaders::new();
            for (name, value) in &record.headers {
                headers = headers.insert(Header {
                    key: name,
                    value: value.as_ref().map(|value| &value.0),
                });
            }
            let mut message = FutureRecord::<[u8], [u8]>::to(&produce.topic)
                .headers(headers)
                .timestamp(record.timestamp);
            message.partition = record.partition;
            message.key = record.key.as_ref().map(|key| key.0.as_slice());
            message.payload = record.value.as_ref().map(|value| value.0.as_slice());
            sent.push(producer.send_result(message).map_err(|(error, _)| error)?);
        }
        let mut placed = Vec::new();
        for delivery in sent {
            let delivery = delivery.await?.map_err(|(error, _)| error)?;
            placed.push(Placed {
                partition: delivery.partition,
                offset: delivery.offset,
            });
        }
        producer.flush(SOON)?;
        Ok(placed)
    }

    fn offset(&self, topic: &str, partition: i32, at: At) -> Outcome<Found> {
        let offset = match at {
            At::Time(millis) => {
                let mut times = TopicPartitionList::new();
                times.add_partition_offset(topic, partition, Offset::Offset(millis))?;
                let found = self.consumer.offsets_for_times(times, SOON)?;
                match found
                    .find_partition(topic, partition)
                    .ok_or("no answer for the partition")?
                    .offset()
                {
                    Offset::Offset(offset) => offset,
                    Offset::End => -1,
                    other => return Err(format!("an offset of {other:?}").into()),
                }
            }
            At::Named(name) => {
                let (low, high) = self.consumer.fetch_watermarks(topic, partition, SOON)?;
                match name.as_str() {
                    "earliest" => low,
                    "latest" => high,
                    _ => return Err(NotOffered("no call for the largest timestamp").into()),
                }
            }
        };
        Ok(Found {
            offset,
            timestamp: None,
        })
    }
}

fn reader(config: &ClientConfig) -> Outcome<BaseConsumer> {
    let mut config = config.clone();
    config
        .set("group.id", "interop-unused")
        .set("enable.auto.commit", "false");
    config
        .set("check.crcs", "true")
        .set("auto.offset.reset", "error");
    Ok(config.create()?)
}

fn read(config: &ClientConfig, topic: &str, mut ends: BTreeMap<i32, i64>) -> Outcome<Vec<Seen>> {
    ends.retain(|_, end| *end > 0);
    let consumer = reader(config)?;
    let mut partitions = TopicPartitionList::new();
    for partition in ends.keys() {
        partitions.add_partition_offset(topic, *partition, Offset::Beginning)?;
    }
    consumer.assign(&partitions)?;
    let (mut seen, until) = (Vec::new(), Instant::now() + Duration::from_secs(30));
    while !ends.is_empty() && Instant::now() < until {
        let Some(message) = consumer.poll(Duration::from_secs(1)) else {
            continue;
        };
        let message = message?;
        let headers = message
            .headers()
            .map(|headers| headers.iter().collect::<Vec<_>>())
            .unwrap_or_default();
        seen.push(Seen {
            partition: message.partition(),
            offset: message.offset(),
            timestamp: message.timestamp().to_millis().unwrap_or(-1),
            key: hexed(message.key()),
            value: hexed(message.payload()),
            headers: headers
                .into_iter()
                .map(|header| (header.key.to_owned(), hexed(header.value)))
                .collect(),
        });
        if ends
            .get(&message.partition())
            .is_some_and(|end| message.offset() + 1 >= *end)
        {
            ends.remove(&message.partition());
        }
    }
    Ok(seen)
}

fn each(answers: Vec<Result<String, (String, RDKafkaErrorCode)>>) -> Outcome<Value> {
    for answer in answers {
        answer.map_err(|(topic, code)| format!("{topic}: {code}"))?;
    }
    Ok(Value::Null)
}
