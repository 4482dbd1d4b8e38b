//! The pictures of `copart check`.

use std::collections::BTreeMap;

use super::Pictures;
use super::plot::{Bar, Bars, Heat, Plot};
use crate::check::{CheckReport, ProducerReport};
use crate::text::number;

pub(in super::super) fn pictures(report: &CheckReport) -> Pictures {
    let mut plots = Vec::new();
    let producers: Vec<_> = report
        .topics
        .iter()
        .flat_map(|topic| &topic.producers)
        .collect();
    if !producers.is_empty() {
        plots.push(Plot::Bars(outcomes(&producers)));
    }
    for topic in &report.topics {
        for producer in topic.producers.iter().filter(|producer| producer.moved > 0) {
            plots.extend(moves(&topic.name, producer).map(Plot::Heat));
        }
    }
    let deciding = report
        .findings
        .iter()
        .filter(|finding| finding.decides)
        .count() as u64;
    let keys = report.topics.iter().map(|topic| topic.keys).sum();
    let moved = producers.iter().map(|producer| producer.moved).sum();
    Pictures {
        tiles: vec![
            ("topics", number(report.topics.len() as u64)),
            ("producers", number(producers.len() as u64)),
            ("sample keys", number(keys)),
            ("keys that move", number(moved)),
            ("problems", number(deciding)),
        ],
        plots,
    }
}

fn outcomes(producers: &[&ProducerReport]) -> Bars {
    Bars {
        title: "Sample keys under each producer".into(),
        unit: "keys",
        each: "producer",
        parts: &[
            ("stay", "where they belong"),
            ("move", "elsewhere"),
            ("other", "on no partition in particular"),
        ],
        bars: producers
            .iter()
            .zip(1usize..)
            .map(|(producer, rank)| Bar {
                label: rank.to_string(),
                name: Some(producer.name.clone()),
                parts: vec![producer.kept, producer.moved, producer.unpinned],
            })
            .collect(),
        mean: false,
    }
}

/// From where the listed keys belong to where they go.
fn moves(topic: &str, producer: &ProducerReport) -> Option<Heat> {
    let mut cells: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for key in &producer.moves {
        if let (Some(from), Some(to)) = (key.belongs, key.goes) {
            *cells.entry((from, to)).or_default() += 1;
        }
    }
    // Only partitions that have a key: a topic may have thousands.
    let mut partitions: Vec<u32> = cells.keys().flat_map(|(from, to)| [*from, *to]).collect();
    partitions.sort_unstable();
    partitions.dedup();
    if partitions.is_empty() {
        return None;
    }
    let index = |partition| partitions.binary_search(&partition).unwrap_or(0);
    let names: Vec<_> = partitions.iter().map(u32::to_string).collect();
    Some(Heat {
        title: format!("Sample keys of {topic} that {} moves", producer.name),
        unit: "keys",
        cells: cells
            .iter()
            .map(|((from, to), keys)| (index(*from), index(*to), *keys))
            .collect(),
        rows: names.clone(),
        columns: names,
        axes: ("belongs on", "goes to"),
        diagonal: false,
    })
}
