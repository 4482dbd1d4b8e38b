//! The pictures of `copart infer`.

use super::Pictures;
use super::plot::{Bar, Bars, Heat, Plot};
use crate::infer::InferReport;
use crate::output::document::share;
use crate::output::reports::named;
use crate::text::number;

/// Hypotheses that are drawn.
const HYPOTHESES: usize = 12;

pub(in super::super) fn pictures(report: &InferReport) -> Pictures {
    let mut plots = Vec::new();
    if report.components.len() > 1 || report.unexplained.places > 0 {
        plots.push(Plot::Bars(components(report)));
    }
    plots.extend(writers(report).map(Plot::Heat));
    if !report.ranking.is_empty() {
        plots.push(Plot::Bars(hypotheses(report)));
    }
    let mut tiles = vec![
        ("records", number(report.input.records)),
        ("distinct keys", number(report.input.distinct_keys)),
        ("partitions", number(report.partitions.count.into())),
    ];
    if let [only] = report.components.as_slice() {
        tiles.push(("placed by", only.profile.clone()));
    }
    if report.moved.keys > 0 {
        tiles.push(("keys on several partitions", number(report.moved.keys)));
    }
    if report.unexplained.places > 0 {
        tiles.push((
            "explained by no rule",
            share(Some(report.unexplained.share)),
        ));
    }
    Pictures { tiles, plots }
}

/// What each rule explains that no other does.
fn components(report: &InferReport) -> Bars {
    let bar = |rank: usize, name: String, keys: u64| Bar {
        label: rank.to_string(),
        name: Some(name),
        parts: vec![keys],
    };
    let mut bars: Vec<_> = report
        .components
        .iter()
        .zip(1..)
        .map(|(component, rank)| bar(rank, named(component), component.places_alone))
        .collect();
    if report.unexplained.places > 0 {
        bars.push(bar(
            bars.len() + 1,
            "nothing known".into(),
            report.unexplained.places,
        ));
    }
    Bars {
        title: "What each rule alone explains".into(),
        unit: "keys on a partition",
        each: "rule",
        parts: &[("stay", "")],
        bars,
        mean: false,
    }
}

/// How many records each rule placed on each partition, of those that tell.
fn writers(report: &InferReport) -> Option<Heat> {
    let partitions = &report.timeline.as_ref()?.by_partition;
    let mut cells = Vec::new();
    for (row, partition) in partitions.iter().enumerate() {
        let segments = partition.order.segments.iter();
        cells.extend(segments.map(|segment| (row, segment.component, segment.records)));
    }
    (!cells.is_empty()).then(|| Heat {
        title: "Records of each rule on partitions that several write".into(),
        unit: "records",
        rows: partitions
            .iter()
            .map(|of| of.partition.to_string())
            .collect(),
        columns: (1..=report.components.len())
            .map(|rank| rank.to_string())
            .collect(),
        axes: ("partition", "rule"),
        cells,
        diagonal: false,
    })
}

/// The hypotheses that did best, with the keys that each was tested on.
fn hypotheses(report: &InferReport) -> Bars {
    let ranking = report.ranking.iter().take(HYPOTHESES).zip(1usize..);
    Bars {
        title: "The best hypotheses".into(),
        unit: "keys",
        each: "hypothesis",
        parts: &[("stay", "where it says"), ("move", "elsewhere")],
        bars: ranking
            .map(|(candidate, rank)| Bar {
                label: rank.to_string(),
                name: Some(format!(
                    "{} modulo {} ({})",
                    candidate.profile, candidate.partitions, candidate.key_bytes
                )),
                parts: vec![
                    candidate.matches,
                    candidate.keys.saturating_sub(candidate.matches),
                ],
            })
            .collect(),
        mean: false,
    }
}
