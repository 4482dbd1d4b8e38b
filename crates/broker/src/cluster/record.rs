//! The records of the metadata log: Kafka's own, as its tools read them.

use bytes::Bytes;
use copart_protocol::Body;
use copart_protocol::messages::broker_registration_change_record::BrokerRegistrationChangeRecord;
use copart_protocol::messages::config_record::ConfigRecord;
use copart_protocol::messages::feature_level_record::FeatureLevelRecord;
use copart_protocol::messages::partition_change_record::PartitionChangeRecord;
use copart_protocol::messages::partition_record::PartitionRecord;
use copart_protocol::messages::producer_ids_record::ProducerIdsRecord;
use copart_protocol::messages::register_broker_record::RegisterBrokerRecord;
use copart_protocol::messages::remove_topic_record::RemoveTopicRecord;
use copart_protocol::messages::topic_record::TopicRecord;
use copart_protocol::messages::unregister_broker_record::UnregisterBrokerRecord;

/// What Kafka calls the frame around a record: a version of the frame, the
/// record's type and its version, as unsigned varints.
const FRAME_VERSION: u32 = 1;

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident($body:ident) = $kind:literal, written in $version:literal;)+) => {
        /// One record.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum Record {
            $($(#[$doc])* $name($body),)+
        }

        $(
            impl From<$body> for Record {
                fn from(body: $body) -> Self {
                    Self::$name(body)
                }
            }
        )+

        impl Record {
            /// The value of the record in its batch.
            pub(super) fn encode(&self) -> copart_protocol::Result<Vec<u8>> {
                match self {
                    $(Self::$name(body) => frame($kind, $version, body),)+
                }
            }

            /// The record in `value`. The error says what is not understood.
            pub(super) fn decode(value: Bytes) -> Result<Self, String> {
                let (kind, version, body) = unframe(value)?;
                let broken = |error: copart_protocol::Error| error.to_string();
                match kind {
                    $($kind => $body::decode(version, body).map(Self::$name).map_err(broken),)+
                    kind => Err(format!(
                        "a record of type {kind}, version {version}, which this release does not \
                         know; a newer one has written it, use that"
                    )),
                }
            }
        }
    };
}

// Types that are not here yet, and have their place: 11 and 20 SCRAM
// credentials, 14 client quotas, 18 and 19 ACLs, 10 and 26 delegation tokens.
records! {
    RegisterBroker(RegisterBrokerRecord) = 0, written in 0;
    UnregisterBroker(UnregisterBrokerRecord) = 1, written in 0;
    Topic(TopicRecord) = 2, written in 0;
    Partition(PartitionRecord) = 3, written in 0;
    Config(ConfigRecord) = 4, written in 0;
    PartitionChange(PartitionChangeRecord) = 5, written in 0;
    RemoveTopic(RemoveTopicRecord) = 9, written in 0;
    FeatureLevel(FeatureLevelRecord) = 12, written in 0;
    ProducerIds(ProducerIdsRecord) = 15, written in 0;
    BrokerRegistrationChange(BrokerRegistrationChangeRecord) = 17, written in 0;
}

fn frame(kind: u32, version: i16, body: &impl Body) -> copart_protocol::Result<Vec<u8>> {
    let body = body.encode(version)?;
    let mut value = Vec::with_capacity(body.len() + 3);
    for number in [FRAME_VERSION, kind, version as u32] {
        put_varint(number, &mut value);
    }
    value.extend_from_slice(&body);
    Ok(value)
}

fn unframe(value: Bytes) -> Result<(u32, i16, Bytes), String> {
    let mut at = 0;
    let mut number =
        || copart_protocol::varint::read_u32(&value, &mut at).map_err(|error| error.to_string());
    let (frame, kind, version) = (number()?, number()?, number()?);
    if frame != FRAME_VERSION {
        return Err(format!(
            "a record in frame version {frame}; this release knows {FRAME_VERSION}"
        ));
    }
    let version = i16::try_from(version).map_err(|_| format!("record version {version}"))?;
    Ok((kind, version, value.slice(at..)))
}

fn put_varint(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use copart_protocol::Uuid;

    #[test]
    fn a_record_is_framed_as_kafka_frames_it() {
        let record = Record::from(TopicRecord {
            name: "a".into(),
            topic_id: Uuid([7; 16]),
        });
        let value = record.encode().expect("encodes");
        // Frame 1, type 2, version 0, then a compact string.
        assert_eq!(value[..5], [1, 2, 0, 2, b'a']);
        assert_eq!(Record::decode(value.into()), Ok(record));
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (value, said) in [
            (&[1, 99, 3][..], "type 99, version 3"),
            (&[2, 2, 0], "frame version 2"),
            (&[1, 2, 9], "versions 0"),
            (&[1], "truncated"),
            (&[1, 2, 0, 2], "truncated"),
            (&[], "truncated"),
        ] {
            let error = Record::decode(Bytes::copy_from_slice(value)).expect_err("refused");
            assert!(error.contains(said), "{error}");
        }
    }
}
