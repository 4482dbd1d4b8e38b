//! Every message of the schema with every version, and the codec that goes with it.

#![allow(dead_code, reason = "each test program uses a part")]

use bytes::Bytes;
use copart_protocol::wire::{Reader, Writer};
use copart_protocol::{AnyRequest, AnyResponse, ApiKey, Body, Result};
use copart_protocol_codegen::sample::{self, Rng};
use copart_protocol_codegen::schema::{Message, Schema, Struct};

/// Which message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Which {
    Request(ApiKey),
    Response(ApiKey),
    Standalone(Standalone),
}

/// A decoded message.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a test's values")]
pub(crate) enum Any {
    Request(AnyRequest),
    Response(AnyResponse),
    Standalone(AnyStandalone),
}

/// The messages without an API.
macro_rules! standalone {
    ($($name:ident in $module:ident),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Standalone {
            $($name),+
        }

        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum AnyStandalone {
            $($name(copart_protocol::messages::$module::$name)),+
        }

        impl Standalone {
            const ALL: &'static [Self] = &[$(Self::$name),+];

            fn named(name: &str) -> Self {
                match name {
                    $(stringify!($name) => Self::$name,)+
                    name => panic!("no codec for {name} here"),
                }
            }

            fn decode_from(self, version: i16, r: &mut Reader) -> Result<AnyStandalone> {
                Ok(match self {
                    $(Self::$name => AnyStandalone::$name(Body::decode_from(version, r)?),)+
                })
            }
        }

        impl AnyStandalone {
            fn encode_to(&self, version: i16, w: &mut Writer) -> Result<()> {
                match self {
                    $(Self::$name(body) => body.encode_to(version, w),)+
                }
            }
        }
    };
}

standalone! {
    ConsumerProtocolSubscription in consumer_protocol_subscription,
    ConsumerProtocolAssignment in consumer_protocol_assignment,
    RegisterBrokerRecord in register_broker_record,
    UnregisterBrokerRecord in unregister_broker_record,
    TopicRecord in topic_record,
    PartitionRecord in partition_record,
    ConfigRecord in config_record,
    PartitionChangeRecord in partition_change_record,
    RemoveTopicRecord in remove_topic_record,
    FeatureLevelRecord in feature_level_record,
    ProducerIdsRecord in producer_ids_record,
    BrokerRegistrationChangeRecord in broker_registration_change_record,
    OffsetCommitKey in offset_commit_key,
    OffsetCommitValue in offset_commit_value,
    GroupMetadataKey in group_metadata_key,
    GroupMetadataValue in group_metadata_value,
    ConsumerGroupMetadataKey in consumer_group_metadata_key,
    ConsumerGroupMetadataValue in consumer_group_metadata_value,
    ConsumerGroupMemberMetadataKey in consumer_group_member_metadata_key,
    ConsumerGroupMemberMetadataValue in consumer_group_member_metadata_value,
    ConsumerGroupTargetAssignmentMetadataKey in consumer_group_target_assignment_metadata_key,
    ConsumerGroupTargetAssignmentMetadataValue in consumer_group_target_assignment_metadata_value,
    ConsumerGroupTargetAssignmentMemberKey in consumer_group_target_assignment_member_key,
    ConsumerGroupTargetAssignmentMemberValue in consumer_group_target_assignment_member_value,
    ConsumerGroupCurrentMemberAssignmentKey in consumer_group_current_member_assignment_key,
    ConsumerGroupCurrentMemberAssignmentValue in consumer_group_current_member_assignment_value,
    ConsumerGroupRegularExpressionKey in consumer_group_regular_expression_key,
    ConsumerGroupRegularExpressionValue in consumer_group_regular_expression_value,
}

/// A message of the schema.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) which: Which,
    pub(crate) message: &'a Message,
    pub(crate) structs: &'a [Struct],
}

pub(crate) fn cases(schema: &Schema) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for api in &schema.apis {
        let key = ApiKey::from_key(api.key).expect("every API of the schema");
        assert_eq!(key.name(), api.name);
        for (which, message) in [
            (Which::Request(key), &api.request),
            (Which::Response(key), &api.response),
        ] {
            cases.push(Case {
                which,
                message,
                structs: &api.structs,
            });
        }
    }
    for message in &schema.messages {
        let which = Which::Standalone(Standalone::named(&message.name));
        cases.push(Case {
            which,
            message,
            structs: &message.structs,
        });
    }
    assert_eq!(cases.len(), 2 * ApiKey::ALL.len() + Standalone::ALL.len());
    cases
}

impl Case<'_> {
    pub(crate) fn versions(&self) -> impl Iterator<Item = i16> + use<> {
        self.message.versions.iter()
    }

    pub(crate) fn sample(&self, version: i16, rng: &mut Rng) -> Bytes {
        sample::body(self.message, self.structs, version, rng).into()
    }
}

impl Case<'_> {
    /// See [`sample::bulk`].
    pub(crate) fn bulk(&self, version: i16, depth: usize, count: usize) -> Vec<u8> {
        sample::bulk(self.message, self.structs, version, depth, count)
    }
}

impl Which {
    pub(crate) fn decode(self, version: i16, body: Bytes) -> Result<Any> {
        let mut r = Reader::new(body, version, false);
        Ok(match self {
            Self::Request(api) => Any::Request(AnyRequest::decode_from(api, version, &mut r)?),
            Self::Response(api) => Any::Response(AnyResponse::decode_from(api, version, &mut r)?),
            Self::Standalone(which) => Any::Standalone(which.decode_from(version, &mut r)?),
        })
    }
}

impl Any {
    pub(crate) fn encode(&self, version: i16) -> Result<Bytes> {
        let mut w = Writer::new(version, false);
        match self {
            Self::Request(body) => body.encode_to(version, &mut w)?,
            Self::Response(body) => body.encode_to(version, &mut w)?,
            Self::Standalone(body) => body.encode_to(version, &mut w)?,
        }
        let length = w.len();
        let bytes = w.into_bytes();
        assert_eq!(bytes.len(), length, "the writer counts what it writes");
        Ok(bytes)
    }
}
