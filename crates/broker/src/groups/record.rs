//! The records of `__consumer_offsets`: Kafka's own, as its tools read them.
//!
//! A key begins with its type, a value with its version. A record without a value takes back what one with the same
//! key said.

use bytes::{Buf, Bytes};
use copart_protocol::Body;
use copart_protocol::messages::consumer_group_current_member_assignment_key::ConsumerGroupCurrentMemberAssignmentKey;
use copart_protocol::messages::consumer_group_current_member_assignment_value::ConsumerGroupCurrentMemberAssignmentValue;
use copart_protocol::messages::consumer_group_member_metadata_key::ConsumerGroupMemberMetadataKey;
use copart_protocol::messages::consumer_group_member_metadata_value::ConsumerGroupMemberMetadataValue;
use copart_protocol::messages::consumer_group_metadata_key::ConsumerGroupMetadataKey;
use copart_protocol::messages::consumer_group_metadata_value::ConsumerGroupMetadataValue;
use copart_protocol::messages::consumer_group_regular_expression_key::ConsumerGroupRegularExpressionKey;
use copart_protocol::messages::consumer_group_regular_expression_value::ConsumerGroupRegularExpressionValue;
use copart_protocol::messages::consumer_group_target_assignment_member_key::ConsumerGroupTargetAssignmentMemberKey;
use copart_protocol::messages::consumer_group_target_assignment_member_value::ConsumerGroupTargetAssignmentMemberValue;
use copart_protocol::messages::consumer_group_target_assignment_metadata_key::ConsumerGroupTargetAssignmentMetadataKey;
use copart_protocol::messages::consumer_group_target_assignment_metadata_value::ConsumerGroupTargetAssignmentMetadataValue;
use copart_protocol::messages::group_metadata_key::GroupMetadataKey;
use copart_protocol::messages::group_metadata_value::GroupMetadataValue;
use copart_protocol::messages::offset_commit_key::OffsetCommitKey;
use copart_protocol::messages::offset_commit_value::OffsetCommitValue;

/// What Kafka called the key of a committed offset in its first releases. The fields are the same.
const LEGACY_OFFSET_COMMIT: i16 = 0;

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident($key:ident, $value:ident) = $kind:literal, written in $version:expr;)+) => {
        /// One record. `None` is a tombstone.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Record {
            $($(#[$doc])* $name($key, Option<$value>),)+
        }

        impl Record {
            /// Key and value of the record in its batch.
            pub(super) fn encode(&self) -> copart_protocol::Result<(Vec<u8>, Option<Vec<u8>>)> {
                match self {
                    $(Self::$name(key, value) => {
                        let key = prefixed($kind, 0, key)?;
                        let value = value.as_ref().map(|value| {
                            let version: fn(&$value) -> i16 = $version;
                            let version = version(value);
                            prefixed(version, version, value)
                        });
                        Ok((key, value.transpose()?))
                    })+
                }
            }

            /// The record with this key and value, or `None` for a type that this release has no use for: those of
            /// share and streams groups, and whatever comes later (KIP-915).
            ///
            /// # Errors
            /// What cannot be read.
            pub(super) fn decode(mut key: Bytes, value: Option<Bytes>) -> Result<Option<Self>, String> {
                if key.len() < 2 {
                    return Err("a key without a type".to_owned());
                }
                let broken = |error: copart_protocol::Error| error.to_string();
                match key.get_i16() {
                    LEGACY_OFFSET_COMMIT => {
                        let key = OffsetCommitKey::decode(0, key).map_err(broken)?;
                        Ok(Some(Self::OffsetCommit(key, versioned(value)?)))
                    }
                    $($kind => {
                        let key = $key::decode(0, key).map_err(broken)?;
                        Ok(Some(Self::$name(key, versioned(value)?)))
                    })+
                    _ => Ok(None),
                }
            }
        }
    };
}

records! {
    OffsetCommit(OffsetCommitKey, OffsetCommitValue) = 1, written in offset_version;
    Group(GroupMetadataKey, GroupMetadataValue) = 2, written in |_| 3;
    ConsumerGroup(ConsumerGroupMetadataKey, ConsumerGroupMetadataValue) = 3, written in |_| 0;
    ConsumerMember(ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue) = 5, written in |_| 0;
    ConsumerTarget(
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMetadataValue
    ) = 6, written in |_| 0;
    ConsumerMemberTarget(
        ConsumerGroupTargetAssignmentMemberKey,
        ConsumerGroupTargetAssignmentMemberValue
    ) = 7, written in |_| 0;
    ConsumerMemberCurrent(
        ConsumerGroupCurrentMemberAssignmentKey,
        ConsumerGroupCurrentMemberAssignmentValue
    ) = 8, written in |_| 0;
    ConsumerRegex(
        ConsumerGroupRegularExpressionKey,
        ConsumerGroupRegularExpressionValue
    ) = 16, written in |_| 0;
}

