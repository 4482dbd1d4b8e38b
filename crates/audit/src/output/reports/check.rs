//! Whether a contract is kept, in every form.
//!
//! JSON lines, in this order: `contract` (with `schema`), then each `topic` with its `producer`, `moved_key`,
//! `cluster` and `records` lines, `finding`, `warning`, `verdict`. CSV has the keys that move.

use std::io::{self, Write};

use serde_json::json;

use super::{Forms, facts, rows};
use crate::check::{CheckReport, CheckRule, CheckVerdict, Finding, ProducerReport, TopicReport};
use crate::output::checks::{Case, Checks, Input, Outcome, Rule};
use crate::output::document::{Cell, Document, Mark, Section, Table, partly};
use crate::output::html::{self, Pictures};
use crate::text::number;

impl Forms for CheckReport {
    fn document(&self, room: usize) -> Document {
        let mut sections = Vec::new();
        if !self.findings.is_empty() {
            sections.push(findings(self, room));
        }
        sections.extend(self.topics.iter().map(|topic| self::topic(topic, room)));
        for topic in &self.topics {
            let moving = topic
                .producers
                .iter()
                .filter(|producer| !producer.moves.is_empty());
            sections.extend(moving.map(|producer| moves(topic, producer, room)));
        }
        Document {
            headline: headline(self),
            mark: match self.verdict {
                CheckVerdict::Kept => Mark::Good,
                CheckVerdict::Broken | CheckVerdict::Invalid => Mark::Bad,
                _ => Mark::Unknown,
            },
            lead: vec![format!(
                "{}: {}, {}, {}",
                self.contract,
                counted(self.topics.len() as u64, "topic"),
                counted(producers(self).count() as u64, "producer"),
                counted(
                    self.topics.iter().map(|topic| topic.keys).sum(),
                    "sample key"
                ),
            )],
            sections,
            warnings: self.warnings.clone(),
        }
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
        html::check::pictures(self)
    }
}

fn producers(report: &CheckReport) -> impl Iterator<Item = &ProducerReport> {
    report.topics.iter().flat_map(|topic| &topic.producers)
}

fn counted(count: u64, what: &str) -> String {
    format!(
        "{} {what}{}",
        number(count),
        if count == 1 { "" } else { "s" }
    )
}

fn headline(report: &CheckReport) -> String {
    let deciding: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.decides)
        .collect();
    // What the verdict is about comes first.
    let about = deciding
        .iter()
        .find(|finding| finding.rule.verdict() == report.verdict)
        .or(deciding.first());
    let said = match about {
        None => "everything is as the contract says".to_owned(),
        Some(first) => {
            let more = match deciding.len() {
                1 => String::new(),
                all => format!(" (and {} more)", all - 1),
            };
            format!("{}{more}", first.message)
        }
    };
    format!(
        "{}: {said}{}",
        report.verdict.name(),
        partly(report.partial)
    )
}

/// `file:line`, as compilers write it.
fn place(finding: &Finding) -> String {
    match finding.line {
        Some(line) => format!("{}:{line}", finding.file),
        None => finding.file.clone(),
    }
}

fn findings(report: &CheckReport, room: usize) -> Section {
    let mut section = Section::new("What was found");
    for finding in report.findings.iter().take(room) {
        let word = if finding.decides { "" } else { "note: " };
        section = section.say(format!(
            "{}: {word}{} [{}]",
            place(finding),
            finding.message,
            finding.rule.id()
        ));
    }
    if report.findings.len() > room {
        section = section.say(format!("… and {} more", report.findings.len() - room));
    }
    let mut rules: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules.truncate(room);
    section.say_all(
        rules
            .iter()
            .map(|rule| format!("{}: {}", rule.id(), rule.help())),
    )
}

fn topic(topic: &TopicReport, room: usize) -> Section {
    let profile = match &topic.profile {
        Some(profile) => format!("placed as by {profile}"),
        None => "placed as the sample keys are".into(),
    };
    let mut section = Section::new(format!(
        "Topic {}: {} partitions, {profile}",
        topic.name,
        number(topic.partitions.into())
    ));
    if !topic.producers.is_empty() {
        let rows = topic.producers.iter().map(|producer| {
            let known = match producer.line {
                Some(line) => format!("{}:{line}", producer.file),
                None => producer.file.clone(),
            };
            [
                Cell::Code(producer.name.clone()),
                Cell::text(producer.release.as_deref().unwrap_or("-")),
                Cell::text(producer.profile.as_deref().unwrap_or("not known")),
                Cell::Number(producer.kept),
                Cell::Number(producer.moved),
                Cell::Number(producer.unpinned),
                Cell::text(producer.outcome.name()),
                Cell::Text(known),
            ]
        });
        let heads = [
            "producer",
            "release",
            "profile",
            "stay",
            "move",
            "unpinned",
            "",
            "known from",
        ];
        section = section.table(Table::new(heads, rows, room));
    }
    let notes = topic
        .producers
        .iter()
        .filter_map(|producer| producer.note.clone());
    section = section.say_all(notes);
    if let Some(cluster) = &topic.cluster {
        section = section.say(match cluster.partitions {
            Some(count) => format!(
                "in {}: {} partitions",
                cluster.bootstrap,
                number(count.into())
            ),
            None => format!("in {}: {}", cluster.bootstrap, cluster.outcome.name()),
        });
    }
    section.say_all(topic.records.iter().map(|records| {
        format!(
            "{}: {}, {}: {}",
            records.name,
            counted(records.records, "record"),
            counted(records.keys, "distinct key"),
            records.why
        )
    }))
}

