//! Gzip: one member is written, any number of concatenated members is read.
//!
//! The member header and trailer are read here, and only the deflate stream by
//! the library. That keeps one inflater for all batches (its window is the
//! expensive part), where the library's gzip reader allocates one a member.

use crc_fast::crc32_iso_hdlc;
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Codec, cannot_compress, corrupt, first_capacity, grow, over_limit};
use crate::Result;

const WINDOW_BITS: u8 = 15;
const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
/// Magic, method, flags, time, extra flags, system.
const HEADER_LEN: usize = 10;
/// CRC-32 and length of the content.
const TRAILER_LEN: usize = 8;

#[derive(Default)]
pub(super) struct Encoder {
    // The level is part of the deflater's state, so it is kept beside it.
    deflate: Option<(i32, Compress)>,
}

impl Encoder {
    pub(super) fn compress(&mut self, level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let deflate = match &mut self.deflate {
            Some((at, deflate)) if *at == level => {
                deflate.reset();
                deflate
            }
            slot => {
                let compression = flate2::Compression::new(level.clamp(0, 9) as u32);
                &mut slot
                    .insert((level, Compress::new_gzip(compression, WINDOW_BITS)))
                    .1
            }
        };
        out.reserve(input.len() / 4 + 64);
        loop {
            let rest = &input[deflate.total_in() as usize..];
            match deflate.compress_vec(rest, out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return Ok(()),
                Ok(Status::Ok | Status::BufError) => out.reserve(out.len().max(1024)),
                Err(error) => {
                    self.deflate = None;
                    return Err(cannot_compress(Codec::Gzip, error));
                }
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Decoder {
    inflate: Option<Decompress>,
}

impl Decoder {
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.reserve_exact(first_capacity(input.len(), limit));
        let mut position = 0;
        loop {
            position = self.member(input, position, limit, out)?;
            // Like Java's reader, what follows the last member is ignored
            // unless it begins like another one.
            if !input[position..].starts_with(&MAGIC) {
                return Ok(());
            }
        }
    }

    /// Reads the member at `start` and says where it ends.
    fn member(
        &mut self,
        input: &[u8],
        start: usize,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        let body = start + header_len(&input[start..], start)?;
        let content = out.len();
        let inflate = self.inflate.get_or_insert_with(|| Decompress::new(false));
        inflate.reset(false);
        loop {
            let read = body + inflate.total_in() as usize;
            let status = inflate
                .decompress_vec(&input[read..], out, FlushDecompress::None)
                .map_err(|error| corrupt(Codec::Gzip, read, error))?;
            if out.len() > limit {
                return Err(over_limit(Codec::Gzip, limit, read));
            }
            if status == Status::StreamEnd {
                break;
            }
            if out.len() < out.capacity() {
                // Room was left, so it stopped for want of input.
                return Err(corrupt(Codec::Gzip, input.len(), "the stream does not end"));
            }
            if !grow(out, limit, input.len()) {
                // Full to the limit. The stream may end here without another
                // byte; if it has one, this is where it goes.
                out.reserve_exact(1);
            }
        }
        let trailer = body + inflate.total_in() as usize;
        let Some(&[c0, c1, c2, c3, l0, l1, l2, l3]) = input
            .get(trailer..trailer + TRAILER_LEN)
            .and_then(|bytes| bytes.first_chunk::<TRAILER_LEN>())
        else {
            return Err(corrupt(Codec::Gzip, trailer, "the trailer is cut off"));
        };
        let content = &out[content..];
        if u32::from_le_bytes([c0, c1, c2, c3]) != crc32_iso_hdlc(content) {
            return Err(corrupt(Codec::Gzip, trailer, "the CRC-32 does not match"));
        }
        if u32::from_le_bytes([l0, l1, l2, l3]) != content.len() as u32 {
            return Err(corrupt(
                Codec::Gzip,
                trailer + 4,
                "the length does not match",
            ));
        }
        Ok(trailer + TRAILER_LEN)
    }
}

/// How long the member header at the start of `input` is (RFC 1952, 2.3).
fn header_len(input: &[u8], offset: usize) -> Result<usize> {
    const HEADER_CRC: u8 = 1 << 1;
    const EXTRA: u8 = 1 << 2;
    const NAME: u8 = 1 << 3;
    const COMMENT: u8 = 1 << 4;

    let cut_off = || corrupt(Codec::Gzip, offset, "the member header is cut off");
    let fixed: &[u8; HEADER_LEN] = input.first_chunk().ok_or_else(cut_off)?;
    if fixed[..2] != MAGIC || fixed[2] != DEFLATE {
        return Err(corrupt(Codec::Gzip, offset, "not a gzip member"));
    }
    let flags = fixed[3];
    let mut len = HEADER_LEN;
    if flags & EXTRA != 0 {
        let size = input.get(len..len + 2).ok_or_else(cut_off)?;
        len += 2 + usize::from(u16::from_le_bytes([size[0], size[1]]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let rest = input.get(len..).ok_or_else(cut_off)?;
            len += 1 + rest
                .iter()
                .position(|&byte| byte == 0)
                .ok_or_else(cut_off)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        len += 2;
    }
    if len > input.len() {
        return Err(cut_off());
    }
    Ok(len)
}
