//! Which rules placed a topic's records, in every form.
//!
//! JSON lines, in this order: `input` (with `schema`), `component`, `candidate`, `timeline`, `hint`,
//! `key`, `spread`, `framing`, `expected`, `warning`, `verdict`. CSV has the keys that are listed, a
//! row for each partition.

mod cases;
mod sections;

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Forms, facts, rows};
use crate::infer::{ComponentReport, InferReport, InferVerdict, TwinReason};
use crate::output::checks::{Checks, Input};
use crate::output::document::{Document, Mark, partly};
use crate::output::html::{self, Pictures};
use crate::output::wording::partitions;
use crate::text::number;

impl Forms for InferReport {
    fn document(&self, room: usize) -> Document {
        Document {
            headline: headline(self),
            mark: match self.exit_code() {
                0 => Mark::Good,
                1 => Mark::Bad,
                _ => Mark::Unknown,
            },
            lead: vec![about(self)],
            sections: sections::sections(self, room),
            warnings: self.warnings.clone(),
        }
    }

    fn checks(&self) -> Checks {
        Checks {
            command: "infer",
            headline: headline(self),
            inputs: vec![Input {
                name: self.input.name.clone(),
                path: self.input.path.clone(),
            }],
            partial: self.partial,
            exit_code: self.exit_code(),
            rules: cases::RULES.to_vec(),
            cases: cases::cases(self),
            warnings: self.warnings.clone(),
            properties: json!({
                "verdict": self.verdict,
                "partitions": self.partitions,
                "components": self.components.iter().map(|component| json!({
                    "profile": component.profile,
                    "keyBytes": component.key_bytes,
                    "partitions": component.partitions,
                    "share": component.share,
                })).collect::<Vec<_>>(),
            }),
        }
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        facts(lines(self), out)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv(self, out)
    }

    fn pictures(&self) -> Pictures {
        html::infer::pictures(self)
    }
}

pub(super) fn about(report: &InferReport) -> String {
    let input = &report.input;
    let of = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {} with {what}", number(count)),
    };
    let distinct = if input.all_keys {
        format!("{} distinct keys", number(input.distinct_keys))
    } else {
        format!(
            "about {} distinct keys, of which {} were kept",
            number(input.estimated_distinct_keys),
            number(input.distinct_keys)
        )
    };
    format!(
        "{}: {} records{}{}, {distinct}, {}",
        input.name,
        number(input.records),
        of(
            report.empty.records,
            if input.empty_may_be_null {
                "an empty key or none"
            } else {
                "an empty key"
            }
        ),
        of(report.null.records, "no key"),
        partitions(report.partitions.count),
    )
}

/// A component's rule under its name, with what is unusual about it.
pub(in crate::output) fn named(component: &ComponentReport) -> String {
    let mut name = component.profile.clone();
    if component.stale_count {
        name += &format!(" modulo {}", component.partitions);
    }
    if component.key_bytes != "as-is" {
        name += &format!(" of {}", component.key_bytes_text);
    }
    name
}

/// The answer in a sentence.
pub(super) fn headline(report: &InferReport) -> String {
    let word = report.verdict.name().replace('_', " ");
    format!("{word}: {}{}", said(report), partly(report.partial))
}

fn said(report: &InferReport) -> String {
    if let Some(expected) = &report.expected {
        return format!(
            "expected {}: {}; {}",
            expected.outcome.name().replace('_', " "),
            expected.why,
            found(report)
        );
    }
    found(report)
}

