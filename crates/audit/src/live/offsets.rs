//! The earliest and the latest offset of each partition.

use std::collections::BTreeMap;

use copart::protocol::ErrorCode;
use copart::protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use copart::{Client, Topic};
use tokio::time::{Instant, sleep};

use super::fetch::PAUSE;
use super::plan::Range;
use super::{LiveOptions, error};
use crate::Error;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

/// The offsets that can be read now.
///
/// Cancel-safe: nothing is changed anywhere.
pub(super) async fn ranges(
    client: &Client,
    topic: &Topic,
    options: &LiveOptions,
) -> Result<Vec<Range>, Error> {
    let from = of_time(client, topic, EARLIEST, options).await?;
    let until = of_time(client, topic, LATEST, options).await?;
    let ranges = (0..).zip(from.into_iter().zip(until));
    let ranges = ranges.map(|(partition, (from, until))| Range {
        partition,
        from: from.max(0),
        until: until.max(0),
    });
    Ok(ranges.collect())
}

/// Asks each leader for all of its partitions, until all have answered or time is up.
async fn of_time(
    client: &Client,
    topic: &Topic,
    timestamp: i64,
    options: &LiveOptions,
) -> Result<Vec<i64>, Error> {
    let deadline = Instant::now() + options.timeout;
    let mut offsets: Vec<Option<i64>> = vec![None; topic.partitions.len()];
    loop {
        let known = client
            .topic(&topic.name, options.timeout)
            .await
            .map_err(|e| error::in_topic(&topic.name, e))?;
        let mut by_leader: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        let mut trouble = None;
        for (index, _) in (0i32..)
            .zip(&offsets)
            .filter(|(_, offset)| offset.is_none())
        {
            match known.partitions.get(index as usize).and_then(|p| p.leader) {
                Some(leader) => by_leader.entry(leader).or_default().push(index),
                None => trouble = Some(format!("partition {index} has no leader")),
            }
        }
        for (leader, partitions) in by_leader {
            let asked = request(topic, &partitions, timestamp, options);
            let response = match client.request(asked).node(leader).send().await {
                Ok(response) => response,
                Err(error) if error.is_retriable() => {
                    trouble = Some(error.to_string());
                    continue;
                }
                Err(error) => return Err(error::in_topic(&topic.name, error)),
            };
            for answer in response.topics.iter().flat_map(|topic| &topic.partitions) {
                match answer.error_code {
                    ErrorCode::NONE => {
                        let index = usize::try_from(answer.partition_index).unwrap_or(usize::MAX);
                        if let Some(offset) = offsets.get_mut(index) {
                            *offset = Some(answer.offset);
                        }
                    }
                    code if code.is_retriable() => {
                        trouble = Some(format!("partition {}: {code}", answer.partition_index));
                    }
                    code => return Err(error::refused(&topic.name, code)),
                }
            }
        }
        if let Some(all) = offsets.iter().copied().collect::<Option<Vec<i64>>>() {
            return Ok(all);
        }
        if Instant::now() >= deadline {
            let trouble = trouble.unwrap_or_else(|| "a broker left partitions out".into());
            return Err(Error::timed_out(format!(
                "topic {}: its offsets are not known after {:?}: {trouble}",
                topic.name, options.timeout
            )));
        }
        sleep(PAUSE).await;
    }
}

fn request(
    topic: &Topic,
    partitions: &[i32],
    timestamp: i64,
    options: &LiveOptions,
) -> ListOffsetsRequest {
    let partitions = partitions
        .iter()
        .map(|&partition_index| ListOffsetsPartition {
            partition_index,
            timestamp,
            ..ListOffsetsPartition::default()
        });
    ListOffsetsRequest {
        // A consumer, not a follower.
        replica_id: -1,
        isolation_level: options.isolation.level(),
        topics: vec![ListOffsetsTopic {
            name: topic.name.to_string(),
            partitions: partitions.collect(),
        }],
        timeout_ms: i32::try_from(options.timeout.as_millis()).unwrap_or(i32::MAX),
    }
}
