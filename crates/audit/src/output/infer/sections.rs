//! What people read of an inference: the rules, the runners-up, when each wrote, and keys.

use data_encoding::HEXLOWER;

use super::super::answer::{Grid, Part, Section};
use super::super::junit::timestamp;
use super::super::wording::partitions;
use super::named;
use crate::infer::{ComponentReport, InferReport, KeyPlaces, Point, Segment, TwinReason};
use crate::text::{key, number};
use crate::verify::percent;

const KEY_WIDTH: usize = 36;

/// Clients of a rule that are named.
const CLIENTS: usize = 8;

/// Partitions of a timeline that are shown to people.
const TIMELINES: usize = 12;

pub(super) fn sections(report: &InferReport) -> Vec<Section> {
    let mut sections = Vec::new();
    for component in &report.components {
        sections.push(component_section(component));
    }
    if let Some(spread) = &report.spread {
        sections.push(Section {
            title: "How records are spread".into(),
            parts: vec![Part::Text(format!(
                "{}: {}\n{} keys have several records; {} of them are on one partition",
                spread.kind.name(),
                spread.why,
                number(spread.repeated_keys),
                number(spread.on_one_partition)
            ))],
        });
    }
    sections.extend(ranking_section(report));
    sections.extend(timeline_section(report));
    sections.extend(hint_sections(report));
    if report.moved.keys > 0 {
        sections.push(key_section(
            format!(
                "Keys on more than one partition: {}",
                number(report.moved.keys)
            ),
            &report.moved.examples,
        ));
    }
    if report.unexplained.places > 0 && !report.unexplained.examples.is_empty() {
        sections.push(key_section(
            format!(
                "Keys where no rule puts them: {} ({:.1} %)",
                number(report.unexplained.places),
                100.0 * report.unexplained.share
            ),
            &report.unexplained.examples,
        ));
    }
    if let Some(expected) = report.expected.as_ref().filter(|e| !e.examples.is_empty()) {
        sections.push(key_section(
            format!(
                "Keys where {} does not put them: {}",
                expected.profile,
                number(expected.elsewhere)
            ),
            &expected.examples,
        ));
    }
    if let Some(framing) = &report.framing {
        let ids: Vec<_> = framing
            .schema_ids
            .iter()
            .map(|schema| format!("{} ({} keys)", schema.id, number(schema.keys)))
            .collect();
        sections.push(Section {
            title: "Keys with a schema id".into(),
            parts: vec![Part::Text(format!(
                "{} keys; schema ids {}\n{} payloads are there under several ids, {} of them on several partitions",
                number(framing.keys),
                ids.join(", "),
                number(framing.payloads_under_several_ids),
                number(framing.payloads_apart)
            ))],
        });
    }
    sections
}

fn component_section(component: &ComponentReport) -> Section {
    let tested = &component.tested;
    let mut lines = vec![
        component.rule.clone(),
        format!("hashed: {}", component.key_bytes_text),
        format!(
            "{} of {} keys tested match; by chance {} would: less likely than 1 in 10^{:.0}",
            number(tested.matches),
            number(tested.keys),
            percent((tested.by_chance * 1e6) as u64, 1_000_000),
            -tested.log10_chance
        ),
    ];
    let fitting: Vec<_> = component
        .clients
        .iter()
        .filter(|c| c.ruled_out.is_none())
        .collect();
    let names: Vec<_> = fitting
        .iter()
        .take(CLIENTS)
        .map(|client| client.id)
        .collect();
    if !names.is_empty() {
        let more = match fitting.len().saturating_sub(CLIENTS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!("clients that do this: {}{more}", names.join(", ")));
    }
    for client in component
        .clients
        .iter()
        .filter(|client| client.ruled_out.is_some())
    {
        lines.push(format!(
            "not {}: {}",
            client.id,
            client.ruled_out.as_deref().unwrap_or_default()
        ));
    }
    for twin in &component.twins {
        let tell: Vec<_> = twin
            .tell_at
            .iter()
            .filter(|tell| tell.share > 0.0)
            .map(|tell| format!("{:.0} % at {}", 100.0 * tell.share, tell.partitions))
            .collect();
        let because = match twin.because {
            TwinReason::PartitionCount => format!(
                "the same at {} for every key; at other counts these keys would tell: {}",
                partitions(component.partitions),
                if tell.is_empty() {
                    "none".to_owned()
                } else {
                    tell.join(", ")
                }
            ),
            TwinReason::Keys => {
                "the same for keys like these; others, such as keys that are not ASCII, would tell"
                    .into()
            }
            TwinReason::FewKeys => "the same for these few keys; more would tell".into(),
        };
        lines.push(format!("or {}: {because}", twin.profile));
    }
    Section {
        title: format!(
            "{} ({:.1} % of keys)",
            named(component),
            100.0 * component.share
        ),
        parts: vec![Part::Text(lines.join("\n"))],
    }
}

