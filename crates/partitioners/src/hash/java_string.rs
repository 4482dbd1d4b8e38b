/// `java.lang.String.hashCode` of `new String(bytes, UTF_8)`: `h = 31 * h + unit` over UTF-16
/// units, wrapping at 32 bits.
///
/// Java hashes text, not bytes, so a key that is not UTF-8 is hashed after each malformed
/// sequence has become U+FFFD.
#[must_use]
pub fn java_string_hash(bytes: &[u8]) -> u32 {
    let mut h = 0u32;
    let mut add = |unit: u16| h = h.wrapping_mul(31).wrapping_add(unit.into());
    // Bytes that still belong to a surrogate: Java reads its three as one malformed sequence,
    // where Rust, as the Unicode standard recommends, sees three of one byte each.
    let mut of_surrogate = 0;
    for chunk in bytes.utf8_chunks() {
        chunk.valid().encode_utf16().for_each(&mut add);
        let continues = chunk.valid().is_empty()
            && matches!(chunk.invalid(), [0x80..=0xbf])
            && of_surrogate > 0;
        if continues {
            of_surrogate -= 1;
            continue;
        }
        of_surrogate = if chunk.invalid() == [0xed] { 2 } else { 0 };
        if !chunk.invalid().is_empty() {
            add(0xfffd);
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_java() {
        assert_eq!(java_string_hash(b""), 0);
        assert_eq!(java_string_hash(b"hello"), 99_162_322);
        // One replacement character for a surrogate, whole or cut short; printed by Java 17.
        assert_eq!(java_string_hash(b"\xed\xa0\x80"), 0xfffd);
        assert_eq!(java_string_hash(b"\xed\xa0"), 0xfffd);
        assert_eq!(java_string_hash(b"\xed\xa0\x80\x80"), 0xfffd * 31 + 0xfffd);
        assert_eq!(java_string_hash(b"\xed\xa0A"), 0xfffd * 31 + 65);
        // The usual example of a string whose hashCode is Integer.MIN_VALUE.
        assert_eq!(java_string_hash(b"polygenelubricants"), 0x8000_0000);
    }
}