fn found(report: &InferReport) -> String {
    let keys = number(report.evidence.keys);
    let at = partitions(report.partitions.count);
    let needed = match report.evidence.keys_needed {
        Some(needed) => format!("it takes {}", number(needed)),
        None => "no number of keys is enough where all are on one partition".into(),
    };
    match (report.verdict, report.components.as_slice()) {
        (InferVerdict::OneProfile, [only]) => {
            let strays = match report.unexplained.places {
                0 => String::new(),
                n => format!(", but for {}", number(n)),
            };
            format!(
                "all {keys} keys are where {} puts them at {at}{strays}",
                named(only)
            )
        }
        (InferVerdict::Twins, [only]) => {
            let twins = only.twins.iter();
            let twins = twins.filter(|twin| twin.because == TwinReason::PartitionCount);
            let names: Vec<_> = twins.map(|twin| twin.profile.as_str()).collect();
            format!(
                "all {keys} keys are where {} puts them, and {} too: at {at} no key can tell them apart",
                named(only),
                names.join(" and ")
            )
        }
        (InferVerdict::StaleCount, [only]) => format!(
            "all keys are where {} puts them at {}, and the topic has {}",
            only.profile,
            partitions(only.partitions),
            report.partitions.count
        ),
        (InferVerdict::Mixed, components) => {
            let mut shares: Vec<_> = components
                .iter()
                .map(|component| format!("{:.1} % {}", 100.0 * component.share, named(component)))
                .collect();
            if report.unexplained.places > 0 {
                shares.push(format!(
                    "{:.1} % nothing known",
                    100.0 * report.unexplained.share
                ));
            }
            let turn = match &report.timeline {
                Some(timeline) if timeline.in_turn => ", one after the other",
                Some(_) => ", at the same time",
                None => "",
            };
            format!("keys are placed by {}{turn}", shares.join(" and "))
        }
        (InferVerdict::NotKeyed, _) => format!(
            "keys do not decide the partition ({})",
            report
                .spread
                .as_ref()
                .map_or("unknown", |spread| spread.kind.name())
        ),
        (InferVerdict::UnknownRule, _) => format!(
            "each key keeps to its partition, by a rule that no client of the catalogue has ({keys} keys at {at})"
        ),
        (InferVerdict::NoRuleFits, _) => format!(
            "no rule of the catalogue places these {keys} keys at {at}, and too few come twice to tell whether keys decide at all"
        ),
        (InferVerdict::TooFewKeys, _) => {
            format!("{keys} distinct keys are too few to tell at {at}: {needed}")
        }
        _ => "no record has a key with bytes".into(),
    }
}

/// Keys on several partitions, and where no rule puts them: a row for each place.
fn csv(report: &InferReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = rows(out);
    rows.write_record([
        "list",
        "key_hex",
        "partition",
        "records",
        "first_offset",
        "last_offset",
        "explained_by",
    ])?;
    let lists = [
        ("moved", &report.moved.examples),
        ("unexplained", &report.unexplained.examples),
    ];
    let expected = report
        .expected
        .as_ref()
        .map(|expected| ("unexpected", &expected.examples));
    let offset = |offset: Option<i64>| offset.map_or(String::new(), |offset| offset.to_string());
    for (list, keys) in lists.into_iter().chain(expected) {
        for places in keys {
            for place in &places.places {
                rows.write_record([
                    list,
                    &places.key_hex,
                    &place.partition.to_string(),
                    &place.records.to_string(),
                    &offset(place.first.offset),
                    &offset(place.last.offset),
                    &place.explained_by.join(" "),
                ])?;
            }
        }
    }
    rows.flush()
}

fn lines(report: &InferReport) -> Vec<Value> {
    let mut facts = vec![json!({
        "type": "input",
        "schema": InferReport::SCHEMA,
        "input": report.input,
        "partitions": report.partitions,
    })];
    let fact = |kind: &str, name: &str, value: Value| {
        let mut fact = json!({ "type": kind });
        fact[name] = value;
        fact
    };
    let value = |part: Result<Value, serde_json::Error>| part.unwrap_or(Value::Null);
    facts.extend(
        report
            .components
            .iter()
            .map(|c| fact("component", "component", value(serde_json::to_value(c)))),
    );
    facts.extend(
        report
            .ranking
            .iter()
            .map(|c| fact("candidate", "candidate", value(serde_json::to_value(c)))),
    );
    facts.extend(
        report
            .timeline
            .iter()
            .map(|t| fact("timeline", "timeline", value(serde_json::to_value(t)))),
    );
    facts.extend(
        report
            .hints
            .iter()
            .map(|h| fact("hint", "hint", value(serde_json::to_value(h)))),
    );
    for (list, keys) in [
        ("moved", &report.moved.examples),
        ("unexplained", &report.unexplained.examples),
    ] {
        facts.extend(
            keys.iter()
                .map(|key| json!({ "type": "key", "list": list, "key": key })),
        );
    }
    facts.extend(
        report
            .spread
            .iter()
            .map(|s| fact("spread", "spread", value(serde_json::to_value(s)))),
    );
    facts.extend(
        report
            .framing
            .iter()
            .map(|f| fact("framing", "framing", value(serde_json::to_value(f)))),
    );
    facts.extend(
        report
            .expected
            .iter()
            .map(|e| fact("expected", "expected", value(serde_json::to_value(e)))),
    );
    facts.extend(
        report
            .warnings
            .iter()
            .map(|warning| json!({ "type": "warning", "message": warning })),
    );
    facts.push(json!({ "type": "verdict", "verdict": report.verdict, "partial": report.partial, "exit_code": report.exit_code() }));
    facts
}
