//! Frames: a four-byte length, then that many bytes.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

use crate::header::{RequestHeader, ResponseHeader};
use crate::wire::{Reader, Writer};
use crate::{AnyResponse, ApiKey, Body, Error, ErrorKind, Request, Result};

/// Bytes of the length.
pub const PREFIX: usize = 4;

/// The size that a frame's first four bytes announce. To be called before memory is set aside for it.
pub fn size(prefix: [u8; PREFIX], max: usize) -> Result<usize> {
    let size = i32::from_be_bytes(prefix);
    match usize::try_from(size) {
        Ok(size) if size <= max => Ok(size),
        Ok(_) => Err(Error::at(
            ErrorKind::LimitExceeded,
            0,
            format!(
                "a frame of {size} bytes is more than the limit of {max}{}",
                guess(prefix)
            ),
        )),
        Err(_) => Err(Error::at(
            ErrorKind::Malformed,
            0,
            format!("a frame of {size} bytes{}", guess(prefix)),
        )),
    }
}

/// What else a peer may be speaking that starts with these bytes.
fn guess(prefix: [u8; PREFIX]) -> &'static str {
    match &prefix {
        [0x16, 0x03, ..] => "; the bytes look like TLS, and this is a plaintext connection",
        [0x15, 0x03, ..] => "; the bytes look like a TLS alert: the peer expects TLS",
        b"GET " | b"POST" | b"PUT " | b"HEAD" | b"OPTI" | b"HTTP" => {
            "; the bytes look like HTTP, and this is a Kafka connection"
        }
        _ => "",
    }
}

/// Takes one frame's content off the front of what arrived, if it is all there.
pub fn take(buffer: &mut BytesMut, max: usize) -> Result<Option<Bytes>> {
    let Some(prefix) = buffer.first_chunk() else {
        return Ok(None);
    };
    let size = size(*prefix, max)?;
    if buffer.len() < PREFIX + size {
        return Ok(None);
    }
    buffer.advance(PREFIX);
    Ok(Some(buffer.split_to(size).freeze()))
}

/// An encoded frame, ready to be sent. Record batches in it are the caller's own bytes, not copies: it is a
/// [`Buf`] of several chunks, for vectored writes.
#[derive(Clone, Debug)]
pub struct Frame {
    segments: VecDeque<Bytes>,
    remaining: usize,
}

impl Frame {
    /// A request with its header and length.
    pub fn request<R: Request>(header: &RequestHeader, request: &R) -> Result<Self> {
        let version = header.api_version;
        Self::build(|w| {
            header.encode_to(R::API.request_header_version(version), w)?;
            request.encode_to(version, w)
        })
    }

    /// A response with its header and length.
    pub fn response<R: Request>(
        version: i16,
        correlation_id: i32,
        response: &R::Response,
    ) -> Result<Self> {
        Self::build(|w| {
            let header_version = R::API.response_header_version(version);
            ResponseHeader { correlation_id }.encode_to(header_version, w)?;
            response.encode_to(version, w)
        })
    }

    /// A response of any API, with its header and length.
    pub fn any_response(version: i16, correlation_id: i32, response: &AnyResponse) -> Result<Self> {
        Self::build(|w| {
            let header_version = response.api().response_header_version(version);
            ResponseHeader { correlation_id }.encode_to(header_version, w)?;
            response.encode_to(version, w)
        })
    }

    /// Bytes as they are, with their length before them.
    pub fn raw(content: Bytes) -> Result<Self> {
        Self::build(|w| {
            w.append(&content);
            Ok(())
        })
    }

    fn build(fill: impl FnOnce(&mut Writer) -> Result<()>) -> Result<Self> {
        let mut w = Writer::new(0, false);
        w.put(&0i32)?;
        fill(&mut w)?;
        w.set_size(0)?;
        let remaining = w.len();
        Ok(Self {
            segments: w.into_segments().into(),
            remaining,
        })
    }

    /// The pieces that are left to send, in order.
    pub fn segments(&self) -> impl Iterator<Item = &Bytes> {
        self.segments.iter()
    }

    /// All in one piece; copies the record batches.
    pub fn into_bytes(mut self) -> Bytes {
        self.copy_to_bytes(self.remaining)
    }
}

impl Buf for Frame {
    fn remaining(&self) -> usize {
        self.remaining
    }

    fn chunk(&self) -> &[u8] {
        self.segments.front().map_or(&[], |segment| segment)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0;
        for (slice, segment) in slices.iter_mut().zip(&self.segments) {
            *slice = IoSlice::new(segment);
            filled += 1;
        }
        filled
    }

    fn advance(&mut self, mut count: usize) {
        assert!(count <= self.remaining, "advanced past the end of a frame");
        self.remaining -= count;
        while let Some(front) = self.segments.front_mut() {
            if count < front.len() {
                front.advance(count);
                return;
            }
            count -= front.len();
            self.segments.pop_front();
        }
    }
}

/// Reads a response, whose frame's content this is, to a request of type `R` in `version`.
pub fn read_response<R: Request>(
    version: i16,
    frame: Bytes,
) -> Result<(ResponseHeader, R::Response)> {
    let mut r = Reader::new(frame, 0, false);
    let header = ResponseHeader::decode_from(R::API.response_header_version(version), &mut r)?;
    let response = R::Response::decode_from(version, &mut r)?;
    Ok((header, response))
}

