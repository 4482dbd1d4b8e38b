//! Which rules wrote a topic: the best hypothesis first, then the best for what it leaves
//! unexplained, and so on.

use copart_partitioners::{HashValue, PartitionCount};

use super::sample::Sample;
use super::score::{EXCLUDED, Excluded, Hypothesis, NONE, Question, Scored, Scorer, Unit, shares};
use super::stats::{keys_needed, ln_threshold};
use super::view::View;

/// A rule that wrote some of the topic.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) hypothesis: Hypothesis,
    pub(crate) scored: Scored,
    /// Where it puts each sampled key.
    pub(crate) predictions: Vec<u32>,
    /// Rules that do as well on the keys it explains.
    pub(crate) twins: Vec<Twin>,
}

/// A rule that can't be told from a component's.
#[derive(Clone, Debug)]
pub(crate) struct Twin {
    pub(crate) rule: usize,
    pub(crate) because: Because,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Because {
    /// At this partition count no key could tell.
    Count,
    /// Keys like these can't: it takes others, such as those with bytes of 0x80 and more.
    Keys,
    /// More keys of the same kind would tell.
    FewKeys,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) components: Vec<Component>,
    /// The best hypotheses of the first round, whether they count or not.
    pub(crate) ranking: Vec<Scored>,
    /// Distinct keys of the first round.
    pub(crate) keys: u64,
    /// Tests that the error is divided by.
    pub(crate) tests: u64,
    pub(crate) ln_threshold: f64,
    /// How many keys a rule must place, all of them rightly, to be believed.
    pub(crate) keys_needed: Option<u64>,
}

/// Hypotheses of the first round that are kept.
const RANKED: usize = 10;

/// How many of the screened hypotheses are tested on all keys.
const REFINED: usize = 32;

/// Finds the components.
pub(crate) fn components(
    scorer: &Scorer<'_>,
    count: PartitionCount,
    others: &[PartitionCount],
) -> Found {
    let sample = scorer.sample;
    let hypotheses = scorer.rules.len() * scorer.views.len() * (1 + others.len());
    let tests = (hypotheses * EXCLUDED) as u64;
    let ln_threshold = ln_threshold(tests);
    let overall = shares(sample.places.iter().map(|place| place.partition));
    let mut components: Vec<Component> = Vec::new();
    let mut found = Found {
        components: Vec::new(),
        ranking: Vec::new(),
        keys: sample.keys.len() as u64,
        tests,
        ln_threshold,
        keys_needed: None,
    };
    while components.len() < EXCLUDED {
        let (units, excluded) = unexplained(sample, &components);
        if units.is_empty() {
            break;
        }
        let question = Question::new(&units, &excluded, &overall, count, others);
        let mut scored = scorer.score(&question);
        let order = |a: &Scored, b: &Scored| {
            let plainer = |s: &Scored| {
                let view = View::ALL.iter().position(|view| *view == s.hypothesis.view);
                let other_count = s.hypothesis.count != count;
                let custom_only = scorer.rules[s.hypothesis.rule].entries.is_empty();
                (other_count, view, custom_only, s.hypothesis.rule)
            };
            b.explained()
                .total_cmp(&a.explained())
                .then_with(|| plainer(a).cmp(&plainer(b)))
        };
        if components.is_empty() {
            scored.sort_by(order);
            found.ranking = scored.iter().take(RANKED).copied().collect();
            let q: f64 = overall.iter().map(|share| share * share).sum();
            found.keys_needed = keys_needed(q, ln_threshold);
        }
        scored.retain(|s| s.ln_chance <= ln_threshold);
        scored.sort_by(order);
        // The few that are left are looked at on all keys, so that shares can be compared.
        let best = scored
            .into_iter()
            .take(REFINED)
            .map(|s| (refine(scorer, s, &question), s))
            .min_by(|(a, _), (b, _)| order(a, b));
        let Some((best, _)) = best else {
            break;
        };
        let predictions = scorer.predictions(best.hypothesis);
        let twins = twins(scorer, best.hypothesis, &predictions, &units);
        components.push(Component {
            hypothesis: best.hypothesis,
            scored: best,
            predictions,
            twins,
        });
    }
    found.components = components;
    found
}

/// For each key, its first place that no component explains.
fn unexplained(sample: &Sample, components: &[Component]) -> (Vec<Unit>, Vec<Excluded>) {
    let mut taken = vec![false; sample.keys.len()];
    let mut units = Vec::new();
    let mut excluded = Vec::new();
    for place in &sample.places {
        let key = place.key as usize;
        let explained = components
            .iter()
            .any(|component| component.predictions[key] == place.partition);
        if taken[key] || explained {
            continue;
        }
        taken[key] = true;
        units.push(Unit {
            key: place.key,
            partition: place.partition,
        });
        let mut not = [NONE; EXCLUDED];
        for (component, not) in components.iter().zip(&mut not) {
            *not = component.predictions[key];
        }
        excluded.push(not);
    }
    (units, excluded)
}

/// The hypothesis on all units, if it was screened on some.
fn refine(scorer: &Scorer<'_>, scored: Scored, question: &Question<'_>) -> Scored {
    let units = question.units().count() as u64;
    if scored.looked_at == units {
        return scored;
    }
    let predictions = scorer.predictions(scored.hypothesis);
    let (mut keys, mut matches) = (0, 0);
    for (unit, excluded) in question.units() {
        let predicted = predictions[unit.key as usize];
        if predicted != NONE && !excluded.contains(&predicted) {
            keys += 1;
            matches += u64::from(predicted == unit.partition);
        }
    }
    Scored {
        looked_at: units,
        keys,
        matches,
        ..scored
    }
}

/// Rules that put every key that `best` explains where it is, too.
fn twins(scorer: &Scorer<'_>, best: Hypothesis, predictions: &[u32], units: &[Unit]) -> Vec<Twin> {
    let own = &scorer.rules[best.rule];
    let matched: Vec<&Unit> = units
        .iter()
        .filter(|unit| predictions[unit.key as usize] == unit.partition)
        .collect();
    let mut twins = Vec::new();
    for (i, rule) in scorer.rules.iter().enumerate() {
        if i == best.rule {
            continue;
        }
        let because = if rule.is_twin_at(own, best.count) {
            Because::Count
        } else {
            let others = scorer.predictions(Hypothesis { rule: i, ..best });
            let alike = |unit: &&Unit| others[unit.key as usize] == unit.partition;
            if !matched.iter().all(alike) {
                continue;
            }
            if (rule.view, rule.hash) == (own.view, own.hash) && often_differ(own, rule, best.count)
            {
                Because::FewKeys
            } else {
                Because::Keys
            }
        };
        twins.push(Twin { rule: i, because });
    }
    twins
}

/// Whether two reductions of one hash differ on more than a hundredth of all hashes.
fn often_differ(a: &super::rules::Rule, b: &super::rules::Rule, count: PartitionCount) -> bool {
    let hashes = (0..4096u32).map(|i| HashValue::Bits32(i.wrapping_mul(0x9e37_79b9) ^ (i << 20)));
    hashes
        .filter(|&hash| a.place(hash, count) != b.place(hash, count))
        .count()
        > 40
}
