//! What a run took: of this process alone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::workload::Workload;

/// The timed part of a run.
pub struct Timed {
    begun: Instant,
    cpu: f64,
    first: Option<(Instant, f64)>,
}

impl Timed {
    pub fn begin() -> Self {
        Self {
            begun: Instant::now(),
            cpu: cpu_seconds(),
            first: None,
        }
    }

    /// The first record is there: what came before is start-up.
    pub fn first(&mut self) {
        if self.first.is_none() {
            self.first = Some((Instant::now(), cpu_seconds()));
        }
    }

    pub fn end(self, workload: &Workload, mut latencies: Vec<Duration>) -> Value {
        let (seconds, cpu) = (self.begun.elapsed().as_secs_f64(), cpu_seconds() - self.cpu);
        let after_first = self.first.map(|(at, _)| at.elapsed().as_secs_f64());
        latencies.sort_unstable();
        let quantile = |of: f64| {
            let last = latencies.len().checked_sub(1)?;
            Some(latencies[(last as f64 * of) as usize].as_secs_f64() * 1000.0)
        };
        json!({
            "records": workload.records,
            "seconds": seconds,
            "seconds_after_first": after_first,
            "cpu_seconds": cpu,
            "peak_kib": peak_kib(),
            "p50_ms": quantile(0.5),
            "p99_ms": quantile(0.99),
        })
    }
}

/// User and system, in ticks of 10 ms: let a run last.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0u64)
    };
    (ticks(11) + ticks(12)) as f64 / 100.0
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