/// Version 1 alone can say when an offset expires. Version 4 says of which topic's incarnation it is.
fn offset_version(value: &OffsetCommitValue) -> i16 {
    if value.expire_timestamp >= 0 {
        1
    } else if value.topic_id.is_zero() {
        // What tools before Kafka 4.1 can read.
        3
    } else {
        4
    }
}

fn prefixed(prefix: i16, version: i16, body: &impl Body) -> copart_protocol::Result<Vec<u8>> {
    let body = body.encode(version)?;
    let mut bytes = Vec::with_capacity(2 + body.len());
    bytes.extend_from_slice(&prefix.to_be_bytes());
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

fn versioned<B: Body>(value: Option<Bytes>) -> Result<Option<B>, String> {
    let Some(mut value) = value else {
        return Ok(None);
    };
    if value.len() < 2 {
        return Err(format!("a {} without a version", B::NAME));
    }
    let version = value.get_i16();
    B::decode(version, value)
        .map(Some)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use copart_protocol::Uuid;

    use super::*;

    fn commit(expire_timestamp: i64, topic_id: Uuid) -> Record {
        let key = OffsetCommitKey {
            group: "g".to_owned(),
            topic: "t".to_owned(),
            partition: 3,
        };
        let value = OffsetCommitValue {
            offset: 7,
            leader_epoch: -1,
            metadata: "m".to_owned(),
            commit_timestamp: 5,
            expire_timestamp,
            topic_id,
        };
        Record::OffsetCommit(key, Some(value))
    }

    fn back(record: &Record) -> Option<Record> {
        let (key, value) = record.encode().expect("encodes");
        Record::decode(key.into(), value.map(Bytes::from)).expect("decodes")
    }

    #[test]
    fn a_key_begins_with_its_type_and_a_value_with_its_version() {
        let (key, value) = commit(-1, Uuid::ZERO).encode().expect("encodes");
        assert_eq!(key, [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 3]);
        let value = value.expect("no tombstone");
        assert_eq!(value[..10], [0, 3, 0, 0, 0, 0, 0, 0, 0, 7]);
        for (record, version) in [
            (commit(-1, Uuid::ZERO), 3),
            (commit(9, Uuid([1; 16])), 1),
            (commit(-1, Uuid([1; 16])), 4),
        ] {
            let (_, value) = record.encode().expect("encodes");
            assert_eq!(value.expect("no tombstone")[1], version);
        }
        for record in [commit(-1, Uuid::ZERO), commit(-1, Uuid([1; 16]))] {
            assert_eq!(back(&record), Some(record));
        }
        // Version 1 cannot say of which topic it is.
        assert_eq!(back(&commit(9, Uuid([1; 16]))), Some(commit(9, Uuid::ZERO)));
    }

    #[test]
    fn tombstones_and_old_keys_are_read() {
        let key = GroupMetadataKey {
            group: "g".to_owned(),
        };
        let tombstone = Record::Group(key, None);
        assert_eq!(back(&tombstone), Some(tombstone));
        let old = Bytes::from_static(&[0, 0, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 3]);
        let record = Record::decode(old, None).expect("decodes");
        assert!(matches!(record, Some(Record::OffsetCommit(key, None)) if key.partition == 3));
    }

    #[test]
    fn what_is_not_known_is_left_alone_and_what_is_broken_is_told() {
        let share = Bytes::from_static(&[0, 11, 0, 1, b'g']);
        assert_eq!(Record::decode(share, None), Ok(None));
        for (key, value) in [
            (&[0][..], None),
            (&[0, 2, 0, 5], None),
            (&[0, 2, 0, 1, b'g'], Some(&[0][..])),
            (&[0, 2, 0, 1, b'g'], Some(&[0, 99, 0])),
        ] {
            let value = value.map(Bytes::copy_from_slice);
            Record::decode(Bytes::copy_from_slice(key), value).expect_err("broken");
        }
    }
}
