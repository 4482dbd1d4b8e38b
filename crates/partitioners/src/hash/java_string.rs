use super::kafka_node::utf16_units;

/// `java.lang.String.hashCode` of `new String(bytes, UTF_8)`: `h = 31 * h + unit` over UTF-16
/// units, wrapping at 32 bits.
///
/// Java hashes text, not bytes, so a key that is not UTF-8 is hashed after each malformed
/// sequence has become U+FFFD.
#[must_use]
pub fn java_string_hash(bytes: &[u8]) -> u32 {
    utf16_units(bytes).fold(0u32, |h, unit| h.wrapping_mul(31).wrapping_add(unit.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_java() {
        assert_eq!(java_string_hash(b""), 0);
        assert_eq!(java_string_hash(b"hello"), 99_162_322);
        // The usual example of a string whose hashCode is Integer.MIN_VALUE.
        assert_eq!(java_string_hash(b"polygenelubricants"), 0x8000_0000);
    }
}
