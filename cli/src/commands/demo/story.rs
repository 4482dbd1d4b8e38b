//! What a step tells: claims that were checked, what they rest on, and the same for programs.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// Columns of the text.
const WIDTH: usize = 98;
const INDENT: &str = "   ";

/// A step that was taken.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    number: usize,
    name: &'static str,
    title: &'static str,
    as_told: bool,
    checks: Vec<Check>,
    facts: Value,
    #[serde(skip)]
    parts: Vec<Part>,
}

/// A claim, and whether it holds.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    claim: String,
    /// The numbers that it was checked by.
    found: String,
    holds: bool,
}

#[derive(Debug)]
enum Part {
    Sentence(String),
    Lines(Vec<String>),
    Table(Vec<Vec<String>>),
}

impl Step {
    pub(super) fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            number: 0,
            name,
            title,
            as_told: true,
            checks: Vec::new(),
            facts: Value::Null,
            parts: Vec::new(),
        }
    }

    pub(super) fn say(&mut self, sentence: impl Into<String>) {
        self.parts.push(Part::Sentence(sentence.into()));
    }

    /// Lines as they are.
    pub(super) fn lines(&mut self, text: &str) {
        let lines = text.lines().map(str::to_owned).collect();
        self.parts.push(Part::Lines(lines));
    }

    /// A row of headings, and rows below it.
    pub(super) fn table<const N: usize>(
        &mut self,
        heads: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) {
        let heads = heads.map(str::to_owned).into();
        let rows = rows.into_iter().map(Vec::from);
        self.parts
            .push(Part::Table(std::iter::once(heads).chain(rows).collect()));
    }

    pub(super) fn check(&mut self, holds: bool, claim: impl Into<String>, found: impl ToString) {
        self.as_told &= holds;
        self.checks.push(Check {
            claim: claim.into(),
            found: found.to_string(),
            holds,
        });
    }

    pub(super) fn facts(&mut self, facts: Value) {
        self.facts = facts;
    }

    /// It could not be taken to its end.
    pub(super) fn failed(mut self, error: &impl ToString) -> Self {
        self.check(false, "the step comes to its end", error.to_string());
        self
    }

    pub(super) fn numbered(mut self, number: usize) -> Self {
        self.number = number;
        self
    }

    pub(super) fn title(&self) -> &'static str {
        self.title
    }

    pub(super) fn is_as_told(&self) -> bool {
        self.as_told
    }

    /// For people.
    pub(super) fn text(&self, color: bool) -> String {
        let paint = |style: &str, text: &str| match color {
            true => format!("\x1b[{style}m{text}\x1b[0m"),
            false => text.to_owned(),
        };
        let mut out = String::new();
        let title = format!("{}. {}", self.number, self.title);
        let _ = writeln!(out, "{}", paint("1", &title));
        for part in &self.parts {
            match part {
                Part::Sentence(sentence) => wrap(&mut out, sentence, INDENT, INDENT),
                Part::Lines(lines) => {
                    for line in lines {
                        let _ = writeln!(out, "{INDENT}{line}");
                    }
                }
                Part::Table(rows) => table(&mut out, rows),
            }
        }
        for check in &self.checks {
            let (mark, style) = if check.holds {
                ("ok", "32")
            } else {
                ("NOT AS TOLD", "1;31")
            };
            let mut line = String::new();
            let first = format!("{INDENT}{mark}  ");
            let claim = format!("{}: {}", check.claim, check.found);
            wrap(&mut line, &claim, &first, &" ".repeat(first.len()));
            out.push_str(&line.replacen(mark, &paint(style, mark), 1));
        }
        out
    }
}

/// Words in lines that fit.
fn wrap(out: &mut String, text: &str, first: &str, next: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = next.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{line}");
}

/// Rows in columns; those that hold numbers are aligned right.
fn table(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let is_number = |column: usize| {
        let mut cells = rows.iter().skip(1).filter_map(|row| row.get(column));
        let of_digits = |cell: &String| {
            let mut chars = cell.chars();
            chars.next().is_some_and(|c| c.is_ascii_digit())
                && chars.all(|c| c.is_ascii_digit() || c == ',')
        };
        cells.all(of_digits)
    };
    let shapes: Vec<(usize, bool)> = (0..columns).map(|c| (width(c), is_number(c))).collect();
    for row in rows {
        let cells = row.iter().zip(&shapes);
        let cells = cells.map(|(cell, &(width, right))| match right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:width$}"),
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "{INDENT}   {}", cells.join("  ").trim_end());
    }
}

/// A number with commas between its thousands.
pub(super) fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many of so many.
pub(super) fn of(part: impl TryInto<u64>, whole: impl TryInto<u64>) -> String {
    format!("{} of {}", number(part), number(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_the_page_and_says_what_does_not_hold() {
        let mut step = Step::new("name", "Title");
        step.say("many words ".repeat(30));
        step.table(
            ["user", "views"],
            [
                ["a".to_owned(), "1".to_owned()],
                ["bb".into(), "1,200".into()],
            ],
        );
        step.check(true, "it holds", of(1_000, 1_000));
        assert!(step.is_as_told());
        step.check(false, "it does not", "word ".repeat(40));
        assert!(!step.is_as_told());
        let text = step.numbered(3).text(false);
        assert!(text.starts_with("3. Title\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(
            text.contains("      user  views\n      a         1\n"),
            "{text}"
        );
        assert!(text.contains("   ok  it holds: 1,000 of 1,000\n"), "{text}");
        assert!(text.contains("   NOT AS TOLD  it does not: word"), "{text}");
        assert_eq!(
            [0_u64, 999, 1_000, 1_234_567].map(number),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
