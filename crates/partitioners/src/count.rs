use core::fmt;
use core::num::NonZero;

/// The number of partitions of a topic: 1 to `i32::MAX`.
///
/// Carries what a fast modulo needs, so dividing by the same count many times costs two
/// multiplications each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionCount {
    count: NonZero<u32>,
    /// ⌈2^64 / count⌉ modulo 2^64 (Lemire, Kaser and Kurz 2019, "Faster remainder by direct
    /// computation").
    reciprocal: u64,
}

impl PartitionCount {
    /// One partition, on which every key is.
    pub const ONE: Self = Self {
        count: NonZero::<u32>::MIN,
        reciprocal: 0,
    };

    /// `None` when `count` is 0 or above `i32::MAX`, the range of Kafka's partition index.
    #[must_use]
    pub const fn new(count: u32) -> Option<Self> {
        match NonZero::new(count) {
            Some(nonzero) if count <= i32::MAX as u32 => Some(Self {
                count: nonzero,
                reciprocal: (u64::MAX / count as u64).wrapping_add(1),
            }),
            _ => None,
        }
    }

    /// The count.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.count.get()
    }

    /// Whether the count is a power of two, where partitioners that treat the sign bit
    /// differently still agree.
    #[must_use]
    pub const fn is_power_of_two(self) -> bool {
        self.count.is_power_of_two()
    }

    /// `value % count`.
    #[must_use]
    #[inline(always)]
    pub const fn remainder(self, value: u32) -> u32 {
        let fraction = self.reciprocal.wrapping_mul(value as u64);
        ((fraction as u128 * self.count.get() as u128) >> 64) as u32
    }
}

impl fmt::Display for PartitionCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count.fmt(f)
    }
}

impl fmt::Debug for PartitionCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartitionCount({})", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() {
        assert_eq!(Some(PartitionCount::ONE), PartitionCount::new(1));
        assert_eq!(PartitionCount::ONE.remainder(u32::MAX), 0);
    }

    #[test]
    fn range() {
        assert!(PartitionCount::new(0).is_none());
        assert!(PartitionCount::new(1 << 31).is_none());
        assert_eq!(
            PartitionCount::new(i32::MAX as u32).unwrap().get(),
            i32::MAX as u32
        );
    }

    #[test]
    fn remainder_is_the_remainder() {
        let values = [
            0,
            1,
            2,
            11,
            12,
            13,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            u32::MAX - 1,
            u32::MAX,
        ];
        let counts = (1..=4096).chain([65_536, 1_000_003, (1 << 30) + 1, (1 << 31) - 1]);
        for n in counts {
            let count = PartitionCount::new(n).unwrap();
            let spread = (0..64u32).map(|i| i.wrapping_mul(0x9e37_79b9));
            for value in values
                .into_iter()
                .chain(spread)
                .chain([n - 1, n, n.wrapping_mul(3)])
            {
                assert_eq!(count.remainder(value), value % n, "{value} % {n}");
            }
        }
    }
}
