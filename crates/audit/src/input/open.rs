//! Files and standard input, compressed or not.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::Error;

/// Bytes of the file (before decompression) that were read, for a progress display.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// How many bytes were read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// An opened input.
pub(super) enum Opened {
    /// A plain file of a known size, which can be read anywhere at once.
    Plain(File, u64),
    /// Anything else, from its front to its end.
    Stream(Box<dyn Read + Send>),
}

impl Opened {
    /// The whole input from its front.
    pub(super) fn into_stream(self, progress: &Progress) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stream(stream) => Ok(stream),
            Self::Plain(mut inner, _) => {
                inner.rewind()?;
                Ok(Box::new(Counted {
                    inner,
                    progress: progress.clone(),
                }))
            }
        }
    }
}

/// Opens `path`, or standard input for `-`. Also returns the size in bytes if there is one.
///
/// gzip and zstd are recognised by their first bytes, whatever the name says.
pub(super) fn open(path: &Path, progress: &Progress) -> Result<(Opened, Option<u64>), Error> {
    let name = path.display().to_string();
    let unreadable = |e| Error::unreadable(&name, e);
    if path == Path::new("-") {
        let stream = Counted {
            inner: io::stdin(),
            progress: progress.clone(),
        };
        return Ok((
            Opened::Stream(decompressed(stream).map_err(unreadable)?.0),
            None,
        ));
    }
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Error::input(format!(
            "{name}: is a directory; name a file, or - for standard input"
        )));
    }
    let size = metadata.is_file().then_some(metadata.len());
    let again = file.try_clone().map_err(unreadable)?;
    let (stream, plain) = decompressed(Counted {
        inner: file,
        progress: progress.clone(),
    })
    .map_err(unreadable)?;
    match size {
        // Positional reads do not care where the look at the first bytes left the file.
        Some(len) if plain && cfg!(unix) => {
            progress.0.store(0, Ordering::Relaxed);
            Ok((Opened::Plain(again, len), size))
        }
        _ => Ok((Opened::Stream(stream), size)),
    }
}

/// A decoder keeps no more than this of what it has seen: 32 MiB, more than `zstd -19` needs.
const ZSTD_WINDOW_LOG_MAX: u32 = 25;

fn decompressed(mut inner: impl Read + Send + 'static) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let mut magic = [0; 4];
    let mut len = 0;
    while len < magic.len() {
        match inner.read(&mut magic[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let whole = Cursor::new(magic[..len].to_vec()).chain(inner);
    Ok(match magic {
        [0x1f, 0x8b, ..] => (
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(
                1 << 16,
                whole,
            ))),
            false,
        ),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            let mut decoder = zstd::Decoder::new(whole)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            (Box::new(decoder), false)
        }
        _ => (Box::new(whole), true),
    })
}

struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.progress.add(n);
        Ok(n)
    }
}
