//! Whether two topics may be joined, as an answer.

use data_encoding::HEXLOWER;
use serde_json::json;

use super::answer::{
    Answer, Case, Grid, Input, Outcome, Part, Problem, Rule, Section, Severity, Tone,
};
use super::infer::{about, headline as inferred};
use crate::copartition::{Check, CheckKind, CheckOutcome, CopartitionReport, CopartitionVerdict};
use crate::text::{key, number};

const KEY_WIDTH: usize = 36;

pub(super) fn answer(report: &CopartitionReport) -> Answer {
    let names = report
        .topics
        .each_ref()
        .map(|topic| topic.input.name.as_str());
    let decided = report.verdict != CopartitionVerdict::Copartitioned;
    let problems = report
        .checks
        .iter()
        .filter(|check| match check.outcome {
            CheckOutcome::Passed => false,
            CheckOutcome::Failed => true,
            CheckOutcome::Unknown => report.verdict == CopartitionVerdict::Inconclusive,
        })
        .map(|check| Problem {
            rule: rule_of(check),
            severity: if decided {
                Severity::Error
            } else {
                Severity::Note
            },
            message: format!("{}: {}", check.check.id(), check.message),
            input: 1,
            line: None,
            fingerprint: check.check.id().to_owned(),
        })
        .collect();
    Answer {
        command: "copartition",
        verdict: report.verdict.name(),
        tone: match report.verdict {
            CopartitionVerdict::Copartitioned => Tone::Good,
            CopartitionVerdict::NotCopartitioned => Tone::Bad,
            CopartitionVerdict::Inconclusive => Tone::Unsure,
        },
        headline: headline(report),
        about: report.topics.each_ref().map(about).join("\n"),
        exit_code: report.exit_code(),
        partial: report.partial,
        inputs: report
            .topics
            .iter()
            .map(|topic| Input {
                name: topic.input.name.clone(),
                path: topic.input.path.clone(),
            })
            .collect(),
        sections: sections(report, names),
        rules: rules(),
        problems,
        cases: report
            .checks
            .iter()
            .map(|check| case(report, check))
            .collect(),
        warnings: report.warnings.clone(),
        rows: rows(report),
        facts: facts(report),
        properties: json!({ "checks": report.checks }),
    }
}

fn headline(report: &CopartitionReport) -> String {
    let wanted = match report.verdict {
        CopartitionVerdict::Copartitioned => {
            return "a join by key finds the keys that both topics have".into();
        }
        CopartitionVerdict::NotCopartitioned => CheckOutcome::Failed,
        CopartitionVerdict::Inconclusive => CheckOutcome::Unknown,
    };
    let checks = report.checks.iter().filter(|check| check.outcome == wanted);
    checks
        .map(|check| check.message.as_str())
        .collect::<Vec<_>>()
        .join("; ")
}

fn sections(report: &CopartitionReport, names: [&str; 2]) -> Vec<Section> {
    let rows = report.checks.iter().map(|check| {
        vec![
            check.check.id().to_owned(),
            check.outcome.name().to_owned(),
            check.message.clone(),
        ]
    });
    let mut sections = vec![Section {
        title: "What must hold for a join".into(),
        parts: vec![Part::Grid(Grid {
            heads: vec!["check", "", ""],
            align: "lll",
            rows: rows.collect(),
        })],
    }];
    let effects: Vec<_> = report
        .consequences
        .iter()
        .map(|consequence| format!("{}: {}", consequence.system, consequence.effect))
        .collect();
    sections.push(Section {
        title: "What would happen".into(),
        parts: vec![Part::Text(effects.join("\n"))],
    });
    let topics: Vec<_> = report
        .topics
        .iter()
        .map(|topic| {
            format!(
                "{}: {}: {}",
                topic.input.name,
                topic.verdict.name().replace('_', " "),
                inferred(topic)
            )
        })
        .collect();
    sections.push(Section {
        title: "Who wrote them (copart infer says more)".into(),
        parts: vec![Part::Text(topics.join("\n"))],
    });
    let list = |partitions: &[u32]| {
        let partitions: Vec<_> = partitions.iter().map(u32::to_string).collect();
        partitions.join(", ")
    };
    let shown = |hex: &str| {
        let bytes = HEXLOWER.decode(hex.as_bytes()).unwrap_or_default();
        key(Some(&bytes), KEY_WIDTH)
    };
    if !report.shared.examples.is_empty() {
        let rows = report.shared.examples.iter().map(|example| {
            let [a, b] = &example.partitions;
            vec![shown(&example.key_hex), list(a), list(b)]
        });
        sections.push(Section {
            title: format!(
                "Shared keys on different partitions: {} of {}; partitions in {} and in {}",
                number(report.shared.apart),
                number(report.shared.keys),
                names[0],
                names[1]
            ),
            parts: vec![Part::Grid(Grid {
                heads: vec!["key", "first", "second"],
                align: "lrr",
                rows: rows.collect(),
            })],
        });
    }
    if !report.shared.spelling_examples.is_empty() {
        let rows = report.shared.spelling_examples.iter().map(|example| {
            let [a, b] = &example.key_hex;
            let [of_a, of_b] = &example.partitions;
            vec![shown(a), list(of_a), shown(b), list(of_b)]
        });
        sections.push(Section {
            title: format!(
                "The same keys in other bytes: {}; in {} and in {}",
                number(report.shared.in_other_bytes),
                names[0],
                names[1]
            ),
            parts: vec![Part::Grid(Grid {
                heads: vec!["first", "partition", "second", "partition"],
                align: "lrlr",
                rows: rows.collect(),
            })],
        });
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
    ]
}

fn case(report: &CopartitionReport, check: &Check) -> Case {
    let message = check.message.clone();
    Case {
        name: check.check.id().to_owned(),
        outcome: match check.outcome {
            CheckOutcome::Passed => Outcome::Passed,
            CheckOutcome::Failed => Outcome::Failed(check.check.id(), message),
            CheckOutcome::Unknown if report.verdict == CopartitionVerdict::Inconclusive => {
                Outcome::Error("inconclusive", message)
            }
            CheckOutcome::Unknown => Outcome::Skipped(message),
        },
    }
}

fn rows(report: &CopartitionReport) -> Grid {
    let list = |partitions: &[u32]| {
        let partitions: Vec<_> = partitions.iter().map(u32::to_string).collect();
        partitions.join(" ")
    };
    let apart = report.shared.examples.iter().map(|example| {
        let [a, b] = &example.partitions;
        vec![
            "apart".to_owned(),
            example.key_hex.clone(),
            example.key_hex.clone(),
            list(a),
            list(b),
        ]
    });
    let spelled = report.shared.spelling_examples.iter().map(|example| {
        let ([a, b], [of_a, of_b]) = (&example.key_hex, &example.partitions);
        vec![
            "other_bytes".to_owned(),
            a.clone(),
            b.clone(),
            list(of_a),
            list(of_b),
        ]
    });
    Grid {
        heads: vec![
            "list",
            "key_hex_a",
            "key_hex_b",
            "partitions_a",
            "partitions_b",
        ],
        align: "",
        rows: apart.chain(spelled).collect(),
    }
}

fn facts(report: &CopartitionReport) -> Vec<serde_json::Value> {
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
    facts.push(json!({ "type": "verdict", "verdict": report.verdict, "partial": report.partial }));
    facts
}
