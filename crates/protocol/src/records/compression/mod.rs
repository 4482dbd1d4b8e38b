//! The four codecs of record batches, each with its levels, and decompression
//! that stops at a limit.
//!
//! | codec | crate | why this one |
//! |---|---|---|
//! | gzip | `flate2` on `zlib-rs` | 2.4 times as fast as `miniz_oxide` at level 6, no C |
//! | snappy | `snap` | no C; the fastest of the four either way |
//! | lz4 | `lz4` (C) | has levels, and decompresses two to four times as fast as `lz4_flex` |
//! | zstd | `zstd` (C) | the only encoder with all levels |
//!
//! Measured on one core, with 80 kB of JSON. All of them build with cargo and a
//! C compiler alone.

mod codec;
mod gzip;
mod lz4;
mod snappy;
mod zstd;

pub use codec::{Codec, Compression};

use crate::{Error, ErrorKind, Result};

/// Compresses batches and keeps what a codec can reuse from one to the next.
///
/// One per thread or task: it holds the codecs' working memory (created at the
/// first use of each codec), which costs more to set up than a small batch
/// takes to compress.
#[derive(Default)]
pub struct Compressor {
    gzip: gzip::Encoder,
    snappy: snappy::Encoder,
    zstd: zstd::Encoder,
}

impl Compressor {
    /// A compressor that has not allocated anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the compressed form of `input` to `out`.
    ///
    /// With [`Codec::None`] that is the input itself.
    pub fn compress(
        &mut self,
        compression: Compression,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match compression.codec() {
            Codec::None => {
                out.extend_from_slice(input);
                Ok(())
            }
            Codec::Gzip => self
                .gzip
                .compress(compression.effective_level(), input, out),
            Codec::Snappy => self.snappy.compress(input, out),
            Codec::Lz4 => lz4::compress(compression.effective_level(), input, out),
            Codec::Zstd => self
                .zstd
                .compress(compression.effective_level(), input, out),
        }
    }
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

/// Decompresses batches, each to at most `limit` bytes.
///
/// The limit is not reserved. Memory starts at a small multiple of the input
/// and then grows with what really comes out, to at most twice that; what a
/// header declares is only used to refuse early.
///
/// One per thread or task, for the same reason as [`Compressor`].
pub struct Decompressor {
    limit: usize,
    gzip: gzip::Decoder,
    snappy: snappy::Decoder,
    zstd: zstd::Decoder,
}

impl Decompressor {
    /// A decompressor that gives up on a batch beyond `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            gzip: gzip::Decoder::default(),
            snappy: snappy::Decoder::default(),
            zstd: zstd::Decoder::default(),
        }
    }

    /// The most bytes that one batch may decompress to.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Changes the limit, as a memory budget shared by many batches shrinks
    /// and grows.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Replaces the content of `out` by the decompressed form of `input`.
    ///
    /// With [`Codec::None`] that is the input itself.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] when more than the limit comes out,
    /// [`ErrorKind::Corrupt`] when the input does not decompress. Offsets are
    /// counted from the start of `input`.
    pub fn decompress(&mut self, codec: Codec, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.run(codec, input, out, lz4::HeaderChecksum::Correct)
    }

    /// Like [`decompress`](Self::decompress), for a message of format v0,
    /// whose LZ4 frames carry a wrong header checksum.
    pub(super) fn decompress_v0(
        &mut self,
        codec: Codec,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.run(codec, input, out, lz4::HeaderChecksum::Ignored)
    }

    fn run(
        &mut self,
        codec: Codec,
        input: &[u8],
        out: &mut Vec<u8>,
        lz4_header: lz4::HeaderChecksum,
    ) -> Result<()> {
        out.clear();
        match codec {
            Codec::None if input.len() > self.limit => Err(over_limit(codec, self.limit, 0)),
            Codec::None => {
                out.extend_from_slice(input);
                Ok(())
            }
            Codec::Gzip => self.gzip.decompress(input, self.limit, out),
            Codec::Snappy => self.snappy.decompress(input, self.limit, out),
            Codec::Lz4 => lz4::decompress(input, self.limit, lz4_header, out),
            Codec::Zstd => self.zstd.decompress(input, self.limit, out),
        }
    }
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// How much room to start with for the output of `input_len` compressed bytes:
/// enough for the usual ratios, and never more than the input justifies.
fn first_capacity(input_len: usize, limit: usize) -> usize {
    input_len.saturating_mul(4).clamp(1024, 1 << 20).min(limit)
}

/// Doubles `out`, up to `limit`. False when it has reached the limit already.
fn grow(out: &mut Vec<u8>, limit: usize, input_len: usize) -> bool {
    let capacity = out.capacity();
    if capacity >= limit {
        return false;
    }
    let target = (capacity.saturating_mul(2))
        .max(first_capacity(input_len, limit))
        .min(limit);
    // Exact: `reserve` could round up to beyond the limit.
    out.reserve_exact(target - out.len());
    true
}

#[cold]
fn over_limit(codec: Codec, limit: usize, offset: usize) -> Error {
    Error::at(
        ErrorKind::LimitExceeded,
        offset,
        format!("{codec} data decompresses to more than the limit of {limit} bytes"),
    )
}

#[cold]
fn corrupt(codec: Codec, offset: usize, reason: impl std::fmt::Display) -> Error {
    Error::at(
        ErrorKind::Corrupt,
        offset,
        format!("{codec} data does not decompress: {reason}"),
    )
}

#[cold]
fn cannot_compress(codec: Codec, reason: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Unencodable,
        format!("{codec} failed to compress: {reason}"),
    )
}
