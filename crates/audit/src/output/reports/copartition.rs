//! Whether two topics may be joined, in every form.
//!
//! JSON lines, in this order: `topic` (with `schema`), `check`, `consequence`, `shared`, `warning`,
//! `verdict`. CSV has the shared keys that are apart.

use std::io::{self, Write};

use serde_json::json;

use super::infer::{about, headline as inferred};
use super::{Forms, facts, rows};
use crate::copartition::{Check, CheckKind, CheckOutcome, CopartitionReport, CopartitionVerdict};
use crate::output::checks::{Case, Checks, INTERRUPTED, Input, Outcome, Rule};
use crate::output::document::{Cell, Document, Mark, Section, Table, partly};
use crate::output::html::{self, Pictures};
use crate::text::number;

impl Forms for CopartitionReport {
    fn document(&self, room: usize) -> Document {
        Document {
            headline: headline(self),
            mark: match self.verdict {
                CopartitionVerdict::Copartitioned => Mark::Good,
                CopartitionVerdict::NotCopartitioned => Mark::Bad,
                CopartitionVerdict::Inconclusive => Mark::Unknown,
            },
            lead: self.topics.iter().map(about).collect(),
            sections: sections(self, room),
            warnings: self.warnings.clone(),
        }
    }

    fn checks(&self) -> Checks {
        let mut cases: Vec<_> = self.checks.iter().map(|check| case(self, check)).collect();
        cases.extend(Case::interrupted(self.partial, None));
        Checks {
            command: "copartition",
            headline: headline(self),
            inputs: self
                .topics
                .iter()
                .map(|topic| Input {
                    name: topic.input.name.clone(),
                    path: topic.input.path.clone(),
                })
                .collect(),
            partial: self.partial,
            exit_code: self.exit_code(),
            rules: rules(),
            cases,
            warnings: self.warnings.clone(),
            properties: json!({ "verdict": self.verdict, "checks": self.checks }),
        }
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        facts(lines(self), out)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv(self, out)
    }

    fn pictures(&self) -> Pictures {
        html::copartition::pictures(self)
    }
}

fn headline(report: &CopartitionReport) -> String {
    let checks = |wanted| {
        let checks = report.checks.iter().filter(|check| check.outcome == wanted);
        let messages: Vec<_> = checks.map(|check| check.message.as_str()).collect();
        messages.join("; ")
    };
    let said = match report.verdict {
        CopartitionVerdict::Copartitioned => {
            "a join by key finds the keys that both topics have".into()
        }
        CopartitionVerdict::NotCopartitioned => checks(CheckOutcome::Failed),
        CopartitionVerdict::Inconclusive => checks(CheckOutcome::Unknown),
    };
    let word = report.verdict.name().replace('_', " ");
    format!("{word}: {said}{}", partly(report.partial))
}

fn sections(report: &CopartitionReport, room: usize) -> Vec<Section> {
    let [first, second] = report
        .topics
        .each_ref()
        .map(|topic| topic.input.name.as_str());
    let rows = report.checks.iter().map(|check| {
        [
            Cell::text(check.check.id()),
            Cell::text(check.outcome.name()),
            Cell::text(&check.message),
        ]
    });
    let table = Table::new(["check", "outcome", "why"], rows, room);
    let effects = report.consequences.iter();
    let topics = report
        .topics
        .iter()
        .map(|topic| format!("{}: {}", topic.input.name, inferred(topic)));
    let mut sections = vec![
        Section::new("What must hold for a join").table(table),
        Section::new("What would happen")
            .say_all(effects.map(|effect| format!("{}: {}", effect.system, effect.effect))),
        Section::new("Who wrote them (copart infer says more)").say_all(topics),
    ];
    let list = |partitions: &[u32]| {
        let partitions: Vec<_> = partitions.iter().map(u32::to_string).collect();
        Cell::text(partitions.join(", "))
    };
    let shared = &report.shared;
    if !shared.examples.is_empty() {
        let rows = shared.examples.iter().map(|example| {
            let [a, b] = &example.partitions;
            [Cell::key(&example.key_hex), list(a), list(b)]
        });
        let title = format!(
            "Shared keys on different partitions: {} of {}; partitions in {first} and in {second}",
            number(shared.apart),
            number(shared.keys),
        );
        let table = Table::new(["key", "first", "second"], rows, room);
        sections.push(Section::new(title).table(table));
    }
    if !shared.spelling_examples.is_empty() {
        let rows = shared.spelling_examples.iter().map(|example| {
            let [a, b] = &example.key_hex;
            let [of_a, of_b] = &example.partitions;
            [Cell::key(a), list(of_a), Cell::key(b), list(of_b)]
        });
        let title = format!(
            "The same keys in other bytes: {}; in {first} and in {second}",
            number(shared.in_other_bytes),
        );
        let table = Table::new(["first", "partition", "second", "partition"], rows, room);
        sections.push(Section::new(title).table(table));
    }
    sections
}

