//! What is done: the same records for every client.

use std::time::{Duration, Instant};

use clap::Args;

/// So many handles of a client may be without an outcome.
pub const UNRESOLVED: usize = 100_000;
/// Records of a paced run go out in steps of this.
const TICK: Duration = Duration::from_millis(1);
const VALUES: usize = 4096;
pub const BATCH: usize = 256 << 10;

#[derive(Clone, Debug, Args)]
pub struct Workload {
    #[arg(long, default_value = "127.0.0.1:9092")]
    pub bootstrap: String,
    #[arg(long, default_value = "bench")]
    pub topic: String,
    /// How many records
    #[arg(long, default_value_t = 1_000_000)]
    pub records: usize,
    /// Bytes of a value; a key has 16
    #[arg(long, default_value_t = 100)]
    pub size: usize,
    /// Partitions of the topic
    #[arg(long, default_value_t = 12)]
    pub partitions: i32,
    /// none, lz4 or zstd
    #[arg(long, default_value = "none")]
    pub codec: String,
    /// Leave idempotence out
    #[arg(long)]
    pub not_idempotent: bool,
    /// Records a second; without it as fast as the client goes. Then each record's time until it is acknowledged is
    /// measured.
    #[arg(long)]
    pub rate: Option<usize>,
}

impl Workload {
    /// Text-like values, so that compression has something to do.
    pub fn values(&self) -> Vec<Vec<u8>> {
        let mut random = fastrand::Rng::with_seed(1);
        let mut value = || {
            (0..self.size)
                .map(|_| b"etaoin shrdlu0123"[random.usize(..17)])
                .collect()
        };
        (0..VALUES).map(|_| value()).collect()
    }

    pub fn pace(&self) -> Pace {
        Pace {
            begun: Instant::now(),
            sent: 0,
            per_tick: self.rate.map(|rate| rate.div_ceil(1000)),
        }
    }
}

/// The key of a record: distinct, and spread over partitions.
pub fn key(number: usize) -> [u8; 16] {
    let half = (number as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .to_be_bytes();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&half);
    key[8..].copy_from_slice(&half);
    key
}

/// When the next record is due.
pub struct Pace {
    begun: Instant,
    sent: usize,
    per_tick: Option<usize>,
}

impl Pace {
    /// How long to wait before the next record, if it is not due.
    pub fn next(&mut self) -> Option<Duration> {
        let per_tick = self.per_tick?;
        let tick = self.sent / per_tick;
        self.sent += 1;
        let due = self.begun + TICK * u32::try_from(tick).unwrap_or(u32::MAX);
        due.checked_duration_since(Instant::now())
    }
}
