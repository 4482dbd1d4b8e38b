//! How many partitions, in the forms that suit an answer without keys.

use std::io::{self, Write};

use super::rows;
use crate::output::document::{Cell, Document, Mark, Section, Table, share};
use crate::size::{Candidate, LimitReport, SizeReport, Verdict, Why};

pub(in super::super) fn document(report: &SizeReport, room: usize) -> Document {
    let headline = match report.minimum {
        Some(minimum) => format!(
            "{}: at least {minimum} partitions for {}",
            report.verdict.name(),
            report.peak
        ),
        None => format!(
            "{}: no number of partitions is enough for {}",
            report.verdict.name(),
            report.peak
        ),
    };
    let mut sections = vec![floors(report, room)];
    if !report.candidates.is_empty() {
        sections.push(candidates(report, room));
        sections.push(later(report, room));
    }
    sections.extend(limits(report, room));
    Document {
        headline,
        mark: match report.verdict {
            Verdict::Possible => Mark::Neutral,
            Verdict::Impossible => Mark::Bad,
        },
        lead: vec![format!(
            "{} now, {} times that later; {} of each partition's rates is kept free",
            report.throughput,
            report.growth,
            share(Some(report.headroom))
        )],
        sections,
        warnings: report.warnings.clone(),
    }
}

fn floors(report: &SizeReport, room: usize) -> Section {
    let rows = report.floors.iter().map(|floor| {
        [
            Cell::text(floor.reason.describe()),
            floor
                .partitions
                .map_or(Cell::text("-"), |n| Cell::Number(n.into())),
            Cell::text(&floor.how),
        ]
    });
    Section::new("What asks for partitions").table(Table::new(
        ["by", "partitions", "how"],
        rows,
        room,
    ))
}

fn candidates(report: &SizeReport, room: usize) -> Section {
    let optional = |number: Option<f64>| number.map_or(Cell::text("-"), Cell::Decimal);
    let maybe = |part: Option<f64>| part.map_or(Cell::text("-"), |part| Cell::Share(Some(part)));
    let rows = report.candidates.iter().map(|candidate| {
        [
            Cell::Number(candidate.partitions.into()),
            maybe(candidate.load),
            maybe(candidate.hot_load),
            Cell::Number(candidate.replicas),
            optional(candidate.replicas_per_broker),
            maybe(candidate.moves_from_current),
            Cell::Share(Some(candidate.moves_from_minimum)),
            Cell::text(reasons(candidate)),
        ]
    });
    let heads = [
        "partitions",
        "load",
        "hot key",
        "replicas",
        "a broker",
        "moves now",
        "from least",
        "why",
    ];
    Section::new("To choose from")
        .table(Table::new(heads, rows, room))
        .say("load: of an average partition at the peak; hot key: of the partition that has it")
        .say("moves now, from least: the share of keys that moves when the current count, or the least one, is changed to this one")
}

fn reasons(candidate: &Candidate) -> String {
    let reasons: Vec<_> = candidate.why.iter().copied().map(Why::describe).collect();
    reasons.join("; ")
}

/// What moves in later steps from each candidate.
fn later(report: &SizeReport, room: usize) -> Section {
    let rows: Vec<_> = report
        .candidates
        .iter()
        .flat_map(|candidate| {
            candidate.later.iter().map(|later| {
                [
                    Cell::Number(candidate.partitions.into()),
                    Cell::Number(later.partitions.into()),
                    Cell::Share(Some(later.share)),
                ]
            })
        })
        .collect();
    Section::new("What a later change moves (1 - gcd(n, m) / max(n, m) of the keys)").table(
        Table::new(["from", "to", "of the keys"], rows.into_iter(), room),
    )
}

fn limits(report: &SizeReport, room: usize) -> Option<Section> {
    if report.limits.is_empty() {
        return None;
    }
    let rows = report.limits.iter().map(|limit| {
        [
            Cell::text(limit.limit.platform),
            Cell::text(limit.limit.of.describe()),
            Cell::Number(limit.limit.at_most),
            Cell::text(if limit.limit.enforced {
                "limit"
            } else {
                "advice"
            }),
            limit.used.map_or(Cell::text("-"), Cell::Decimal),
            Cell::text(exceeded(limit)),
        ]
    });
    let heads = ["platform", "counts", "at most", "kind", "this topic", ""];
    let mut section = Section::new("What platforms allow").table(Table::new(heads, rows, room));
    let mut sources: Vec<_> = report
        .limits
        .iter()
        .map(|limit| limit.limit.source)
        .collect();
    sources.dedup();
    for source in sources {
        section = section.say(format!("source: {source}"));
    }
    Some(section.say("other topics count as well where all topics do; such limits change, and the source is the authority"))
}

const fn exceeded(limit: &LimitReport) -> &'static str {
    match limit.exceeded {
        Some(true) => "EXCEEDED",
        Some(false) => "within",
        None => "give --brokers",
    }
}

/// The candidates.
pub(in super::super) fn csv(report: &SizeReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = rows(out);
    rows.write_record([
        "partitions",
        "load",
        "hot_load",
        "replicas",
        "replicas_per_broker",
        "moves_from_current",
        "moves_from_minimum",
        "why",
    ])?;
    let optional = |number: Option<f64>| number.map_or(String::new(), |n| n.to_string());
    for candidate in &report.candidates {
        rows.write_record([
            candidate.partitions.to_string(),
            optional(candidate.load),
            optional(candidate.hot_load),
            candidate.replicas.to_string(),
            optional(candidate.replicas_per_broker),
            optional(candidate.moves_from_current),
            candidate.moves_from_minimum.to_string(),
            reasons(candidate),
        ])?;
    }
    rows.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::document::Part;
    use crate::size::{SizeOptions, size};

    #[test]
    fn what_cannot_be_had_is_said() {
        let report = size(&SizeOptions {
            throughput: "100MB".parse().unwrap(),
            growth: 1.0,
            headroom: 0.2,
            record_bytes: None,
            produce: None,
            consume: "10MB".parse().ok(),
            latency: None,
            consumers: None,
            hot_key: Some(0.5),
            replication: 3,
            brokers: None,
            current: None,
            limits: Vec::new(),
        })
        .unwrap();
        assert_eq!(report.verdict, Verdict::Impossible);
        let document = document(&report, 10);
        assert!(
            document
                .headline
                .starts_with("impossible: no number of partitions is enough")
        );
        assert_eq!(document.sections.len(), 1);
        let [Part::Table(floors)] = document.sections[0].parts.as_slice() else {
            panic!("one table");
        };
        let row = &floors.rows[0];
        assert_eq!(row[2].plain(), "100 MB/s / 8 MB/s");
    }
}
