//! Sequence numbers of idempotent producers: 0 to `i32::MAX`, then 0 again.

/// The sequence of a batch whose producer is not idempotent.
pub const NO_SEQUENCE: i32 = -1;

/// The sequence number `steps` records after `sequence`.
///
/// [`NO_SEQUENCE`] (and any other negative number) stays what it is.
///
/// ```
/// use copart_protocol::records::sequence_after;
/// assert_eq!(sequence_after(5, 2), 7);
/// assert_eq!(sequence_after(i32::MAX, 1), 0);
/// assert_eq!(sequence_after(-1, 4), -1);
/// ```
pub const fn sequence_after(sequence: i32, steps: u32) -> i32 {
    if sequence < 0 {
        return sequence;
    }
    const PERIOD: u64 = 1 << 31;
    ((sequence as u64 + steps as u64) % PERIOD) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_to_zero() {
        assert_eq!(sequence_after(i32::MAX - 1, 3), 1);
        assert_eq!(sequence_after(0, i32::MAX as u32), i32::MAX);
        assert_eq!(sequence_after(i32::MAX, 1 << 31), i32::MAX);
        assert_eq!(sequence_after(i32::MAX, u32::MAX), i32::MAX - 1);
        assert_eq!(sequence_after(NO_SEQUENCE, 1), NO_SEQUENCE);
    }
}
