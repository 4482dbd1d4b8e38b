use core::fmt;

use crate::{HashValue, PartitionCount, Placement};

/// How a client turns a hash into a partition index.
///
/// This is where clients with the same hash part ways: the first four agree for hashes below
/// 2^31, and the first two for every hash when the partition count is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// `(h & 0x7fffffff) % n`: Java, and clients that follow it.
    MaskSign,
    /// `h % n` with `h` unsigned: librdkafka's CRC-32, ruby-kafka.
    Unsigned,
    /// `|h % n|` with `h` signed and the remainder's sign that of `h`: Sarama's default.
    SignedRemainderAbs,
    /// `|h| % n` with `h` signed and `|i32::MIN|` still negative: old Filebeat. A negative result
    /// is no partition, so such a key is rejected.
    AbsRemainder,
    /// `Utils.abs(h) % n`: as above, but `i32::MIN` becomes 0 (Kafka's internal topics, Spring
    /// Cloud Stream).
    AbsMinIsZero,
}

impl Reduction {
    /// Every reduction, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::MaskSign,
        Self::Unsigned,
        Self::SignedRemainderAbs,
        Self::AbsRemainder,
        Self::AbsMinIsZero,
    ];

    /// The name used in a user-defined profile and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaskSign => "mask",
            Self::Unsigned => "unsigned",
            Self::SignedRemainderAbs => "signed-abs",
            Self::AbsRemainder => "abs",
            Self::AbsMinIsZero => "abs-min-zero",
        }
    }

    /// The reduction as a formula over the hash `h` and the partition count `n`.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::MaskSign => "(h & 0x7fffffff) % n",
            Self::Unsigned => "h % n (unsigned)",
            Self::SignedRemainderAbs => "|h % n| (signed)",
            Self::AbsRemainder => "|h| % n (|MIN| is negative)",
            Self::AbsMinIsZero => "|h| % n (|MIN| is 0)",
        }
    }

    /// Places a 32-bit hash; `None` where the client's arithmetic leaves the range 0 to n - 1.
    #[must_use]
    #[inline(always)]
    pub const fn index(self, hash: u32, count: PartitionCount) -> Option<u32> {
        Some(match self {
            Self::MaskSign => count.remainder(hash & 0x7fff_ffff),
            Self::Unsigned => count.remainder(hash),
            // |h % n| = |h| % n when the absolute value is taken without overflow.
            Self::SignedRemainderAbs => count.remainder((hash as i32).unsigned_abs()),
            Self::AbsRemainder => {
                let index = count.remainder((hash as i32).unsigned_abs());
                if hash == 1 << 31 && index != 0 {
                    return None;
                }
                index
            }
            Self::AbsMinIsZero => count.remainder((hash as i32).unsigned_abs() & 0x7fff_ffff),
        })
    }

    /// Places any hash. A 160-bit hash is always reduced as one unsigned integer.
    #[must_use]
    pub fn place(self, hash: HashValue, count: PartitionCount) -> Placement {
        let index = match hash {
            HashValue::Bits32(h) => self.index(h, count),
            HashValue::Bits160(bytes) => Some(wide_remainder(&bytes, count)),
        };
        index.map_or(Placement::Rejected, |index| Placement::Pinned(index as i32))
    }
}

/// Long division of a big-endian integer, a byte at a time.
fn wide_remainder(bytes: &[u8], count: PartitionCount) -> u32 {
    let n = u64::from(count.get());
    bytes
        .iter()
        .fold(0u64, |rest, &byte| ((rest << 8) | u64::from(byte)) % n) as u32
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each reduction as its client writes it.
    fn by_definition(reduction: Reduction, h: u32, n: i32) -> i64 {
        let signed = i64::from(h as i32);
        let n = i64::from(n);
        match reduction {
            Reduction::MaskSign => i64::from(h & 0x7fff_ffff) % n,
            Reduction::Unsigned => i64::from(h) % n,
            Reduction::SignedRemainderAbs => (signed % n).abs(),
            Reduction::AbsRemainder => i64::from((h as i32).wrapping_abs()) % n,
            Reduction::AbsMinIsZero => (if h == 1 << 31 { 0 } else { signed.abs() }) % n,
        }
    }

    #[test]
    fn equals_the_definition_at_the_edges() {
        let hashes = [
            0,
            1,
            42,
            0x7fff_fffe,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            u32::MAX,
        ];
        for &reduction in Reduction::ALL {
            for n in [1, 2, 3, 7, 10, 12, 16, 840, 65_536, i32::MAX] {
                let count = PartitionCount::new(n as u32).unwrap();
                for h in hashes {
                    let want = by_definition(reduction, h, n);
                    let got = reduction.index(h, count);
                    assert_eq!(
                        got.map(i64::from),
                        (want >= 0).then_some(want),
                        "{reduction} {h:#x} {n}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_wide_hash_is_one_big_integer() {
        let count = |n| PartitionCount::new(n).unwrap();
        let mut bytes = [0u8; 20];
        bytes[19] = 25;
        assert_eq!(wide_remainder(&bytes, count(12)), 1);
        bytes[0] = 1; // 2^152 + 25; 2^152 mod 12 = 4
        assert_eq!(wide_remainder(&bytes, count(12)), 5);
    }
}
