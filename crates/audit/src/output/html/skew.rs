//! The page of `copart skew`.

use super::Pictures;
use super::plot::{Bar, Bars, Plot};
use crate::output::document::{bytes, cut, decimal, share};
use crate::output::wording::{partitions, printable_bytes};
use crate::skew::{CountReport, Load, SkewReport};
use crate::text::number;
use crate::weighed::Verdict;

/// Characters of a key's name at its bar.
const NAME: usize = 40;

/// Heavy keys that are drawn.
const HEAVY: usize = 12;

pub(in super::super) fn pictures(report: &SkewReport) -> Pictures {
    let counts = report
        .counts
        .iter()
        .filter(|count| count.verdict != Verdict::Inconclusive);
    let mut plots: Vec<_> = counts
        .flat_map(|count| {
            [
                Plot::Bars(loads(count, "Records", "records", |load| load.records)),
                Plot::Bars(loads(count, "Distinct keys", "keys", |load| load.keys)),
            ]
        })
        .collect();
    if report.heavy.keys.len() > 1 {
        plots.push(Plot::Bars(heavy(report)));
    }
    let mut tiles = vec![
        ("distinct keys", number(report.distinct.keys)),
        ("records", number(report.records.total)),
    ];
    if let Some(key) = report.heavy.keys.first() {
        tiles.push(("heaviest key", share(Some(key.share))));
    }
    if let [count] = report.counts.as_slice() {
        tiles.push(("busiest over mean", decimal(count.records.max_over_mean)));
        tiles.push(("parallel work of", decimal(count.parallelism)));
    }
    Pictures { tiles, plots }
}

fn loads(
    count: &CountReport,
    what: &str,
    unit: &'static str,
    amount: impl Fn(&Load) -> u64,
) -> Bars {
    Bars {
        title: format!("{what} on each of {}", partitions(count.partitions)),
        unit,
        each: "partition",
        parts: if unit == "records" {
            &[("move", "")]
        } else {
            &[("stay", "")]
        },
        bars: count
            .loads
            .iter()
            .map(|load| Bar {
                label: load.partition.to_string(),
                name: None,
                parts: vec![amount(load)],
            })
            .collect(),
        mean: true,
    }
}

fn heavy(report: &SkewReport) -> Bars {
    Bars {
        title: "Keys of most records".into(),
        unit: "records",
        each: "key",
        parts: &[("move", "")],
        bars: report
            .heavy
            .keys
            .iter()
            .take(HEAVY)
            .zip(1..)
            .map(|(key, rank)| Bar {
                label: rank.to_string(),
                name: Some(name(&key.key_hex)),
                parts: vec![key.records_at_least],
            })
            .collect(),
        mean: false,
    }
}

fn name(hex: &str) -> String {
    if hex.is_empty() {
        return "(empty)".into();
    }
    let text = printable_bytes(&bytes(hex)).unwrap_or_else(|| format!("0x{hex}"));
    cut(&text, NAME)
}
