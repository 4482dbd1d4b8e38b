use core::fmt;

use crate::{Hash, HashValue, KeyView, PartitionCount, Reduction};

/// Where a client's partitioner puts a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Always this partition, for the same key and count.
    Pinned(i32),
    /// No fixed partition: random, sticky or round-robin.
    Unpinned,
    /// The client refuses the record.
    Rejected,
}

impl Placement {
    /// The partition, if there is a fixed one.
    #[must_use]
    pub const fn partition(self) -> Option<i32> {
        match self {
            Self::Pinned(partition) => Some(partition),
            Self::Unpinned | Self::Rejected => None,
        }
    }
}

/// How a client spreads records that it does not pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spread {
    /// Each record to a random partition.
    Random,
    /// Each record to the next partition.
    RoundRobin,
    /// One partition until its batch is sent (KIP-480).
    Sticky,
    /// One partition until enough bytes went there, weighted by broker load (KIP-794).
    UniformSticky,
    /// A fixed partition within one process, another in the next.
    PerProcess,
}

impl Spread {
    /// The word for it in the clients' documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::RoundRobin => "round-robin",
            Self::Sticky => "sticky",
            Self::UniformSticky => "uniform sticky",
            Self::PerProcess => "different in each process",
        }
    }
}

/// What a client does with a key that has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyedRule {
    /// Hashes it.
    Hashed {
        /// Which bytes.
        view: KeyView,
        /// With which function.
        hash: Hash,
        /// And to a partition how.
        reduction: Reduction,
    },
    /// Ignores it and always takes one partition.
    Fixed(i32),
    /// Ignores it and spreads the records.
    Unpinned(Spread),
}

/// What a client does with a key of no bytes, or with none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeylessRule {
    /// Hashes it as the empty byte string, like any other key.
    Hashed,
    /// Reduces this hash, that of a stand-in.
    HashValue(u32),
    /// Always takes this partition.
    Fixed(i32),
    /// Spreads such records.
    Unpinned(Spread),
    /// Raises an error.
    Rejected,
}

/// A client's partitioner: what it does with a key, an empty key and a null key.
///
/// Placing a key allocates nothing and cannot fail.
///
/// ```
/// use copart_partitioners::{PartitionCount, Placement, catalogue};
///
/// let n = PartitionCount::new(12).unwrap();
/// let java = catalogue::find("java").unwrap().profile;
/// let librdkafka = catalogue::find("librdkafka").unwrap().profile;
/// assert_eq!(java.place(Some(b"100:48069"), n), Placement::Pinned(9));
/// assert_eq!(librdkafka.place(Some(b""), n), Placement::Unpinned);
/// assert_eq!(java.place(Some(b""), n), Placement::Pinned(9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The rule for keys of at least one byte.
    pub keyed: KeyedRule,
    /// The rule for the key of zero bytes.
    pub empty: KeylessRule,
    /// The rule for a record without a key.
    pub null: KeylessRule,
}

impl Profile {
    /// Places a key; `None` is the null key, which is not the empty one.
    #[must_use]
    pub fn place(&self, key: Option<&[u8]>, count: PartitionCount) -> Placement {
        match key {
            None => self.place_keyless(self.null, count),
            Some([]) => self.place_keyless(self.empty, count),
            Some(bytes) => self.place_bytes(bytes, count),
        }
    }

    /// The hash this client computes of a key, if it hashes keys; for reports.
    #[must_use]
    pub fn hash(&self, key: &[u8]) -> Option<HashValue> {
        match self.keyed {
            KeyedRule::Hashed { view, hash, .. } => Some(hash.of(view.of(key))),
            KeyedRule::Fixed(_) | KeyedRule::Unpinned(_) => None,
        }
    }

    fn place_bytes(&self, bytes: &[u8], count: PartitionCount) -> Placement {
        match self.keyed {
            KeyedRule::Hashed {
                view,
                hash,
                reduction,
            } => reduction.place(hash.of(view.of(bytes)), count),
            KeyedRule::Fixed(partition) => fixed(partition, count),
            KeyedRule::Unpinned(_) => Placement::Unpinned,
        }
    }

    fn place_keyless(&self, rule: KeylessRule, count: PartitionCount) -> Placement {
        match rule {
            KeylessRule::Hashed => self.place_bytes(&[], count),
            KeylessRule::HashValue(hash) => match self.keyed {
                KeyedRule::Hashed { reduction, .. } => {
                    reduction.place(HashValue::Bits32(hash), count)
                }
                KeyedRule::Fixed(partition) => fixed(partition, count),
                KeyedRule::Unpinned(_) => Placement::Unpinned,
            },
            KeylessRule::Fixed(partition) => fixed(partition, count),
            KeylessRule::Unpinned(_) => Placement::Unpinned,
            KeylessRule::Rejected => Placement::Rejected,
        }
    }
}

/// A partition that the topic may not have; then there is nowhere to send the record.
fn fixed(partition: i32, count: PartitionCount) -> Placement {
    if u32::try_from(partition).is_ok_and(|partition| partition < count.get()) {
        Placement::Pinned(partition)
    } else {
        Placement::Rejected
    }
}

impl fmt::Display for KeylessRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hashed => f.write_str("hashed"),
            Self::HashValue(hash) => write!(f, "hash {hash:#010x}"),
            Self::Fixed(partition) => write!(f, "partition {partition}"),
            Self::Unpinned(spread) => f.write_str(spread.name()),
            Self::Rejected => f.write_str("rejected"),
        }
    }
}

impl fmt::Display for KeyedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hashed {
                view,
                hash,
                reduction,
            } => {
                write!(f, "{hash} reduced by {}", reduction.formula())?;
                match view {
                    KeyView::AllBytes => Ok(()),
                    KeyView::CharacterCount => f.write_str(", of as many bytes as characters"),
                }
            }
            Self::Fixed(partition) => write!(f, "always partition {partition}"),
            Self::Unpinned(spread) => write!(f, "keys ignored, {}", spread.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_partition_must_be_there() {
        let profile = Profile::parse("hash=crc32,reduce=mask,null=3").unwrap();
        let place = |n| profile.place(None, PartitionCount::new(n).unwrap());
        assert_eq!(place(4), Placement::Pinned(3));
        assert_eq!(place(3), Placement::Rejected);
    }
}
