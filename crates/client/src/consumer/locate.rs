//! Where a group goes on: what was committed, as the coordinator has it.

use std::collections::HashMap;
use std::sync::Arc;

use copart_protocol::messages::offset_fetch::OffsetFetchRequest;
use copart_protocol::{ErrorCode, Request};
use tokio::time::Instant;

use super::offsets::{self, Committed, FETCH_VERSIONS, Verdict};
use super::shared::Shared;
use crate::cluster::Route;
use crate::{Error, ErrorKind, Isolation, Result, TopicPartition};

/// Partitions that came, each with the number of its assignment.
pub(crate) type Places = HashMap<TopicPartition, u64>;

/// Each partition that is still ours, and what was committed of it.
pub(crate) type Located = Vec<(TopicPartition, u64, Result<Option<Committed>>)>;

/// Asks until the coordinator has told of all of them, or they are not ours any more.
pub(crate) async fn locate(shared: &Shared, mut places: Places) -> Located {
    let mut located = Located::new();
    let mut failures = 0;
    loop {
        {
            let progress = shared.progress();
            places.retain(|partition, number| progress.assignment_of(partition) == Some(*number));
        }
        if places.is_empty() || shared.is_ended() {
            return located;
        }
        let asked: Vec<TopicPartition> = places.keys().cloned().collect();
        match fetch(shared, &asked).await {
            Ok(found) => {
                for (partition, outcome) in found {
                    let settled = match outcome {
                        Err(code) if Verdict::of(code) != Verdict::Refused => None,
                        Err(code) => Some(Err(Error::from_code(code, None)
                            .in_partition(Arc::clone(&partition.topic), partition.partition))),
                        Ok(committed) => Some(Ok(committed)),
                    };
                    if let Some(outcome) = settled
                        && let Some(number) = places.remove(&partition)
                    {
                        located.push((partition, number, outcome));
                    }
                }
                if places.is_empty() {
                    return located;
                }
            }
            Err(error) if is_passing(&error) => {
                tracing::debug!(group = %shared.settings.group, %error, "committed offsets are asked for again");
            }
            Err(error) => {
                let rest = places.drain();
                located.extend(rest.map(|(partition, number)| {
                    let TopicPartition {
                        topic,
                        partition: index,
                    } = &partition;
                    let error = error.clone().in_partition(Arc::clone(topic), *index);
                    (partition, number, Err(error))
                }));
                return located;
            }
        }
        failures += 1;
        tokio::time::sleep(shared.settings.reader.backoff.after(failures)).await;
    }
}

fn is_passing(error: &Error) -> bool {
    error.is_retriable()
        || error
            .code()
            .is_some_and(|code| Verdict::of(code) != Verdict::Refused)
}

/// What is committed of these partitions. Ends at `deadline` with the last error.
///
/// Cancel-safe.
pub(crate) async fn committed(
    shared: &Shared,
    partitions: &[TopicPartition],
    deadline: Instant,
) -> Result<HashMap<TopicPartition, Option<Committed>>> {
    let mut failures = 0;
    loop {
        let fetched = tokio::time::timeout_at(deadline, fetch(shared, partitions)).await;
        let error = match fetched {
            Ok(Ok(found)) => {
                let all = found.into_iter().map(|(partition, outcome)| {
                    let outcome = outcome.map_err(|code| (partition.clone(), code));
                    outcome.map(|committed| (partition, committed))
                });
                match all.collect() {
                    Ok(all) => return Ok(all),
                    Err((partition, code)) => Error::from_code(code, None)
                        .in_partition(partition.topic, partition.partition),
                }
            }
            Ok(Err(error)) => error,
            Err(_) => Error::new(
                ErrorKind::Timeout,
                "committed offsets were not told in time",
            ),
        };
        failures += 1;
        let next = Instant::now() + shared.settings.reader.backoff.after(failures);
        if !is_passing(&error) || next >= deadline {
            return Err(error.in_group(Arc::clone(&shared.settings.group)));
        }
        tokio::time::sleep_until(next).await;
    }
}

/// Asks once. An answer that is silent about a partition counts as one that says "later".
async fn fetch(
    shared: &Shared,
    partitions: &[TopicPartition],
) -> Result<HashMap<TopicPartition, Result<Option<Committed>, ErrorCode>>> {
    let cluster = &shared.cluster;
    let fetched = async {
        let route = Route::Coordinator(shared.of.clone());
        let connection = cluster.route(&route).await?;
        let version = connection.negotiate(OffsetFetchRequest::API, FETCH_VERSIONS)?;
        let stable = shared.settings.reader.isolation == Isolation::ReadCommitted;
        let identity = shared.identity.borrow().clone();
        let group = &shared.settings.group;
        let request = offsets::fetch_request(group, identity.as_ref(), partitions, stable, version);
        let timeout = cluster.request_timeout();
        let response = connection.send(version, &request, timeout)?.await?;
        offsets::fetch_outcomes(response, version)
            .map_err(|code| Error::from_code(code, None).in_api(OffsetFetchRequest::API, version))
    };
    let fetched = fetched.await;
    let moved = match &fetched {
        Err(error) => error
            .code()
            .is_none_or(|code| Verdict::of(code) == Verdict::Move),
        Ok(found) => found.values().any(|outcome| {
            outcome
                .as_ref()
                .is_err_and(|code| Verdict::of(*code) == Verdict::Move)
        }),
    };
    if moved {
        cluster.forget_coordinator(&shared.of);
    }
    let mut fetched = fetched?;
    for partition in partitions {
        fetched
            .entry(partition.clone())
            .or_insert(Err(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS));
    }
    Ok(fetched)
}
