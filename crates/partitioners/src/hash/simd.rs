//! The only unsafe code of the crate: calling functions compiled for instructions that the CPU was
//! asked for first.
//!
//! x86-64 alone has no vector multiplication of 32-bit integers, so [`interleaved`] runs there at
//! one key's speed; with AVX2 it is four times as fast. CRC-32 by carry-less multiplication is
//! twice as fast as by tables (`benches/hashes.rs`). The functions are safe Rust; that the CPU has
//! the instructions is what the compiler cannot see.
#![allow(unsafe_code)]

use super::{Chain, interleaved, one_by_one};
use crate::Hash;

#[path = "crc32_clmul.rs"]
mod crc32_clmul;

pub(super) fn hash_each<H: Chain>(keys: &[&[u8]], hashes: &mut [u32]) {
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, checked on the line above.
        unsafe { with_avx2::<H>(keys, hashes) }
    } else {
        interleaved::<H>(keys, hashes);
    }
}

#[target_feature(enable = "avx2")]
fn with_avx2<H: Chain>(keys: &[&[u8]], hashes: &mut [u32]) {
    interleaved::<H>(keys, hashes);
}

pub(super) fn crc32_each(keys: &[&[u8]], hashes: &mut [u32]) {
    if std::is_x86_feature_detected!("pclmulqdq") && std::is_x86_feature_detected!("sse4.1") {
        // SAFETY: the CPU has both, checked on the line above.
        unsafe { crc32_clmul::crc32_each(keys, hashes) }
    } else {
        one_by_one(Hash::Crc32, keys, hashes);
    }
}
