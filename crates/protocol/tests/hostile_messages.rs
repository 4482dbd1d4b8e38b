//! Damaged frames of all APIs: no panic, and no memory that the frame's bytes do not account for.
//!
//! `COPART_FUZZ_FRAMES=10000000 cargo test --release --test hostile_messages` runs it for longer.

mod common;
#[path = "common/mutate.rs"]
mod mutate;

use std::alloc::System;

use bytes::{Bytes, BytesMut};
use common::{Any, Which};
use copart_protocol::header::{Incoming, RequestHeader, ResponseHeader};
use copart_protocol::messages::{AnyRequest, AnyResponse};
use copart_protocol::wire::Writer;
use copart_protocol::{ApiKey, Result, frame};
use copart_protocol_codegen::load;
use copart_protocol_codegen::sample::Rng;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

// It counts what this process asks for. One test only in this file, so that all of it is the decoder's.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Memory for each byte of input, over the whole decoding. An empty string takes one byte on the wire and 24
/// in a `Vec`, whose capacity may be twice its length.
const PER_BYTE: usize = 56;
/// Memory besides: what arrays reserve before their elements are seen, and the error.
const BESIDES: usize = 16 << 10;

/// A valid frame's content.
struct Seed {
    which: Which,
    version: i16,
    content: Vec<u8>,
}

fn seeds(rng: &mut Rng) -> Vec<Seed> {
    let schema = load();
    let mut seeds = Vec::new();
    for case in common::cases(&schema) {
        for version in case.versions() {
            for _ in 0..4 {
                let mut w = Writer::new(0, false);
                match case.which {
                    Which::Request(api) => RequestHeader {
                        api_key: api as i16,
                        api_version: version,
                        correlation_id: 1,
                        client_id: Some("client".to_owned()),
                    }
                    .encode_to(api.request_header_version(version), &mut w),
                    Which::Response(api) => ResponseHeader { correlation_id: 1 }
                        .encode_to(api.response_header_version(version), &mut w),
                    Which::Standalone(_) => Ok(()),
                }
                .expect("headers fit");
                let mut content = w.into_bytes().to_vec();
                content.extend_from_slice(&case.sample(version, rng));
                seeds.push(Seed {
                    which: case.which,
                    version,
                    content,
                });
            }
        }
    }
    seeds
}

/// What the ends of a connection do with a frame's content. The version is the one that was read in.
fn read(which: Which, version: i16, content: Bytes) -> Result<Option<(Any, i16)>> {
    match which {
        Which::Request(_) => match Incoming::read(content)? {
            Incoming::Known {
                api,
                header,
                mut body,
            } => {
                let version = header.api_version;
                let request = AnyRequest::decode_from(api, version, &mut body)?;
                Ok(Some((Any::Request(request), version)))
            }
            Incoming::Unknown { .. } => Ok(None),
        },
        Which::Response(api) => {
            let (_, response) = frame::read_any_response(api, version, content)?;
            Ok(Some((Any::Response(response), version)))
        }
        Which::Standalone(_) => which
            .decode(version, content)
            .map(|any| Some((any, version))),
    }
}

#[test]
fn damaged_frames_neither_panic_nor_ask_for_memory() {
    let mut rng = Rng::new(5);
    let seeds = seeds(&mut rng);
    let frames = mutate::frames(150_000);
    let mut read_all = 0;
    for _ in 0..frames {
        let seed = &seeds[rng.below(seeds.len())];
        let mut content = seed.content.clone();
        mutate::mutate(
            &mut content,
            &seeds[rng.below(seeds.len())].content,
            &mut rng,
        );
        let content = Bytes::from(content);

        let region = Region::new(ALLOCATOR);
        let outcome = read(seed.which, seed.version, content.clone());
        let allocated = region.change().bytes_allocated;
        assert!(
            allocated <= PER_BYTE * content.len() + BESIDES,
            "{allocated} bytes for {:?} v{} {content:?}",
            seed.which,
            seed.version
        );

        if let Ok(Some((value, version))) = outcome {
            read_all += 1;
            // What was read can be written and read again; by bytes, as a quota may be NaN.
            let written = value.encode(version).expect("what was read can be written");
            let again = match &value {
                Any::Request(request) => Which::Request(request.api()),
                Any::Response(response) => Which::Response(response.api()),
                Any::Standalone(_) => seed.which,
            }
            .decode(version, written.clone())
            .expect("what was written can be read");
            assert_eq!(again.encode(version).expect("still"), written, "{value:?}");
        }
    }
    // Most damage is an error and some is another value: neither must be all there is.
    println!("{frames} frames, {read_all} could be read");
    assert!(
        (frames / 100..frames).contains(&read_all),
        "{read_all} of {frames}"
    );

    bulk_is_bounded();
    counts_are_not_believed();
    prefixes_are_not_believed(&mut rng);
}

/// The most values for the fewest bytes, in every array of every message.
fn bulk_is_bounded() {
    let schema = load();
    let (mut worst, mut where_) = (0, String::new());
    for case in common::cases(&schema) {
        for version in case.versions() {
            for depth in 0..4 {
                let body = Bytes::from(case.bulk(version, depth, 2000));
                let region = Region::new(ALLOCATOR);
                let read = case.which.decode(version, body.clone());
                let allocated = region.change().bytes_allocated;
                read.expect("valid");
                let name = &case.message.name;
                assert!(
                    allocated <= PER_BYTE * body.len() + BESIDES,
                    "{allocated} bytes for {} of {name} v{version}",
                    body.len()
                );
                let each = allocated.saturating_sub(BESIDES) / body.len().max(1);
                if each > worst {
                    (worst, where_) = (each, format!("{name} v{version}"));
                }
            }
        }
    }
    println!("at most {worst} bytes of memory for a byte of input, in {where_}");
    assert!(
        worst > 8,
        "the samples are as dense as they are meant to be"
    );
}

/// The four bytes that end a process which believes them, and their compact form.
fn counts_are_not_believed() {
    let bodies: [(ApiKey, i16, &[u8]); 4] = [
        (ApiKey::Metadata, 0, &[0x7f, 0xff, 0xff, 0xff]),
        (ApiKey::Metadata, 12, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        (ApiKey::Metadata, 12, &[0xff, 0xff, 0xff, 0x7f]),
        (ApiKey::LeaveGroup, 3, &[0, 0, 0x7f, 0xff, 0xff, 0xff]),
    ];
    for (api, version, body) in bodies {
        let region = Region::new(ALLOCATOR);
        let request = Which::Request(api).decode(version, Bytes::from_static(body));
        assert!(request.is_err(), "{api} v{version}");
        let response = AnyResponse::decode_from(
            api,
            version,
            &mut copart_protocol::wire::Reader::new(Bytes::from_static(body), version, false),
        );
        assert!(response.is_err(), "{api} v{version}");
        assert!(region.change().bytes_allocated < 4096, "{api} v{version}");
    }
}

fn prefixes_are_not_believed(rng: &mut Rng) {
    for _ in 0..1000 {
        let prefix = (rng.number() as i32).to_be_bytes();
        let mut buffer = BytesMut::from(&prefix[..]);
        let region = Region::new(ALLOCATOR);
        let taken = frame::take(&mut buffer, 100 << 20);
        assert!(!matches!(taken, Ok(Some(_))), "{prefix:?}");
        assert!(region.change().bytes_allocated < 4096, "{prefix:?}");
    }
}
