//! What people read of an inference: the rules, the runners-up, when each wrote, and keys.

use super::named;
use crate::infer::{ComponentReport, InferReport, KeyPlaces, Point, Segment, TwinReason};
use crate::output::document::{Cell, Section, Table};
use crate::output::junit::timestamp;
use crate::output::wording::partitions;
use crate::text::{key, number};
use crate::verify::percent;

const KEY_WIDTH: usize = 36;

/// Clients of a rule that are named.
const CLIENTS: usize = 8;

/// Partitions of a timeline that are shown to people.
const TIMELINES: usize = 12;

pub(super) fn sections(report: &InferReport, room: usize) -> Vec<Section> {
    let mut sections = Vec::new();
    for component in &report.components {
        sections.push(component_section(component));
    }
    if let Some(spread) = &report.spread {
        let section = Section::new("How records are spread")
            .say(format!("{}: {}", spread.kind.name(), spread.why))
            .say(format!(
                "{} keys have several records; {} of them are on one partition",
                number(spread.repeated_keys),
                number(spread.on_one_partition)
            ));
        sections.push(section);
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
            room,
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
            room,
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
            room,
        ));
    }
    if let Some(framing) = &report.framing {
        let ids: Vec<_> = framing
            .schema_ids
            .iter()
            .map(|schema| format!("{} ({} keys)", schema.id, number(schema.keys)))
            .collect();
        let section = Section::new("Keys with a schema id")
            .say(format!(
                "{} keys; schema ids {}",
                number(framing.keys),
                ids.join(", ")
            ))
            .say(format!(
                "{} payloads are there under several ids, {} of them on several partitions",
                number(framing.payloads_under_several_ids),
                number(framing.payloads_apart)
            ));
        sections.push(section);
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
    let title = format!(
        "{} ({:.1} % of keys)",
        named(component),
        100.0 * component.share
    );
    Section::new(title).say_all(lines)
}

fn ranking_section(report: &InferReport) -> Option<Section> {
    if report.ranking.is_empty() || report.input.keyed == 0 {
        return None;
    }
    let rows = report.ranking.iter().take(5).map(|candidate| {
        [
            Cell::text(&candidate.profile),
            Cell::text(candidate.key_bytes),
            Cell::Number(candidate.partitions.into()),
            Cell::Number(candidate.matches),
            Cell::Number(candidate.keys),
            Cell::of(candidate.matches, candidate.keys),
            Cell::Share(Some(candidate.by_chance)),
        ]
    });
    let title = format!(
        "Best of {} hypotheses; one counts from 1 in 10^{:.1} on",
        number(report.evidence.tests / 4),
        -report.evidence.log10_threshold
    );
    let heads = [
        "profile",
        "key bytes",
        "partitions",
        "keys that match",
        "of",
        "share",
        "by chance",
    ];
    Some(Section::new(title).table(Table::of(heads, rows.collect(), 5)))
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
    let mut section = Section::new("Who wrote when (first and last record that tells)");
    if let Some(order) = &timeline.by_time {
        if order.in_turn {
            section = section.say_all(order.segments.iter().map(|segment| {
                format!(
                    "{} to {}: {}",
                    time(&segment.from),
                    time(&segment.to),
                    name(segment)
                )
            }));
        } else {
            section = section.say("by time, they write at the same time");
        }
    }
    let mut rows = Vec::new();
    for partition in timeline.by_partition.iter().take(TIMELINES) {
        let number = Cell::Number(partition.partition.into());
        if partition.order.segments.is_empty() {
            rows.push([
                number.clone(),
                Cell::text("in no order"),
                Cell::text(""),
                Cell::text(""),
            ]);
        }
        for segment in &partition.order.segments {
            rows.push([
                number.clone(),
                Cell::text(name(segment)),
                offset(&segment.from),
                offset(&segment.to),
            ]);
        }
    }
    if !rows.is_empty() {
        let heads = ["partition", "written by", "from offset", "to offset"];
        let all = rows.len();
        section = section.table(Table::of(heads, rows, all));
    }
    Some(section)
}

fn offset(point: &Point) -> Cell {
    match point.offset.and_then(|offset| u64::try_from(offset).ok()) {
        Some(offset) => Cell::Number(offset),
        None => Cell::text(format!("record {}", number(point.record))),
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
        let title = format!(
            "`{}` tells who wrote a record (records by rule)",
            key(Some(hint.name.as_bytes()), KEY_WIDTH)
        );
        Section::new(title).say_all(lines)
    });
    sections.collect()
}

fn key_section(title: String, keys: &[KeyPlaces], room: usize) -> Section {
    let mut rows = Vec::new();
    for places in keys {
        for place in &places.places {
            rows.push([
                Cell::Key(places.key_hex.clone(), places.truncated),
                Cell::Number(place.partition.into()),
                Cell::Number(place.records),
                offset(&place.first),
                offset(&place.last),
                Cell::text(if place.explained_by.is_empty() {
                    "-".into()
                } else {
                    place.explained_by.join(", ")
                }),
            ]);
        }
    }
    let heads = ["key", "partition", "records", "first", "last", "as by"];
    Section::new(title).table(Table::of(heads, rows, room))
}
