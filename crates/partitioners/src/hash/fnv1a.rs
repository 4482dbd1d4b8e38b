pub(crate) const OFFSET_BASIS: u32 = 0x811c_9dc5;
pub(crate) const PRIME: u32 = 0x0100_0193;

/// FNV-1a with 32 bits (Sarama, goka, Filebeat, librdkafka's `fnv1a` family, kafka-go's `Hash`).
///
/// The `fnv` crate has the 64-bit variant only, and no part of its result contains this one
/// (a test shows it), so the three lines stand here.
#[must_use]
pub fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(OFFSET_BASIS, |h, &b| (h ^ u32::from(b)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use core::hash::Hasher;

    use super::*;

    #[test]
    fn published_values() {
        // Fowler/Noll/Vo's own test vectors (isthe.com, test_fnv.c).
        assert_eq!(fnv1a_32(b""), 0x811c_9dc5);
        assert_eq!(fnv1a_32(b"a"), 0xe40c_292c);
        assert_eq!(fnv1a_32(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn the_fnv_crate_is_64_bit_and_cannot_stand_in() {
        let mut h = fnv::FnvHasher::default();
        h.write(b"foobar");
        let wide = h.finish();
        assert_eq!(wide, 0x8594_4171_f739_67e8, "the crate is right at 64 bits");
        let want = fnv1a_32(b"foobar");
        let (low, high) = (wide as u32, (wide >> 32) as u32);
        assert_ne!(low, want);
        assert_ne!(high, want);
        assert_ne!(low ^ high, want, "nor does xor-folding give it");
    }
}
