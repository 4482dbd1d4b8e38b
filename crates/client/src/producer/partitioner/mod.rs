//! Which partition a record goes to.
//!
//! - [`Partitioning`]: what a producer is given: a client's profile, a way to spread, or code of your own.
//! - [`spread`]: what happens to records that no key pins.

mod spread;
mod view;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use copart_partitioners::{
    KeyedRule, KeylessRule, PartitionCount, Placement, Profile, Spread, catalogue,
};

pub(crate) use spread::{SpreadTuning, Spreader};
pub use view::TopicView;

use super::record::RecordView;
use crate::{Error, ErrorKind, Result};

/// What a [`Partitioner`] says of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// This partition. The record waits for its leader if it has none.
    Partition(i32),
    /// Wherever a client with this profile puts the record's key.
    Like(Profile),
    /// Anywhere: the record is spread as Java spreads records without keys.
    Unkeyed,
}

/// A partitioner of your own.
///
/// It is asked for each record that names no partition, on the thread of the sender. A hash is not a choice:
/// clients differ in how they reduce one to a partition. See `examples/custom_partitioner.rs`.
pub trait Partitioner: Send + Sync + 'static {
    /// Where the record goes.
    fn choose(&self, record: &RecordView<'_>, topic: &TopicView<'_>) -> Choice;
}

impl<F> Partitioner for F
where
    F: Fn(&RecordView<'_>, &TopicView<'_>) -> Choice + Send + Sync + 'static,
{
    fn choose(&self, record: &RecordView<'_>, topic: &TopicView<'_>) -> Choice {
        self(record, topic)
    }
}

/// How a producer chooses partitions. A partition that a record names itself always wins.
#[derive(Clone)]
pub struct Partitioning {
    rule: Rule,
    tuning: SpreadTuning,
    /// Of the catalogue's entry, if it was named.
    name: Option<&'static str>,
}

#[derive(Clone)]
enum Rule {
    Profile(Profile),
    LeastBacklog,
    Manual,
    Custom(Arc<dyn Partitioner>),
}

/// Ignores keys and spreads all records.
const fn spread(by: Spread) -> Profile {
    Profile {
        keyed: KeyedRule::Unpinned(by),
        empty: KeylessRule::Unpinned(by),
        null: KeylessRule::Unpinned(by),
    }
}

impl Partitioning {
    /// As a client of the catalogue does: `java`, `ruby-kafka`, `librdkafka/murmur2_random`, `kafkajs@1.16`.
    /// What librdkafka's `partitioner` setting takes is understood by itself, such as `consistent_random`.
    ///
    /// ```
    /// use copart::Partitioning;
    /// assert!(Partitioning::like("java").is_ok());
    /// assert!(Partitioning::like("murmur2_random").is_ok());
    /// assert!(Partitioning::like("jaba").is_err());
    /// ```
    ///
    /// # Errors
    /// When the catalogue has no such name. The message lists what comes near.
    pub fn like(name: &str) -> Result<Self> {
        match catalogue::find(name) {
            Ok(entry) => Ok(Self::entry(entry)),
            Err(error) => match catalogue::find(&format!("librdkafka/{name}")) {
                Ok(entry) => Ok(Self::entry(entry)),
                Err(_) => Err(Error::new(
                    ErrorKind::Config,
                    format!("partitioner {error}"),
                )),
            },
        }
    }

    fn entry(entry: &catalogue::Entry) -> Self {
        Self {
            name: Some(entry.id),
            ..Self::profile(entry.profile)
        }
    }

    /// As this profile does.
    pub fn profile(profile: Profile) -> Self {
        Self::new(Rule::Profile(profile))
    }

    fn new(rule: Rule) -> Self {
        Self {
            rule,
            tuning: SpreadTuning::default(),
            name: None,
        }
    }

