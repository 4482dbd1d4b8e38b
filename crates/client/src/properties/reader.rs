//! What a reader takes from properties.

use std::time::Duration;

use super::values::Values;
use crate::client::bounded;
use crate::reader::Settings;
use crate::{Isolation, OffsetReset};

/// Checked settings.
#[derive(Clone, Default)]
pub(super) struct ReaderSettings {
    isolation: Option<Isolation>,
    reset: Option<OffsetReset>,
    min_bytes: Option<usize>,
    max_bytes: Option<usize>,
    max_wait: Option<Duration>,
    max_partition_bytes: Option<usize>,
    memory: Option<usize>,
}

pub(super) fn read(values: &mut Values<'_>) -> ReaderSettings {
    let memory = values.bytes(&["queued.max.messages.kbytes"]);
    ReaderSettings {
        isolation: values.choice(
            &["isolation.level"],
            &[
                ("read_committed", Isolation::ReadCommitted),
                ("read_uncommitted", Isolation::ReadUncommitted),
            ],
        ),
        reset: reset(values),
        min_bytes: values.bytes(&["fetch.min.bytes"]),
        max_bytes: values.bytes(&["fetch.max.bytes"]),
        max_wait: values.milliseconds(&["fetch.max.wait.ms", "fetch.wait.max.ms"]),
        max_partition_bytes: values
            .bytes(&["max.partition.fetch.bytes", "fetch.message.max.bytes"]),
        memory: memory.map(|kib| kib.saturating_mul(1024)),
    }
}

fn reset(values: &mut Values<'_>) -> Option<OffsetReset> {
    let (name, value) = values.filled(&["auto.offset.reset"])?;
    let value = value.trim().to_ascii_lowercase();
    let reset = match value.as_str() {
        // librdkafka has several words for each.
        "earliest" | "smallest" | "beginning" => Some(OffsetReset::Earliest),
        "latest" | "largest" | "end" => Some(OffsetReset::Latest),
        "none" | "error" => Some(OffsetReset::Error),
        other => other
            .strip_prefix("by_duration:")
            .and_then(iso_duration)
            .map(OffsetReset::Ago),
    };
    if reset.is_none() {
        values.refuse(
            name,
            format_args!("is earliest, latest, none or by_duration:P…, such as by_duration:PT6H, not {value:?}"),
        );
    }
    reset
}

impl ReaderSettings {
    pub(super) fn change(&self, settings: &mut Settings) {
        if let Some(isolation) = self.isolation {
            settings.isolation = isolation;
        }
        if let Some(reset) = self.reset {
            settings.reset = reset;
        }
        if let Some(bytes) = self.min_bytes {
            settings.min_bytes = bytes;
        }
        if let Some(bytes) = self.max_bytes {
            settings.max_bytes = bytes;
        }
        if let Some(wait) = self.max_wait {
            settings.max_wait = bounded(wait);
        }
        if let Some(bytes) = self.max_partition_bytes {
            settings.partition_max_bytes = bytes;
        }
        if let Some(bytes) = self.memory {
            settings.memory = bytes;
        }
    }
}

/// A duration of ISO 8601 in days, hours, minutes and seconds, such as `p1dt6h30m` (KIP-1106).
fn iso_duration(text: &str) -> Option<Duration> {
    let (days, time) = match text.strip_prefix('p')?.split_once('t') {
        Some((days, time)) => (days, time),
        None => (text.strip_prefix('p')?, ""),
    };
    let mut seconds = 0.0;
    let mut parts = 0;
    for (mut rest, units) in [
        (days, &[('d', 86_400.0)][..]),
        (time, &[('h', 3600.0), ('m', 60.0), ('s', 1.0)][..]),
    ] {
        for &(unit, size) in units {
            if let Some((number, after)) = rest.split_once(unit) {
                let number: f64 = number.parse().ok().filter(|n: &f64| *n >= 0.0)?;
                seconds += number * size;
                parts += 1;
                rest = after;
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    (parts > 0)
        .then(|| Duration::try_from_secs_f64(seconds).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_iso_8601() {
        for (text, seconds) in [
            ("pt6h", Some(21_600)),
            ("p1dt1m1s", Some(86_461)),
            ("p2d", Some(172_800)),
            ("p", None),
            ("pt", None),
            ("6h", None),
            ("pt1x", None),
            ("pt-1s", None),
            ("pt1s1h", None),
        ] {
            assert_eq!(
                iso_duration(text),
                seconds.map(Duration::from_secs),
                "{text}"
            );
        }
    }
}