fn ranking_section(report: &InferReport) -> Option<Section> {
    if report.ranking.is_empty() || report.input.keyed == 0 {
        return None;
    }
    let rows = report.ranking.iter().take(5).map(|candidate| {
        vec![
            candidate.profile.clone(),
            candidate.key_bytes.to_owned(),
            candidate.partitions.to_string(),
            format!(
                "{} of {}",
                number(candidate.matches),
                number(candidate.keys)
            ),
            percent(candidate.matches, candidate.keys),
            percent((candidate.by_chance * 1e6) as u64, 1_000_000),
        ]
    });
    Some(Section {
        title: format!(
            "Best of {} hypotheses; one counts from 1 in 10^{:.1} on",
            number(report.evidence.tests / 4),
            -report.evidence.log10_threshold
        ),
        parts: vec![Part::Grid(Grid {
            heads: vec![
                "profile",
                "key bytes",
                "partitions",
                "keys that match",
                "share",
                "by chance",
            ],
            align: "llrrrr",
            rows: rows.collect(),
        })],
    })
}

fn timeline_section(report: &InferReport) -> Option<Section> {
    let timeline = report.timeline.as_ref()?;
    let name = |segment: &Segment| {
        report
            .components
            .get(segment.component)
            .map(named)
            .unwrap_or_default()
    };
    let mut parts = Vec::new();
    if let Some(order) = &timeline.by_time {
        if order.in_turn {
            let lines: Vec<_> = order
                .segments
                .iter()
                .map(|segment| {
                    format!(
                        "{} to {}: {}",
                        time(&segment.from),
                        time(&segment.to),
                        name(segment)
                    )
                })
                .collect();
            parts.push(Part::Text(lines.join("\n")));
        } else {
            parts.push(Part::Text("by time, they write at the same time".into()));
        }
    }
    let mut rows = Vec::new();
    for partition in timeline.by_partition.iter().take(TIMELINES) {
        if partition.order.segments.is_empty() {
            rows.push(vec![
                partition.partition.to_string(),
                "in no order".into(),
                String::new(),
                String::new(),
            ]);
        }
        for segment in &partition.order.segments {
            rows.push(vec![
                partition.partition.to_string(),
                name(segment),
                offset(&segment.from),
                offset(&segment.to),
            ]);
        }
    }
    if !rows.is_empty() {
        parts.push(Part::Grid(Grid {
            heads: vec!["partition", "written by", "from offset", "to offset"],
            align: "rlrr",
            rows,
        }));
    }
    Some(Section {
        title: "Who wrote when (first and last record that tells)".into(),
        parts,
    })
}

fn offset(point: &Point) -> String {
    match point.offset {
        Some(offset) => offset.to_string(),
        None => format!("record {}", number(point.record)),
    }
}

/// A point in time as RFC 3339, in UTC.
fn time(point: &Point) -> String {
    let Some(millis) = point.timestamp else {
        return format!("record {}", number(point.record));
    };
    let since = std::time::Duration::from_millis(millis.max(0) as u64);
    let text = timestamp(std::time::UNIX_EPOCH + since);
    format!("{text}.{:03}Z", millis.rem_euclid(1000))
}

fn hint_sections(report: &InferReport) -> Vec<Section> {
    let sections = report.hints.iter().map(|hint| {
        let lines: Vec<_> = hint
            .values
            .iter()
            .map(|value| {
                let records: Vec<_> = value
                    .records
                    .iter()
                    .zip(&report.components)
                    .filter(|(records, _)| **records > 0)
                    .map(|(records, component)| {
                        format!("{} {}", number(*records), named(component))
                    })
                    .collect();
                let shown = value
                    .value
                    .as_ref()
                    .map_or("(none)".into(), |v| key(Some(v.as_bytes()), KEY_WIDTH));
                format!("{shown}: {}", records.join(", "))
            })
            .collect();
        Section {
            title: format!(
                "`{}` tells who wrote a record (records by rule)",
                key(Some(hint.name.as_bytes()), KEY_WIDTH)
            ),
            parts: vec![Part::Text(lines.join("\n"))],
        }
    });
    sections.collect()
}

fn key_section(title: String, keys: &[KeyPlaces]) -> Section {
    let mut rows = Vec::new();
    for places in keys {
        let bytes = HEXLOWER
            .decode(places.key_hex.as_bytes())
            .unwrap_or_default();
        for (i, place) in places.places.iter().enumerate() {
            rows.push(vec![
                if i == 0 {
                    key(Some(&bytes), KEY_WIDTH)
                } else {
                    String::new()
                },
                place.partition.to_string(),
                number(place.records),
                format!("{} to {}", offset(&place.first), offset(&place.last)),
                if place.explained_by.is_empty() {
                    "-".into()
                } else {
                    place.explained_by.join(", ")
                },
            ]);
        }
    }
    Section {
        title,
        parts: vec![Part::Grid(Grid {
            heads: vec!["key", "partition", "records", "offsets", "as by"],
            align: "lrrll",
            rows,
        })],
    }
}