fn rule_of(check: &Check) -> &'static str {
    match check.outcome {
        CheckOutcome::Unknown => "inconclusive",
        _ => check.check.id(),
    }
}

fn rules() -> Vec<Rule> {
    let rule = |id, describe, help| Rule { id, describe, help };
    vec![
        rule(
            CheckKind::PartitionCount.id(),
            "the topics have different partition counts",
            "Give both the same count, and rewrite the one that changes: adding partitions moves keys.",
        ),
        rule(
            CheckKind::Partitioner.id(),
            "the topics' keys are placed by different rules",
            "Configure the producers alike (`copart config --from X --to Y`) and rewrite one topic, or repartition it in the stream processor.",
        ),
        rule(
            CheckKind::KeyEncoding.id(),
            "the topics' keys are different bytes",
            "Use one serializer for the keys of both, and the same schema id if there is one.",
        ),
        rule(
            CheckKind::SharedKeys.id(),
            "keys that both topics have are on different partitions",
            "A join does not find them. `copart infer` on each topic says who placed them.",
        ),
        rule(
            "inconclusive",
            "it can't be told whether the topics may be joined",
            "Give more distinct keys, or keys that both topics have.",
        ),
        INTERRUPTED,
    ]
}

fn case(report: &CopartitionReport, check: &Check) -> Case {
    Case {
        name: check.check.id().to_owned(),
        rule: rule_of(check),
        outcome: match (check.outcome, report.verdict) {
            (CheckOutcome::Passed, _) => Outcome::Passed,
            (CheckOutcome::Failed, _) => Outcome::Failed,
            (CheckOutcome::Unknown, CopartitionVerdict::Inconclusive) => Outcome::Error,
            // The others decide.
            (CheckOutcome::Unknown, _) => Outcome::Noted,
        },
        message: format!("{}: {}", check.check.id(), check.message),
        input: 1,
        line: None,
        subject: check.check.id().to_owned(),
    }
}

fn csv(report: &CopartitionReport, out: &mut dyn Write) -> io::Result<()> {
    let list = |partitions: &[u32]| {
        let partitions: Vec<_> = partitions.iter().map(u32::to_string).collect();
        partitions.join(" ")
    };
    let mut rows = rows(out);
    rows.write_record([
        "list",
        "key_hex_a",
        "key_hex_b",
        "partitions_a",
        "partitions_b",
    ])?;
    for example in &report.shared.examples {
        let [a, b] = &example.partitions;
        rows.write_record([
            "apart",
            &example.key_hex,
            &example.key_hex,
            &list(a),
            &list(b),
        ])?;
    }
    for example in &report.shared.spelling_examples {
        let ([a, b], [of_a, of_b]) = (&example.key_hex, &example.partitions);
        rows.write_record(["other_bytes", a, b, &list(of_a), &list(of_b)])?;
    }
    rows.flush()
}

fn lines(report: &CopartitionReport) -> Vec<serde_json::Value> {
    let mut facts: Vec<_> = report
        .topics
        .iter()
        .map(|topic| {
            json!({
                "type": "topic",
                "schema": CopartitionReport::SCHEMA,
                "input": topic.input,
                "partitions": topic.partitions,
                "verdict": topic.verdict,
                "components": topic.components,
            })
        })
        .collect();
    facts.extend(report.checks.iter().map(|check| {
        json!({ "type": "check", "check": check.check, "outcome": check.outcome, "message": check.message })
    }));
    facts.extend(report.consequences.iter().map(|consequence| {
        json!({ "type": "consequence", "system": consequence.system, "effect": consequence.effect })
    }));
    facts.push(json!({ "type": "shared", "shared": report.shared }));
    facts.extend(
        report
            .warnings
            .iter()
            .map(|warning| json!({ "type": "warning", "message": warning })),
    );
    facts.push(json!({ "type": "verdict", "verdict": report.verdict, "partial": report.partial, "exit_code": report.exit_code() }));
    facts
}
