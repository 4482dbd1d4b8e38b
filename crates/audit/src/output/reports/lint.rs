//! What is wrong with keys, in every form.
//!
//! JSON lines, in this order: `input` (with `schema`), `kind`, then each `finding` with its `example`
//! lines, `warning`, `verdict`. CSV has the examples.

use std::io::{self, Write};

use data_encoding::HEXLOWER;
use serde_json::json;

use super::{Forms, facts, rows};
use crate::lint::{LintExample, LintFinding, LintReport, LintRule, LintSeverity, LintVerdict};
use crate::output::checks::{Case, Checks, INTERRUPTED, Input, Outcome, Rule};
use crate::output::document::{Cell, Document, Mark, Section, Table, partly};
use crate::output::html::{self, Pictures};
use crate::text::{key, number};

const KEY_WIDTH: usize = 40;
const HEX_WIDTH: usize = 40;

/// Examples that an annotation names.
const NAMED: usize = 3;

impl Forms for LintReport {
    fn document(&self, room: usize) -> Document {
        let input = &self.input;
        let mut read = format!("{}: {} keys", input.name, number(input.keys));
        if input.empty + input.null > 0 {
            read += &format!(
                ", {} of them empty, {} null",
                number(input.empty),
                number(input.null)
            );
        }
        Document {
            headline: headline(self),
            mark: match self.verdict {
                LintVerdict::Clean => Mark::Good,
                LintVerdict::Problems => Mark::Bad,
                LintVerdict::NoKeys => Mark::Unknown,
            },
            lead: vec![read],
            sections: sections(self, room),
            warnings: self.warnings.clone(),
        }
    }

    fn checks(&self) -> Checks {
        Checks {
            command: "lint",
            headline: headline(self),
            inputs: vec![Input {
                name: self.input.name.clone(),
                path: self.input.path.clone(),
            }],
            partial: self.partial,
            exit_code: self.exit_code(),
            rules: rules(),
            cases: cases(self),
            warnings: self.warnings.clone(),
            properties: json!({
                "verdict": self.verdict,
                "input": self.input,
                "keys": self.input.keys,
                "kinds": self.kinds,
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
        html::lint::pictures(self)
    }
}

const NO_KEYS: Rule = Rule {
    id: "no-keys",
    describe: "the input has no key with bytes",
    help: "Lint keys as they are in production.",
};

fn rules() -> Vec<Rule> {
    let rules = LintRule::ALL.iter().map(|rule| Rule {
        id: rule.id(),
        describe: rule.describe(),
        help: rule.help(),
    });
    rules.chain([NO_KEYS, INTERRUPTED]).collect()
}

fn cases(report: &LintReport) -> Vec<Case> {
    let mut cases: Vec<Case> = if report.verdict == LintVerdict::NoKeys {
        vec![Case {
            name: "keys".into(),
            rule: NO_KEYS.id,
            outcome: Outcome::Error,
            message: headline(report),
            input: 0,
            line: None,
            subject: String::new(),
        }]
    } else {
        LintRule::ALL
            .iter()
            .map(|rule| case(report, *rule))
            .collect()
    };
    cases.extend(Case::interrupted(report.partial, Some(report.input.keys)));
    cases
}

fn headline(report: &LintReport) -> String {
    let of = |severity| {
        let findings = report.findings.iter();
        findings
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let partial = partly(report.partial);
    let said = match report.verdict {
        LintVerdict::NoKeys => NO_KEYS.describe.to_owned(),
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
    };
    let word = report.verdict.name().replace('_', " ");
    format!("{word}: {said}{partial}")
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

fn sections(report: &LintReport, room: usize) -> Vec<Section> {
    let mut sections = Vec::new();
    if !report.kinds.is_empty() {
        let keys: u64 = report.kinds.iter().map(|kind| kind.keys).sum();
        let rows = report.kinds.iter().map(|kind| {
            [
                Cell::text(kind.kind.describe()),
                Cell::Number(kind.keys),
                Cell::of(kind.keys, keys),
            ]
        });
        let table = Table::new(["kind", "keys", "share"], rows, room);
        sections.push(Section::new("What the keys look like").table(table));
    }
    for finding in &report.findings {
        let title = format!(
            "{}: {} ({} keys) [{}]",
            word(finding.severity),
            finding.message,
            counted(finding),
            finding.rule.id()
        );
        let mut section = Section::new(title).say(finding.rule.help());
        if !finding.examples.is_empty() {
            section = section.table(examples(&finding.examples, room));
        }
        sections.push(section);
    }
    sections
}

fn examples(examples: &[LintExample], room: usize) -> Table {
    let own = |example: &LintExample| {
        [
            Cell::Number(example.record),
            Cell::key(&example.key_hex),
            Cell::Code(hex(example)),
        ]
    };
    if examples.iter().all(|example| example.other.is_none()) {
        return Table::new(["record", "key", "hex"], examples.iter().map(own), room);
    }
    let rows = examples.iter().map(|example| {
        let [record, key, hex] = own(example);
        let (other, at) = match &example.other {
            Some(other) => (Cell::key(&other.key_hex), Cell::Number(other.record)),
            None => (Cell::text(""), Cell::text("")),
        };
        [record, key, hex, other, at]
    });
    Table::new(["record", "key", "hex", "also as", "in record"], rows, room)
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

fn case(report: &LintReport, rule: LintRule) -> Case {
    let finding = report.findings.iter().find(|finding| finding.rule == rule);
    let first = finding
        .and_then(|finding| finding.examples.first())
        .filter(|_| report.input.records_are_lines);
    Case {
        name: rule.id().to_owned(),
        rule: rule.id(),
        outcome: match finding.map(|finding| finding.severity) {
            None => Outcome::Passed,
            Some(LintSeverity::Note) => Outcome::Noted,
            // Both decide the exit code, which an annotation must not belittle.
            Some(LintSeverity::Error | LintSeverity::Warning) => Outcome::Failed,
        },
        message: finding.map_or_else(String::new, |finding| message(report, finding)),
        input: 0,
        line: first.map(|example| example.record),
        subject: String::new(),
    }
}

fn csv(report: &LintReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = rows(out);
    rows.write_record([
        "rule",
        "severity",
        "record",
        "key_hex",
        "other_record",
        "other_key_hex",
    ])?;
    for finding in &report.findings {
        for example in &finding.examples {
            let other = example.other.as_ref();
            rows.write_record([
                finding.rule.id(),
                word(finding.severity),
                &example.record.to_string(),
                &example.key_hex,
                &other.map_or(String::new(), |other| other.record.to_string()),
                other.map_or("", |other| &other.key_hex),
            ])?;
        }
    }
    rows.flush()
}

fn lines(report: &LintReport) -> Vec<serde_json::Value> {
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
    facts.push(json!({ "type": "verdict", "verdict": report.verdict, "partial": report.partial, "exit_code": report.exit_code() }));
    facts
}
