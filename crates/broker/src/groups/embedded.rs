//! What classic consumers put into the bytes that a group only hands on: which topics they want, and what their leader
//! assigned them.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use copart_protocol::Body;
use copart_protocol::messages::consumer_protocol_assignment::ConsumerProtocolAssignment;
use copart_protocol::messages::consumer_protocol_subscription::ConsumerProtocolSubscription;

/// The protocol type of consumers.
pub(super) const CONSUMER: &str = "consumer";

/// What a consumer wants. `None` if the bytes are something else.
pub(super) fn subscription(bytes: &Bytes) -> Option<ConsumerProtocolSubscription> {
    read(bytes)
}

/// What a consumer was assigned. Without bytes it is nothing.
pub(super) fn assignment(bytes: &Bytes) -> Option<ConsumerProtocolAssignment> {
    if bytes.is_empty() {
        return Some(ConsumerProtocolAssignment::default());
    }
    read(bytes)
}

/// The version of the bytes, as far as it is known here.
pub(super) fn version<B: Body>(bytes: &Bytes) -> Option<i16> {
    let version = bytes.get(..2)?;
    let version = i16::from_be_bytes([version[0], version[1]]);
    (version >= 0).then_some(version.min(B::VERSIONS.max))
}

pub(super) fn write<B: Body>(body: &B, version: i16) -> Bytes {
    let Ok(encoded) = body.encode(version) else {
        return Bytes::new();
    };
    let mut bytes = BytesMut::with_capacity(2 + encoded.len());
    bytes.put_i16(version);
    bytes.extend_from_slice(&encoded);
    bytes.freeze()
}

/// Later versions add fields behind those that are known, which are passed over as Kafka does.
fn read<B: Body>(bytes: &Bytes) -> Option<B> {
    let version = version::<B>(bytes)?;
    let mut body = bytes.clone();
    body.advance(2);
    let mut reader = copart_protocol::wire::Reader::new(body, version, false);
    B::read(&mut reader).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_later_versions_are_passed_over() {
        let wants = ConsumerProtocolSubscription {
            topics: vec!["t".to_owned()],
            ..Default::default()
        };
        let mut bytes = BytesMut::from(&write(&wants, 3)[..]);
        bytes.extend_from_slice(&[1, 2, 3]);
        bytes[1] = 9;
        let bytes = bytes.freeze();
        assert_eq!(version::<ConsumerProtocolSubscription>(&bytes), Some(3));
        assert_eq!(subscription(&bytes).expect("readable").topics, ["t"]);
    }

    #[test]
    fn other_bytes_are_nothing() {
        assert!(subscription(&Bytes::new()).is_none());
        assert!(subscription(&Bytes::from_static(b"connect")).is_none());
        assert!(subscription(&Bytes::from_static(&[0, 0, 0, 0, 0, 9])).is_none());
        assert_eq!(assignment(&Bytes::new()), Some(Default::default()));
    }
}
