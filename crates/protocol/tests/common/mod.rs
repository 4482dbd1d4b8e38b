//! Every message of the schema with every version, and the codec that goes with it.

#![allow(dead_code, reason = "each test program uses a part")]

use bytes::Bytes;
use copart_protocol::messages::consumer_protocol_assignment::ConsumerProtocolAssignment;
use copart_protocol::messages::consumer_protocol_subscription::ConsumerProtocolSubscription;
use copart_protocol::wire::{Reader, Writer};
use copart_protocol::{AnyRequest, AnyResponse, ApiKey, Body, Result};
use copart_protocol_codegen::sample::{self, Rng};
use copart_protocol_codegen::schema::{Message, Schema, Struct};

/// Which message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Which {
    Request(ApiKey),
    Response(ApiKey),
    Subscription,
    Assignment,
}

/// A decoded message.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a test's values")]
pub(crate) enum Any {
    Request(AnyRequest),
    Response(AnyResponse),
    Subscription(ConsumerProtocolSubscription),
    Assignment(ConsumerProtocolAssignment),
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
        let which = match message.name.as_str() {
            "ConsumerProtocolSubscription" => Which::Subscription,
            "ConsumerProtocolAssignment" => Which::Assignment,
            name => panic!("no codec for {name} here"),
        };
        cases.push(Case {
            which,
            message,
            structs: &message.structs,
        });
    }
    assert_eq!(cases.len(), 2 * ApiKey::ALL.len() + 2);
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
            Self::Subscription => Any::Subscription(Body::decode_from(version, &mut r)?),
            Self::Assignment => Any::Assignment(Body::decode_from(version, &mut r)?),
        })
    }
}

impl Any {
    pub(crate) fn encode(&self, version: i16) -> Result<Bytes> {
        let mut w = Writer::new(version, false);
        match self {
            Self::Request(body) => body.encode_to(version, &mut w)?,
            Self::Response(body) => body.encode_to(version, &mut w)?,
            Self::Subscription(body) => body.encode_to(version, &mut w)?,
            Self::Assignment(body) => body.encode_to(version, &mut w)?,
        }
        let length = w.len();
        let bytes = w.into_bytes();
        assert_eq!(bytes.len(), length, "the writer counts what it writes");
        Ok(bytes)
    }
}
