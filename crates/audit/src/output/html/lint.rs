//! The pictures of `copart lint`.

use super::Pictures;
use super::plot::{Bar, Bars, Plot};
use crate::lint::{LintReport, LintSeverity};
use crate::text::number;

pub(in super::super) fn pictures(report: &LintReport) -> Pictures {
    let mut plots = Vec::new();
    if !report.kinds.is_empty() {
        let bars = report.kinds.iter().zip(1usize..);
        let bars = bars.map(|(kind, rank)| bar(rank, kind.kind.describe(), kind.keys));
        plots.push(Plot::Bars(bars_of(
            "What the keys look like",
            "kind",
            "stay",
            bars,
        )));
    }
    if !report.findings.is_empty() {
        let bars = report.findings.iter().zip(1usize..);
        let bars = bars.map(|(finding, rank)| bar(rank, finding.rule.id(), finding.keys));
        plots.push(Plot::Bars(bars_of(
            "Keys that rules found",
            "rule",
            "move",
            bars,
        )));
    }
    let of = |severity| {
        let findings = report.findings.iter();
        number(
            findings
                .filter(|finding| finding.severity == severity)
                .count() as u64,
        )
    };
    Pictures {
        tiles: vec![
            ("keys", number(report.input.keys)),
            ("errors", of(LintSeverity::Error)),
            ("warnings", of(LintSeverity::Warning)),
            ("notes", of(LintSeverity::Note)),
        ],
        plots,
    }
}

fn bar(rank: usize, name: &str, keys: u64) -> Bar {
    Bar {
        label: rank.to_string(),
        name: Some(name.to_owned()),
        parts: vec![keys],
    }
}

fn bars_of(
    title: &str,
    each: &'static str,
    class: &'static str,
    bars: impl Iterator<Item = Bar>,
) -> Bars {
    Bars {
        title: title.into(),
        unit: "keys",
        each,
        parts: match class {
            "stay" => &[("stay", "")],
            _ => &[("move", "")],
        },
        bars: bars.collect(),
        mean: false,
    }
}
