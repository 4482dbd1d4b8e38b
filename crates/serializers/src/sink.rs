//! Where bytes are written.

use std::fmt;
use std::io;

use crate::{Context, Error, ErrorKind, Result};

/// Takes the bytes of one key or value, at the end of a buffer that has other
/// things in front: the batch that is sent.
///
/// It appends, and shows only what was appended to it, so that a serializer
/// does not damage its neighbours by mistake.
pub struct Sink<'a> {
    buffer: &'a mut Vec<u8>,
    start: usize,
    headers: Option<&'a mut AddedHeaders>,
}

impl<'a> Sink<'a> {
    /// Appends to this buffer.
    pub fn new(buffer: &'a mut Vec<u8>) -> Self {
        let start = buffer.len();
        Self {
            buffer,
            start,
            headers: None,
        }
    }

    /// And takes headers for the record.
    pub fn with_headers(buffer: &'a mut Vec<u8>, headers: &'a mut AddedHeaders) -> Self {
        Self {
            headers: Some(headers),
            ..Self::new(buffer)
        }
    }

    /// Appends bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Makes room for that many further bytes.
    pub fn reserve(&mut self, additional: usize) {
        self.buffer.reserve(additional);
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.buffer.len().saturating_sub(self.start)
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was written.
    pub fn written(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// What was written, to fill in a length that was not known before.
    pub fn written_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.start..).unwrap_or_default()
    }

    /// The buffer itself, for encoders that take a [`bytes::BufMut`]. Only
    /// append to it: what is in front belongs to other records.
    pub fn as_vec(&mut self) -> &mut Vec<u8> {
        self.buffer
    }

    /// Adds a header to the record.
    ///
    /// # Errors
    /// [`Unserializable`](ErrorKind::Unserializable) if the caller takes none,
    /// as with [`Serialize::to_vec`](crate::Serialize::to_vec).
    pub fn add_header(&mut self, context: &Context<'_>, name: &str, value: &[u8]) -> Result<()> {
        match &mut self.headers {
            Some(headers) => {
                headers.push(name, value);
                Ok(())
            }
            None => Err(Error::new(
                ErrorKind::Unserializable,
                context,
                format!(
                    "the serializer adds the header {name:?}, for which there is no place here"
                ),
            )
            .advise("serialize with Sink::with_headers")),
        }
    }

    /// A sink for a part of the value, behind what is here already.
    pub fn nested(&mut self) -> Sink<'_> {
        Sink {
            start: self.buffer.len(),
            buffer: self.buffer,
            headers: self.headers.as_deref_mut(),
        }
    }
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sink({} bytes)", self.len())
    }
}

/// Headers that serializers add to one record. Made once and cleared for each
/// record, it allocates nothing when warm.
#[derive(Clone, Debug, Default)]
pub struct AddedHeaders {
    /// Names and values, one behind the other.
    bytes: Vec<u8>,
    /// The lengths of name and value of each header.
    lengths: Vec<(usize, usize)>,
}

impl AddedHeaders {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets them, for the next record.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Adds one behind the others. A name may come more than once.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(value);
        self.lengths.push((name.len(), value.len()));
    }

    /// Names and values, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut rest = &self.bytes[..];
        self.lengths.iter().map_while(move |&(name, value)| {
            let (name, behind) = rest.split_at_checked(name)?;
            let (value, behind) = behind.split_at_checked(value)?;
            rest = behind;
            // Came from a str.
            Some((std::str::from_utf8(name).ok()?, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn sees_only_its_own_bytes() {
        let mut buffer = b"before".to_vec();
        let mut sink = Sink::new(&mut buffer);
        assert!(sink.is_empty());
        sink.put(b"len:");
        sink.nested().written_mut().fill(b'!');
        sink.nested().put(b"inner");
        sink.write_all(b"!").expect("a sink takes all");
        sink.written_mut()[3] = b'=';
        assert_eq!(sink.written(), b"len=inner!");
        assert_eq!(sink.len(), 10);
        assert_eq!(buffer, b"beforelen=inner!");
    }

    #[test]
    fn survives_a_serializer_that_shortens_the_buffer() {
        let mut buffer = b"before".to_vec();
        let mut sink = Sink::new(&mut buffer);
        sink.as_vec().clear();
        assert!(sink.is_empty());
        assert!(sink.written().is_empty());
        assert!(sink.written_mut().is_empty());
    }

    #[test]
    fn headers_keep_their_order_and_repeat() {
        let (mut buffer, mut headers) = (Vec::new(), AddedHeaders::new());
        let context = Context::key("orders");
        let mut sink = Sink::with_headers(&mut buffer, &mut headers);
        sink.add_header(&context, "id", b"1")
            .expect("a place for headers");
        sink.nested()
            .add_header(&context, "id", b"")
            .expect("a place for headers");
        assert_eq!(
            headers.iter().collect::<Vec<_>>(),
            [("id", &b"1"[..]), ("id", b"")]
        );
        headers.clear();
        assert!(headers.is_empty() && headers.iter().next().is_none());
    }

    #[test]
    fn a_header_without_a_place_is_an_error() {
        let error = Sink::new(&mut Vec::new())
            .add_header(&Context::key("orders"), "id", b"1")
            .expect_err("no place");
        assert_eq!(error.kind(), ErrorKind::Unserializable);
    }
}
