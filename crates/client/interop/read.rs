//! Reading a topic back with plain Fetch requests, to see what is really in the log.

use std::time::Duration;

use bytes::Bytes;
use copart::Client;
use copart::protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use copart::protocol::records::{Batches, Decompressor};

use crate::Failure;

pub struct Record {
    pub partition: i32,
    pub offset: i64,
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
}

/// All records of a topic, partition by partition.
pub async fn topic(client: &Client, name: &str) -> Result<Vec<Record>, Failure> {
    let topic = client.topic(name, Duration::from_secs(10)).await?;
    let mut records = Vec::new();
    for partition in 0..topic.partitions.len() as i32 {
        let mut offset = 0;
        loop {
            let request = FetchRequest {
                max_wait_ms: 100,
                min_bytes: 1,
                max_bytes: 50 << 20,
                topics: vec![FetchTopic {
                    topic: name.to_owned(),
                    topic_id: topic.id,
                    partitions: vec![FetchPartition {
                        partition,
                        fetch_offset: offset,
                        partition_max_bytes: 10 << 20,
                        ..FetchPartition::default()
                    }],
                }],
                ..FetchRequest::default()
            };
            let response = client
                .request(request)
                .leader(name, partition)
                .send()
                .await?;
            response.error_code.ok()?;
            let answer = &response.responses[0].partitions[0];
            answer.error_code.ok()?;
            let before = offset;
            let mut decompressor = Decompressor::new(100 << 20);
            for batch in Batches::new(answer.records.clone()) {
                for record in batch?.records(&mut decompressor)?.iter() {
                    let record = record?;
                    let owned = record.detach();
                    records.push(Record {
                        partition,
                        offset: record.offset,
                        key: owned.key_bytes(),
                        value: owned.value_bytes(),
                    });
                    offset = record.offset + 1;
                }
            }
            if offset == before {
                break;
            }
        }
    }
    Ok(records)
}
