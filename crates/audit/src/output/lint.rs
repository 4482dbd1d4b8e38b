//! What is wrong with keys, as an answer.

use data_encoding::HEXLOWER;
use serde_json::json;

use super::answer::{
    Answer, Case, Grid, Input, Outcome, Part, Problem, Rule, Section, Severity, Tone,
};
use crate::lint::{LintExample, LintFinding, LintReport, LintRule, LintSeverity, LintVerdict};
use crate::text::{key, number};
use crate::verify::percent;

const KEY_WIDTH: usize = 40;
const HEX_WIDTH: usize = 40;

/// Examples that an annotation names.
const NAMED: usize = 3;

pub(super) fn answer(report: &LintReport) -> Answer {
    let input = &report.input;
    let mut about = format!("{}: {} keys", input.name, number(input.keys));
    if input.empty + input.null > 0 {
        about += &format!(
            ", {} of them empty, {} null",
            number(input.empty),
            number(input.null)
        );
    }
    let mut rules: Vec<Rule> = LintRule::ALL
        .iter()
        .map(|rule| Rule {
            id: rule.id(),
            describe: rule.describe(),
            help: rule.help(),
        })
        .collect();
    rules.push(Rule {
        id: "no-keys",
        describe: "the input has no key with bytes",
        help: "Lint keys as they are in production.",
    });
    let mut problems: Vec<Problem> = report
        .findings
        .iter()
        .map(|finding| problem(report, finding))
        .collect();
    let mut cases: Vec<Case> = LintRule::ALL
        .iter()
        .map(|rule| case(report, *rule))
        .collect();
    if report.verdict == LintVerdict::NoKeys {
        let message = headline(report);
        problems.push(Problem {
            rule: "no-keys",
            severity: Severity::Error,
            message: message.clone(),
            input: 0,
            line: None,
            fingerprint: String::new(),
        });
        cases = vec![Case {
            name: "keys".into(),
            outcome: Outcome::Error("no-keys", message),
        }];
    }
    Answer {
        command: "lint",
        verdict: report.verdict.name(),
        tone: match report.verdict {
            LintVerdict::Clean => Tone::Good,
            LintVerdict::Problems => Tone::Bad,
            LintVerdict::NoKeys => Tone::Unsure,
        },
        headline: headline(report),
        about,
        exit_code: report.exit_code(),
        partial: report.partial,
        inputs: vec![Input {
            name: input.name.clone(),
            path: input.path.clone(),
        }],
        sections: sections(report),
        rules,
        problems,
        cases,
        warnings: report.warnings.clone(),
        rows: rows(report),
        facts: facts(report),
        properties: json!({ "keys": input.keys, "kinds": report.kinds }),
    }
}

fn headline(report: &LintReport) -> String {
    let of = |severity| {
        let findings = report.findings.iter();
        findings
            .filter(|finding| finding.severity == severity)
            .count()
    };
    match report.verdict {
        LintVerdict::NoKeys => "the input has no key with bytes".into(),
        _ => {
            let counted = |count: usize, what: &str| {
                format!("{count} {what}{}", if count == 1 { "" } else { "s" })
            };
            format!(
                "{}, {}, {} in {} keys",
                counted(of(LintSeverity::Error), "error"),
                counted(of(LintSeverity::Warning), "warning"),
                counted(of(LintSeverity::Note), "note"),
                number(report.input.keys)
            )
        }
    }
}

const fn word(severity: LintSeverity) -> &'static str {
    match severity {
        LintSeverity::Error => "error",
        LintSeverity::Warning => "warning",
        LintSeverity::Note => "note",
    }
}

fn bytes(example: &LintExample) -> Vec<u8> {
    HEXLOWER
        .decode(example.key_hex.as_bytes())
        .unwrap_or_default()
}

fn shown(example: &LintExample) -> String {
    key(Some(&bytes(example)), KEY_WIDTH)
}

fn hex(example: &LintExample) -> String {
    match example.key_hex.get(..HEX_WIDTH - 1) {
        Some(start) if example.key_hex.len() > HEX_WIDTH => format!("{start}…"),
        _ => example.key_hex.clone(),
    }
}

fn counted(finding: &LintFinding) -> String {
    let sampled = if finding.sampled < 1.0 {
        " in the sample"
    } else {
        ""
    };
    format!("{}{sampled}", number(finding.keys))
}

