//! How many partitions a topic needs, and what changing that later costs.

pub mod platforms;
mod report;
pub mod units;

pub use report::*;
use units::{Rate, Unit};

use crate::Error;
use crate::movement::share_for_counts;
use platforms::{Limit, Limited};

/// More partitions than this are taken for a mistake in the units.
const MAX: f64 = 1_000_000.0;

/// What is known of the topic.
#[derive(Clone, Debug)]
pub struct SizeOptions {
    /// What the topic has to take at its peak.
    pub throughput: Rate,
    /// Times the throughput that it is to grow to before the count is changed again.
    pub growth: f64,
    /// The share of a partition's rates that is kept free.
    pub headroom: f64,
    /// Bytes of a record, to compare rates in bytes with rates in records.
    pub record_bytes: Option<f64>,
    /// What one partition takes from producers.
    pub produce: Option<Rate>,
    /// What one consumer reads and processes from one partition.
    pub consume: Option<Rate>,
    /// Seconds that a consumer takes for a record, when it takes one after the other.
    pub latency: Option<f64>,
    /// Consumers of the largest group that are to have work.
    pub consumers: Option<u32>,
    /// The share of the key that has most traffic.
    pub hot_key: Option<f64>,
    /// Replicas of each partition.
    pub replication: u32,
    /// Brokers of the cluster.
    pub brokers: Option<u32>,
    /// The count that the topic has now.
    pub current: Option<u32>,
    /// The limits to compare with.
    pub limits: Vec<Limit>,
}

/// Finds the least number of partitions, and numbers that may be better.
///
/// # Errors
///
/// When nothing is given that asks for a number of partitions, when rates can't be compared, or
/// when the number is absurd.
pub fn size(options: &SizeOptions) -> Result<SizeReport, Error> {
    let sizing = Sizing::new(options)?;
    let floors = sizing.floors()?;
    let minimum = floors.iter().filter_map(|floor| floor.partitions).max();
    let possible = floors.iter().all(|floor| floor.partitions.is_some());
    let minimum = minimum.filter(|_| possible);
    let candidates = minimum.map_or(Vec::new(), |minimum| sizing.candidates(minimum));
    let mut warnings = Vec::new();
    if let Some(current) = options.current
        && minimum.is_some_and(|minimum| current >= minimum)
    {
        warnings.push(format!(
            "the {current} partitions that the topic has are enough"
        ));
    }
    if options
        .brokers
        .is_some_and(|brokers| options.replication > brokers)
    {
        return Err(Error::usage(format!(
            "{} replicas need as many brokers",
            options.replication
        )));
    }
    Ok(SizeReport {
        schema: SizeReport::SCHEMA,
        verdict: if possible {
            Verdict::Possible
        } else {
            Verdict::Impossible
        },
        throughput: options.throughput,
        growth: options.growth,
        headroom: options.headroom,
        peak: Rate {
            per_second: sizing.peak,
            unit: options.throughput.unit,
        },
        minimum,
        floors,
        limits: sizing.limits(minimum),
        candidates,
        warnings,
    })
}

struct Sizing<'o> {
    options: &'o SizeOptions,
    /// The throughput after growth, in its own unit; so are all rates here.
    peak: f64,
    /// What a partition takes by each rule, less the headroom.
    produce: Option<f64>,
    consume: Option<f64>,
    latency: Option<f64>,
}

impl<'o> Sizing<'o> {
    fn new(options: &'o SizeOptions) -> Result<Self, Error> {
        let usable = |rate: Option<Rate>| -> Result<Option<f64>, Error> {
            let rate = rate.map(|rate| in_unit(options, rate)).transpose()?;
            Ok(rate.map(|rate| rate * (1.0 - options.headroom)))
        };
        let serial = options.latency.map(|seconds| Rate {
            per_second: 1.0 / seconds,
            unit: Unit::Records,
        });
        Ok(Self {
            options,
            peak: options.throughput.per_second * options.growth,
            produce: usable(options.produce)?,
            consume: usable(options.consume)?,
            latency: usable(serial)?,
        })
    }

    fn floors(&self) -> Result<Vec<Floor>, Error> {
        let options = self.options;
        let mut floors = Vec::new();
        let rates = [
            (Reason::Produce, self.produce),
            (Reason::Consume, self.consume),
            (Reason::Latency, self.latency),
        ];
        for (reason, rate) in rates {
            if let Some(rate) = rate {
                let how = format!("{} / {}", self.shown(self.peak), self.shown(rate));
                floors.push(Floor {
                    reason,
                    partitions: Some(whole(self.peak / rate)?),
                    how,
                });
            }
        }
        if let Some(consumers) = options.consumers {
            floors.push(Floor {
                reason: Reason::Parallelism,
                partitions: Some(consumers.max(1)),
                how: "a consumer of a group without a partition idles".into(),
            });
        }
        if let (Some(share), Some(rate)) = (options.hot_key, self.least()) {
            floors.push(self.hot_key(share, rate)?);
        }
        if floors.is_empty() {
            return Err(Error::usage(
                "nothing asks for a number of partitions: give --produce-per-partition, --consume-per-partition, --latency or --consumers",
            ));
        }
        Ok(floors)
    }

    /// The rate that one partition can't exceed.
    fn least(&self) -> Option<f64> {
        let rates = [self.produce, self.consume, self.latency];
        rates.into_iter().flatten().min_by(f64::total_cmp)
    }

