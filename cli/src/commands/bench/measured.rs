//! What was measured, and its two forms.

use std::time::{Duration, Instant};

use copart_audit::Error;
use serde::Serialize;

use crate::exit::Exit;
use crate::plain::{self, Form};

/// Time by the clock, and time of the processor.
pub(super) struct Stopwatch {
    started: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            cpu: cpu_time(),
        }
    }

    pub(super) fn stop(&self) -> (Duration, Option<Duration>) {
        let cpu = cpu_time().zip(self.cpu);
        (
            self.started.elapsed(),
            cpu.map(|(after, before)| after.saturating_sub(before)),
        )
    }
}

/// What this process has used so far, of all cores.
fn cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::try_from(used).ok()
    }
    #[cfg(not(unix))]
    None
}

/// Microseconds from a record's hand-over to its acknowledgement, of a bounded number of records.
pub(super) struct Latencies {
    micros: Vec<u32>,
    every: u64,
    seen: u64,
}

/// As many are kept.
const KEPT: u64 = 1_000_000;

impl Latencies {
    pub(super) fn of(records: u64) -> Self {
        Self {
            micros: Vec::new(),
            every: records.div_ceil(KEPT).max(1),
            seen: 0,
        }
    }

    pub(super) fn add(&mut self, latency: Duration) {
        if self.seen.is_multiple_of(self.every) {
            let micros = u32::try_from(latency.as_micros()).unwrap_or(u32::MAX);
            self.micros.push(micros);
        }
        self.seen += 1;
    }

    pub(super) fn percentiles(mut self) -> Option<LatencyMs> {
        self.micros.sort_unstable();
        let last = self.micros.len().checked_sub(1)?;
        let at =
            |share: f64| f64::from(self.micros[(last as f64 * share).round() as usize]) / 1000.0;
        Some(LatencyMs {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct LatencyMs {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

/// `docs/src/schema/copart.bench-1.schema.json`.
#[derive(Serialize)]
pub(super) struct Measured {
    schema: &'static str,
    mode: &'static str,
    topic: String,
    records: u64,
    failed: u64,
    /// Of keys and values.
    bytes: u64,
    seconds: f64,
    records_per_second: f64,
    megabytes_per_second: f64,
    cpu_seconds: Option<f64>,
    cpu_seconds_per_million_records: Option<f64>,
    latency_ms: Option<LatencyMs>,
}

impl Measured {
    pub(super) fn new(
        mode: &'static str,
        topic: &str,
        [records, failed, bytes]: [u64; 3],
        (took, cpu): (Duration, Option<Duration>),
        latency_ms: Option<LatencyMs>,
    ) -> Self {
        let seconds = took.as_secs_f64().max(1e-9);
        let cpu_seconds = cpu.map(|cpu| cpu.as_secs_f64());
        Self {
            schema: "copart.bench/1",
            mode,
            topic: topic.to_owned(),
            records,
            failed,
            bytes,
            seconds,
            records_per_second: records as f64 / seconds,
            megabytes_per_second: bytes as f64 / 1e6 / seconds,
            cpu_seconds,
            cpu_seconds_per_million_records: cpu_seconds
                .filter(|_| records > 0)
                .map(|cpu| cpu / records as f64 * 1e6),
            latency_ms,
        }
    }

    /// Prints it. Nothing measured is no success.
    pub(super) fn print(&self, form: Form) -> Result<Exit, Error> {
        match form {
            Form::Json => plain::json(self)?,
            Form::Table => self.table()?,
        }
        Ok(match (self.records, self.failed) {
            (_, 1..) => Exit::CLUSTER,
            (0, 0) => Exit::INCONCLUSIVE,
            _ => Exit::AGREE,
        })
    }

    fn table(&self) -> Result<(), Error> {
        plain::line(format_args!(
            "{} {}: {} records, {} failed, {:.2} s",
            self.mode, self.topic, self.records, self.failed, self.seconds
        ))?;
        plain::line(format_args!(
            "  {:.0} records/s, {:.1} MB/s",
            self.records_per_second, self.megabytes_per_second
        ))?;
        if let Some(latency) = &self.latency_ms {
            plain::line(format_args!(
                "  latency: p50 {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms, max {:.1} ms",
                latency.p50, latency.p99, latency.p999, latency.max
            ))?;
        }
        if let (Some(cpu), Some(each)) = (self.cpu_seconds, self.cpu_seconds_per_million_records) {
            plain::line(format_args!(
                "  CPU of this process: {cpu:.2} s, {each:.2} s for a million records"
            ))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_kept() {
        let mut latencies = Latencies::of(1000);
        (1..=1001).for_each(|ms| latencies.add(Duration::from_millis(ms)));
        let found = latencies.percentiles().unwrap();
        let expected = LatencyMs {
            p50: 501.0,
            p99: 991.0,
            p999: 1000.0,
            max: 1001.0,
        };
        assert_eq!(found, expected);
        assert_eq!(Latencies::of(0).percentiles(), None);
        let mut many = Latencies::of(3 * KEPT);
        (0..9).for_each(|_| many.add(Duration::ZERO));
        assert_eq!(many.micros.len(), 3);
    }
}
