//! Zstandard.
//!
//! Decompression is one shot into a buffer that grows: a streaming reader
//! would allocate the window that the frame header declares, up to 128 MiB for
//! a frame of twenty bytes, while one shot uses the output itself as window.

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
        // The declared size refuses early and picks the first buffer, as far
        // as the input justifies it; it is not trusted beyond that.
        if let Ok(Some(declared)) = zstd_safe::get_frame_content_size(input) {
            if declared > limit as u64 {
                return Err(over_limit(Codec::Zstd, limit, 0));
            }
            let justified = input.len().saturating_mul(16).saturating_add(1024);
            out.reserve_exact((declared as usize).min(justified));
        } else {
            grow(out, limit, input.len());
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
                    if !grow(out, limit, input.len()) {
                        return Err(over_limit(Codec::Zstd, limit, 0));
                    }
                }
                Err(code) => {
                    return Err(corrupt(Codec::Zstd, 0, zstd_safe::get_error_name(code)));
                }
            }
        }
    }
}
