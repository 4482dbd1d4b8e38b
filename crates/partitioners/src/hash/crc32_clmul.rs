//! CRC-32 of short keys by carry-less multiplication.
//!
//! The method and its constants are those of Gopal, Ozturk, Guilford et al., "Fast CRC Computation
//! for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009). `crc32fast` uses it from
//! 128 bytes on; keys are shorter. Here it starts at 16 bytes, and since keys are independent of
//! each other the CPU works on several at once.

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_clmulepi64_si128, _mm_extract_epi32, _mm_set_epi64x,
    _mm_setr_epi32, _mm_srli_si128, _mm_xor_si128,
};

/// x^(128+32) and x^(128-32) mod P, reflected: moves 128 bits on by 128.
const FOLD: (i64, i64) = (0x1_7519_97d0, 0x0_ccaa_009e);
/// x^64 mod P, reflected.
const FOLD_64: i64 = 0x1_63cd_6124;
/// P and its Barrett constant, reflected.
const POLYNOMIAL: (i64, i64) = (0x1_db71_0641, 0x1_f701_1641);

/// Fills `hashes` with the CRC-32 of each key.
#[target_feature(enable = "pclmulqdq,sse4.1")]
pub(super) fn crc32_each(keys: &[&[u8]], hashes: &mut [u32]) {
    for (key, hash) in keys.iter().zip(hashes) {
        let (blocks, tail) = key.as_chunks::<16>();
        *hash = match blocks {
            [] => crc32fast::hash(key),
            [first, rest @ ..] => !finish(reduced(first, rest), tail),
        };
    }
}

/// The register after all whole blocks.
#[target_feature(enable = "pclmulqdq,sse4.1")]
fn reduced(first: &[u8; 16], rest: &[[u8; 16]]) -> u32 {
    let fold = _mm_set_epi64x(FOLD.1, FOLD.0);
    let mut x = _mm_xor_si128(load(first), _mm_setr_epi32(!0, 0, 0, 0));
    for block in rest {
        let low = _mm_clmulepi64_si128(x, fold, 0x00);
        let high = _mm_clmulepi64_si128(x, fold, 0x11);
        x = _mm_xor_si128(_mm_xor_si128(low, high), load(block));
    }
    let low_words = _mm_setr_epi32(!0, 0, !0, 0);
    // 128 bits to 96, to 64, and by Barrett's reduction to 32.
    x = _mm_xor_si128(_mm_clmulepi64_si128(x, fold, 0x10), _mm_srli_si128(x, 8));
    let low = _mm_clmulepi64_si128(
        _mm_and_si128(x, low_words),
        _mm_set_epi64x(0, FOLD_64),
        0x00,
    );
    x = _mm_xor_si128(low, _mm_srli_si128(x, 4));
    let polynomial = _mm_set_epi64x(POLYNOMIAL.1, POLYNOMIAL.0);
    let quotient = _mm_clmulepi64_si128(_mm_and_si128(x, low_words), polynomial, 0x10);
    let product = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_words), polynomial, 0x00);
    _mm_extract_epi32(_mm_xor_si128(x, product), 1) as u32
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
fn load(bytes: &[u8; 16]) -> __m128i {
    let bits = u128::from_le_bytes(*bytes);
    _mm_set_epi64x((bits >> 64) as i64, bits as i64)
}

/// The register after the fewer than 16 bytes that are left: four at a time, then one.
#[inline(always)]
fn finish(mut crc: u32, tail: &[u8]) -> u32 {
    let (words, bytes) = tail.as_chunks::<4>();
    for word in words {
        let [a, b, c, d] = (crc ^ u32::from_le_bytes(*word)).to_le_bytes();
        crc = TABLES[3][usize::from(a)]
            ^ TABLES[2][usize::from(b)]
            ^ TABLES[1][usize::from(c)]
            ^ TABLES[0][usize::from(d)];
    }
    for byte in bytes {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    crc
}

/// `TABLES[k][b]`: the register after byte `b` and `k` zero bytes.
static TABLES: [[u32; 256]; 4] = tables();

const fn tables() -> [[u32; 256]; 4] {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut k = 0;
        while k < 4 {
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 {
                    0xedb8_8320 ^ (crc >> 1)
                } else {
                    crc >> 1
                };
                bit += 1;
            }
            tables[k][byte] = crc;
            k += 1;
        }
        byte += 1;
    }
    tables
}
