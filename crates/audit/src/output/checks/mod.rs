//! A report as things that were checked, for CI systems: test cases, results, annotations.

pub(super) mod github;
pub(super) mod junit;
pub(super) mod sarif;

use std::path::PathBuf;

use serde_json::Value;

use crate::text::number;
use crate::verify::InputSummary;

/// What was checked, and how it came out.
pub(super) struct Checks {
    /// The command, such as `movement`.
    pub(super) command: &'static str,
    /// The answer in a sentence; begins with the word for the verdict.
    pub(super) headline: String,
    /// What was read.
    pub(super) inputs: Vec<Input>,
    pub(super) partial: bool,
    pub(super) exit_code: u8,
    /// Every rule of the command, whether it is broken here or not.
    pub(super) rules: Vec<Rule>,
    pub(super) cases: Vec<Case>,
    pub(super) warnings: Vec<String>,
    /// What programs may want to know besides.
    pub(super) properties: Value,
}

/// A file that was read, or another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) name: String,
    /// Standard input and topics have none.
    pub(super) path: Option<PathBuf>,
}

impl From<&InputSummary> for Input {
    fn from(input: &InputSummary) -> Self {
        Self {
            name: input.name.clone(),
            path: input.path.clone(),
        }
    }
}

/// Something that a report can complain of.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// A stable name.
    pub(super) id: &'static str,
    /// What it is about.
    pub(super) describe: &'static str,
    /// What to do about it.
    pub(super) help: &'static str,
}

pub(super) const INCONCLUSIVE: Rule = Rule {
    id: "inconclusive",
    describe: "there was no key to measure",
    help: "Measure keys as they are in production, at least one of which the client pins to a partition.",
};

pub(super) const INTERRUPTED: Rule = Rule {
    id: "interrupted",
    describe: "the input was not read to its end",
    help: "Run the command again and let it finish.",
};

/// One check.
pub(super) struct Case {
    pub(super) name: String,
    /// The id of the rule that it goes by.
    pub(super) rule: &'static str,
    pub(super) outcome: Outcome,
    /// The message, whatever came out.
    pub(super) message: String,
    /// The index of the input that shows it.
    pub(super) input: usize,
    /// The line there.
    pub(super) line: Option<u64>,
    /// What tells this check from others of its rule in the next run too.
    pub(super) subject: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// It is well, and worth a look.
    Noted,
    /// It is not as it should be.
    Failed,
    /// It could not be checked.
    Error,
}

impl Case {
    /// The case for a run that was interrupted, if it was.
    pub(super) fn interrupted(partial: bool, keys: Option<u64>) -> Option<Self> {
        let after = keys.map_or_else(
            || "before the end of the input; the rest may differ".to_owned(),
            |keys| {
                format!(
                    "after {} keys; the rest of the input may differ",
                    number(keys)
                )
            },
        );
        partial.then(|| Self {
            name: "the whole input".into(),
            rule: INTERRUPTED.id,
            outcome: Outcome::Error,
            message: format!("interrupted {after}"),
            input: 0,
            line: None,
            subject: String::new(),
        })
    }
}

impl Checks {
    /// What there is to complain of, errors first.
    fn complaints(&self) -> Vec<&Case> {
        let mut complaints: Vec<_> = self
            .cases
            .iter()
            .filter(|case| case.outcome != Outcome::Passed)
            .collect();
        complaints.sort_by_key(|case| case.outcome == Outcome::Noted);
        complaints
    }

    /// The rule of a case.
    fn rule(&self, case: &Case) -> (usize, Rule) {
        let mut rules = self.rules.iter().copied().enumerate();
        rules
            .find(|(_, rule)| rule.id == case.rule)
            .unwrap_or((0, INCONCLUSIVE))
    }

    /// The names of what was read.
    fn names(&self) -> String {
        let names: Vec<_> = self
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        names.join(", ")
    }
}
