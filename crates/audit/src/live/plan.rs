//! Which offsets to read, when not all of them are.

/// Windows over a partition's offsets, when there is enough to read for so many.
const WINDOWS: u64 = 8;

/// Records that a window has at least; of fewer, no change of the writer can be seen.
const SMALLEST: u64 = 25;

/// The offsets of a partition: its earliest, and the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) partition: u32,
    pub(super) from: i64,
    pub(super) until: i64,
}

impl Range {
    pub(super) fn len(&self) -> u64 {
        self.until.saturating_sub(self.from).max(0) as u64
    }
}

/// Up to `take` records from offset `from` on, below `until`.
///
/// Offsets without a record (compaction, markers of transactions) make it reach further: `until` is
/// where the next window begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) partition: u32,
    pub(super) from: i64,
    pub(super) until: i64,
    pub(super) take: u64,
}

/// Spreads `records` over the partitions and their offsets. The oldest windows of all partitions come
/// first, the newest last, so that a run that ends early has seen all partitions.
pub(super) fn windows(ranges: &[Range], records: u64) -> Vec<Window> {
    let mut all = Vec::new();
    for (range, share) in ranges.iter().zip(shares(ranges, records)) {
        all.extend(of_partition(range, share));
    }
    all.sort_by_key(|&(quantile, window)| (quantile, window.partition));
    all.into_iter().map(|(_, window)| window).collect()
}

/// What each partition gives: in proportion to what it has, so that the sample has the topic's own
/// shares, but a tenth of an equal share at least, so that small partitions are seen too.
fn shares(ranges: &[Range], records: u64) -> Vec<u64> {
    let least = records / (ranges.len().max(1) as u64) / 10;
    let mut shares: Vec<u64> = ranges.iter().map(|range| range.len().min(least)).collect();
    let left = records - shares.iter().sum::<u64>();
    let room: u128 = ranges
        .iter()
        .zip(&shares)
        .map(|(range, share)| u128::from(range.len() - share))
        .sum();
    if room <= u128::from(left) {
        return ranges.iter().map(Range::len).collect();
    }
    let mut rest = left;
    for (share, range) in shares.iter_mut().zip(ranges) {
        let part = u128::from(range.len() - *share) * u128::from(left) / room;
        // No more than `left`, so it fits.
        *share += part as u64;
        rest -= part as u64;
    }
    // What rounding down left over is less than one for each partition.
    for (share, range) in shares.iter_mut().zip(ranges) {
        if rest > 0 && *share < range.len() {
            *share += 1;
            rest -= 1;
        }
    }
    shares
}

/// The windows of a partition, each with the eighth of the offsets in which it begins.
fn of_partition(range: &Range, take: u64) -> Vec<(u64, Window)> {
    if take == 0 {
        return Vec::new();
    }
    let window = |from: i64, until: i64, take: u64| Window {
        partition: range.partition,
        from,
        until,
        take,
    };
    if take >= range.len() {
        return vec![(0, window(range.from, range.until, take))];
    }
    let count = (take / SMALLEST).clamp(1, WINDOWS);
    if count == 1 {
        // The newest records are those that the present writers wrote.
        let from = range.until - take as i64;
        return vec![(WINDOWS - 1, window(from, range.until, take))];
    }
    // The first window begins with the first offset, and the last ends with the last.
    let size = take / count;
    let gaps = u128::from(range.len() - size);
    let start = |i: u64| range.from + (gaps * u128::from(i) / u128::from(count - 1)) as i64;
    (0..count)
        .map(|i| {
            let until = if i + 1 < count {
                start(i + 1)
            } else {
                range.until
            };
            let quantile = i * (WINDOWS - 1) / (count - 1);
            (quantile, window(start(i), until, size))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(partition: u32, from: i64, until: i64) -> Range {
        Range {
            partition,
            from,
            until,
        }
    }

    #[test]
    fn all_is_read_when_all_may_be() {
        let ranges = [range(0, 5, 105), range(1, 0, 0), range(2, 7, 8)];
        let windows = windows(&ranges, 101);
        let read: Vec<_> = windows
            .iter()
            .map(|w| (w.partition, w.from, w.until, w.take))
            .collect();
        assert_eq!(read, [(0, 5, 105, 100), (2, 7, 8, 1)]);
    }

    #[test]
    fn windows_are_in_order_apart_and_reach_both_ends() {
        let ranges = [
            range(0, 1000, 101_000),
            range(1, 0, 50_000),
            range(2, 0, 40),
        ];
        let all = windows(&ranges, 3000);
        assert!(all.iter().map(|w| w.take).sum::<u64>() <= 3000);
        for (partition, range) in ranges.iter().enumerate() {
            let own: Vec<_> = all
                .iter()
                .filter(|w| w.partition == partition as u32)
                .collect();
            assert_eq!(own.first().unwrap().from, range.from);
            let last = own.last().unwrap();
            assert_eq!(
                (last.from + last.take as i64, last.until),
                (range.until, range.until)
            );
            for pair in own.windows(2) {
                assert!(
                    pair[0].from + pair[0].take as i64 <= pair[0].until,
                    "{pair:?}"
                );
                assert_eq!(pair[0].until, pair[1].from);
            }
        }
        // In proportion: partition 0 has twice the records of partition 1.
        let sum = |p| {
            all.iter()
                .filter(|w| w.partition == p)
                .map(|w| w.take)
                .sum::<u64>()
        };
        let ratio = sum(0) as f64 / sum(1) as f64;
        assert!((1.8..2.2).contains(&ratio), "{ratio}");
        assert_eq!(sum(2), 40);
    }

    #[test]
    fn a_few_records_are_the_newest() {
        let all = windows(&[range(0, 0, 1000), range(1, 0, 1000)], 3);
        assert_eq!(all.iter().map(|w| w.take).sum::<u64>(), 3);
        assert!(
            all.iter()
                .all(|w| w.until == 1000 && w.from == 1000 - w.take as i64)
        );
    }

    #[test]
    fn offsets_at_the_limits_do_not_overflow() {
        let ranges = [range(0, 0, i64::MAX), range(1, 0, i64::MAX)];
        let all = windows(&ranges, u64::MAX);
        assert!(all.iter().all(|w| w.from >= 0 && w.from < w.until));
        let all = windows(&ranges, 1_000_000);
        assert_eq!(all.iter().map(|w| w.take).sum::<u64>(), 1_000_000);
    }
}
