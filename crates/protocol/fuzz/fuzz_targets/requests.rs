//! The content of a frame, as a broker gets it.
#![no_main]

use bytes::Bytes;
use copart_protocol::AnyRequest;
use copart_protocol::header::Incoming;
use copart_protocol::wire::{Reader, Writer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(Incoming::Known {
        api,
        header,
        mut body,
    }) = Incoming::read(Bytes::copy_from_slice(data))
    else {
        return;
    };
    let version = header.api_version;
    let Ok(request) = AnyRequest::decode_from(api, version, &mut body) else {
        return;
    };
    let write = |request: &AnyRequest| {
        let mut w = Writer::new(version, false);
        request
            .encode_to(version, &mut w)
            .expect("what was read can be written");
        w.into_bytes()
    };
    let written = write(&request);
    let mut r = Reader::new(written.clone(), version, false);
    let again =
        AnyRequest::decode_from(api, version, &mut r).expect("what was written can be read");
    assert_eq!(write(&again), written);
});
