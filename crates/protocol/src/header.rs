//! What stands before a message in its frame.

use bytes::Bytes;

use crate::wire::{Reader, Wire, Writer};
use crate::{ApiKey, Error, ErrorKind, Request, Result};

/// Before a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// Which API. Not an [`ApiKey`], since anything can arrive.
    pub api_key: i16,
    /// Layout of the request, and of its answer.
    pub api_version: i16,
    /// Comes back with the answer.
    pub correlation_id: i32,
    /// What the client calls itself.
    pub client_id: Option<String>,
}

impl RequestHeader {
    /// The header for a request of type `R`.
    pub fn new<R: Request>(version: i16, correlation_id: i32, client_id: Option<String>) -> Self {
        Self {
            api_key: R::API as i16,
            api_version: version,
            correlation_id,
            client_id,
        }
    }

    /// Appends the header in its layout 0 (no client id), 1, or 2 (tagged fields).
    pub fn encode_to(&self, header_version: i16, w: &mut Writer) -> Result<()> {
        // The client id keeps its two-byte length in version 2 as well.
        w.switch(header_version, false);
        w.put(&self.api_key)?;
        w.put(&self.api_version)?;
        w.put(&self.correlation_id)?;
        if header_version >= 1 {
            w.put(&self.client_id)?;
        }
        w.switch(header_version, header_version >= 2);
        w.no_tags();
        Ok(())
    }

    /// Takes a header in layout 0, 1 or 2 off the front.
    pub fn decode_from(header_version: i16, r: &mut Reader) -> Result<Self> {
        let read = |r: &mut Reader| {
            r.switch(header_version, false);
            let header = Self {
                api_key: r.get()?,
                api_version: r.get()?,
                correlation_id: r.get()?,
                client_id: if header_version >= 1 { r.get()? } else { None },
            };
            r.switch(header_version, header_version >= 2);
            r.skip_tags()?;
            Ok(header)
        };
        read(r).map_err(|error: Error| error.within(format!("request header v{header_version}")))
    }
}

/// A request as it arrived: what its header says, and whether its body can be read.
#[derive(Debug)]
pub enum Incoming {
    /// A version that this crate reads: the reader is at the body.
    Known {
        /// Which API.
        api: ApiKey,
        /// The whole header.
        header: RequestHeader,
        /// The body is what it has left.
        body: Reader,
    },
    /// An API or version that this crate does not read. Its layout is unknown, so no more of the header than
    /// this can be trusted. ApiVersions is to be answered with [`crate::versions::unsupported_api_versions`] in
    /// version 0; other requests have no answer that the client could read, unless the version is in
    /// [`ApiKey::listed`].
    Unknown {
        /// Which API.
        api_key: i16,
        /// Its version.
        api_version: i16,
        /// Comes back with the answer.
        correlation_id: i32,
    },
}

impl Incoming {
    /// Reads the header of a frame's content.
    pub fn read(frame: Bytes) -> Result<Self> {
        let mut r = Reader::new(frame, 0, false);
        let start = RequestHeader::decode_from(0, &mut r.clone())?;
        let api = ApiKey::from_key(start.api_key);
        let Some(api) = api.filter(|api| api.versions().contains(start.api_version)) else {
            return Ok(Self::Unknown {
                api_key: start.api_key,
                api_version: start.api_version,
                correlation_id: start.correlation_id,
            });
        };
        let header_version = api.request_header_version(start.api_version);
        let header = RequestHeader::decode_from(header_version, &mut r)?;
        Ok(Self::Known {
            api,
            header,
            body: r,
        })
    }
}

/// Before a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHeader {
    /// Of the request that is answered.
    pub correlation_id: i32,
}

impl ResponseHeader {
    /// Appends the header in its layout 0, or 1 (tagged fields).
    pub fn encode_to(&self, header_version: i16, w: &mut Writer) -> Result<()> {
        w.switch(header_version, header_version >= 1);
        w.put(&self.correlation_id)?;
        w.no_tags();
        Ok(())
    }

    /// Takes a header in layout 0 or 1 off the front.
    pub fn decode_from(header_version: i16, r: &mut Reader) -> Result<Self> {
        let read = |r: &mut Reader| {
            r.switch(header_version, header_version >= 1);
            let correlation_id = i32::read(r)?;
            r.skip_tags()?;
            Ok(Self { correlation_id })
        };
        read(r).map_err(|error: Error| error.within(format!("response header v{header_version}")))
    }

    /// The correlation id of a response whose API is not known before its request was found by it.
    pub fn peek(frame: &[u8]) -> Result<Self> {
        match frame.first_chunk() {
            Some(bytes) => Ok(Self {
                correlation_id: i32::from_be_bytes(*bytes),
            }),
            None => Err(Error::at(
                ErrorKind::Truncated,
                0,
                format!("a response of {} bytes has no correlation id", frame.len()),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_id_is_nullable_and_never_compact() {
        let header = RequestHeader {
            api_key: 3,
            api_version: 12,
            correlation_id: 7,
            client_id: None,
        };
        let cases: [(i16, &[u8]); 3] = [
            (0, &[0, 3, 0, 12, 0, 0, 0, 7]),
            (1, &[0, 3, 0, 12, 0, 0, 0, 7, 0xff, 0xff]),
            (2, &[0, 3, 0, 12, 0, 0, 0, 7, 0xff, 0xff, 0]),
        ];
        for (version, expected) in cases {
            let mut w = Writer::new(0, false);
            header.encode_to(version, &mut w).expect("fits");
            assert_eq!(&w.into_bytes()[..], expected);
            let mut r = Reader::new(Bytes::copy_from_slice(expected), 0, false);
            assert_eq!(
                RequestHeader::decode_from(version, &mut r).expect("valid"),
                header
            );
            assert_eq!(r.remaining(), 0);
        }
        let named = RequestHeader {
            client_id: Some("ab".to_owned()),
            ..header
        };
        let mut w = Writer::new(0, false);
        named.encode_to(2, &mut w).expect("fits");
        assert_eq!(&w.into_bytes()[8..], [0, 2, b'a', b'b', 0]);
    }

    #[test]
    fn what_is_above_ours_is_not_parsed() {
        // ApiVersions v99, correlation id 5, then bytes in a layout of the future.
        let frame = Bytes::from_static(&[0, 18, 0, 99, 0, 0, 0, 5, 0xde, 0xad]);
        assert!(matches!(
            Incoming::read(frame).expect("only eight bytes are read"),
            Incoming::Unknown {
                api_key: 18,
                api_version: 99,
                correlation_id: 5
            }
        ));
        // Produce v2 is listed, but not read.
        let frame = Bytes::from_static(&[0, 0, 0, 2, 0, 0, 0, 6]);
        assert!(matches!(
            Incoming::read(frame).expect("only eight bytes are read"),
            Incoming::Unknown {
                api_key: 0,
                api_version: 2,
                correlation_id: 6
            }
        ));
    }

    #[test]
    fn short_frames_are_errors() {
        for length in 0..8 {
            assert!(Incoming::read(Bytes::from(vec![0; length])).is_err());
        }
        assert!(ResponseHeader::peek(&[1, 2, 3]).is_err());
    }
}
