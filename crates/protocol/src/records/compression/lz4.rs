//! LZ4 frames. Kafka's own reader takes only independent blocks, so those are
//! written; any frame is read.

use std::io::{Read, Write};

use lz4::{BlockMode, BlockSize, ContentChecksum, EncoderBuilder};

use super::{Codec, cannot_compress, corrupt, first_capacity, over_limit};
use crate::Result;

/// Kafka's default level, which its Java client maps to the fast compressor.
const FAST: i32 = 9;
/// The lowest level that the C library takes for the high compressor.
const HIGH_MIN: i32 = 2;

pub(super) fn compress(level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let level = if level == FAST {
        0
    } else {
        level.max(HIGH_MIN)
    };
    let failed = |error| cannot_compress(Codec::Lz4, error);
    let mut encoder = EncoderBuilder::new()
        .level(level as u32)
        .block_mode(BlockMode::Independent)
        .block_size(BlockSize::Max64KB)
        .block_checksum(lz4::liblz4::BlockChecksum::NoBlockChecksum)
        // The batch's CRC covers these bytes already.
        .checksum(ContentChecksum::NoChecksum)
        .build(out)
        .map_err(failed)?;
    encoder.write_all(input).map_err(failed)?;
    encoder.finish().1.map_err(failed)
}

/// What to do about the checksum of the frame header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderChecksum {
    /// It has to match.
    Correct,
    /// Messages of format v0 carry one that was computed over the magic number
    /// too (KAFKA-3160), so it proves nothing.
    Ignored,
}

pub(super) fn decompress(
    input: &[u8],
    limit: usize,
    header: HeaderChecksum,
    out: &mut Vec<u8>,
) -> Result<()> {
    match header {
        HeaderChecksum::Correct => read_frame(input, input.len(), limit, out),
        HeaderChecksum::Ignored => {
            let Some((fixed, fixed_len)) = repaired_header(input) else {
                return Err(corrupt(Codec::Lz4, 0, "the frame header is cut off"));
            };
            let frame = fixed[..fixed_len].chain(&input[fixed_len..]);
            read_frame(frame, input.len(), limit, out)
        }
    }
}

// The library reserves two blocks of the size that the frame names, 8 MiB in
// all at most, and touches what it fills. All else grows with the output.
fn read_frame(frame: impl Read, input_len: usize, limit: usize, out: &mut Vec<u8>) -> Result<()> {
    let failed = |error| corrupt(Codec::Lz4, 0, error);
    let mut decoder = lz4::Decoder::new(frame).map_err(failed)?;
    out.resize(first_capacity(input_len, limit), 0);
    let mut filled = 0;
    loop {
        if filled == out.len() {
            // One byte more than the limit tells "full" from "too much".
            let target = filled
                .saturating_mul(2)
                .max(1024)
                .min(limit.saturating_add(1));
            out.reserve_exact(target - filled);
            out.resize(target, 0);
        }
        let read = decoder.read(&mut out[filled..]).map_err(failed)?;
        if read == 0 {
            break;
        }
        filled += read;
        if filled > limit {
            return Err(over_limit(Codec::Lz4, limit, 0));
        }
    }
    out.truncate(filled);
    // A cut frame reads like one that ended.
    match decoder.finish().1 {
        Ok(()) => Ok(()),
        Err(_) => Err(corrupt(Codec::Lz4, input_len, "the frame does not end")),
    }
}

const FRAME_MAGIC_LEN: usize = 4;
const MAX_HEADER_LEN: usize = 19;

/// The frame header at the start of `input` with the right checksum, and its
/// length.
fn repaired_header(input: &[u8]) -> Option<([u8; MAX_HEADER_LEN], usize)> {
    const CONTENT_SIZE: u8 = 1 << 3;
    const DICTIONARY_ID: u8 = 1;

    let flags = *input.get(FRAME_MAGIC_LEN)?;
    let mut checksum_at = FRAME_MAGIC_LEN + 2;
    if flags & CONTENT_SIZE != 0 {
        checksum_at += 8;
    }
    if flags & DICTIONARY_ID != 0 {
        checksum_at += 4;
    }
    let mut header = [0; MAX_HEADER_LEN];
    header[..=checksum_at].copy_from_slice(input.get(..=checksum_at)?);
    header[checksum_at] = (xxh32_short(&header[FRAME_MAGIC_LEN..checksum_at]) >> 8) as u8;
    Some((header, checksum_at + 1))
}

/// XXH32 with seed 0 of less than 16 bytes, which leaves out the striped part
/// of the algorithm. A frame descriptor has 2 to 14.
fn xxh32_short(input: &[u8]) -> u32 {
    const PRIME_1: u32 = 0x9E37_79B1;
    const PRIME_2: u32 = 0x85EB_CA77;
    const PRIME_3: u32 = 0xC2B2_AE3D;
    const PRIME_4: u32 = 0x27D4_EB2F;
    const PRIME_5: u32 = 0x1656_67B1;

    debug_assert!(input.len() < 16);
    let mut hash = PRIME_5.wrapping_add(input.len() as u32);
    let (words, rest) = input.as_chunks::<4>();
    for word in words {
        hash = hash
            .wrapping_add(u32::from_le_bytes(*word).wrapping_mul(PRIME_3))
            .rotate_left(17)
            .wrapping_mul(PRIME_4);
    }
    for &byte in rest {
        hash = hash
            .wrapping_add(u32::from(byte).wrapping_mul(PRIME_5))
            .rotate_left(11)
            .wrapping_mul(PRIME_1);
    }
    hash = (hash ^ (hash >> 15)).wrapping_mul(PRIME_2);
    hash = (hash ^ (hash >> 13)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xxh32_of_known_inputs() {
        // The algorithm's published value for the empty input, and the header
        // bytes that its C library writes.
        assert_eq!(xxh32_short(b""), 0x02CC_5D05);
        let mut frame = Vec::new();
        compress(FAST, b"some content", &mut frame).unwrap();
        let (header, len) = repaired_header(&frame).unwrap();
        assert_eq!(header[..len], frame[..len]);
    }
}
