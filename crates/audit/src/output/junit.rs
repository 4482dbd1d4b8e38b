//! JUnit XML, as CI systems read it: a test suite for each partition count, and in it a test case
//! for each client against the reference, one for empty and one for null keys.
//!
//! A difference is a failure. Keys that no client pins make a case skipped. No answer is an
//! error: an input without a telling key, or one that was not read to its end. The form is the
//! one that Ant began and Jenkins' schemas describe. It asks for times: nothing is measured for
//! a single case, so they are 0, and the time stamp is when the report was written.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::wording::{
    FixText, Kind, count_sentence, differs, headline, kinds, mismatch_line, pair_with_reference,
    partitions, placed,
};
use crate::text::number;
use crate::verify::{
    CountReport, Finding, Fix, Reason, UnpinnedPolicy, Verdict, VerifyReport, percent,
};

/// Differing keys that a failure lists.
const SHOWN: usize = 5;

pub(crate) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    write_at(report, SystemTime::now(), out)
}

fn write_at(report: &VerifyReport, now: SystemTime, out: &mut dyn Write) -> io::Result<()> {
    let timestamp = timestamp(now);
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("testsuites")
        .write_inner_content(|xml| {
            for (id, count) in report.counts.iter().enumerate() {
                Suite { report, count }.write(id, &timestamp, xml)?;
            }
            Ok(())
        })?;
    writeln!(xml.into_inner())
}

pub(super) type Xml<'o> = Writer<&'o mut dyn Write>;

/// One partition count.
struct Suite<'r> {
    report: &'r VerifyReport,
    count: &'r CountReport,
}

struct Case {
    name: String,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    Skipped(String),
    Failed(Trouble),
    Error(Trouble),
}

/// What a failure or an error says.
struct Trouble {
    kind: &'static str,
    message: String,
    text: String,
}

impl Trouble {
    fn plain(kind: &'static str, message: String) -> Self {
        Self {
            kind,
            text: message.clone(),
            message,
        }
    }
}

impl<'r> Suite<'r> {
    fn cases(&self) -> Vec<Case> {
        let Self { report, count } = *self;
        let mut cases = Vec::new();
        if report.input.keyed > 0 {
            let others = report.clients.iter().skip(1);
            cases.extend(others.map(|other| self.keyed(&other.name)));
        }
        cases.extend(kinds(report, count).filter_map(|kind| self.keyless(&kind)));
        let failed = |case: &Case| matches!(case.outcome, Outcome::Failed(_));
        let answer = Trouble::plain(count.verdict.name(), count_sentence(report, count));
        if count.verdict == Verdict::Inconclusive {
            cases.push(Case {
                name: "an answer".into(),
                outcome: Outcome::Error(answer),
            });
        } else if count.verdict == Verdict::Disagree && !cases.iter().any(failed) {
            // Such as keys that every client rejects, where they are to fail.
            cases.push(Case {
                name: "agreement".into(),
                outcome: Outcome::Failed(answer),
            });
        }
        if report.partial {
            let keys = number(report.input.keys);
            let message = format!("interrupted after {keys} keys; the rest may differ");
            cases.push(Case {
                name: "the whole input".into(),
                outcome: Outcome::Error(Trouble::plain("interrupted", message)),
            });
        }
        cases
    }

