//! Compressed data by itself; the first byte is the codec's number.
#![no_main]

use copart_protocol::records::{Codec, Compressor, Decompressor};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let [id, input @ ..] = data else { return };
    let Some(codec) = Codec::from_id(id % 5) else {
        return;
    };
    let mut decompressor = Decompressor::new(LIMIT);
    let mut out = Vec::new();
    if decompressor.decompress(codec, input, &mut out).is_ok() {
        assert!(out.len() <= LIMIT);
    }
    // And the data as input of the encoder.
    let mut compressed = Vec::new();
    Compressor::new()
        .compress(codec.into(), input, &mut compressed)
        .expect("anything can be compressed");
    let mut decompressor = Decompressor::new(input.len());
    decompressor
        .decompress(codec, &compressed, &mut out)
        .expect("what was compressed can be decompressed");
    assert_eq!(out, input);
});
