//! Are the records where an expected profile puts them?

use copart_partitioners::{KeyedRule, PartitionCount};

use super::Observed;
use super::assemble::{against, compare, examples, view_of};
use super::mixture::Found;
use super::report::*;
use super::rules::Rule;
use super::sample::Sample;
use super::score::{Hypothesis, Scorer};
use super::view::View;
use crate::clients::Client;
use crate::text::number;

/// Answers for one profile.
pub(super) fn expectation(
    observed: &Observed,
    found: &Found,
    rules: &[Rule],
    client: &Client,
    report: &InferReport,
    show: usize,
) -> Expectation {
    let sample = &observed.sample;
    let count = PartitionCount::new(report.partitions.count).unwrap_or(PartitionCount::ONE);
    let (places, elsewhere, met) = match client.profile().keyed {
        KeyedRule::Hashed { .. } => hashed(sample, found, rules, client, count, report),
        KeyedRule::Fixed(partition) => {
            let predictions = vec![u32::try_from(partition).unwrap_or(u32::MAX); sample.keys.len()];
            let (places, elsewhere) = compare(sample, &predictions);
            (
                places,
                elsewhere,
                Some(report.verdict == InferVerdict::NotKeyed),
            )
        }
        _ => (0, Vec::new(), unkeyed(report)),
    };
    let name = client.name();
    let against = against(client.profile(), count, observed);
    let (outcome, why) = if !elsewhere.is_empty() {
        let all = number(places + elsewhere.len() as u64);
        let n = number(elsewhere.len() as u64);
        (
            ExpectedOutcome::NotMet,
            format!(
                "{n} of {all} keys (on {all} key and partition pairs) are not where {name} puts them"
            ),
        )
    } else if let Some(against) = against {
        (ExpectedOutcome::NotMet, format!("{name}: {against}"))
    } else {
        match met {
            Some(true) => (
                ExpectedOutcome::Met,
                format!("all records with keys are where {name} puts them"),
            ),
            Some(false) if sample.keyed > 0 && places == 0 => (
                ExpectedOutcome::NotMet,
                format!("{name} spreads records whatever their keys, and these are not spread"),
            ),
            _ => (
                ExpectedOutcome::Inconclusive,
                format!("nothing speaks against {name}, and too few keys speak for it"),
            ),
        }
    };
    let mut listed = elsewhere.clone();
    listed.dedup();
    listed.truncate(show);
    Expectation {
        profile: name.to_owned(),
        outcome,
        why,
        places,
        elsewhere: elsewhere.len() as u64,
        examples: examples(sample, &listed, |key, partition| {
            let explaining = found
                .components
                .iter()
                .filter(|component| component.predictions[key as usize] == partition);
            explaining
                .map(|component| rules[component.hypothesis.rule].name.clone())
                .collect()
        }),
    }
}

fn hashed(
    sample: &Sample,
    found: &Found,
    rules: &[Rule],
    client: &Client,
    count: PartitionCount,
    report: &InferReport,
) -> (u64, Vec<u32>, Option<bool>) {
    let Some(rule) = rules.iter().position(|rule| rule.is_of(client.profile())) else {
        return (0, Vec::new(), None);
    };
    let scorer = Scorer::new(sample, rules, 1);
    let under = |view: View| {
        compare(
            sample,
            &scorer.predictions(Hypothesis { rule, view, count }),
        )
    };
    let (places, elsewhere) = under(view_of(found, rule));
    // A rule was found, and this one explains all that it does: enough keys said so.
    let enough = !found.components.is_empty() && report.verdict != InferVerdict::TooFewKeys;
    (places, elsewhere, enough.then_some(true))
}

/// For a profile that ignores keys.
fn unkeyed(report: &InferReport) -> Option<bool> {
    match report.verdict {
        InferVerdict::NotKeyed => {
            let constant = report
                .spread
                .as_ref()
                .is_some_and(|spread| spread.kind == super::SpreadKind::Constant);
            Some(!constant)
        }
        InferVerdict::OneProfile
        | InferVerdict::Twins
        | InferVerdict::StaleCount
        | InferVerdict::Mixed
        | InferVerdict::UnknownRule => Some(false),
        InferVerdict::NoRuleFits | InferVerdict::TooFewKeys | InferVerdict::NoKeys => None,
    }
}
