//! The only unsafe code of the crate: calling [`interleaved`] compiled for AVX2.
//!
//! x86-64 alone has no vector multiplication of 32-bit integers, so the portable code runs there
//! at one key's speed; with AVX2 it is four times as fast (`benches/hashes.rs`). The function is
//! plain safe Rust; what the compiler cannot see is that the CPU was asked first.
#![allow(unsafe_code)]

use super::{Chain, interleaved};

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
