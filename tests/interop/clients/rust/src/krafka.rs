//! krafka.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::{Duration, Instant};

use krafka::admin::{
    AdminClient, ConfigOp, ConfigResource, ListOffsetsOptions, NewTopic, OffsetSpec, TopicPartition,
};
use krafka::consumer::AutoOffsetReset;
use krafka::error::{ErrorCode, KrafkaError};
use krafka::producer::Acks;
use krafka::{Compression, Kafka, Record};
use serde_json::{Value, json};

use crate::wire::{At, Found, Outcome, Partition, Placed, Produce, Request, Seen, hexed};

pub struct Client {
    kafka: Kafka,
    admin: AdminClient,
}

impl Client {
    pub async fn connect(bootstrap: &str) -> Outcome<Self> {
        let kafka = Kafka::builder(bootstrap).connect().await?;
        Ok(Self {
            admin: kafka.admin(),
            kafka,
        })
    }

    pub async fn act(&self, request: Request) -> Outcome<Value> {
        let admin = &self.admin;
        Ok(match request {
            Request::Hello => json!({ "version": crate::release("krafka"), "lacks": {
                "groups": "not driven here yet"
            } }),
            Request::Create {
                topic,
                partitions,
                configs,
            } => {
                let mut new = NewTopic::new(topic, partitions, 1)?;
                for (name, value) in configs {
                    new = new.with_config(name, value);
                }
                only(admin.create_topics([new], Default::default()).await?)?;
                Value::Null
            }
            Request::Produce(produce) => json!(self.produce(produce).await?),
            Request::Read { topic, ends } => json!(self.read(&topic, ends).await?),
            Request::Offset {
                topic,
                partition,
                at,
            } => {
                let spec = match at {
                    At::Time(millis) => OffsetSpec::Timestamp(millis),
                    At::Named(name) => match name.as_str() {
                        "earliest" => OffsetSpec::Earliest,
                        "latest" => OffsetSpec::Latest,
                        "max" => OffsetSpec::MaxTimestamp,
                        other => return Err(format!("no offset {other}").into()),
                    },
                };
                // For krafka "no record is that late" is an error that it retries until the deadline.
                let options = ListOffsetsOptions::default().timeout(Duration::from_secs(3));
                let answers = admin
                    .list_offsets([(TopicPartition::new(topic, partition), spec)], options)
                    .await?;
                let found = match answers.into_values().next().ok_or("an empty answer")? {
                    Ok(found) => Found {
                        offset: found.offset,
                        timestamp: found.timestamp,
                    },
                    Err(KrafkaError::Broker {
                        code: ErrorCode::OffsetNotAvailable,
                        ..
                    }) => Found {
                        offset: -1,
                        timestamp: None,
                    },
                    Err(problem) => return Err(problem.into()),
                };
                json!(found)
            }
            Request::Describe { topic } => {
                let found = only(admin.describe_topics([topic], Default::default()).await?)?;
                let partitions = found.partitions.into_iter().map(|one| Partition {
                    partition: one.partition,
                    leader: one.leader,
                    replicas: Some(one.replicas),
                    isr: Some(one.isr),
                });
                json!({ "partitions": partitions.collect::<Vec<_>>() })
            }
            Request::Configs { topic } => {
                let entries = only(
                    admin
                        .describe_configs([ConfigResource::topic(topic)], Default::default())
                        .await?,
                )?;
                json!(
                    entries
                        .into_iter()
                        .map(|entry| (entry.name, entry.value))
                        .collect::<BTreeMap<_, _>>()
                )
            }
            Request::Alter { topic, name, value } => {
                let change = (
                    ConfigResource::topic(topic),
                    vec![ConfigOp::set(name, value)],
                );
                only(
                    admin
                        .incremental_alter_configs([change], Default::default())
                        .await?,
                )?;
                Value::Null
            }
            Request::Grow { topic, partitions } => {
                only(
                    admin
                        .create_partitions([(topic, partitions)], Default::default())
                        .await?,
                )?;
                Value::Null
            }
            Request::DeleteRecords {
                topic,
                partition,
                before,
            } => {
                let low = only(
                    admin
                        .delete_records(
                            [(TopicPartition::new(topic, partition), before)],
                            Default::default(),
                        )
                        .await?,
                )?;
                json!({ "low_watermark": low })
            }
            Request::Delete { topic } => {
                only(admin.delete_topics([topic], Default::default()).await?)?;
                Value::Null
            }
        })
    }

    async fn produce(&self, produce: Produce) -> Outcome<Vec<Placed>> {
        let compression = match produce.compression.as_str() {
            "none" => Compression::None,
            "gzip" => Compression::Gzip,
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd,
            other => return Err(format!("no compression {other}").into()),
        };
        let acks = Acks::from_i16(produce.acks).ok_or("no such acks")?;
        let producer = self
            .kafka
            .producer()
            .acks(acks)
            .compression(compression)
            .idempotent(produce.idempotent);
        let producer = producer.linger(Duration::from_millis(20)).build().await?;
        let mut sent = Vec::new();
        for record in produce.records {
            let mut message = Record::new(
                &produce.topic,
                record.value.clone().map_or_else(Vec::new, |value| value.0),
            )
            .timestamp(record.timestamp);
            if record.value.is_none() {
                message = message.without_value();
            }
            if let Some(key) = record.key {
                message = message.key(key.0);
            }
            if let Some(partition) = record.partition {
                message = message.partition(partition);
            }
            for (name, value) in record.headers {
                message = match value {
                    Some(value) => message.header(name, value.0),
                    None => message.null_header(name),
                };
            }
            sent.push(producer.enqueue(message).await?);
        }
        let mut placed = Vec::new();
        for delivery in sent {
            let record = delivery.await?;
            placed.push(Placed {
                partition: record.partition,
                offset: record.offset,
            });
        }
        producer.close().await?;
        Ok(placed)
    }

    async fn read(&self, topic: &str, mut ends: BTreeMap<i32, i64>) -> Outcome<Vec<Seen>> {
        ends.retain(|_, end| *end > 0);
        let consumer = self
            .kafka
            .consumer_without_group()
            .auto_offset_reset(AutoOffsetReset::Earliest);
        let consumer = consumer
            .fetch_max_wait(Duration::from_millis(500))
            .build()
            .await?;
        consumer
            .assign(topic, ends.keys().copied().collect())
            .await?;
        let (mut seen, until) = (Vec::new(), Instant::now() + Duration::from_secs(30));
        while !ends.is_empty() && Instant::now() < until {
            for record in consumer.poll(Duration::from_secs(1)).await? {
                if ends
                    .get(&record.partition)
                    .is_some_and(|end| record.offset + 1 >= *end)
                {
                    ends.remove(&record.partition);
                }
                seen.push(Seen {
                    partition: record.partition,
                    offset: record.offset,
                    timestamp: record.timestamp,
                    key: hexed(record.key.as_deref()),
                    value: hexed(record.value.as_deref()),
                    headers: record
                        .headers
                        .into_iter()
                        .map(|(name, value)| (name, hexed(value.as_deref())))
                        .collect(),
                });
            }
        }
        consumer.close().await?;
        Ok(seen)
    }
}

/// The answer for the one thing that was asked about.
fn only<K: Hash + Eq, V>(answers: HashMap<K, krafka::Result<V>>) -> Outcome<V> {
    Ok(answers.into_values().next().ok_or("an empty answer")??)
}
