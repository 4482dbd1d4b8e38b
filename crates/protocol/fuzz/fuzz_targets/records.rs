//! The records of a produce request or a fetch response.
#![no_main]

mod read_records;

use bytes::Bytes;
use copart_protocol::records::{Compressor, Decompressor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let data = Bytes::copy_from_slice(data);
    let mut decompressor = Decompressor::new(1 << 20);
    read_records::read_records(&data, &mut decompressor, |_| ());
    read_records::write_records(&data, &mut decompressor, &mut Compressor::new());
});
