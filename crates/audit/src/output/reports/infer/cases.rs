//! What an inference checked, as test cases and annotations.

use super::{found, named, said};
use crate::infer::{ExpectedOutcome, InferReport, InferVerdict};
use crate::output::checks::{Case, INTERRUPTED, Outcome, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "not-as-expected",
        describe: "records are not where the expected profile puts them",
        help: "Look at the configuration of every producer of the topic, and at their releases. `copart config --from X --to Y` prints the setting.",
    },
    Rule {
        id: "mixed",
        describe: "the topic was written by more than one rule",
        help: "Records of one key are on several partitions. Configure all producers alike, and rewrite what was written before if its order or compaction matters.",
    },
    Rule {
        id: "stale-count",
        describe: "keys were placed with another partition count than the topic has",
        help: "The topic had another count when they were written, or a producer keeps an old one: restart it, and look at its metadata settings.",
    },
    Rule {
        id: "not-keyed",
        describe: "keys do not decide the partition",
        help: "The producer ignores keys. Select a partitioner that hashes them if the order of a key's records matters.",
    },
    Rule {
        id: "inconclusive",
        describe: "which rule placed the keys can't be told",
        help: "Give more distinct keys, or records of a topic with another partition count.",
    },
    INTERRUPTED,
];

pub(super) fn cases(report: &InferReport) -> Vec<Case> {
    let components: Vec<_> = report.components.iter().map(named).collect();
    let case = |name: String, rule, outcome, message| Case {
        name,
        rule,
        outcome,
        message,
        input: 0,
        line: None,
        subject: components.join("|"),
    };
    let rule = match report.verdict {
        InferVerdict::OneProfile | InferVerdict::Mixed => "mixed",
        InferVerdict::StaleCount => "stale-count",
        InferVerdict::NotKeyed => "not-keyed",
        _ => "inconclusive",
    };
    let mut cases = Vec::new();
    if let Some(expected) = &report.expected {
        let (rule, outcome) = match expected.outcome {
            ExpectedOutcome::Met => ("not-as-expected", Outcome::Passed),
            ExpectedOutcome::NotMet => ("not-as-expected", Outcome::Failed),
            ExpectedOutcome::Inconclusive => ("inconclusive", Outcome::Error),
        };
        let name = format!("records are where {} puts them", expected.profile);
        cases.push(case(name, rule, outcome, said(report)));
    }
    let decides = report.expected.is_none();
    let outcome = match (report.verdict, report.verdict.exit_code()) {
        (InferVerdict::OneProfile, _) => Outcome::Passed,
        // Which rule it is may stay open where one was expected and fits.
        (_, 0 | 4) if rule != "not-keyed" && !decides => Outcome::Passed,
        (_, 0) => Outcome::Noted,
        _ if !decides => Outcome::Noted,
        (_, 1) => Outcome::Failed,
        _ => Outcome::Error,
    };
    if decides || outcome != Outcome::Passed {
        let name = "one rule placed all records".to_owned();
        cases.push(case(name, rule, outcome, found(report)));
    }
    cases.extend(Case::interrupted(report.partial, None));
    cases
}
