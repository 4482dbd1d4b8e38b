//! The page of `copart movement`.

use super::Pictures;
use super::plot::{Bar, Bars, Flows, Heat, Plot, Ribbon};
use crate::movement::{Flow, MovementReport, Through};
use crate::output::document::share;
use crate::output::reports::movement::distinct;
use crate::text::number;
use crate::weighed::{Place, Verdict};

pub(in super::super) fn pictures(report: &MovementReport) -> Pictures {
    let plots = if report.verdict == Verdict::Inconclusive {
        Vec::new()
    } else {
        vec![
            Plot::Flows(flows(report)),
            Plot::Heat(heat(report)),
            Plot::Bars(bars("Each partition before", "leaves", &report.leaving)),
            Plot::Bars(bars("Each partition after", "arrives", &report.arriving)),
        ]
    };
    Pictures {
        tiles: vec![
            ("distinct keys", distinct(report)),
            ("records", number(report.records.total)),
            ("of the keys move", share(report.moved_keys.share)),
            (
                "expected",
                report
                    .expected
                    .share
                    .map_or("not known".into(), |s| share(Some(s))),
            ),
            ("of the records move", share(report.moved_records.share)),
        ],
        plots,
    }
}

/// The places of one side: its partitions, then, if anything is there, those that are none.
fn places(partitions: u32, flows: &[Flow], side: impl Fn(&Flow) -> Place) -> Vec<Place> {
    let others = [Place::Unpinned, Place::Rejected];
    let used = others
        .into_iter()
        .filter(|&place| flows.iter().any(|flow| side(flow) == place));
    (0..partitions).map(Place::Partition).chain(used).collect()
}

/// As short as what stands beside them.
fn names(places: &[Place]) -> Vec<String> {
    let name = |place: &Place| match place {
        Place::Partition(partition) => partition.to_string(),
        Place::Unpinned => "none".to_owned(),
        Place::Rejected => "refused".to_owned(),
    };
    places.iter().map(name).collect()
}

fn index(places: &[Place], place: Place) -> usize {
    match place.partition() {
        Some(partition) => partition as usize,
        None => places.iter().position(|&known| known == place).unwrap_or(0),
    }
}

fn flows(report: &MovementReport) -> Flows {
    let from = places(report.from.partitions, &report.flows, |flow| flow.from);
    let to = places(report.to.partitions, &report.flows, |flow| flow.to);
    Flows {
        title: format!(
            "From {}:{} to {}:{}",
            report.from.client.name,
            report.from.partitions,
            report.to.client.name,
            report.to.partitions
        ),
        unit: "records",
        ribbons: report
            .flows
            .iter()
            .map(|flow| Ribbon {
                from: index(&from, flow.from),
                to: index(&to, flow.to),
                amount: flow.records,
                moves: flow.from != flow.to,
            })
            .collect(),
        from: names(&from),
        to: names(&to),
    }
}

fn heat(report: &MovementReport) -> Heat {
    let from = places(report.from.partitions, &report.flows, |flow| flow.from);
    let to = places(report.to.partitions, &report.flows, |flow| flow.to);
    Heat {
        title: "Distinct keys from each partition to each".into(),
        unit: "keys",
        cells: report
            .flows
            .iter()
            .map(|flow| (index(&from, flow.from), index(&to, flow.to), flow.keys))
            .collect(),
        rows: names(&from),
        columns: names(&to),
        axes: ("from", "to"),
        diagonal: true,
    }
}

fn bars(title: &str, verb: &'static str, all: &[Through]) -> Bars {
    Bars {
        title: title.into(),
        unit: "keys",
        each: "partition",
        parts: if verb == "leaves" {
            &[("stay", "stays"), ("move", "leaves")]
        } else {
            &[("stay", "stayed"), ("move", "arrives")]
        },
        bars: all
            .iter()
            .map(|through| Bar {
                label: through.partition.to_string(),
                name: None,
                parts: vec![through.keys - through.moved_keys, through.moved_keys],
            })
            .collect(),
        mean: false,
    }
}