fn partition(partition: Option<u32>) -> Cell {
    partition.map_or(Cell::text("-"), |partition| Cell::Number(partition.into()))
}

fn moves(topic: &TopicReport, producer: &ProducerReport, room: usize) -> Section {
    let rows = producer.moves.iter().map(|key| {
        let (shown, hex) = match &key.key_hex {
            Some(hex) => (Cell::key(hex), Cell::hex(hex)),
            None => (Cell::text("(null)"), Cell::text("")),
        };
        [
            shown,
            hex,
            partition(key.belongs),
            partition(key.goes),
            Cell::text(format_args!("{}:{}", key.file, key.line)),
        ]
    });
    let title = format!(
        "Sample keys of {} that {} puts elsewhere: {}",
        topic.name,
        producer.name,
        number(producer.moved)
    );
    let heads = ["key", "hex", "belongs", "goes", "in the contract"];
    Section::new(title).table(Table::new(heads, rows, room))
}

fn checks(report: &CheckReport) -> Checks {
    let mut inputs = vec![Input {
        name: report.contract.clone(),
        path: Some(report.contract.clone().into()),
    }];
    let mut cases: Vec<Case> = Vec::new();
    for finding in &report.findings {
        let input = Input {
            name: finding.file.clone(),
            path: Some(finding.path.clone()),
        };
        let index = inputs
            .iter()
            .position(|known| *known == input)
            .unwrap_or_else(|| {
                inputs.push(input);
                inputs.len() - 1
            });
        let subject =
            [&finding.topic, &finding.producer].map(|part| part.as_deref().unwrap_or_default());
        cases.push(Case {
            name: format!("{} {}", subject.join(" ").trim(), finding.rule.id())
                .trim()
                .to_owned(),
            rule: finding.rule.id(),
            outcome: match finding.rule.verdict() {
                _ if !finding.decides => Outcome::Noted,
                CheckVerdict::Broken | CheckVerdict::Invalid => Outcome::Failed,
                _ => Outcome::Error,
            },
            message: finding.message.clone(),
            input: index,
            line: finding.line,
            subject: subject.join("|"),
        });
    }
    // What is well is a test case too.
    for topic in &report.topics {
        let about = |producer: Option<&str>| {
            let findings = report.findings.iter();
            findings
                .filter(|finding| finding.decides && finding.topic.as_ref() == Some(&topic.name))
                .any(|finding| producer.is_none() || finding.producer.as_deref() == producer)
        };
        let mut passed = |name: String| {
            cases.push(Case {
                name,
                rule: CheckRule::InvalidContract.id(),
                outcome: Outcome::Passed,
                message: String::new(),
                input: 0,
                line: None,
                subject: String::new(),
            });
        };
        if !about(None) {
            passed(format!("{} is as the contract says", topic.name));
        }
        for producer in &topic.producers {
            if !about(Some(&producer.name)) {
                passed(format!(
                    "{} {} keeps keys where they belong",
                    topic.name, producer.name
                ));
            }
        }
    }
    Checks {
        command: "check",
        headline: headline(report),
        inputs,
        partial: report.partial,
        exit_code: report.exit_code(),
        rules: CheckRule::ALL
            .iter()
            .map(|rule| Rule {
                id: rule.id(),
                describe: rule.describe(),
                help: rule.help(),
            })
            .collect(),
        cases,
        warnings: report.warnings.clone(),
        properties: json!({ "verdict": report.verdict, "topics": report.topics.len() }),
    }
}

fn lines(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = vec![
        json!({ "type": "contract", "schema": CheckReport::SCHEMA, "contract": report.contract }),
    ];
    for topic in &report.topics {
        lines.push(json!({
            "type": "topic",
            "topic": topic.name,
            "partitions": topic.partitions,
            "profile": topic.profile,
            "keys": topic.keys,
            "expected": topic.expected,
        }));
        for producer in &topic.producers {
            let mut own = producer.clone();
            let moves = std::mem::take(&mut own.moves);
            lines.push(json!({ "type": "producer", "topic": topic.name, "producer": own }));
            lines.extend(moves.iter().map(|key| {
                json!({ "type": "moved_key", "topic": topic.name, "producer": producer.name, "key": key })
            }));
        }
        lines.extend(
            topic.cluster.iter().map(
                |cluster| json!({ "type": "cluster", "topic": topic.name, "cluster": cluster }),
            ),
        );
        lines.extend(
            topic.records.iter().map(
                |records| json!({ "type": "records", "topic": topic.name, "records": records }),
            ),
        );
    }
    lines.extend(
        report
            .findings
            .iter()
            .map(|finding| json!({ "type": "finding", "finding": finding })),
    );
    lines.extend(
        report
            .warnings
            .iter()
            .map(|warning| json!({ "type": "warning", "message": warning })),
    );
    lines.push(json!({
        "type": "verdict",
        "verdict": report.verdict,
        "partial": report.partial,
        "exit_code": report.exit_code(),
    }));
    facts(lines, out)
}

fn csv(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = rows(out);
    rows.write_record([
        "topic", "producer", "profile", "key_hex", "belongs", "goes", "file", "line",
    ])?;
    let partition = |partition: Option<u32>| partition.map_or(String::new(), |p| p.to_string());
    for topic in &report.topics {
        for producer in &topic.producers {
            for key in &producer.moves {
                rows.write_record([
                    &topic.name,
                    &producer.name,
                    producer.profile.as_deref().unwrap_or_default(),
                    key.key_hex.as_deref().unwrap_or_default(),
                    &partition(key.belongs),
                    &partition(key.goes),
                    &key.file,
                    &key.line.to_string(),
                ])?;
            }
        }
    }
    rows.flush()
}
