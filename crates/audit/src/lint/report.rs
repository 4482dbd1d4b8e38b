use std::path::PathBuf;

use serde::Serialize;

use super::checks::{KeyKind, LintRule, LintSeverity};

/// What is wrong with these keys?
///
/// Serialised, it is the JSON output of `copart lint`; [`LintReport::SCHEMA`] is its version.
#[derive(Clone, Debug, Serialize)]
pub struct LintReport {
    /// [`LintReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: LintVerdict,
    /// The run was interrupted: the counts hold for the beginning of the input.
    pub partial: bool,
    /// What was read.
    pub input: LintInput,
    /// What the keys look like, the most frequent kind first.
    pub kinds: Vec<KindReport>,
    /// What was found, the worst first.
    pub findings: Vec<LintFinding>,
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl LintReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.lint/1";

    /// What `copart lint` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        if self.partial {
            return crate::verify::VerifyReport::INTERRUPTED;
        }
        match self.verdict {
            LintVerdict::Clean => 0,
            LintVerdict::Problems => 1,
            LintVerdict::NoKeys => 4,
        }
    }
}

/// The kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LintVerdict {
    /// No error and no warning; there may be notes.
    Clean,
    /// There are errors or warnings.
    Problems,
    /// There is no key with bytes.
    NoKeys,
}

impl LintVerdict {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Problems => "problems",
            Self::NoKeys => "no_keys",
        }
    }
}

/// What was read.
#[derive(Clone, Debug, Serialize)]
pub struct LintInput {
    /// The file, for people.
    pub name: String,
    /// The file; standard input has none.
    #[serde(skip)]
    pub path: Option<PathBuf>,
    /// Whether record 7 is line 7 of it.
    pub records_are_lines: bool,
    /// Keys, null and empty ones included.
    pub keys: u64,
    /// Empty keys.
    pub empty: u64,
    /// Null keys.
    pub null: u64,
}

/// How many keys look like this.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindReport {
    /// The kind.
    pub kind: KeyKind,
    /// Keys.
    pub keys: u64,
}

/// A rule that some keys break.
#[derive(Clone, Debug, Serialize)]
pub struct LintFinding {
    /// The rule.
    pub rule: LintRule,
    /// How bad it is.
    pub severity: LintSeverity,
    /// What it is.
    pub message: &'static str,
    /// Keys, each as often as it is in the input; for two spellings, distinct keys of the sample.
    pub keys: u64,
    /// The share of keys that were looked at for this; 1 unless the check is by sample.
    pub sampled: f64,
    /// The first of them.
    pub examples: Vec<LintExample>,
}

/// A key that breaks a rule.
#[derive(Clone, Debug, Serialize)]
pub struct LintExample {
    /// Its position in the input, from 1.
    pub record: u64,
    /// Its bytes in hexadecimal; the first 1,024 of them.
    pub key_hex: String,
    /// Whether the key has more bytes than shown.
    pub truncated: bool,
    /// The other spelling, for [`LintRule::TwoSpellings`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Box<LintExample>>,
}
