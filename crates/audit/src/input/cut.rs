//! Cutting an input at its separators into blocks of whole records, for many threads.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::{memchr, memrchr};

use super::open::{Opened, Progress};
use super::{BLOCK_BYTES, MAX_RECORD_BYTES};

/// Hands out the input block by block. Each call may come from another thread.
pub(super) enum Cutter {
    /// Any block of the file can be found by itself.
    Plain {
        file: File,
        len: u64,
        next: AtomicUsize,
        progress: Progress,
    },
    /// A stream is read in order, by whoever comes.
    Stream(Mutex<StreamState>),
}

pub(super) struct StreamState {
    stream: Box<dyn Read + Send>,
    /// What was read beyond the last separator.
    carried: Vec<u8>,
    next: usize,
    ended: bool,
}

impl Cutter {
    pub(super) fn new(opened: Opened, progress: &Progress) -> Self {
        match opened {
            Opened::Plain(file, len) => Self::Plain {
                file,
                len,
                next: AtomicUsize::new(0),
                progress: progress.clone(),
            },
            Opened::Stream(stream) => Self::Stream(Mutex::new(StreamState {
                stream,
                carried: Vec::new(),
                next: 0,
                ended: false,
            })),
        }
    }

    /// Reads the next block's whole records into `bytes`, the last one perhaps without its
    /// separator. Returns the block's index (with an error too) and where in `bytes` its first
    /// record starts; `None` after the last block.
    ///
    /// An index may belong to no record at all, when one record spans blocks.
    pub(super) fn next(
        &self,
        separator: u8,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<(usize, usize)>, (usize, io::Error)> {
        match self {
            Self::Plain {
                file,
                len,
                next,
                progress,
            } => {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(start) = (index as u64)
                    .checked_mul(BLOCK_BYTES as u64)
                    .filter(|s| s < len)
                else {
                    return Ok(None);
                };
                let end = (start + BLOCK_BYTES as u64).min(*len);
                let first = read_records_that_start_in(file, start, end, *len, separator, bytes)
                    .map_err(|e| (index, e))?;
                progress.add((end - start) as usize);
                Ok(Some((index, first)))
            }
            Self::Stream(state) => {
                let mut state = state
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                let index = state.next;
                let more = state.next(separator, bytes).map_err(|e| (index, e))?;
                state.next += 1;
                Ok(more.then_some((index, 0)))
            }
        }
    }
}

/// A record belongs to the block in which its first byte lies. Returns where the first one starts.
fn read_records_that_start_in(
    file: &File,
    start: u64,
    end: u64,
    len: u64,
    separator: u8,
    bytes: &mut Vec<u8>,
) -> io::Result<usize> {
    // The byte before the block tells whether a record starts at its first byte.
    let from = start.saturating_sub(1);
    bytes.resize((end - from) as usize, 0);
    read_exact_at(file, bytes, from)?;
    let first = match (start, memchr(separator, bytes)) {
        (0, _) => 0,
        (_, Some(at)) => at + 1,
        // A record of an earlier block goes through this one to the next.
        (_, None) => bytes.len(),
    };
    if first == bytes.len() {
        return Ok(first);
    }
    // The rest of the last record: usually short, so little is read at first.
    let (mut at, mut more) = (end, 1 << 10);
    while at < len && bytes.last() != Some(&separator) {
        let read_from = bytes.len();
        let read = (more as u64).min(len - at) as usize;
        bytes.resize(read_from + read, 0);
        read_exact_at(file, &mut bytes[read_from..], at)?;
        if let Some(found) = memchr(separator, &bytes[read_from..]) {
            bytes.truncate(read_from + found + 1);
            break;
        }
        at += read as u64;
        more = (2 * more).min(BLOCK_BYTES);
        check_length(at - end)?;
    }
    Ok(first)
}

fn check_length(bytes: u64) -> io::Result<()> {
    if bytes > MAX_RECORD_BYTES as u64 {
        let what = format!(
            "a record is longer than {} MiB, more than Kafka takes; is the separator right (--format)?",
            MAX_RECORD_BYTES >> 20
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(())
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl StreamState {
    fn next(&mut self, separator: u8, bytes: &mut Vec<u8>) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        bytes.clear();
        bytes.append(&mut self.carried);
        loop {
            let read_from = bytes.len();
            let wanted = (&mut self.stream).take(BLOCK_BYTES as u64);
            let read = read_up_to(wanted, bytes)?;
            if read < BLOCK_BYTES {
                self.ended = true;
                break;
            }
            if let Some(found) = memrchr(separator, &bytes[read_from..]) {
                self.carried
                    .extend_from_slice(&bytes[read_from + found + 1..]);
                bytes.truncate(read_from + found + 1);
                break;
            }
            check_length(bytes.len() as u64)?;
        }
        Ok(true)
    }
}

/// Reads to the end of `reader`; memory grows with what arrives.
fn read_up_to(mut reader: impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    reader.read_to_end(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn plain(content: &[u8]) -> (Cutter, tempfile::NamedTempFile) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let opened = Opened::Plain(file.reopen().unwrap(), content.len() as u64);
        (Cutter::new(opened, &Progress::default()), file)
    }

    fn stream(content: &[u8]) -> Cutter {
        let opened = Opened::Stream(Box::new(io::Cursor::new(content.to_vec())));
        Cutter::new(opened, &Progress::default())
    }

    /// All blocks in order; each must end with a separator or the input.
    fn all(cutter: &Cutter) -> io::Result<Vec<u8>> {
        let next = |bytes: &mut Vec<u8>| cutter.next(b'\n', bytes).map_err(|(_, e)| e);
        let (mut bytes, mut whole, mut expected) = (Vec::new(), Vec::new(), 0);
        while let Some((index, first)) = next(&mut bytes)? {
            assert_eq!(index, expected);
            expected += 1;
            let records = &bytes[first..];
            assert!(whole.is_empty() || records.is_empty() || whole.ends_with(b"\n"));
            whole.extend_from_slice(records);
        }
        assert!(next(&mut bytes)?.is_none(), "the end stays the end");
        Ok(whole)
    }

    #[test]
    fn blocks_put_together_are_the_input() {
        let mut content = Vec::new();
        let mut len = 0usize;
        while content.len() < 5 * BLOCK_BYTES {
            // Mostly short lines, some empty, some longer than a block.
            len = (len * 31 + 7) % 97;
            let len = if len == 96 { BLOCK_BYTES + 3 } else { len };
            content.resize(content.len() + len, b'x');
            content.push(b'\n');
        }
        // Every way a separator can meet the end of a block.
        for cut in [
            0,
            1,
            2,
            content.len() - BLOCK_BYTES,
            content.len() - 4 * BLOCK_BYTES,
        ] {
            let mut content = content[..content.len() - cut].to_vec();
            for at in [BLOCK_BYTES - 1, BLOCK_BYTES, 2 * BLOCK_BYTES] {
                if let Some(byte) = content.get_mut(at) {
                    *byte = b'\n';
                }
            }
            let (cutter, _file) = plain(&content);
            assert!(all(&cutter).unwrap() == content);
            assert!(all(&stream(&content)).unwrap() == content);
        }
    }

    #[test]
    fn small_inputs() {
        for content in ["", "\n", "a", "a\n", "\n\n", "a\nb"] {
            let (cutter, _file) = plain(content.as_bytes());
            assert_eq!(all(&cutter).unwrap(), content.as_bytes());
            assert_eq!(
                all(&stream(content.as_bytes())).unwrap(),
                content.as_bytes()
            );
        }
    }

    #[test]
    fn an_endless_record_is_refused() {
        let content = vec![b'x'; MAX_RECORD_BYTES + 3 * BLOCK_BYTES];
        let (cutter, _file) = plain(&content);
        for error in [
            all(&cutter).unwrap_err(),
            all(&stream(&content)).unwrap_err(),
        ] {
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert!(error.to_string().contains("longer than 4 MiB"), "{error}");
        }
    }
}
