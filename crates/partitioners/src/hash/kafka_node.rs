/// kafka-node's hash (`lib/partitioner.js`, `KeyedPartitioner`): like Java's, but masked to 31
/// bits at every step, and 0 becomes 1.
///
/// kafka-node turns a `Buffer` into a string first, so bytes that are not UTF-8 become U+FFFD and
/// different keys can meet.
#[must_use]
pub fn kafka_node_hash(bytes: &[u8]) -> u32 {
    let h = utf16_units(bytes).fold(0u32, |h, unit| {
        h.wrapping_mul(31).wrapping_add(unit.into()) & 0x7fff_ffff
    });
    h.max(1)
}

/// The UTF-16 units of `bytes` decoded as UTF-8, U+FFFD for each maximal invalid part.
fn utf16_units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.utf8_chunks().flat_map(|chunk| {
        let replacement = (!chunk.invalid().is_empty()).then_some(0xfffd);
        chunk.valid().encode_utf16().chain(replacement)
    })
}
