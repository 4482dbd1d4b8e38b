//! A report as things that were checked, for CI systems: test cases, results, annotations.

pub(super) mod github;
pub(super) mod junit;
pub(super) mod sarif;

use serde_json::Value;

use crate::verify::InputSummary;

/// What was checked, and how it came out.
pub(super) struct Checks<'r> {
    /// The command, such as `movement`.
    pub(super) command: &'static str,
    pub(super) headline: String,
    pub(super) input: &'r InputSummary,
    pub(super) partial: bool,
    pub(super) exit_code: u8,
    /// Every rule of the command, whether it is broken here or not.
    pub(super) rules: &'static [Rule],
    pub(super) cases: Vec<Case>,
    pub(super) warnings: &'r [String],
    /// What programs may want to know besides.
    pub(super) properties: Value,
}

/// Something that a report can complain of.
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
    /// The line of the input that shows it.
    pub(super) line: Option<u64>,
    /// What tells this check from others of its rule in the next run too.
    pub(super) subject: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// It is well, and worth a look.
    Noted,
    /// It is above the limit.
    Failed,
    /// It could not be checked.
    Error,
}

impl Checks<'_> {
    /// The case for a run that was interrupted, if it was.
    pub(super) fn interrupted(input: &InputSummary, partial: bool) -> Option<Case> {
        partial.then(|| Case {
            name: "the whole input".into(),
            rule: INTERRUPTED.id,
            outcome: Outcome::Error,
            message: format!(
                "interrupted after {} keys; the rest of the input may differ",
                crate::text::number(input.keys)
            ),
            line: None,
            subject: String::new(),
        })
    }

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
    fn rule(&self, case: &Case) -> (usize, &'static Rule) {
        let found = self
            .rules
            .iter()
            .enumerate()
            .find(|(_, rule)| rule.id == case.rule);
        found.unwrap_or((0, &INCONCLUSIVE))
    }
}
