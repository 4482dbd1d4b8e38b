const GOLDEN_RATIO: u32 = 0x9e37_79b9;

/// `erlang:phash2(Binary)`: Bob Jenkins' 1996 block hash, cut to 27 bits.
///
/// The initial value is Erlang's constant for binaries, 13 times the golden ratio
/// (OTP `erts/emulator/beam/utils.c`). A list with the same characters hashes differently, so
/// this stands for binary keys only.
#[must_use]
pub fn erlang_phash2(bytes: &[u8]) -> u32 {
    let initial = GOLDEN_RATIO.wrapping_mul(13);
    let mut state = [GOLDEN_RATIO, GOLDEN_RATIO, initial];
    let blocks = bytes.chunks_exact(12);
    let tail = blocks.remainder();
    for block in blocks {
        add_words(&mut state, block, 0);
        mix(&mut state);
    }
    // The length goes into the lowest byte of the third word; its tail bytes start above it.
    state[2] = state[2].wrapping_add(bytes.len() as u32);
    add_words(&mut state, tail, 1);
    mix(&mut state);
    // Erlang takes the initial value as the hash of <<>> and does not mix at all.
    let hash = if bytes.is_empty() { initial } else { state[2] };
    hash & ((1 << 27) - 1)
}

/// Adds up to twelve bytes, little-endian, to the three words; those of the third are shifted
/// up by `third_shift` bytes.
fn add_words(state: &mut [u32; 3], bytes: &[u8], third_shift: usize) {
    for (i, &byte) in bytes.iter().enumerate() {
        let (word, place) = if i < 8 {
            (i / 4, i % 4)
        } else {
            (2, i % 4 + third_shift)
        };
        state[word] = state[word].wrapping_add(u32::from(byte) << (8 * place));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: u32, z: u32| *x = x.wrapping_sub(y).wrapping_sub(z);
    for shifts in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        step(a, *b, *c);
        *a ^= *c >> shifts.0;
        step(b, *c, *a);
        *b ^= *a << shifts.1;
        step(c, *a, *b);
        *c ^= *b >> shifts.2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_erlang() {
        // Printed by `erlang:phash2/1` on OTP 25.
        assert_eq!(erlang_phash2(b""), 13_708_901);
    }
}
