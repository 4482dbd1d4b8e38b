//! GitHub's workflow commands: annotations on the input file and on the run.
//!
//! `::error file=…,line=…,title=…::message`: an error for what decides the answer, a warning for
//! what shows at other partition counts only, and for what may make the answer worth less, and
//! last a notice with the answer. Nothing else is written, since the runner reads every line.

use std::io::{self, Write};

use super::problems::{Severity, line, problems};
use super::wording::headline;
use crate::verify::VerifyReport;

pub(crate) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    // Standard input has no place in the repository.
    let file = report
        .input
        .path
        .as_ref()
        .map(|_| report.input.name.as_str());
    for problem in problems(report) {
        let command = match problem.severity {
            Severity::Error => "error",
            Severity::Note => "warning",
        };
        self::command(
            command,
            file,
            line(report, &problem),
            &format!("copart: {}", problem.rule.describe()),
            &problem.full_message(),
            out,
        )?;
    }
    for warning in &report.warnings {
        command("warning", file, None, "copart", warning, out)?;
    }
    let message = headline(report);
    command("notice", file, None, "copart verify", &message, out)
}

/// One command; `file` is where it belongs, if that is in the repository.
pub(super) fn command(
    name: &str,
    file: Option<&str>,
    line: Option<u64>,
    title: &str,
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "::{name} ")?;
    if let Some(file) = file {
        write!(out, "file={},", property(file))?;
    }
    if let Some(line) = line {
        write!(out, "line={line},")?;
    }
    writeln!(out, "title={}::{}", property(title), data(message))
}

/// The message: the runner ends it at a line end, and undoes these three escapes.
pub(super) fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property, which also ends at a comma or a colon.
pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, written};
    use super::*;

    /// A command as the runner reads it: name, properties, message.
    fn read(line: &str) -> (String, Vec<(String, String)>, String) {
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (name, properties) = head.split_once(' ').unwrap();
        let properties = properties
            .split(',')
            .map(|p| p.split_once('=').unwrap())
            .map(|(name, value)| {
                let value = value.replace("%3A", ":").replace("%2C", ",");
                (name.to_owned(), undone(&value))
            })
            .collect();
        (name.to_owned(), properties, undone(message))
    }

    fn undone(text: &str) -> String {
        text.replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%25", "%")
    }

    fn names(report: &VerifyReport) -> Vec<String> {
        written(write, report)
            .lines()
            .map(|line| read(line).0)
            .collect()
    }

    #[test]
    fn an_error_points_at_the_first_key_that_shows_it() {
        let report = Case::text("user-17\n100:48069\n")
            .clients("java,kafkajs@1.16")
            .counts(&[12])
            .run();
        let text = written(write, &report);
        let (name, properties, message) = read(text.lines().next().unwrap());
        assert_eq!(name, "error");
        let of = |name| &properties.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(of("file"), "keys.txt");
        assert_eq!(of("line"), "2");
        assert_eq!(
            of("title"),
            "copart: one client computes murmur2 in floating point"
        );
        assert!(message.starts_with("kafkajs@1.16: "), "{message}");
        assert!(message.contains("50 % of keys at 12"), "{message}");
        assert!(
            message.contains("\nTo make kafkajs place keys as java:\n"),
            "{message}"
        );
        let (name, _, message) = read(text.lines().last().unwrap());
        assert_eq!(name, "notice");
        assert_eq!(message, headline(&report));
    }

    #[test]
    fn what_fails_is_an_error_and_what_only_might_is_a_warning() {
        assert_eq!(
            names(&Case::text("a\n").clients("java,kafkajs").run()),
            ["notice"]
        );
        assert_eq!(
            names(&Case::text("a\n").clients("java,kafkajs").counts(&[1]).run()),
            ["warning", "notice"]
        );
        assert_eq!(names(&Case::text("").run()), ["error", "notice"]);
        let report = Case::text("100:48069\nTT0124\nx\ny\nz\n")
            .clients("java,hash=murmur2,reduce=unsigned")
            .counts(&[16])
            .run();
        assert_eq!(names(&report), ["warning", "notice"]);
    }

    #[test]
    fn no_name_forges_a_command_or_a_property() {
        let mut report = Case::hostile().run();
        report.input.name = "a,line=9::b%0A\n::error::x".into();
        let text = written(write, &report);
        for line in text.lines() {
            let (_, properties, _) = read(line);
            assert_eq!(properties[0], ("file".into(), report.input.name.clone()));
        }
        assert_eq!(text.lines().count(), names(&report).len());
    }

    #[test]
    fn standard_input_is_no_file() {
        let mut report = Case::text("").run();
        report.input.path = None;
        assert!(!written(write, &report).contains("file="));
    }
}