fn sections(report: &LintReport) -> Vec<Section> {
    let mut sections = Vec::new();
    if !report.kinds.is_empty() {
        let keys: u64 = report.kinds.iter().map(|kind| kind.keys).sum();
        let rows = report.kinds.iter().map(|kind| {
            vec![
                kind.kind.describe().to_owned(),
                number(kind.keys),
                percent(kind.keys, keys),
            ]
        });
        sections.push(Section {
            title: "What the keys look like".into(),
            parts: vec![Part::Grid(Grid {
                heads: vec!["kind", "keys", "share"],
                align: "lrr",
                rows: rows.collect(),
            })],
        });
    }
    for finding in &report.findings {
        let rows = finding.examples.iter().map(|example| {
            let mut row = vec![number(example.record), shown(example), hex(example)];
            if let Some(other) = &example.other {
                row.push(format!(
                    "{} (record {})",
                    shown(other),
                    number(other.record)
                ));
            }
            row
        });
        let other = finding
            .examples
            .iter()
            .any(|example| example.other.is_some());
        let mut heads = vec!["record", "key", "hex"];
        if other {
            heads.push("also as");
        }
        let mut parts = vec![Part::Text(finding.rule.help().into())];
        if !finding.examples.is_empty() {
            parts.push(Part::Grid(Grid {
                heads,
                align: "rlll",
                rows: rows.collect(),
            }));
        }
        sections.push(Section {
            title: format!(
                "{}: {} ({} keys) [{}]",
                word(finding.severity),
                finding.message,
                counted(finding),
                finding.rule.id()
            ),
            parts,
        });
    }
    sections
}

fn message(report: &LintReport, finding: &LintFinding) -> String {
    let examples: Vec<_> = finding
        .examples
        .iter()
        .take(NAMED)
        .map(|example| {
            format!(
                "record {}: {} (hex {})",
                example.record,
                shown(example),
                hex(example)
            )
        })
        .collect();
    let first = if examples.is_empty() {
        String::new()
    } else {
        format!("\n{}", examples.join("\n"))
    };
    format!(
        "{}: {} of {} keys. {}{first}",
        finding.message,
        counted(finding),
        number(report.input.keys),
        finding.rule.help()
    )
}

fn problem(report: &LintReport, finding: &LintFinding) -> Problem {
    let first = finding
        .examples
        .first()
        .filter(|_| report.input.records_are_lines);
    Problem {
        rule: finding.rule.id(),
        severity: match finding.severity {
            // Both decide the exit code, which an annotation must not belittle.
            LintSeverity::Error | LintSeverity::Warning => Severity::Error,
            LintSeverity::Note => Severity::Note,
        },
        message: message(report, finding),
        input: 0,
        line: first.map(|example| example.record),
        fingerprint: String::new(),
    }
}

fn case(report: &LintReport, rule: LintRule) -> Case {
    let finding = report.findings.iter().find(|finding| finding.rule == rule);
    Case {
        name: rule.id().to_owned(),
        outcome: match finding {
            None => Outcome::Passed,
            Some(finding) if finding.severity == LintSeverity::Note => {
                Outcome::Skipped(message(report, finding))
            }
            Some(finding) => Outcome::Failed(rule.id(), message(report, finding)),
        },
    }
}

fn rows(report: &LintReport) -> Grid {
    let mut rows = Vec::new();
    for finding in &report.findings {
        for example in &finding.examples {
            let other = example.other.as_ref();
            rows.push(vec![
                finding.rule.id().to_owned(),
                word(finding.severity).to_owned(),
                example.record.to_string(),
                example.key_hex.clone(),
                other.map_or(String::new(), |other| other.record.to_string()),
                other.map_or(String::new(), |other| other.key_hex.clone()),
            ]);
        }
    }
    Grid {
        heads: vec![
            "rule",
            "severity",
            "record",
            "key_hex",
            "other_record",
            "other_key_hex",
        ],
        align: "",
        rows,
    }
}

fn facts(report: &LintReport) -> Vec<serde_json::Value> {
    let mut facts =
        vec![json!({ "type": "input", "schema": LintReport::SCHEMA, "input": report.input })];
    facts.extend(
        report
            .kinds
            .iter()
            .map(|kind| json!({ "type": "kind", "kind": kind.kind, "keys": kind.keys })),
    );
    for finding in &report.findings {
        facts.push(json!({
            "type": "finding",
            "rule": finding.rule,
            "severity": finding.severity,
            "message": finding.message,
            "keys": finding.keys,
            "sampled": finding.sampled,
        }));
        facts.extend(
            finding.examples.iter().map(
                |example| json!({ "type": "example", "rule": finding.rule, "example": example }),
            ),
        );
    }
    facts.extend(
        report
            .warnings
            .iter()
            .map(|warning| json!({ "type": "warning", "message": warning })),
    );
    facts.push(json!({ "type": "verdict", "verdict": report.verdict, "partial": report.partial }));
    facts
}
