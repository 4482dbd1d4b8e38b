//! The codecs against those of the `kafka-protocol` crate: random messages give the same bytes, and the same
//! values in fields of the same names.

mod common;
#[path = "common/debug_tree.rs"]
mod debug_tree;

use std::collections::BTreeSet;

use bytes::{Bytes, BytesMut};
use common::{Any, Which};
use copart_protocol::ApiKey as Ours;
use copart_protocol_codegen::load;
use copart_protocol_codegen::sample::Rng;
use debug_tree::Tree;
use kafka_protocol::messages::{ApiKey, RequestKind, ResponseKind};

/// Messages for each version of each API.
const SAMPLES: usize = 30;

/// All that differs, other than versions that only one side has.
const DIFFERENCES: [&str; 13] = [
    // Fields of Kafka 4.4; `kafka-protocol` 0.18 is made from the schemas of 4.1.
    "ApiVersionsRequest.cluster_id only ours",
    "ApiVersionsRequest.node_id only ours",
    "DeleteGroupsResponse.results.error_message only ours",
    "DescribeLogDirsResponse.results.is_cordoned only ours",
    "TxnOffsetCommitRequest.topics.topic_id only ours",
    "TxnOffsetCommitResponse.topics.topic_id only ours",
    "WriteTxnMarkersRequest.markers.transaction_version only ours",
    // Renamed since.
    "TxnOffsetCommitRequest.generation_id only theirs",
    "TxnOffsetCommitRequest.generation_id_or_member_epoch only ours",
    // The same name, made fit for Rust in another way.
    "DescribeClientQuotasRequest.components._match only theirs",
    "DescribeClientQuotasRequest.components.match only ours",
    "InitProducerIdRequest.enable_2_pc only theirs",
    "InitProducerIdRequest.enable2_pc only ours",
];

/// The versions that `kafka-protocol` reads and writes.
fn theirs(which: Which) -> std::ops::RangeInclusive<i16> {
    match which {
        // It claims one more for each of these, but its requests do not have it.
        Which::Request(Ours::OffsetCommit) => 2..=9,
        Which::Request(Ours::OffsetFetch) => 1..=9,
        Which::Request(Ours::InitProducerId) => 0..=5,
        Which::Request(api) | Which::Response(api) => {
            let range = theirs_of(api).valid_versions();
            range.min..=range.max
        }
        Which::Standalone(_) => unreachable!("not among the APIs"),
    }
}

fn theirs_of(api: Ours) -> ApiKey {
    ApiKey::try_from(api as i16).expect("it has all of our APIs")
}

/// What `kafka-protocol` makes of a message: its `Debug` form, and the bytes that it would write.
fn their_view(which: Which, version: i16, body: Bytes) -> (String, Bytes) {
    let mut rest = body;
    let mut encoded = BytesMut::new();
    let debug = match which {
        Which::Request(api) => {
            let request =
                RequestKind::decode(theirs_of(api), &mut rest, version).expect("it reads ours");
            request
                .encode(&mut encoded, version)
                .expect("it writes what it read");
            format!("{request:?}")
        }
        Which::Response(api) => {
            let response =
                ResponseKind::decode(theirs_of(api), &mut rest, version).expect("it reads ours");
            response
                .encode(&mut encoded, version)
                .expect("it writes what it read");
            format!("{response:?}")
        }
        Which::Standalone(_) => unreachable!("not among the APIs"),
    };
    assert!(rest.is_empty(), "{} bytes that it did not read", rest.len());
    (debug, encoded.freeze())
}

fn our_debug(value: &Any) -> String {
    match value {
        Any::Request(request) => format!("{request:?}"),
        Any::Response(response) => format!("{response:?}"),
        Any::Standalone(_) => unreachable!("not among the APIs"),
    }
}

#[test]
fn same_bytes_and_same_values() {
    let schema = load();
    let mut rng = Rng::new(4);
    let mut compared = 0;
    let mut differences = BTreeSet::new();
    for case in common::cases(&schema) {
        if matches!(case.which, Which::Standalone(_)) {
            continue;
        }
        let theirs = theirs(case.which);
        for version in case.versions().filter(|version| theirs.contains(version)) {
            for _ in 0..SAMPLES {
                let body = case.sample(version, &mut rng);
                let ours = case.which.decode(version, body.clone()).expect("ours");
                let (debug, encoded) = their_view(case.which, version, body);
                let name = &case.message.name;
                assert_eq!(
                    ours.encode(version).expect("ours"),
                    encoded,
                    "{name} v{version}"
                );
                let (ours, theirs) = (
                    debug_tree::read(&our_debug(&ours)),
                    debug_tree::read(&debug),
                );
                compare(name, "", &ours, &theirs, &mut differences);
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared} messages");
    let known: BTreeSet<String> = DIFFERENCES.iter().copied().map(str::to_owned).collect();
    assert_eq!(differences, known);
}

fn compare(name: &str, path: &str, ours: &Tree, theirs: &Tree, differences: &mut BTreeSet<String>) {
    match (ours, theirs) {
        (Tree::Fields(ours), Tree::Fields(theirs)) => {
            for (field, value) in ours {
                let path = format!("{path}.{field}");
                match theirs.get(field) {
                    Some(their) => compare(name, &path, value, their, differences),
                    None => _ = differences.insert(format!("{name}{path} only ours")),
                }
            }
            for field in theirs.keys() {
                if field != "unknown_tagged_fields" && !ours.contains_key(field) {
                    differences.insert(format!("{name}{path}.{field} only theirs"));
                }
            }
        }
        (Tree::List(ours), Tree::List(theirs)) if ours.len() == theirs.len() => {
            for (our, their) in ours.iter().zip(theirs) {
                compare(name, path, our, their, differences);
            }
        }
        _ if ours == theirs => {}
        _ => _ = differences.insert(format!("{name}{path} {ours:?} {theirs:?}")),
    }
}
