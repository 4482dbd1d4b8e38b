//! The content of a frame, as a client gets it; three bytes before it say what was asked.
#![no_main]

use bytes::Bytes;
use copart_protocol::wire::{Reader, Writer};
use copart_protocol::{AnyResponse, ApiKey, frame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [key_high, key_low, version, content @ ..] = data else {
        return;
    };
    let Some(api) = ApiKey::from_key(i16::from_be_bytes([*key_high, *key_low])) else {
        return;
    };
    let version = i16::from(*version);
    let content = Bytes::copy_from_slice(content);
    let Ok((_, response)) = frame::read_any_response(api, version, content) else {
        return;
    };
    let write = |response: &AnyResponse| {
        let mut w = Writer::new(version, false);
        response
            .encode_to(version, &mut w)
            .expect("what was read can be written");
        w.into_bytes()
    };
    let written = write(&response);
    let mut r = Reader::new(written.clone(), version, false);
    let again =
        AnyResponse::decode_from(api, version, &mut r).expect("what was written can be read");
    assert_eq!(write(&again), written);
});
