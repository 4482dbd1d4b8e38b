/// CRC-32 (IEEE), by the `crc32fast` crate.
///
/// Right for ruby-kafka, librdkafka's `consistent` family, phpkafka and every Go client that
/// takes `crc32.NewIEEE()`; where they differ is how they reduce it.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_of_the_crc_catalogue() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
