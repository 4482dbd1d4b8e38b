pub(crate) const M: u32 = 0x5bd1_e995;
pub(crate) const R: u32 = 24;
pub(crate) const SEED: u32 = ::murmur2::KAFKA_SEED;

/// MurmurHash2 with Kafka's seed, by the `murmur2` crate.
///
/// Java reads the result as `i32`; the bits are the same.
#[must_use]
pub fn murmur2(bytes: &[u8]) -> u32 {
    ::murmur2::murmur2(bytes, SEED)
}

/// [`murmur2()`] as C computes it where `char` is signed: each tail byte is sign-extended before
/// it is shifted into the hash.
///
/// Only keys with a byte of 0x80 or more among the last `len % 4` bytes differ from [`murmur2()`].
#[must_use]
pub fn murmur2_signed_tail(bytes: &[u8]) -> u32 {
    let (mut h, tail) = body(bytes);
    for (i, &byte) in tail.iter().enumerate() {
        h ^= (i32::from(byte as i8) << (8 * i)) as u32;
    }
    if !tail.is_empty() {
        h = h.wrapping_mul(M);
    }
    finish(h)
}

/// Murmur2 over the whole words of `bytes`; also returns the bytes left over.
pub(crate) fn body(bytes: &[u8]) -> (u32, &[u8]) {
    let (words, tail) = bytes.as_chunks::<4>();
    let h = words.iter().fold(SEED ^ bytes.len() as u32, |h, word| {
        step(h, u32::from_le_bytes(*word))
    });
    (h, tail)
}

#[inline(always)]
pub(crate) fn step(h: u32, word: u32) -> u32 {
    let k = word.wrapping_mul(M);
    let k = (k ^ (k >> R)).wrapping_mul(M);
    h.wrapping_mul(M) ^ k
}

#[inline(always)]
pub(crate) fn finish(h: u32) -> u32 {
    let h = (h ^ (h >> 13)).wrapping_mul(M);
    h ^ (h >> 15)
}

/// [`murmur2()`] as JavaScript computes it with `*` instead of `Math.imul`.
///
/// Each product is an IEEE double, so bits beyond the 53rd are lost before the next bit operation
/// cuts it to 32. The loop runs while `i < length / 4` without rounding down, so a key whose
/// length is no multiple of 4 has its last word (missing bytes are 0) mixed in whole, and its
/// tail once more after that.
#[must_use]
pub fn murmur2_float(bytes: &[u8]) -> u32 {
    let m = f64::from(M);
    let mut h = f64::from((SEED ^ bytes.len() as u32) as i32);
    for word in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded[..word.len()].copy_from_slice(word);
        let k = to_int32(f64::from(i32::from_le_bytes(padded)) * m);
        let k = f64::from(xor_shifted(k, R)) * m;
        h = f64::from(to_int32(h * m) ^ to_int32(k));
    }
    let tail = &bytes[bytes.len() & !3..];
    if !tail.is_empty() {
        let mut bits = h as i32;
        for (i, &byte) in tail.iter().enumerate() {
            bits ^= i32::from(byte) << (8 * i);
        }
        h = f64::from(bits) * m;
    }
    let h = to_int32(f64::from(xor_shifted(to_int32(h), 13)) * m);
    xor_shifted(h, 15) as u32
}

/// ECMAScript's `ToInt32` for a product of two 32-bit integers: it fits 64 bits, and so the low
/// half of the integer is the value modulo 2^32.
fn to_int32(product: f64) -> i32 {
    product as i64 as i32
}

/// `x ^ (x >>> bits)`.
fn xor_shifted(x: i32, bits: u32) -> i32 {
    x ^ ((x as u32) >> bits) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_kafkas_own_test() {
        // Apache Kafka, UtilsTest.java#testMurmur2.
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(key.as_bytes()) as i32, hash, "{key}");
            assert_eq!(
                murmur2_signed_tail(key.as_bytes()) as i32,
                hash,
                "ASCII is unaffected"
            );
        }
        assert_eq!(murmur2(b""), 275_646_681);
    }

    #[test]
    fn float_values_of_kafkajs_own_test() {
        // KafkaJS, src/producer/partitioners/legacy/murmur2.spec.js.
        assert_eq!(murmur2_float(b"0") as i32, 272_173_970);
        assert_eq!(murmur2_float(b"1") as i32, 1_311_020_360);
    }
}
