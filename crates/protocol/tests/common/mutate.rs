//! Damage of the kinds that find bugs in decoders.

use copart_protocol_codegen::sample::Rng;

/// Lengths and counts that someone wrote code for, or forgot to.
const NUMBERS: [i32; 8] = [-1, -2, 0, 1, 0x7fff, 0x0100_0000, i32::MAX, i32::MIN];
const VARINT_MAX: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x0f];
const VARINT_TOO_LONG: [u8; 6] = [0xff; 6];

/// Changes `bytes` in one to four places; `other` is a source of valid pieces.
pub(crate) fn mutate(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(9) {
            0 => bytes.truncate(at),
            1 => overwrite(bytes, at, &[1 << rng.below(8)], |old, new| old ^ new),
            2 => overwrite(bytes, at, &[rng.number() as u8], |_, new| new),
            3 => {
                let number = NUMBERS[rng.below(NUMBERS.len())].to_be_bytes();
                overwrite(bytes, at, &number, |_, new| new);
            }
            4 => overwrite(bytes, at, &VARINT_MAX, |_, new| new),
            5 => overwrite(bytes, at, &VARINT_TOO_LONG, |_, new| new),
            6 => {
                let end = (at + rng.below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            7 => {
                let fill = rng.number() as u8;
                let count = rng.below(64);
                bytes.splice(at..at, std::iter::repeat_n(fill, count));
            }
            _ => {
                let from = rng.below(other.len() + 1);
                let end = (from + rng.below(64)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
        }
    }
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8], combine: impl Fn(u8, u8) -> u8) {
    for (old, new) in bytes[at..].iter_mut().zip(with) {
        *old = combine(*old, *new);
    }
}

/// How many inputs to try: `default`, or as many as `COPART_FUZZ_FRAMES` says.
pub(crate) fn frames(default: usize) -> usize {
    match std::env::var("COPART_FUZZ_FRAMES") {
        Ok(count) => count
            .parse()
            .unwrap_or_else(|_| panic!("COPART_FUZZ_FRAMES is {count:?}, not a number")),
        Err(_) => default,
    }
}
