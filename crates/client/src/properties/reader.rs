//! What a reader takes from properties.

use std::time::Duration;

use super::values::Values;

/// Where to read on when an offset is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    Earliest,
    Latest,
    Fail,
    Ago(Duration),
}

/// Checked settings.
#[derive(Clone, Default)]
#[allow(dead_code, reason = "readers take them once they are there")]
pub(super) struct ReaderSettings {
    pub(super) read_committed: Option<bool>,
    pub(super) reset: Option<Reset>,
    pub(super) min_bytes: Option<usize>,
    pub(super) max_bytes: Option<usize>,
    pub(super) max_wait: Option<Duration>,
    pub(super) max_partition_bytes: Option<usize>,
    pub(super) rack: Option<String>,
    pub(super) memory: Option<usize>,
}

pub(super) fn read(values: &mut Values<'_>) -> ReaderSettings {
    let rack = values.filled(&["client.rack"]);
    let memory = values.bytes(&["queued.max.messages.kbytes"]);
    ReaderSettings {
        read_committed: values.choice(
            &["isolation.level"],
            &[("read_committed", true), ("read_uncommitted", false)],
        ),
        reset: reset(values),
        min_bytes: values.bytes(&["fetch.min.bytes"]),
        max_bytes: values.bytes(&["fetch.max.bytes"]),
        max_wait: values.milliseconds(&["fetch.max.wait.ms", "fetch.wait.max.ms"]),
        max_partition_bytes: values
            .bytes(&["max.partition.fetch.bytes", "fetch.message.max.bytes"]),
        rack: rack.map(|(_, rack)| rack.to_owned()),
        memory: memory.map(|kib| kib.saturating_mul(1024)),
    }
}

fn reset(values: &mut Values<'_>) -> Option<Reset> {
    let (name, value) = values.filled(&["auto.offset.reset"])?;
    let value = value.trim().to_ascii_lowercase();
    let reset = match value.as_str() {
        // librdkafka has several words for each.
        "earliest" | "smallest" | "beginning" => Some(Reset::Earliest),
        "latest" | "largest" | "end" => Some(Reset::Latest),
        "none" | "error" => Some(Reset::Fail),
        other => other
            .strip_prefix("by_duration:")
            .and_then(iso_duration)
            .map(Reset::Ago),
    };
    if reset.is_none() {
        values.refuse(
            name,
            format_args!("is earliest, latest, none or by_duration:P…, such as by_duration:PT6H, not {value:?}"),
        );
    }
    reset
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
