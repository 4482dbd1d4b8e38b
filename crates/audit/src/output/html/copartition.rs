//! The pictures of `copart copartition`.

use super::Pictures;
use super::plot::{Bar, Bars, Plot};
use crate::copartition::CopartitionReport;
use crate::text::number;

pub(in super::super) fn pictures(report: &CopartitionReport) -> Pictures {
    let shared = &report.shared;
    let [a, b] = &report.topics;
    let bar = |rank: usize, name: &str, parts: Vec<u64>| Bar {
        label: rank.to_string(),
        name: Some(name.to_owned()),
        parts,
    };
    let plots = vec![
        Plot::Bars(Bars {
            title: "Keys of each topic".into(),
            unit: "distinct keys",
            each: "topic",
            parts: &[("stay", "in both"), ("other", "in this one only")],
            bars: [a, b]
                .into_iter()
                .zip(1usize..)
                .map(|(topic, rank)| {
                    let own = topic.input.distinct_keys.saturating_sub(shared.keys);
                    bar(rank, &topic.input.name, vec![shared.keys, own])
                })
                .collect(),
            mean: false,
        }),
        Plot::Bars(Bars {
            title: "Keys that both topics have".into(),
            unit: "keys",
            each: "group",
            parts: &[("stay", "on equal partitions"), ("move", "apart")],
            bars: vec![bar(
                1,
                "of shared keys",
                vec![shared.keys.saturating_sub(shared.apart), shared.apart],
            )],
            mean: false,
        }),
    ];
    Pictures {
        tiles: vec![
            ("partitions of the first", number(a.partitions.count.into())),
            (
                "partitions of the second",
                number(b.partitions.count.into()),
            ),
            ("shared keys", number(shared.keys)),
            ("of them apart", number(shared.apart)),
        ],
        plots,
    }
}
