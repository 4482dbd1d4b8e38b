//! What moves, in every form.
//!
//! JSON lines, in this order: `input` (with `schema`, [`SCHEMA`]), `from`, `to`, `moved` (keys,
//! records, what was expected, what each change does alone), `keyless`, `flow`, `leaving`,
//! `arriving`, `heavy`, `moved_key`, `warning`, `verdict`. An output without a `verdict` line is
//! cut off. CSV has the flows: `from,to,keys,records`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;

use super::{Forms, Lines, client, read, rows};
use crate::movement::{Alone, Expected, Flow, Moved, MovementReport, Through};
use crate::output::checks::{self, Case, Checks, Outcome, Rule};
use crate::output::document::{Cell, Document, Mark, Section, Table, heavy_table, partly, share};
use crate::output::html::{self, Pictures};
use crate::text::number;
use crate::verify::InputSummary;
use crate::weighed::{Distinct, Records, Verdict};

/// The form of the JSON lines.
const SCHEMA: &str = "copart.movement.lines/1";

impl Forms for MovementReport {
    fn document(&self, room: usize) -> Document {
        document(self, room)
    }

    fn checks(&self) -> Checks {
        checks(self)
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        lines(self, out)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv(self, out)
    }

    fn pictures(&self) -> Pictures {
        html::movement::pictures(self)
    }
}

/// Up to so many partitions on either side, the matrix is shown as one.
const MATRIX: u32 = 16;

fn headline(report: &MovementReport) -> String {
    let sides = format!("{} to {}", side(&report.from), side(&report.to));
    let partial = partly(report.partial);
    if report.verdict == Verdict::Inconclusive {
        return format!("inconclusive: no key is on a fixed partition from {sides}{partial}");
    }
    let limit = match (report.verdict, report.max_moved) {
        (Verdict::OverLimit, Some(limit)) => format!(", more than {limit} %"),
        _ => String::new(),
    };
    let of = |moved: &Moved, what: &str| {
        let all = moved.stay + moved.moved;
        format!(
            "{} of {} {what} ({})",
            number(moved.moved),
            number(all),
            share(moved.share)
        )
    };
    let keys = if report.distinct.exact {
        "distinct keys"
    } else {
        "distinct keys, estimated,"
    };
    format!(
        "{}: {} and {} move from {sides}{limit}{partial}",
        report.verdict.name(),
        of(&report.moved_keys, keys),
        of(&report.moved_records, "records"),
    )
}

fn side(side: &crate::movement::Side) -> String {
    format!("{}:{}", side.client.name, side.partitions)
}

fn document(report: &MovementReport, room: usize) -> Document {
    let mut sections = vec![overview(report)];
    if report.verdict != Verdict::Inconclusive {
        if report.from.partitions.max(report.to.partitions) <= MATRIX {
            sections.push(matrix(report));
        }
        sections.push(through(
            "Each partition before",
            "leaves",
            &report.leaving,
            room,
        ));
        sections.push(through(
            "Each partition after",
            "comes",
            &report.arriving,
            room,
        ));
    }
    sections.extend(heavy(report, room));
    sections.extend(examples(report, room));
    Document {
        headline: headline(report),
        mark: mark(report.verdict),
        lead: vec![
            read(&report.input, &report.records, &report.distinct),
            format!(
                "from {} at {}, to {} at {}",
                client(&report.from.client),
                report.from.partitions,
                client(&report.to.client),
                report.to.partitions
            ),
        ],
        sections,
        warnings: report.warnings.clone(),
    }
}

pub(super) const fn mark(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Measured => Mark::Neutral,
        Verdict::WithinLimit => Mark::Good,
        Verdict::OverLimit => Mark::Bad,
        Verdict::Inconclusive => Mark::Unknown,
    }
}