    fn reference(&self) -> &'r str {
        self.report.clients.first().map_or("", |c| &c.name)
    }

    /// The client library of a client; a user-defined profile has none.
    fn library(&self, client: &str) -> Option<&'static str> {
        let client = self.report.clients.iter().find(|c| c.name == client)?;
        let id = client.id?;
        Some(id.split_once('/').map_or(id, |(library, _)| library))
    }

    /// Keys that have bytes, under one client and the reference.
    fn keyed(&self, other: &str) -> Case {
        let reference = self.reference();
        let pair = pair_with_reference(self.count, other);
        let different = pair.map_or(0, |pair| pair.different);
        let keys = self.report.input.keyed;
        let pinned = self.report.clients.first().is_some_and(|c| c.pins_keys);
        let outcome = if different > 0 {
            Outcome::Failed(self.difference(other, different, keys))
        } else if pinned {
            Outcome::Passed
        } else {
            self.unpinned(format!(
                "neither client pins any of the {} keys",
                number(keys)
            ))
        };
        Case {
            name: format!("keys with bytes: {other} as {reference}"),
            outcome,
        }
    }

    fn difference(&self, other: &str, different: u64, keys: u64) -> Trouble {
        let reference = self.reference();
        let findings: Vec<_> = self
            .findings(|reason| !reason.is_keyless())
            .filter(|finding| finding.clients.iter().any(|client| client == other))
            .collect();
        let message = format!(
            "{} of {} keys ({}) are placed differently at {}",
            number(different),
            number(keys),
            percent(different, keys),
            partitions(self.count.partitions)
        );
        let mismatches = self.count.mismatches.iter();
        let shown: Vec<_> = mismatches
            .filter(|mismatch| differs(mismatch, other, reference))
            .take(SHOWN)
            .map(|mismatch| mismatch_line(mismatch, &[reference, other]))
            .collect();
        let mut text = explanation(&message, &findings, |fix| {
            Some(fix.client.as_str()) == self.library(other)
        });
        if !shown.is_empty() {
            text.push_str("\nFirst differing keys:\n");
            text.push_str(&shown.join("\n"));
        }
        Trouble {
            kind: kind(&findings),
            message,
            text,
        }
    }

    /// Empty or null keys, under all clients.
    fn keyless(&self, kind: &Kind<'_>) -> Option<Case> {
        let placements: Vec<_> = kind
            .placements?
            .iter()
            .map(|p| format!("{} {}", p.client, placed(p)))
            .collect();
        let placements = placements.join(", ");
        let outlying = kind.placements?.windows(2).any(|pair| {
            (pair[0].outcome, pair[0].partition) != (pair[1].outcome, pair[1].partition)
        });
        let outcome = if outlying {
            let own = if kind.title == "empty keys" {
                Reason::EmptyKeyRule
            } else {
                Reason::NullKeyRule
            };
            let mut findings: Vec<_> = self.findings(|reason| reason == own).collect();
            if findings.is_empty() {
                findings.extend(self.findings(|reason| !reason.is_keyless()));
            }
            let message = format!("{}: {placements}", kind.counted(kind.keys));
            Outcome::Failed(Trouble {
                kind: self::kind(&findings),
                text: explanation(&message, &findings, |_| true),
                message,
            })
        } else if kind.agreement.agree > 0 {
            Outcome::Passed
        } else {
            self.unpinned(format!("pinned by no client: {}", kind.counted(kind.keys)))
        };
        Some(Case {
            name: format!("{}: all clients", kind.title),
            outcome,
        })
    }

    fn unpinned(&self, why: String) -> Outcome {
        match self.report.unpinned_policy {
            UnpinnedPolicy::Fail => Outcome::Failed(Trouble::plain("unpinned-keys", why)),
            UnpinnedPolicy::Report | UnpinnedPolicy::Skip => Outcome::Skipped(why),
        }
    }

    fn findings(&self, wanted: impl Fn(Reason) -> bool) -> impl Iterator<Item = &'r Finding> {
        self.report
            .findings
            .iter()
            .filter(move |finding| finding.affects_verdict && wanted(finding.reason))
    }

    fn write(&self, id: usize, timestamp: &str, xml: &mut Xml<'_>) -> io::Result<()> {
        let cases = self.cases();
        let counted = |wanted: fn(&Outcome) -> bool| {
            let cases = cases.iter().filter(|case| wanted(&case.outcome));
            cases.count().to_string()
        };
        let skipped = counted(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let name = format!(
            "{} at {}",
            self.report.input.name,
            partitions(self.count.partitions)
        );
        let mut suite = xml
            .create_element("testsuite")
            .with_attribute(("name", legal(&name).as_str()))
            .with_attribute(("package", "copart.verify"))
            .with_attribute(("id", id.to_string().as_str()))
            .with_attribute(("timestamp", timestamp))
            .with_attribute(("hostname", "localhost"))
            .with_attribute(("tests", cases.len().to_string().as_str()))
            .with_attribute((
                "failures",
                counted(|o| matches!(o, Outcome::Failed(_))).as_str(),
            ))
            .with_attribute((
                "errors",
                counted(|o| matches!(o, Outcome::Error(_))).as_str(),
            ))
            .with_attribute(("time", "0"));
        // Ant's schema has no such attribute, so it is there only when it says something.
        if skipped != "0" {
            suite = suite.with_attribute(("skipped", skipped.as_str()));
        }
        suite.write_inner_content(|xml| {
            self.properties(xml)?;
            for case in &cases {
                self.case(case, xml)?;
            }
            text(xml, "system-out", &self.notes())?;
            text(xml, "system-err", &self.report.warnings.join("\n"))
        })?;
        Ok(())
    }

    fn properties(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        let clients: Vec<_> = self
            .report
            .clients
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        let input = &self.report.input;
        let properties = [
            ("partitions", self.count.partitions.to_string()),
            ("verdict", self.count.verdict.name().to_owned()),
            ("clients", clients.join(" ")),
            ("keys", input.keys.to_string()),
            ("keys.keyed", input.keyed.to_string()),
            ("keys.empty", input.empty.to_string()),
            ("keys.null", input.null.to_string()),
        ];
        xml.create_element("properties")
            .write_inner_content(|xml| {
                for (name, value) in &properties {
                    xml.create_element("property")
                        .with_attribute(("name", *name))
                        .with_attribute(("value", legal(value).as_str()))
                        .write_empty()?;
                }
                Ok(())
            })?;
        Ok(())
    }

    fn case(&self, case: &Case, xml: &mut Xml<'_>) -> io::Result<()> {
        let class = format!("copart.verify.{}", self.count.partitions);
        let element = xml
            .create_element("testcase")
            .with_attribute(("name", legal(&case.name).as_str()))
            .with_attribute(("classname", class.as_str()))
            .with_attribute(("time", "0"));
        let (name, trouble) = match &case.outcome {
            Outcome::Passed => {
                element.write_empty()?;
                return Ok(());
            }
            Outcome::Skipped(why) => {
                element.write_inner_content(|xml| text(xml, "skipped", why))?;
                return Ok(());
            }
            Outcome::Failed(trouble) => ("failure", trouble),
            Outcome::Error(trouble) => ("error", trouble),
        };
        element.write_inner_content(|xml| {
            xml.create_element(name)
                .with_attribute(("type", trouble.kind))
                .with_attribute(("message", legal(&trouble.message).as_str()))
                .write_text_content(BytesText::new(&legal(&trouble.text)))?;
            Ok(())
        })?;
        Ok(())
    }

    /// The answer, and what shows at other counts only.
    fn notes(&self) -> String {
        let notes = self.report.findings.iter().filter(|f| !f.affects_verdict);
        std::iter::once(headline(self.report))
            .chain(notes.map(|finding| finding.message.clone()))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The type of a failure: the first reason there is.
fn kind(findings: &[&Finding]) -> &'static str {
    findings.first().map_or("disagreement", |f| f.reason.id())
}

/// What differs, and the fixes that are wanted.
fn explanation(message: &str, findings: &[&Finding], wanted: impl Fn(&Fix) -> bool) -> String {
    let mut text = format!("{message}\n");
    for finding in findings {
        text.push_str(&finding.message);
        text.push('\n');
        let fixes = finding.fixes.iter().filter(|fix| wanted(fix));
        for fix in fixes.filter_map(FixText::of) {
            for line in fix.lines() {
                text.push_str(&line);
                text.push('\n');
            }
        }
    }
    text
}

pub(super) fn text(xml: &mut Xml<'_>, name: &str, text: &str) -> io::Result<()> {
    xml.create_element(name)
        .write_text_content(BytesText::new(&legal(text)))?;
    Ok(())
}

/// XML 1.0 has no way to write some characters, not even escaped: they become Rust escapes.
pub(super) fn legal(text: &str) -> String {
    let mut legal = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => {
                legal.push(c);
            }
            c => legal.extend(c.escape_unicode()),
        }
    }
    legal
}

/// `2024-05-01T12:34:56`, in UTC: the schemas allow no time zone.
pub(super) fn timestamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The Gregorian date so many days after 1970-01-01.
fn date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, days + 1)
}

#[cfg(test)]
mod tests;