    /// For messages.
    pub(crate) fn name(&self) -> &'static str {
        self.name.unwrap_or("a profile of your own")
    }

    /// The profile, if it puts keys on partitions of their own.
    pub(crate) fn pinning_profile(&self) -> Option<&Profile> {
        match &self.rule {
            Rule::Profile(profile) if !matches!(profile.keyed, KeyedRule::Unpinned(_)) => {
                Some(profile)
            }
            _ => None,
        }
    }

    /// Ignores keys: one partition at a time until enough bytes went there, then another, rather one with a
    /// short queue (KIP-794).
    pub fn uniform() -> Self {
        Self::profile(spread(Spread::UniformSticky))
    }

    /// Ignores keys: one partition until its batch is full, then another at random (KIP-480).
    pub fn sticky() -> Self {
        Self::profile(spread(Spread::Sticky))
    }

    /// Ignores keys: each record to the next partition that has a leader.
    pub fn round_robin() -> Self {
        Self::profile(spread(Spread::RoundRobin))
    }

    /// Ignores keys: each record to a random partition.
    pub fn random() -> Self {
        Self::profile(spread(Spread::Random))
    }

    /// Ignores keys: a partition with the fewest batches waiting.
    pub fn least_backlog() -> Self {
        Self::new(Rule::LeastBacklog)
    }

    /// Only the partition that a record names; a record that names none is refused.
    pub fn manual() -> Self {
        Self::new(Rule::Manual)
    }

    /// As code of yours says. Closures will do.
    pub fn custom(partitioner: impl Partitioner) -> Self {
        Self::new(Rule::Custom(Arc::new(partitioner)))
    }

    /// Whether uniform spreading looks at the queues (`partitioner.adaptive.partitioning.enable`, KIP-794).
    /// It does by default.
    #[must_use]
    pub fn adaptive(mut self, adaptive: bool) -> Self {
        self.tuning.adaptive = adaptive;
        self
    }

    /// Spreads no records to brokers that have not taken any for so long, though some wait
    /// (`partitioner.availability.timeout.ms`, KIP-794). By default all brokers with a leader are used.
    #[must_use]
    pub fn availability_timeout(mut self, timeout: Duration) -> Self {
        self.tuning.availability_timeout = Some(timeout);
        self
    }

    /// Spreads records rather to partitions whose leaders stand in the client's rack
    /// (`partitioner.rack.aware`, KIP-1123), so that traffic between racks is saved. To all others when no leader
    /// in the rack takes any. It needs [`ClientBuilder::rack`](crate::ClientBuilder::rack), and does nothing to
    /// records that a key pins.
    #[must_use]
    pub fn rack_aware(mut self, rack_aware: bool) -> Self {
        self.tuning.rack_aware = rack_aware;
        self
    }

    pub(crate) fn tuning(&self) -> &SpreadTuning {
        &self.tuning
    }

    /// Places a record that names no partition.
    pub(crate) fn place(
        &self,
        record: &RecordView<'_>,
        topic: &TopicView<'_>,
        spreader: &Spreader,
    ) -> Result<Placed> {
        match &self.rule {
            Rule::Profile(profile) => place_like(profile, record, topic, spreader),
            Rule::LeastBacklog => Ok(Placed::fixed(spreader.least_backlog(topic))),
            Rule::Manual => Err(refused(
                record,
                "the record names no partition, and the partitioner is `manual`",
            )),
            Rule::Custom(partitioner) => match partitioner.choose(record, topic) {
                Choice::Partition(partition) => explicit(record, topic, partition),
                Choice::Like(profile) => place_like(&profile, record, topic, spreader),
                Choice::Unkeyed => Ok(spreader.next(Spread::UniformSticky, topic)),
            },
        }
    }
}

impl fmt::Debug for Partitioning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Rule::Profile(profile) => write!(f, "Partitioning({})", profile.keyed),
            Rule::LeastBacklog => f.write_str("Partitioning(least backlog)"),
            Rule::Manual => f.write_str("Partitioning(manual)"),
            Rule::Custom(_) => f.write_str("Partitioning(custom)"),
        }
    }
}

/// Where a record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) partition: usize,
    /// The way of spreading that sticks, and wants to know what was appended.
    pub(crate) sticky: Option<Spread>,
}

impl Placed {
    fn fixed(partition: usize) -> Self {
        Self {
            partition,
            sticky: None,
        }
    }
}

/// The partition that a record or a custom partitioner names.
pub(crate) fn explicit(
    record: &RecordView<'_>,
    topic: &TopicView<'_>,
    partition: i32,
) -> Result<Placed> {
    match usize::try_from(partition) {
        Ok(index) if index < topic.partition_count() => Ok(Placed::fixed(index)),
        _ => Err(refused(
            record,
            &format!(
                "partition {partition} is not one of the topic's {}",
                topic.partition_count()
            ),
        )),
    }
}

#[inline]
fn place_like(
    profile: &Profile,
    record: &RecordView<'_>,
    topic: &TopicView<'_>,
    spreader: &Spreader,
) -> Result<Placed> {
    let count = u32::try_from(topic.partition_count())
        .ok()
        .and_then(PartitionCount::new)
        .ok_or_else(|| refused(record, "the topic has no partitions"))?;
    match profile.place(record.key, count) {
        Placement::Pinned(partition) => explicit(record, topic, partition),
        Placement::Unpinned => Ok(spreader.next(spread_of(profile, record.key), topic)),
        Placement::Rejected => Err(refused(
            record,
            match record.key {
                None => "the client whose partitioner this is refuses null keys",
                Some([]) => "the client whose partitioner this is refuses empty keys",
                Some(_) => "the client whose partitioner this is refuses the key",
            },
        )),
    }
}

/// How a profile spreads what it does not pin.
fn spread_of(profile: &Profile, key: Option<&[u8]>) -> Spread {
    let keyless = match key {
        None => profile.null,
        Some([]) => profile.empty,
        Some(_) => KeylessRule::Hashed,
    };
    match (keyless, profile.keyed) {
        (KeylessRule::Unpinned(by), _) | (_, KeyedRule::Unpinned(by)) => by,
        // Not reached: such a profile pins or rejects.
        _ => Spread::Random,
    }
}

#[cold]
fn refused(record: &RecordView<'_>, reason: &str) -> Error {
    Error::new(ErrorKind::Partitioning, reason.to_owned()).in_topic(record.topic)
}