fn overview(report: &MovementReport) -> Section {
    let row = |what: &str, moved: &Moved| {
        [
            Cell::text(what),
            Cell::Number(moved.stay),
            Cell::Number(moved.moved),
            Cell::Share(moved.share),
            Cell::Number(moved.unpinned),
        ]
    };
    let rows = [
        row("distinct keys", &report.moved_keys),
        row("records", &report.moved_records),
    ];
    let heads = ["", "stay", "move", "share", "unpinned"];
    let mut section = Section::new("What moves").table(Table::new(heads, rows.into_iter(), 2));
    let expected = &report.expected;
    section = section.say(match expected.share {
        Some(expected_share) => format!(
            "expected of distinct keys: {} ({}, if hashes are uniform)",
            share(Some(expected_share)),
            expected.basis.formula()
        ),
        None => format!("expected: {}", expected.basis.formula()),
    });
    if let Some(alone) = &report.alone {
        let all = report.distinct.keys.max(1) as f64;
        section = section.say(format!(
            "the algorithm alone would move {} of the keys, the count alone {}",
            share(Some(alone.algorithm_keys as f64 / all)),
            share(Some(alone.count_keys as f64 / all)),
        ));
    }
    for keyless in &report.keyless {
        section = section.say(format!(
            "{} keys: {} records, from {} to {}",
            keyless.kind.name(),
            number(keyless.records),
            keyless.from,
            keyless.to
        ));
    }
    section.say("records that are in the topic stay where they are: of a key that moves, old records are on one partition and new ones on another")
}

/// From × to, in distinct keys.
fn matrix(report: &MovementReport) -> Section {
    let to = report.to.partitions;
    let heads = std::iter::once("from \\ to".to_owned()).chain((0..to).map(|n| n.to_string()));
    let mut cells = vec![vec![0; to as usize]; report.from.partitions as usize];
    for flow in &report.flows {
        if let (Some(from), Some(to)) = (flow.from.partition(), flow.to.partition()) {
            cells[from as usize][to as usize] = flow.keys;
        }
    }
    let rows = cells.into_iter().enumerate().map(|(from, row)| {
        let row = row.into_iter().map(|keys| match keys {
            0 => Cell::text("."),
            keys => Cell::Number(keys),
        });
        std::iter::once(Cell::Number(from as u64))
            .chain(row)
            .collect()
    });
    Section::new("Distinct keys from each partition (rows) to each (columns)").table(Table {
        heads: heads.collect(),
        rows: rows.collect(),
        left_out: 0,
    })
}

fn through(title: &str, verb: &str, all: &[Through], room: usize) -> Section {
    let of = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let rows = all.iter().map(|through| {
        [
            Cell::Number(through.partition.into()),
            Cell::Number(through.keys),
            Cell::Number(through.moved_keys),
            Cell::Share(of(through.moved_keys, through.keys)),
            Cell::Number(through.records),
            Cell::Number(through.moved_records),
            Cell::Share(of(through.moved_records, through.records)),
        ]
    });
    let heads = ["partition", "keys", verb, "share", "records", verb, "share"];
    Section::new(title).table(Table::new(heads, rows, room))
}

fn heavy(report: &MovementReport, room: usize) -> Option<Section> {
    if report.heavy.keys.is_empty() {
        return None;
    }
    let places = ["from", "to"].map(str::to_owned);
    Some(
        Section::new("Keys of most records")
            .table(heavy_table(&report.heavy.keys, &places, room))
            .say(format!(
                "no other key has more than {} records",
                number(report.heavy.others_at_most)
            )),
    )
}

fn examples(report: &MovementReport, room: usize) -> Option<Section> {
    let rows = report.examples.iter().map(|key| {
        [
            Cell::Number(key.record),
            Cell::Key(key.key_hex.clone(), key.truncated),
            Cell::hex(&key.key_hex),
            Cell::text(key.from),
            Cell::text(key.to),
        ]
    });
    let heads = ["row", "key", "hex", "from", "to"];
    (rows.len() > 0)
        .then(|| Section::new("First keys that move").table(Table::new(heads, rows, room)))
}

const RULES: &[Rule] = &[
    Rule {
        id: "keys-move",
        describe: "keys go to other partitions",
        help: "Records of a key that moves are on its old and on its new partition. Let consumers finish the old records first, or write to a new topic.",
    },
    checks::INCONCLUSIVE,
    checks::INTERRUPTED,
];