    /// All of a key's records are on one partition, with its part of the others'.
    fn hot_key(&self, share: f64, rate: f64) -> Result<Floor, Error> {
        let hot = share * self.peak;
        let (rest, room) = (self.peak - hot, rate - hot);
        let (partitions, how) = if room > 0.0 {
            (
                Some(whole(rest / room)?),
                format!(
                    "{} beside the key / {} left on its partition",
                    self.shown(rest),
                    self.shown(room)
                ),
            )
        } else {
            (
                None,
                format!(
                    "no count helps: the key alone has {}, and a partition takes {}",
                    self.shown(hot),
                    self.shown(rate)
                ),
            )
        };
        Ok(Floor {
            reason: Reason::HotKey,
            partitions,
            how,
        })
    }

    fn candidates(&self, minimum: u32) -> Vec<Candidate> {
        let brokers = self.options.brokers.unwrap_or(1);
        let mut wanted: Vec<(u32, Why)> = vec![(minimum, Why::Minimum)];
        let up_to_brokers = minimum.next_multiple_of(brokers);
        if brokers > 1 {
            wanted.push((up_to_brokers, Why::Brokers));
        }
        if minimum > 2 {
            wanted.push((minimum.next_multiple_of(12), Why::Divisors));
            wanted.push((minimum.next_power_of_two(), Why::PowerOfTwo));
        }
        if let Some(current) = self.options.current {
            wanted.push((
                minimum.max(1).next_multiple_of(current),
                Why::MultipleOfCurrent,
            ));
        }
        wanted.push((2 * up_to_brokers, Why::Double));
        let mut candidates: Vec<Candidate> = Vec::new();
        wanted.sort_by_key(|(partitions, _)| *partitions);
        for (partitions, why) in wanted {
            match candidates.last_mut() {
                Some(last) if last.partitions == partitions => last.why.push(why),
                _ => candidates.push(self.candidate(partitions, why, minimum)),
            }
        }
        candidates
    }

    fn candidate(&self, partitions: u32, why: Why, minimum: u32) -> Candidate {
        let options = self.options;
        let replicas = u64::from(partitions) * u64::from(options.replication);
        let each = self.peak / f64::from(partitions);
        let hot = options.hot_key.map_or(each, |share| {
            share * self.peak + (1.0 - share) * self.peak / f64::from(partitions)
        });
        // Of what a partition takes with nothing kept free.
        let load = |rate: f64| {
            self.least()
                .map(|least| rate / (least / (1.0 - options.headroom)))
        };
        let later = |to: u32| Later {
            partitions: to,
            share: share_for_counts(partitions, to),
        };
        let brokers = options.brokers.unwrap_or(1);
        let mut steps = vec![
            partitions + 1,
            partitions + brokers,
            2 * partitions,
            3 * partitions,
        ];
        steps.dedup();
        Candidate {
            partitions,
            why: vec![why],
            load: load(each),
            hot_load: options.hot_key.and(load(hot)),
            replicas,
            replicas_per_broker: options
                .brokers
                .map(|brokers| replicas as f64 / f64::from(brokers)),
            moves_from_current: options
                .current
                .map(|current| share_for_counts(current, partitions)),
            moves_from_minimum: share_for_counts(minimum, partitions),
            later: steps.into_iter().map(later).collect(),
        }
    }

    fn limits(&self, minimum: Option<u32>) -> Vec<LimitReport> {
        let options = self.options;
        let replicas = minimum.map(|n| f64::from(n) * f64::from(options.replication));
        options
            .limits
            .iter()
            .map(|&limit| {
                let used = match limit.of {
                    Limited::PartitionsPerTopic => minimum.map(f64::from),
                    Limited::ReplicasPerCluster => replicas,
                    Limited::ReplicasPerBroker => replicas
                        .zip(options.brokers)
                        .map(|(replicas, brokers)| replicas / f64::from(brokers)),
                };
                LimitReport {
                    limit,
                    used,
                    exceeded: used.map(|used| used > limit.at_most as f64),
                }
            })
            .collect()
    }

    fn shown(&self, per_second: f64) -> Rate {
        Rate {
            per_second,
            unit: self.options.throughput.unit,
        }
    }
}

/// A rate in the unit of the throughput.
fn in_unit(options: &SizeOptions, rate: Rate) -> Result<f64, Error> {
    let unit = options.throughput.unit;
    if rate.unit == unit {
        return Ok(rate.per_second);
    }
    let bytes = options.record_bytes.ok_or_else(|| {
        Error::usage(format!(
            "{rate} and {} count different things: give --record-size too, or write all rates in bytes (MB/s) or all in records (k/s)",
            options.throughput
        ))
    })?;
    Ok(match unit {
        Unit::Bytes => rate.per_second * bytes,
        Unit::Records => rate.per_second / bytes,
    })
}

/// Rounded up to a number of partitions.
fn whole(partitions: f64) -> Result<u32, Error> {
    // What is a whole number but for the last bits of a division is one.
    let partitions = (partitions - 1e-9).ceil().max(1.0);
    if partitions > MAX {
        return Err(Error::usage(format!(
            "that asks for {partitions:.0} partitions; are the units right?"
        )));
    }
    Ok(partitions as u32)
}

#[cfg(test)]
mod tests;
