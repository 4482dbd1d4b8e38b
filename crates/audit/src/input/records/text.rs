//! Text of any layout, read piece by piece in bounded memory.

use std::io::{self, Read};

use memchr::memmem;

use crate::input::{BLOCK_BYTES, MAX_RECORD_BYTES};

/// A stream and what was read of it ahead.
pub(super) struct Text {
    stream: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    start: usize,
    ended: bool,
    /// Line ends that were passed.
    lines: u64,
}

impl Text {
    pub(super) fn new(stream: Box<dyn Read + Send>) -> Self {
        Self {
            stream,
            bytes: Vec::new(),
            start: 0,
            ended: false,
            lines: 0,
        }
    }

    /// The line that comes next, from 1.
    pub(super) const fn line(&self) -> u64 {
        self.lines + 1
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&mut self) -> io::Result<bool> {
        while self.start == self.bytes.len() && !self.ended {
            self.read_more()?;
        }
        Ok(self.start == self.bytes.len())
    }

    /// What comes before `separator`, which is passed too. Without one: the rest, and `false`.
    pub(super) fn up_to(&mut self, separator: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        out.clear();
        let finder = memmem::Finder::new(separator);
        let mut searched = self.start;
        loop {
            if let Some(found) = finder.find(&self.bytes[searched..]) {
                let end = searched + found;
                out.extend_from_slice(&self.bytes[self.start..end]);
                self.pass(end + separator.len());
                return Ok(true);
            }
            if self.ended {
                out.extend_from_slice(&self.bytes[self.start..]);
                self.pass(self.bytes.len());
                return Ok(false);
            }
            // The separator may begin at the end of what is there.
            let kept = separator.len().saturating_sub(1);
            let unread = self.bytes.len() - self.start;
            check_length(unread)?;
            self.read_more()?;
            searched = self.start + unread.saturating_sub(kept);
        }
    }

    /// The next `count` bytes; `false` if fewer are left.
    pub(super) fn take(&mut self, count: usize, out: &mut Vec<u8>) -> io::Result<bool> {
        out.clear();
        check_length(count)?;
        while self.bytes.len() - self.start < count && !self.ended {
            self.read_more()?;
        }
        if self.bytes.len() - self.start < count {
            return Ok(false);
        }
        out.extend_from_slice(&self.bytes[self.start..self.start + count]);
        self.pass(self.start + count);
        Ok(true)
    }

    /// Passes `literal` if it comes next.
    pub(super) fn pass_if(&mut self, literal: &[u8]) -> io::Result<bool> {
        while self.bytes.len() - self.start < literal.len() && !self.ended {
            self.read_more()?;
        }
        let comes = self.bytes[self.start..].starts_with(literal);
        if comes {
            self.pass(self.start + literal.len());
        }
        Ok(comes)
    }

    fn pass(&mut self, to: usize) {
        self.lines += memchr::memchr_iter(b'\n', &self.bytes[self.start..to]).count() as u64;
        self.start = to;
    }

    fn read_more(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.start);
        self.start = 0;
        let wanted = (&mut self.stream).take(BLOCK_BYTES as u64);
        let read = { wanted }.read_to_end(&mut self.bytes)?;
        self.ended = read == 0;
        Ok(())
    }
}

fn check_length(bytes: usize) -> io::Result<()> {
    if bytes > MAX_RECORD_BYTES {
        let what = format!(
            "a field is longer than {} MiB, more than Kafka takes; is the format right?",
            MAX_RECORD_BYTES >> 20
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &[u8]) -> Text {
        Text::new(Box::new(io::Cursor::new(content.to_vec())))
    }

    #[test]
    fn pieces_and_lines() {
        let mut input = text(b"a||b\nc||\n");
        let mut out = Vec::new();
        assert!(input.up_to(b"||", &mut out).unwrap());
        assert_eq!((&out[..], input.line()), (&b"a"[..], 1));
        assert!(input.up_to(b"||", &mut out).unwrap());
        assert_eq!((&out[..], input.line()), (&b"b\nc"[..], 2));
        assert!(!input.up_to(b"||", &mut out).unwrap());
        assert_eq!((&out[..], input.line()), (&b"\n"[..], 3));
        assert!(input.is_at_end().unwrap());
    }

    #[test]
    fn a_separator_over_the_edge_of_what_was_read_is_found() {
        for at in [BLOCK_BYTES - 2, BLOCK_BYTES - 1, BLOCK_BYTES] {
            let mut content = vec![b'x'; at];
            content.extend_from_slice(b"<->tail");
            let mut input = text(&content);
            let mut out = Vec::new();
            assert!(input.up_to(b"<->", &mut out).unwrap());
            assert_eq!(out.len(), at);
            assert!(!input.take(5, &mut out).unwrap());
            assert!(input.take(4, &mut out).unwrap());
            assert_eq!(out, b"tail");
        }
    }

    #[test]
    fn an_endless_field_is_refused() {
        let mut input = text(&vec![b'x'; MAX_RECORD_BYTES + 2 * BLOCK_BYTES]);
        let error = input.up_to(b"\n", &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("longer than 4 MiB"), "{error}");
        assert!(text(b"x").take(usize::MAX, &mut Vec::new()).is_err());
    }
}
