//! Reading values. Complaints are collected, and never show a secret.

use std::collections::BTreeMap;
#[cfg(test)]
use std::collections::BTreeSet;
use std::time::Duration;

use super::table;

/// The values of a file, and what is wrong with them.
pub(super) struct Values<'a> {
    values: &'a BTreeMap<String, String>,
    pub(super) violations: Vec<String>,
    /// Names that were looked for.
    #[cfg(test)]
    pub(super) seen: BTreeSet<&'static str>,
}

impl<'a> Values<'a> {
    pub(super) fn new(values: &'a BTreeMap<String, String>) -> Self {
        Self {
            values,
            violations: Vec::new(),
            #[cfg(test)]
            seen: BTreeSet::new(),
        }
    }

    pub(super) fn refuse(&mut self, key: &str, reason: impl std::fmt::Display) {
        self.violations.push(format!("{key}: {reason}"));
    }

    /// The value of whichever of these names is there. They are names of one thing: two of them must not say
    /// different things.
    pub(super) fn text(&mut self, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
        let mut found: Option<(&'static str, &'a str)> = None;
        for &name in names {
            #[cfg(test)]
            self.seen.insert(name);
            let Some(value) = self.values.get(name) else {
                continue;
            };
            match found {
                None => found = Some((name, value)),
                Some((first, other)) if other != value => {
                    self.refuse(name, format_args!("{first} says something else; keep one"));
                }
                Some(_) => {}
            }
        }
        found
    }

    /// A value that is not empty.
    pub(super) fn filled(&mut self, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
        self.text(names)
            .filter(|(_, value)| !value.trim().is_empty())
    }

    fn parsed<T>(
        &mut self,
        names: &[&'static str],
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (name, value) = self.text(names)?;
        let parsed = parse(value.trim());
        if parsed.is_none() {
            let shown = if table::is_secret(name) {
                String::new()
            } else {
                format!(", not {value:?}")
            };
            self.refuse(name, format_args!("is {expected}{shown}"));
        }
        parsed
    }

    pub(super) fn flag(&mut self, names: &[&'static str]) -> Option<bool> {
        self.parsed(names, "true or false", |value| {
            // librdkafka takes all of these.
            match value.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => Some(true),
                "false" | "f" | "0" => Some(false),
                _ => None,
            }
        })
    }

    /// Milliseconds; librdkafka's may have a fraction.
    pub(super) fn milliseconds(&mut self, names: &[&'static str]) -> Option<Duration> {
        self.parsed(names, "a number of milliseconds, 0 or more", |value| {
            let milliseconds: f64 = value.parse().ok()?;
            Duration::try_from_secs_f64(milliseconds / 1000.0).ok()
        })
    }

    pub(super) fn bytes(&mut self, names: &[&'static str]) -> Option<usize> {
        self.parsed(names, "a number of bytes, 0 or more", |value| {
            value.parse().ok()
        })
    }

    pub(super) fn number(&mut self, names: &[&'static str]) -> Option<i64> {
        self.parsed(names, "a whole number", |value| value.parse().ok())
    }

    /// One of these words, in any case.
    pub(super) fn choice<T: Copy>(
        &mut self,
        names: &[&'static str],
        choices: &[(&str, T)],
    ) -> Option<T> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let expected = format!("one of {}", words.join(", "));
        self.parsed(names, &expected, |value| {
            let found = choices
                .iter()
                .find(|(word, _)| word.eq_ignore_ascii_case(value));
            found.map(|&(_, choice)| choice)
        })
    }
}
