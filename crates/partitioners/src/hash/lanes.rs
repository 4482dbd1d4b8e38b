//! The common hashes for many keys at a time.
//!
//! One key's murmur2 or FNV-1a is a chain of multiplications, each waiting for the one before.
//! Eight keys are eight independent chains, which the compiler turns into vector instructions
//! where the CPU has them (`simd`). CRC-32 has a form of its own (`crc32_clmul`).

use super::{Hash, HashValue, fnv1a, murmur2};

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[path = "simd.rs"]
mod simd;

#[cfg(not(all(feature = "std", target_arch = "x86_64")))]
mod simd {
    pub(super) fn hash_each<H: super::Chain>(keys: &[&[u8]], hashes: &mut [u32]) {
        super::interleaved::<H>(keys, hashes);
    }

    pub(super) fn crc32_each(keys: &[&[u8]], hashes: &mut [u32]) {
        super::one_by_one(crate::Hash::Crc32, keys, hashes);
    }
}

impl Hash {
    /// Hashes each of `keys` into the place of the same index in `hashes`: what [`Hash::of`]
    /// gives, for less time per key.
    ///
    /// # Panics
    ///
    /// When the slices differ in length, or the hash [is wide](Hash::is_wide).
    pub fn of_each(self, keys: &[&[u8]], hashes: &mut [u32]) {
        assert_eq!(keys.len(), hashes.len(), "one place for each key");
        match self {
            Self::Murmur2 => simd::hash_each::<Murmur2>(keys, hashes),
            Self::Fnv1a32 => simd::hash_each::<Fnv1a>(keys, hashes),
            Self::Crc32 => simd::crc32_each(keys, hashes),
            _ => one_by_one(self, keys, hashes),
        }
    }
}

fn one_by_one(function: Hash, keys: &[&[u8]], hashes: &mut [u32]) {
    for (key, hash) in keys.iter().zip(hashes) {
        *hash = match function.of(key) {
            HashValue::Bits32(bits) => bits,
            HashValue::Bits160(_) => panic!("{function} has more than 32 bits"),
        };
    }
}

/// A hash that goes through its key front to back.
trait Chain {
    fn start(len: usize) -> u32;
    /// Takes four bytes, little-endian.
    fn word(h: u32, word: u32) -> u32;
    /// Takes the fewer than four bytes that are left.
    fn tail(h: u32, bytes: &[u8]) -> u32;
    fn finish(h: u32) -> u32;
}

struct Murmur2;

impl Chain for Murmur2 {
    #[inline(always)]
    fn start(len: usize) -> u32 {
        murmur2::SEED ^ len as u32
    }

    #[inline(always)]
    fn word(h: u32, word: u32) -> u32 {
        murmur2::step(h, word)
    }

    #[inline(always)]
    fn tail(h: u32, bytes: &[u8]) -> u32 {
        let rest = bytes
            .iter()
            .rev()
            .fold(0, |rest, &b| (rest << 8) | u32::from(b));
        if bytes.is_empty() {
            h
        } else {
            (h ^ rest).wrapping_mul(murmur2::M)
        }
    }

    #[inline(always)]
    fn finish(h: u32) -> u32 {
        murmur2::finish(h)
    }
}

struct Fnv1a;

impl Chain for Fnv1a {
    #[inline(always)]
    fn start(_len: usize) -> u32 {
        fnv1a::OFFSET_BASIS
    }

    #[inline(always)]
    fn word(h: u32, word: u32) -> u32 {
        (0..4).fold(h, |h, i| {
            (h ^ ((word >> (8 * i)) & 0xff)).wrapping_mul(fnv1a::PRIME)
        })
    }

    #[inline(always)]
    fn tail(h: u32, bytes: &[u8]) -> u32 {
        bytes
            .iter()
            .fold(h, |h, &b| (h ^ u32::from(b)).wrapping_mul(fnv1a::PRIME))
    }

    #[inline(always)]
    fn finish(h: u32) -> u32 {
        h
    }
}

/// Keys in flight: as many 32-bit hashes as a 256-bit vector holds.
const LANES: usize = 8;

/// Hashes eight keys side by side for as many words as the shortest of them has, and each to its
/// end alone.
// The index runs through eight slices side by side, which no iterator does.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
fn interleaved<H: Chain>(keys: &[&[u8]], hashes: &mut [u32]) {
    let (groups, rest) = keys.as_chunks::<LANES>();
    let (hash_groups, hash_rest) = hashes.as_chunks_mut::<LANES>();
    for (group, out) in groups.iter().zip(hash_groups) {
        let mut h = [0; LANES];
        let mut common = usize::MAX;
        for lane in 0..LANES {
            h[lane] = H::start(group[lane].len());
            common = common.min(group[lane].len() / 4);
        }
        let mut heads = [&[][..]; LANES];
        for lane in 0..LANES {
            heads[lane] = &group[lane].as_chunks::<4>().0[..common];
        }
        for at in 0..common {
            let mut words = [0; LANES];
            for lane in 0..LANES {
                words[lane] = u32::from_le_bytes(heads[lane][at]);
            }
            for lane in 0..LANES {
                h[lane] = H::word(h[lane], words[lane]);
            }
        }
        for lane in 0..LANES {
            let rest = &group[lane][4 * common..];
            if !rest.is_empty() {
                h[lane] = to_the_end::<H>(h[lane], rest);
            }
        }
        for lane in 0..LANES {
            out[lane] = H::finish(h[lane]);
        }
    }
    for (key, hash) in rest.iter().zip(hash_rest) {
        *hash = H::finish(to_the_end::<H>(H::start(key.len()), key));
    }
}

#[inline(always)]
fn to_the_end<H: Chain>(h: u32, bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let h = words
        .iter()
        .fold(h, |h, word| H::word(h, u32::from_le_bytes(*word)));
    H::tail(h, tail)
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    /// Keys of every length from 0 to 70 in an order that mixes them, and runs of equal length.
    fn keys(data: &[u8]) -> Vec<&[u8]> {
        let mixed = (0..710).map(|i| (i * 7, (i * 37) % 71));
        let equal = (0..40).map(|i| (i * 36, 36));
        mixed
            .chain(equal)
            .map(|(start, len)| &data[start..start + len])
            .collect()
    }

    #[test]
    fn lanes_equal_the_crates() {
        let data: Vec<u8> = (0u32..6000)
            .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8)
            .collect();
        let keys = keys(&data);
        for n in (0..20).chain([keys.len()]) {
            let keys = &keys[..n];
            for &hash in Hash::ALL.iter().filter(|hash| !hash.is_wide()) {
                let mut got = vec![0; n];
                hash.of_each(keys, &mut got);
                let want: Vec<_> = keys.iter().map(|key| hash.of(key)).collect();
                assert_eq!(
                    got.into_iter().map(HashValue::Bits32).collect::<Vec<_>>(),
                    want,
                    "{hash}"
                );
            }
            // The portable form, which another CPU may get, is the same.
            let mut portable = vec![0; n];
            interleaved::<Murmur2>(keys, &mut portable);
            for (key, hash) in keys.iter().zip(portable) {
                assert_eq!(hash, ::murmur2::murmur2(key, ::murmur2::KAFKA_SEED));
            }
        }
    }

    #[test]
    #[should_panic(expected = "more than 32 bits")]
    fn a_wide_hash_is_refused() {
        Hash::Sha1.of_each(&[b"key"], &mut [0]);
    }
}