fn checks(report: &MovementReport) -> Checks {
    let headline = headline(report);
    let rule = match report.verdict {
        Verdict::Inconclusive => checks::INCONCLUSIVE.id,
        _ => "keys-move",
    };
    let moves = report.moved_keys.moved + report.moved_records.moved > 0;
    let outcome = match report.verdict {
        Verdict::Inconclusive => Outcome::Error,
        Verdict::OverLimit => Outcome::Failed,
        Verdict::Measured if moves => Outcome::Noted,
        Verdict::Measured | Verdict::WithinLimit => Outcome::Passed,
    };
    let example = report
        .examples
        .first()
        .filter(|_| report.input.records_are_lines);
    let sides = format!("{} to {}", side(&report.from), side(&report.to));
    let mut cases = vec![Case {
        name: format!("keys stay from {sides}"),
        rule,
        outcome,
        message: headline.clone(),
        input: 0,
        line: example
            .filter(|_| rule == "keys-move")
            .map(|key| key.record),
        subject: sides,
    }];
    cases.extend(Case::interrupted(report.partial, Some(report.input.keys)));
    Checks {
        command: "movement",
        headline,
        inputs: vec![(&report.input).into()],
        partial: report.partial,
        exit_code: report.exit_code(),
        rules: RULES.to_vec(),
        cases,
        warnings: report.warnings.clone(),
        properties: json!({
            "input": report.input,
            "verdict": report.verdict,
            "from": report.from,
            "to": report.to,
            "movedKeys": report.moved_keys,
            "movedRecords": report.moved_records,
            "expected": report.expected,
        }),
    }
}

#[derive(Serialize)]
struct Input<'r> {
    schema: &'static str,
    #[serde(flatten)]
    input: &'r InputSummary,
    records: &'r Records,
    distinct: &'r Distinct,
}

#[derive(Serialize)]
struct MovedLine<'r> {
    keys: &'r Moved,
    records: &'r Moved,
    expected: &'r Expected,
    alone: &'r Option<Alone>,
}

fn lines(report: &MovementReport, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines(out);
    lines.line(
        "input",
        &Input {
            schema: SCHEMA,
            input: &report.input,
            records: &report.records,
            distinct: &report.distinct,
        },
    )?;
    lines.line("from", &report.from)?;
    lines.line("to", &report.to)?;
    lines.line(
        "moved",
        &MovedLine {
            keys: &report.moved_keys,
            records: &report.moved_records,
            expected: &report.expected,
            alone: &report.alone,
        },
    )?;
    report
        .keyless
        .iter()
        .try_for_each(|keyless| lines.line("keyless", keyless))?;
    report
        .flows
        .iter()
        .try_for_each(|flow| lines.line("flow", flow))?;
    report
        .leaving
        .iter()
        .try_for_each(|through| lines.line("leaving", through))?;
    report
        .arriving
        .iter()
        .try_for_each(|through| lines.line("arriving", through))?;
    report
        .heavy
        .keys
        .iter()
        .try_for_each(|key| lines.line("heavy", key))?;
    report
        .examples
        .iter()
        .try_for_each(|key| lines.line("moved_key", key))?;
    lines.warnings(&report.warnings)?;
    lines.line(
        "verdict",
        &json!({
            "verdict": report.verdict,
            "partial": report.partial,
            "max_moved": report.max_moved,
            "unpinned_policy": report.unpinned_policy,
            "exit_code": report.exit_code(),
        }),
    )
}

fn csv(report: &MovementReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = rows(out);
    rows.write_record(["from", "to", "keys", "records"])?;
    for Flow {
        from,
        to,
        keys,
        records,
    } in &report.flows
    {
        rows.write_record([
            from.to_string(),
            to.to_string(),
            keys.to_string(),
            records.to_string(),
        ])?;
    }
    rows.flush()
}

/// The number of distinct keys, for the page.
pub(in super::super) fn distinct(report: &MovementReport) -> String {
    let about = if report.distinct.exact { "" } else { "about " };
    format!("{about}{}", number(report.distinct.keys))
}
