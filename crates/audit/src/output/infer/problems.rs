//! What an inference has to complain about, as annotations and as test cases.

use super::super::answer::{Case, Outcome, Problem, Rule, Severity};
use super::{found, named};
use crate::infer::{ExpectedOutcome, InferReport, InferVerdict};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |id, describe, help| Rule { id, describe, help };
    vec![
        rule(
            "not-as-expected",
            "records are not where the expected profile puts them",
            "Look at the configuration of every producer of the topic, and at their releases. `copart config --from X --to Y` prints the setting.",
        ),
        rule(
            "mixed",
            "the topic was written by more than one rule",
            "Records of one key are on several partitions. Configure all producers alike, and rewrite what was written before if its order or compaction matters.",
        ),
        rule(
            "stale-count",
            "keys were placed with another partition count than the topic has",
            "The topic had another count when they were written, or a producer keeps an old one: restart it, and look at its metadata settings.",
        ),
        rule(
            "not-keyed",
            "keys do not decide the partition",
            "The producer ignores keys. Select a partitioner that hashes them if the order of a key's records matters.",
        ),
        rule(
            "inconclusive",
            "which rule placed the keys can't be told",
            "Give more distinct keys, or records of a topic with another partition count.",
        ),
        rule(
            "interrupted",
            "the input was not read to its end",
            "Run the command again and let it finish.",
        ),
    ]
}

pub(super) fn problems(report: &InferReport, headline: &str) -> Vec<Problem> {
    let problem = |rule, severity, message: &str| Problem {
        rule,
        severity,
        message: message.to_owned(),
        input: 0,
        line: None,
        fingerprint: report
            .components
            .iter()
            .map(named)
            .collect::<Vec<_>>()
            .join("|"),
    };
    let mut problems = Vec::new();
    let verdict = match report.verdict {
        InferVerdict::OneProfile => None,
        InferVerdict::Mixed => Some("mixed"),
        InferVerdict::StaleCount => Some("stale-count"),
        InferVerdict::NotKeyed => Some("not-keyed"),
        _ => Some("inconclusive"),
    };
    let decides = report.expected.is_none() && report.verdict.exit_code() != 0;
    match &report.expected {
        Some(expected) if expected.outcome == ExpectedOutcome::NotMet => {
            problems.push(problem("not-as-expected", Severity::Error, &expected.why));
        }
        Some(expected) if expected.outcome == ExpectedOutcome::Inconclusive => {
            problems.push(problem("inconclusive", Severity::Error, &expected.why));
        }
        _ => {}
    }
    if let Some(rule) = verdict
        && (decides || (report.expected.is_none()) || rule != "inconclusive")
    {
        let severity = if decides {
            Severity::Error
        } else {
            Severity::Note
        };
        problems.push(problem(
            rule,
            severity,
            &if report.expected.is_some() {
                found(report)
            } else {
                headline.to_owned()
            },
        ));
    }
    if report.partial {
        problems.push(problem(
            "interrupted",
            Severity::Error,
            "interrupted before the end of the input; the rest may differ",
        ));
    }
    problems
}

pub(super) fn cases(report: &InferReport, headline: &str) -> Vec<Case> {
    let case = |name: &str, outcome| Case {
        name: name.to_owned(),
        outcome,
    };
    if let Some(expected) = &report.expected {
        let name = format!("records are where {} puts them", expected.profile);
        return vec![case(
            &name,
            match expected.outcome {
                ExpectedOutcome::Met => Outcome::Passed,
                ExpectedOutcome::NotMet => Outcome::Failed("not-as-expected", headline.to_owned()),
                ExpectedOutcome::Inconclusive => {
                    Outcome::Error("inconclusive", headline.to_owned())
                }
            },
        )];
    }
    let outcome = match report.verdict.exit_code() {
        0 => Outcome::Passed,
        1 if report.verdict == InferVerdict::Mixed => Outcome::Failed("mixed", headline.to_owned()),
        1 => Outcome::Failed("stale-count", headline.to_owned()),
        _ => Outcome::Error("inconclusive", headline.to_owned()),
    };
    vec![case("one rule placed all records", outcome)]
}
