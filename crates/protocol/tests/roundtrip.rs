//! What the schema can say, the codecs read and write, byte for byte.

mod common;

use copart_protocol::messages::{fetch, metadata, offset_commit, produce};
use copart_protocol::wire::{Reader, Wire, Writer};
use copart_protocol::{AnyRequest, ApiKey, Body, ErrorKind};
use copart_protocol_codegen::load;
use copart_protocol_codegen::sample::Rng;

#[test]
fn samples_of_every_version_come_back_as_they_were() {
    let schema = load();
    let mut rng = Rng::new(1);
    for case in common::cases(&schema) {
        for version in case.versions() {
            for _ in 0..20 {
                let bytes = case.sample(version, &mut rng);
                let name = &case.message.name;
                let value = case
                    .which
                    .decode(version, bytes.clone())
                    .unwrap_or_else(|e| panic!("{name} v{version}: {e}\n{bytes:?}"));
                let again = value.encode(version).expect("what was read can be written");
                assert_eq!(again, bytes, "{name} v{version} {value:?}");
            }
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    let schema = load();
    let mut rng = Rng::new(2);
    for case in common::cases(&schema) {
        for version in case.versions() {
            let bytes = case.sample(version, &mut rng);
            for length in 0..bytes.len() {
                let error = case.which.decode(version, bytes.slice(..length));
                let error = error.expect_err("something is missing");
                assert!(
                    error.offset().is_some_and(|offset| offset <= length),
                    "{error} in {length} bytes"
                );
            }
            let mut longer = bytes.to_vec();
            longer.push(0);
            let error = case.which.decode(version, longer.into());
            assert_eq!(
                error.expect_err("one byte too many").kind(),
                ErrorKind::Malformed
            );
        }
    }
}

#[test]
fn unknown_tagged_fields_are_skipped() {
    let plain = metadata::MetadataRequest {
        topics: Some(Vec::new()),
        ..Default::default()
    };
    let bytes = plain.encode(12).expect("fits");
    let mut tagged = bytes.to_vec();
    assert_eq!(tagged.pop(), Some(0), "the number of tagged fields");
    tagged.extend([2, 77, 3, 1, 2, 3, 0x80, 0x01, 0]);
    let read = metadata::MetadataRequest::decode(12, tagged.into()).expect("valid");
    assert_eq!(read, plain);
}

#[test]
fn a_tagged_field_ends_where_it_says() {
    // Tag 0 of a Fetch request is the cluster id: one byte of length and "ab".
    let request = fetch::FetchRequest {
        cluster_id: Some("ab".to_owned()),
        ..Default::default()
    };
    let bytes = request.encode(12).expect("fits");
    let tags = bytes.len() - 6;
    assert_eq!(bytes[tags..], [1, 0, 3, 3, b'a', b'b']);
    for wrong in [&[1, 0, 2, 3, b'a', b'b'][..], &[1, 0, 4, 3, b'a', b'b', 0]] {
        let mut body = bytes[..tags].to_vec();
        body.extend_from_slice(wrong);
        assert!(fetch::FetchRequest::decode(12, body.into()).is_err());
    }
}

#[test]
fn a_version_without_the_field_takes_its_default_only() {
    let mut request = offset_commit::OffsetCommitRequest {
        group_instance_id: Some("static".to_owned()),
        ..Default::default()
    };
    let error = request
        .encode(6)
        .expect_err("static membership came with 7");
    assert_eq!(error.kind(), ErrorKind::Unencodable);
    assert!(
        error
            .to_string()
            .starts_with("OffsetCommitRequest v6: group_instance_id is set"),
        "{error}"
    );
    request.group_instance_id = None;
    request.encode(6).expect("at its default");

    let error = request.encode(11).expect_err("no such version");
    assert_eq!(
        error.to_string(),
        "OffsetCommitRequest has versions 2 to 10, not 11 (unsupported)"
    );
}

#[test]
fn null_before_its_time_is_refused_both_ways() {
    let everything = metadata::MetadataRequest {
        topics: None,
        ..Default::default()
    };
    let error = everything.encode(0).expect_err("no null in 0").to_string();
    assert!(
        error.contains("topics cannot be null before version 1"),
        "{error}"
    );
    assert_eq!(&everything.encode(1).expect("fits")[..], [0xff; 4]);

    let error = metadata::MetadataRequest::decode(0, vec![0xff; 4].into()).expect_err("null");
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Malformed, Some(0))
    );
}

#[test]
fn records_are_never_null() {
    let partition = fetch::PartitionData {
        aborted_transactions: None,
        ..Default::default()
    };
    let mut w = Writer::new(11, false);
    partition.write(&mut w).expect("fits");
    let bytes = w.into_bytes();
    assert_eq!(
        bytes[bytes.len() - 4..],
        [0; 4],
        "an empty record set, not null"
    );

    let mut null = bytes.to_vec();
    let end = null.len();
    null[end - 4..].fill(0xff);
    let read = fetch::PartitionData::read(&mut Reader::new(null.into(), 11, false));
    assert_eq!(read.expect("brokers have sent null"), partition);

    let partition = produce::PartitionProduceData::default();
    let mut w = Writer::new(9, true);
    partition.write(&mut w).expect("fits");
    assert_eq!(w.into_bytes()[..], [0, 0, 0, 0, 1, 0]);
}

#[test]
fn strings_have_limits() {
    let with = |client_software_name: String| {
        copart_protocol::messages::api_versions::ApiVersionsRequest {
            client_software_name,
            ..Default::default()
        }
    };
    with("x".repeat(32767))
        .encode(3)
        .expect("as long as it gets");
    let error = with("x".repeat(32768)).encode(3).expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::Unencodable);

    // A compact length of 32768, with all of the bytes there.
    let mut body = vec![0x81, 0x80, 0x02];
    body.extend(vec![b'x'; 32768]);
    body.extend([1, 0]);
    let mut r = Reader::new(body.into(), 3, false);
    let error = AnyRequest::decode_from(ApiKey::ApiVersions, 3, &mut r).expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::Malformed);

    let mut r = Reader::new(vec![3, b'a', 0xff, 1, 0].into(), 3, false);
    let error = AnyRequest::decode_from(ApiKey::ApiVersions, 3, &mut r).expect_err("not UTF-8");
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Malformed, Some(2))
    );
}
