//! Writes N pseudo-random keys of 36 characters, shaped like UUIDs, one a line, for benchmarks:
//! `cargo run --release --example make-keys -- 1000000 > keys.txt`. The same N gives the same keys.

use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let n: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| io::Error::other("say how many keys: make-keys N"))?;
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut line = *b"00000000-0000-4000-8000-000000000000\n";
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..n {
        let mut bits = 0;
        let mut left = 0;
        for (i, byte) in line.iter_mut().enumerate() {
            // The hyphens, the version and the variant stay.
            if matches!(i, 8 | 13 | 14 | 18 | 19 | 23 | 36) {
                continue;
            }
            if left == 0 {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                (bits, left) = (x, 16);
            }
            *byte = b"0123456789abcdef"[(bits & 15) as usize];
            bits >>= 4;
            left -= 1;
        }
        out.write_all(&line)?;
    }
    out.flush()
}
