//! Snappy in the framing of the `snappy-java` library, which Kafka made part
//! of its format: a 16-byte header, then blocks, each with its length in front.
//! Producers outside Java send one bare block instead; both are read.

use super::{Codec, cannot_compress, corrupt, over_limit};
use crate::Result;

const MAGIC: [u8; 8] = [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
/// The magic, the format's version and the oldest version that can read it.
const HEADER: [u8; 16] = [
    0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1,
];
/// What snappy-java cuts its input into.
const BLOCK: usize = 32 * 1024;
/// A three-byte copy yields at most 64 bytes; nothing in the format yields
/// more from less.
const MAX_RATIO: usize = 22;

#[derive(Default)]
pub(super) struct Encoder(Option<snap::raw::Encoder>);

impl Encoder {
    pub(super) fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let encoder = self.0.get_or_insert_with(snap::raw::Encoder::new);
        out.extend_from_slice(&HEADER);
        for block in input.chunks(BLOCK) {
            let start = out.len();
            // The encoder wants room for the worst case, initialized.
            out.resize(start + 4 + snap::raw::max_compress_len(block.len()), 0);
            let size = encoder
                .compress(block, &mut out[start + 4..])
                .map_err(|error| cannot_compress(Codec::Snappy, error))?;
            out[start..start + 4].copy_from_slice(&(size as u32).to_be_bytes());
            out.truncate(start + 4 + size);
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Decoder(snap::raw::Decoder);

impl Decoder {
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if !input.starts_with(&MAGIC) {
            return self.block(input, 0, limit, out);
        }
        let mut position = 0;
        while position < input.len() {
            let rest = &input[position..];
            if rest.starts_with(&MAGIC) {
                // At the start, and wherever streams were concatenated.
                if rest.len() < HEADER.len() {
                    return Err(corrupt(Codec::Snappy, position, "the header is cut off"));
                }
                position += HEADER.len();
                continue;
            }
            let Some((size, rest)) = rest.split_first_chunk::<4>() else {
                return Err(corrupt(
                    Codec::Snappy,
                    position,
                    "a block length is cut off",
                ));
            };
            let size = u32::from_be_bytes(*size) as usize;
            let Some(block) = rest.get(..size) else {
                return Err(corrupt(
                    Codec::Snappy,
                    position,
                    format_args!("a block of {size} bytes, {} are left", rest.len()),
                ));
            };
            self.block(block, position + 4, limit, out)?;
            position += 4 + size;
        }
        Ok(())
    }

    /// Appends what `block` holds. `offset` says where the block is.
    fn block(
        &mut self,
        block: &[u8],
        offset: usize,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let size = snap::raw::decompress_len(block)
            .map_err(|error| corrupt(Codec::Snappy, offset, error))?;
        let start = out.len();
        if size > limit - start {
            return Err(over_limit(Codec::Snappy, limit, offset));
        }
        if size > block.len().saturating_mul(MAX_RATIO) {
            return Err(corrupt(
                Codec::Snappy,
                offset,
                format_args!(
                    "a block of {} bytes cannot hold the {size} that it declares",
                    block.len()
                ),
            ));
        }
        out.resize(start + size, 0);
        self.0
            .decompress(block, &mut out[start..])
            .map_err(|error| corrupt(Codec::Snappy, offset, error))?;
        Ok(())
    }
}