/// Reads a response of any API, whose frame's content this is.
pub fn read_any_response(
    api: ApiKey,
    version: i16,
    frame: Bytes,
) -> Result<(ResponseHeader, AnyResponse)> {
    let mut r = Reader::new(frame, 0, false);
    let header = ResponseHeader::decode_from(api.response_header_version(version), &mut r)?;
    let response = AnyResponse::decode_from(api, version, &mut r)?;
    Ok((header, response))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Incoming;
    use crate::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
    use crate::messages::{AnyRequest, api_versions::ApiVersionsRequest};

    #[test]
    fn sizes_are_checked_before_memory_is_set_aside() {
        assert_eq!(size([0, 0, 0, 9], 9).expect("within"), 9);
        assert_eq!(
            size([0, 0, 0, 10], 9).expect_err("over").kind(),
            ErrorKind::LimitExceeded
        );
        assert_eq!(
            size([0xff; 4], 9).expect_err("negative").kind(),
            ErrorKind::Malformed
        );
        let error = size(*b"GET ", 100 << 20).expect_err("HTTP").to_string();
        assert!(error.contains("HTTP"), "{error}");
        let error = size([0x16, 3, 1, 2], 100 << 20)
            .expect_err("TLS")
            .to_string();
        assert!(error.contains("TLS"), "{error}");
    }

    #[test]
    fn takes_whole_frames_only() {
        let mut buffer = BytesMut::from(&[0, 0, 0, 2, 7][..]);
        assert_eq!(take(&mut buffer, 10).expect("valid"), None);
        buffer.extend_from_slice(&[8, 0, 0]);
        assert_eq!(
            take(&mut buffer, 10).expect("valid"),
            Some(Bytes::from_static(&[7, 8]))
        );
        assert_eq!(take(&mut buffer, 10).expect("valid"), None);
        assert_eq!(&buffer[..], [0, 0]);
    }

    fn produce(records: &[Bytes]) -> ProduceRequest {
        ProduceRequest {
            acks: -1,
            topic_data: vec![TopicProduceData {
                name: "t".to_owned(),
                partition_data: records
                    .iter()
                    .map(|records| PartitionProduceData {
                        index: 0,
                        records: records.clone(),
                    })
                    .collect(),
                ..TopicProduceData::default()
            }],
            ..ProduceRequest::default()
        }
    }

    #[test]
    fn records_are_not_copied() {
        let records = [
            Bytes::from(vec![1; 5000]),
            Bytes::from(vec![2; 10]),
            Bytes::from(vec![3; 5000]),
        ];
        let header = RequestHeader::new::<ProduceRequest>(9, 1, Some("c".to_owned()));
        let mut frame = Frame::request(&header, &produce(&records)).expect("fits");
        for long in [&records[0], &records[2]] {
            assert!(
                frame
                    .segments()
                    .any(|segment| segment.as_ptr() == long.as_ptr())
            );
        }
        let mut slices = [IoSlice::new(&[]); 8];
        assert_eq!(frame.chunks_vectored(&mut slices), frame.segments().count());

        let whole = frame.clone().into_bytes();
        let mut sent = Vec::new();
        while frame.has_remaining() {
            let step = frame.chunk().len().min(777);
            sent.extend_from_slice(&frame.chunk()[..step]);
            frame.advance(step);
        }
        assert_eq!(sent, whole);

        let content = take(&mut BytesMut::from(&whole[..]), 1 << 20)
            .expect("valid")
            .expect("whole");
        let Incoming::Known {
            api,
            header: read,
            mut body,
        } = Incoming::read(content.clone()).expect("valid")
        else {
            panic!("Produce v9 is known");
        };
        assert_eq!((api, &read), (ApiKey::Produce, &header));
        let AnyRequest::Produce(request) =
            AnyRequest::decode_from(api, 9, &mut body).expect("valid")
        else {
            panic!("not a produce request");
        };
        assert_eq!(request, produce(&records));
        let inside = content.as_ptr_range();
        let decoded = &request.topic_data[0].partition_data[0].records;
        assert!(
            inside.contains(&decoded.as_ptr()),
            "decoded records are part of the frame"
        );
    }

    #[test]
    fn api_versions_answers_keep_the_old_header() {
        let answer = crate::versions::unsupported_api_versions();
        let frame = Frame::response::<ApiVersionsRequest>(0, 5, &answer).expect("fits");
        assert_eq!(
            &frame.into_bytes()[..],
            [
                0, 0, 0, 16, 0, 0, 0, 5, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 5
            ]
        );
        let frame = Frame::response::<ApiVersionsRequest>(3, 5, &answer).expect("fits");
        // No tagged fields between the correlation id and the error code.
        assert_eq!(frame.into_bytes()[8..10], [0, 35]);
    }

    #[test]
    fn trailing_bytes_are_an_error() {
        let header = RequestHeader::new::<ProduceRequest>(9, 1, None);
        let whole = Frame::request(&header, &produce(&[]))
            .expect("fits")
            .into_bytes();
        let mut longer = whole[PREFIX..].to_vec();
        longer.push(0);
        let Incoming::Known { mut body, .. } = Incoming::read(longer.into()).expect("valid") else {
            panic!("Produce v9 is known");
        };
        let error = AnyRequest::decode_from(ApiKey::Produce, 9, &mut body).expect_err("trailing");
        assert!(
            error
                .to_string()
                .starts_with("ProduceRequest v9: 1 bytes follow"),
            "{error}"
        );
    }
}
