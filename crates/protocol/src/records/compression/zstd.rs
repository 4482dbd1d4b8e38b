//! Zstandard.
//!
//! Decompression is one shot into a buffer that grows: a streaming reader
//! would allocate the window that the frame header declares, up to 128 MiB for
//! a frame of twenty bytes, while one shot uses the output itself as window.
//! The library says "too small" of some damaged frames whatever the buffer is,
//! so what the blocks can yield at most is counted before.

use zstd::zstd_safe::{self, DCtx, zstd_sys::ZSTD_ErrorCode};

use super::{Codec, cannot_compress, corrupt, grow, over_limit};
use crate::{Error, ErrorKind, Result};

#[derive(Default)]
pub(super) struct Encoder {
    context: Option<(i32, zstd::bulk::Compressor<'static>)>,
}

impl Encoder {
    pub(super) fn compress(&mut self, level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let failed = |error| cannot_compress(Codec::Zstd, error);
        // Kafka's level 0 is zstd's default, as zero is in zstd itself.
        let context = match &mut self.context {
            Some((at, context)) if *at == level => context,
            slot => {
                let context = zstd::bulk::Compressor::new(level).map_err(failed)?;
                &mut slot.insert((level, context)).1
            }
        };
        let start = out.len();
        let bound = zstd::compress_bound(input.len());
        out.resize(start + bound, 0);
        let size = context
            .compress_to_buffer(input, &mut out[start..])
            .map_err(failed)?;
        out.truncate(start + size);
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DCtx<'static>>,
}

impl Decoder {
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let context = match &mut self.context {
            Some(context) => context,
            slot => slot.insert(DCtx::try_create().ok_or_else(|| {
                Error::new(ErrorKind::LimitExceeded, "no memory for a zstd context")
            })?),
        };
        let most = output_bound(input);
        let room = limit.min(most);
        // The declared size refuses early and picks the first buffer, as far
        // as the input justifies it; it is not trusted beyond that.
        if let Ok(Some(declared)) = zstd_safe::get_frame_content_size(input) {
            if declared > limit as u64 {
                return Err(over_limit(Codec::Zstd, limit, 0));
            }
            let justified = input.len().saturating_mul(16).saturating_add(1024);
            out.reserve_exact((declared as usize).min(justified).min(room));
        } else {
            grow(out, room, input.len());
        }
        loop {
            match context.decompress(out, input) {
                Ok(_) if out.len() > limit => return Err(over_limit(Codec::Zstd, limit, 0)),
                Ok(_) => return Ok(()),
                Err(code)
                    if zstd_safe::is_error_kind(
                        code,
                        ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall,
                    ) =>
                {
                    // Twice the room a try, so all tries together cost less
                    // than twice the last.
                    out.clear();
                    if !grow(out, room, input.len()) {
                        return Err(if most > limit {
                            over_limit(Codec::Zstd, limit, 0)
                        } else {
                            corrupt(Codec::Zstd, 0, "a block is larger than it can be")
                        });
                    }
                }
                Err(code) => {
                    return Err(corrupt(Codec::Zstd, 0, zstd_safe::get_error_name(code)));
                }
            }
        }
    }
}

const FRAME_MAGIC: u32 = 0xFD2F_B528;
/// Sixteen magic numbers of frames without content, by their upper 28 bits.
const SKIPPABLE_MAGIC: u32 = 0x0184_D2A5;
/// What one block yields at most.
const MAX_BLOCK: usize = 128 << 10;

/// How many bytes the frames of `input` can yield at most, going by the
/// headers of the blocks that are really there (RFC 8878, 3.1.1).
fn output_bound(mut input: &[u8]) -> usize {
    let mut bound = 0usize;
    // What is cut off or damaged yields nothing, and its error is the
    // library's to report.
    while let Some(yielded) = frame_bound(&mut input) {
        bound = bound.saturating_add(yielded);
    }
    bound
}

/// The bound of the frame at the start of `input`, which moves behind it.
fn frame_bound(input: &mut &[u8]) -> Option<usize> {
    const SINGLE_SEGMENT: u8 = 1 << 5;
    const CHECKSUM: u8 = 1 << 2;

    let magic = u32::from_le_bytes(*take(input)?);
    if magic >> 4 == SKIPPABLE_MAGIC {
        let size = u32::from_le_bytes(*take(input)?);
        input.split_off(..size as usize)?;
        return Some(0);
    }
    if magic != FRAME_MAGIC {
        return None;
    }
    let descriptor = *input.split_off_first()?;
    let single_segment = descriptor & SINGLE_SEGMENT != 0;
    // The window bounds the blocks too, but less often than it is 128 KiB.
    let window_len = usize::from(!single_segment);
    let dictionary_id_len = [0, 1, 2, 4][usize::from(descriptor & 0b11)];
    let content_size_len = match descriptor >> 6 {
        0 => usize::from(single_segment),
        flag => 1 << flag,
    };
    input.split_off(..window_len + dictionary_id_len + content_size_len)?;

    let mut bound = 0usize;
    loop {
        let Some(&[b0, b1, b2]) = take(input) else {
            return Some(bound);
        };
        let header = u32::from_le_bytes([b0, b1, b2, 0]);
        let size = (header >> 3) as usize;
        let (stored, yielded) = match header >> 1 & 0b11 {
            // As it is.
            0 => (size, size),
            // One byte, repeated.
            1 => (1, size),
            // Compressed.
            2 => (size, MAX_BLOCK),
            _ => return Some(bound),
        };
        bound = bound.saturating_add(yielded.min(MAX_BLOCK));
        if input.split_off(..stored).is_none() {
            return Some(bound);
        }
        if header & 1 == 1 {
            break;
        }
    }
    if descriptor & CHECKSUM != 0 {
        input.split_off(..4)?;
    }
    Some(bound)
}

fn take<'a, const N: usize>(input: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (chunk, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_at_least_what_comes_out() {
        let mut encoder = Encoder::default();
        let mut all = Vec::new();
        let mut total = 0;
        for (len, level) in [
            (0, 3),
            (1, 3),
            (300, 1),
            (131_072, 3),
            (131_073, 3),
            (900_000, 1),
        ] {
            let text: Vec<u8> = (0..len).map(|i| ((i * i) >> 7) as u8).collect();
            let mut one = Vec::new();
            encoder.compress(level, &text, &mut one).unwrap();
            let bound = output_bound(&one);
            assert!(bound >= len && bound <= len + MAX_BLOCK, "{len}: {bound}");
            all.extend(one);
            total += len;
        }
        let skippable = [0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        all.splice(0..0, skippable);
        all.extend(skippable);
        let bound = output_bound(&all);
        assert!(bound >= total && bound <= total + 6 * MAX_BLOCK, "{bound}");
        // Cut off anywhere, it is smaller, and no panic.
        for cut in (0..all.len()).step_by(97) {
            assert!(output_bound(&all[..cut]) <= bound);
        }
    }

    #[test]
    fn a_damaged_frame_does_not_take_all_the_room() {
        // The library calls this one too small for any buffer.
        let frame = [
            40, 181, 47, 253, 96, 58, 0, 13, 1, 0, 208, 114, 101, 99, 111, 114, 100, 32, 54, 53,
            52, 54, 56, 51, 57, 57, 48, 52, 49, 50, 49, 57, 49, 49, 50, 53, 48, 1, 0, 118, 182, 58,
            199,
        ];
        let mut out = Vec::new();
        let error = Decoder::default()
            .decompress(&frame, 1 << 30, &mut out)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(out.capacity() <= MAX_BLOCK, "{}", out.capacity());
    }
}
