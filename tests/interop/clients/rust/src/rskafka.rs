//! rskafka. It has no partitioner, no groups and no configuration calls, and always waits for all replicas.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{self, ClientBuilder};
use serde_json::{Value, json};

use crate::wire::{
    At, Found, Hex, NotOffered, Outcome, Partition, Placed, Produce, Request, Seen, hexed,
};

const WITHIN_MS: i32 = 10_000;

pub struct Client {
    client: client::Client,
}

impl Client {
    pub async fn connect(bootstrap: &str) -> Outcome<Self> {
        let client = ClientBuilder::new(vec![bootstrap.to_owned()])
            .build()
            .await?;
        Ok(Self { client })
    }

    pub async fn act(&self, request: Request) -> Outcome<Value> {
        Ok(match request {
            Request::Hello => json!({ "version": crate::release("rskafka"), "lacks": {
                "groups": "has no groups",
                "acks=1": "always asks for all replicas",
                "create-configs": "create_topic takes no configuration",
                "duplicate-headers": "headers are a map",
                "header-order": "headers are a map",
                "idempotent": "has no idempotent producer",
                "null-header": "headers are a map of bytes",
                "partitioner": "has no partitioner: records go to a partition's client",
                "reads-header-order": "headers are a map",
                "reads-duplicate-headers": "headers are a map",
                "reads-null-header": "cannot read a batch with a header that is null",
            } }),
            Request::Create {
                topic, partitions, ..
            } => {
                self.client
                    .controller_client()?
                    .create_topic(topic, partitions, 1, WITHIN_MS)
                    .await?;
                Value::Null
            }
            Request::Produce(produce) => json!(self.produce(produce).await?),
            Request::Read { topic, ends } => json!(self.read(&topic, ends).await?),
            Request::Offset {
                topic,
                partition,
                at,
            } => {
                let at = match at {
                    At::Time(millis) => OffsetAt::Timestamp(time(millis)?),
                    At::Named(name) => match name.as_str() {
                        "earliest" => OffsetAt::Earliest,
                        "latest" => OffsetAt::Latest,
                        _ => return Err(NotOffered("no call for the largest timestamp").into()),
                    },
                };
                let offset = self
                    .partition(&topic, partition)
                    .await?
                    .get_offset(at)
                    .await?;
                json!(Found {
                    offset,
                    timestamp: None
                })
            }
            Request::Describe { topic } => {
                let topics = self.client.list_topics().await?;
                let found = topics
                    .iter()
                    .find(|one| one.name == topic)
                    .ok_or("the topic is not listed")?;
                let mut partitions = Vec::new();
                for &partition in &found.partitions {
                    // The cache of a partition's leader is all there is about replicas.
                    partitions.push(Partition {
                        partition,
                        leader: None,
                        replicas: None,
                        isr: None,
                    });
                }
                json!({ "partitions": partitions })
            }
            Request::Configs { .. } | Request::Alter { .. } => {
                return Err(NotOffered("no calls for configuration").into());
            }
            Request::Grow { .. } => return Err(NotOffered("no call for CreatePartitions").into()),
            Request::DeleteRecords {
                topic,
                partition,
                before,
            } => {
                self.partition(&topic, partition)
                    .await?
                    .delete_records(before, WITHIN_MS)
                    .await?;
                Value::Null
            }
            Request::Delete { topic } => {
                self.client
                    .controller_client()?
                    .delete_topic(topic, WITHIN_MS)
                    .await?;
                Value::Null
            }
        })
    }

    async fn partition(&self, topic: &str, partition: i32) -> Outcome<PartitionClient> {
        Ok(self
            .client
            .partition_client(topic, partition, UnknownTopicHandling::Retry)
            .await?)
    }

    async fn produce(&self, produce: Produce) -> Outcome<Vec<Placed>> {
        let compression = match produce.compression.as_str() {
            "none" => Compression::NoCompression,
            "gzip" => Compression::Gzip,
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd,
            other => return Err(format!("no compression {other}").into()),
        };
        let partition = produce.records[0]
            .partition
            .ok_or("records without a partition")?;
        let mut records = Vec::new();
        for record in produce.records {
            let headers = record
                .headers
                .into_iter()
                .map(|(name, value)| (name, value.map_or_else(Vec::new, |value| value.0)));
            records.push(rskafka::record::Record {
                key: record.key.map(|key| key.0),
                value: record.value.map(|value| value.0),
                headers: headers.collect::<BTreeMap<_, _>>(),
                timestamp: time(record.timestamp)?,
            });
        }
        let offsets = self
            .partition(&produce.topic, partition)
            .await?
            .produce(records, compression)
            .await?;
        Ok(offsets
            .into_iter()
            .map(|offset| Placed { partition, offset })
            .collect())
    }

    async fn read(&self, topic: &str, ends: BTreeMap<i32, i64>) -> Outcome<Vec<Seen>> {
        let (mut seen, until) = (Vec::new(), Instant::now() + Duration::from_secs(30));
        for (partition, end) in ends {
            let client = self.partition(topic, partition).await?;
            let mut at = 0;
            while at < end && Instant::now() < until {
                let (records, _) = client.fetch_records(at, 1..1 << 20, 500).await?;
                for found in records {
                    at = found.offset + 1;
                    let record = found.record;
                    seen.push(Seen {
                        partition,
                        offset: found.offset,
                        timestamp: record.timestamp.timestamp_millis(),
                        key: hexed(record.key.as_deref()),
                        value: hexed(record.value.as_deref()),
                        headers: record
                            .headers
                            .into_iter()
                            .map(|(name, value)| (name, Some(Hex(value))))
                            .collect(),
                    });
                }
            }
        }
        Ok(seen)
    }
}

fn time(millis: i64) -> Outcome<DateTime<Utc>> {
    DateTime::from_timestamp_millis(millis).ok_or_else(|| format!("no time {millis}").into())
}
