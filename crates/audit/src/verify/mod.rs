//! Do these clients agree on these keys?

pub(crate) mod explain;
mod report;
mod tally;

use std::sync::atomic::{AtomicBool, Ordering};

use copart_partitioners::{HashValue, KeyedRule, PartitionCount, Placement};
use data_encoding::HEXLOWER;
use serde::Serialize;

pub use report::*;

use crate::Error;
use crate::clients::Client;
use crate::input::Source;
use crate::pipeline::{self, Ended, Run};
use crate::plan::{Plan, REJECTED, code};
use tally::{CountTally, Counting, KEPT, Kept, Scratch, Tally, pair};

/// What to verify.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The clients to compare; the first is the reference.
    pub clients: Vec<Client>,
    /// The partition counts of the topics in question.
    pub counts: Vec<PartitionCount>,
    /// Further counts to try, so that agreement by chance of the count is seen.
    pub probes: Vec<PartitionCount>,
    /// What keys count as that no client pins.
    pub unpinned: UnpinnedPolicy,
    /// How many mismatching keys to show for each count; at most 100 are kept.
    pub show: usize,
}

/// What a key counts as that no client pins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnpinnedPolicy {
    /// It is reported apart, and is neither agreement nor disagreement.
    #[default]
    Report,
    /// It is a disagreement: the records of such a key are spread over partitions.
    Fail,
    /// It is left out of the report.
    Skip,
}

/// Even but no power of two, odd, and prime: counts at which sign rules show.
const PROBES: [u32; 3] = [12, 15, 31];

/// The counts to probe when `asked` were asked for.
#[must_use]
pub fn default_probes(asked: &[PartitionCount]) -> Vec<PartitionCount> {
    let probes = PROBES.iter().filter_map(|&n| PartitionCount::new(n));
    probes.filter(|probe| !asked.contains(probe)).collect()
}

/// Blocks of the input that are probed whole, before only every such one is.
const PROBED_BLOCKS: usize = 16;

/// Reads all keys and compares where the clients place them.
///
/// # Errors
///
/// When fewer than two clients or no count is given, or a record of the input can't be read; then
/// there is no report, since the rest of the input could contradict it.
pub fn verify(
    source: &Source,
    options: &VerifyOptions,
    run: &Run<'_>,
) -> Result<VerifyReport, Error> {
    if options.clients.len() < 2 {
        return Err(Error::usage("comparing needs at least two clients"));
    }
    if options.counts.is_empty() {
        return Err(Error::usage("no partition count is given"));
    }
    let plan = Plan::new(&options.clients);
    let counting = Counting {
        plan: &plan,
        asked: &options.counts,
        probes: &options.probes,
    };
    let mut total = Tally::default();
    total
        .asked
        .resize_with(options.counts.len(), CountTally::default);
    total
        .probed
        .resize_with(options.probes.len(), CountTally::default);
    let mut carriage_returns = 0;
    let enough = AtomicBool::new(false);
    let ended = pipeline::run(
        source,
        run,
        |scratch: &mut Scratch, block| {
            let probe = block.index < PROBED_BLOCKS || block.index.is_multiple_of(PROBED_BLOCKS);
            counting.count(scratch, block, probe, !enough.load(Ordering::Relaxed))
        },
        |tally, merged| {
            total.add(tally, merged.keys_before);
            carriage_returns += merged.carriage_returns;
            if total.asked.iter().all(|count| count.first.len() >= KEPT) {
                enough.store(true, Ordering::Relaxed);
            }
            Ok(())
        },
    )?;
    let mut report = Builder {
        options,
        plan: &plan,
        total: &total,
    }
    .report(source, ended);
    if carriage_returns > 0 {
        report.warnings.push(format!(
            "{carriage_returns} keys end in a carriage return (\\r), which is hashed too: if the file has Windows line ends, convert it first"
        ));
    }
    Ok(report)
}

struct Builder<'b> {
    options: &'b VerifyOptions,
    plan: &'b Plan,
    total: &'b Tally,
}

impl Builder<'_> {
    fn report(&self, source: &Source, ended: Ended) -> VerifyReport {
        let Tally {
            keyed, empty, null, ..
        } = *self.total;
        let counts: Vec<_> = self
            .options
            .counts
            .iter()
            .zip(&self.total.asked)
            .map(|(&count, tally)| self.count_report(count, tally))
            .collect();
        VerifyReport {
            schema: VerifyReport::SCHEMA,
            verdict: overall(counts.iter().map(|count| count.verdict)),
            partial: ended == Ended::Interrupted,
            unpinned_policy: self.options.unpinned,
            input: InputSummary {
                name: source.name().to_owned(),
                path: source.path().map(Into::into),
                records_are_lines: source.records_are_lines(),
                keys: keyed + empty + null,
                keyed,
                empty,
                null,
            },
            clients: self.options.clients.iter().map(summary).collect(),
            findings: self.findings(),
            probes: ProbeReport {
                keys: self.total.probed_keys,
                counts: self
                    .options
                    .probes
                    .iter()
                    .zip(&self.total.probed)
                    .map(|(count, tally)| Probe {
                        partitions: count.get(),
                        keyed: agreement(tally),
                    })
                    .collect(),
            },
            warnings: self.warnings(&counts),
            counts,
        }
    }

    fn count_report(&self, count: PartitionCount, tally: &CountTally) -> CountReport {
        let mut keyed = agreement(tally);
        let mut empty = self.keyless(Some(&[]), self.total.empty, count);
        let mut null = self.keyless(None, self.total.null, count);
        for agreement in [&mut keyed, &mut empty.agreement, &mut null.agreement] {
            match self.options.unpinned {
                UnpinnedPolicy::Report => {}
                UnpinnedPolicy::Fail => {
                    agreement.disagree += std::mem::take(&mut agreement.unpinned);
                }
                UnpinnedPolicy::Skip => agreement.unpinned = 0,
            }
        }
        let groups = self.groups(tally);
        let pairs = self.pairs(&groups, tally);
        CountReport {
            partitions: count.get(),
            verdict: verdict([keyed, empty.agreement, null.agreement]),
            keyed,
            empty,
            null,
            groups: groups
                .iter()
                .map(|group| group.iter().map(|&client| self.name(client)).collect())
                .collect(),
            pairs,
            mismatches: tally
                .first
                .iter()
                .take(self.options.show)
                .map(|kept| self.mismatch(kept, count))
                .collect(),
        }
    }

    fn name(&self, client: usize) -> String {
        self.options.clients[client].name().to_owned()
    }

    /// Keys on which two clients differ.
    fn different(&self, a: usize, b: usize, tally: &CountTally) -> u64 {
        let (a, b) = (self.plan.rule_of[a], self.plan.rule_of[b]);
        if a == b {
            return 0;
        }
        let index = pair(a.min(b), a.max(b), self.plan.rules.len());
        tally.pairs.get(index).copied().unwrap_or(0)
    }

    /// Clients that placed every keyed key alike. Being alike on every key is transitive.
    fn groups(&self, tally: &CountTally) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for client in 0..self.options.clients.len() {
            match groups
                .iter_mut()
                .find(|group| self.different(group[0], client, tally) == 0)
            {
                Some(group) => group.push(client),
                None => groups.push(vec![client]),
            }
        }
        groups
    }

    fn pairs(&self, groups: &[Vec<usize>], tally: &CountTally) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for a in 0..groups.len() {
            for b in a + 1..groups.len() {
                let different = self.different(groups[a][0], groups[b][0], tally);
                pairs.push(Pair {
                    a,
                    b,
                    same: self.total.keyed - different,
                    different,
                });
            }
        }
        pairs
    }

    fn keyless(&self, key: Option<&[u8]>, keys: u64, count: PartitionCount) -> KeylessReport {
        let placements = self.placements(key, count);
        let codes: Vec<_> = self
            .options
            .clients
            .iter()
            .map(|c| code(c.profile().place(key, count)))
            .collect();
        let mut agreement = Agreement::default();
        *match codes.as_slice() {
            [first, rest @ ..] if rest.iter().any(|other| other != first) => {
                &mut agreement.disagree
            }
            [first, ..] if *first < REJECTED => &mut agreement.agree,
            _ => &mut agreement.unpinned,
        } = keys;
        KeylessReport {
            agreement,
            placements,
        }
    }

    fn placements(&self, key: Option<&[u8]>, count: PartitionCount) -> Vec<ClientPlacement> {
        let hash = |client: &Client| client.profile().hash(key.filter(|key| !key.is_empty())?);
        self.options
            .clients
            .iter()
            .map(|client| {
                client_placement(client, hash(client), client.profile().place(key, count))
            })
            .collect()
    }

    fn mismatch(&self, kept: &Kept, count: PartitionCount) -> Mismatch {
        let truncated = kept.len > kept.key.len();
        Mismatch {
            record: kept.record,
            key_hex: HEXLOWER.encode(&kept.key),
            truncated,
            // Of a key that was not kept whole no placement can be computed again.
            placements: if truncated {
                Vec::new()
            } else {
                self.placements(Some(&kept.key), count)
            },
        }
    }

    /// Why clients differ from the first: each difference once, however many counts show it.
    fn findings(&self) -> Vec<Finding> {
        let [reference, others @ ..] = self.options.clients.as_slice() else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        let mut explained: Vec<usize> = vec![self.plan.rule_of[0]];
        for (i, client) in others.iter().enumerate() {
            let rule = self.plan.rule_of[i + 1];
            if explained.contains(&rule) {
                continue;
            }
            explained.push(rule);
            let differs = |tallies: &[CountTally]| {
                tallies
                    .iter()
                    .any(|tally| self.different(0, i + 1, tally) > 0)
            };
            let affects_verdict = differs(&self.total.asked);
            if affects_verdict || differs(&self.total.probed) {
                let alike: Vec<_> = (0..others.len())
                    .filter(|&j| self.plan.rule_of[j + 1] == rule)
                    .map(|j| &others[j])
                    .collect();
                findings.push(self.keyed_finding(client, &alike, reference, affects_verdict));
            }
        }
        let kinds = [
            (Reason::EmptyKeyRule, self.total.empty),
            (Reason::NullKeyRule, self.total.null),
        ];
        for (reason, keys) in kinds {
            if keys == 0 {
                continue;
            }
            let key = (reason == Reason::EmptyKeyRule).then_some(&[][..]);
            for client in others {
                let affects_verdict = self.options.counts.iter().any(|&count| {
                    client.profile().place(key, count) != reference.profile().place(key, count)
                });
                let explained = findings.iter().any(|finding: &Finding| {
                    finding.affects_verdict
                        && !finding.reason.is_keyless()
                        && finding.clients.iter().any(|c| c == client.name())
                });
                findings.extend(explain::keyless_finding(
                    client,
                    reference,
                    reason,
                    affects_verdict,
                    explained,
                ));
            }
        }
        findings
    }

    fn keyed_finding(
        &self,
        client: &Client,
        alike: &[&Client],
        reference: &Client,
        affects_verdict: bool,
    ) -> Finding {
        let reason = explain::keyed_reason(client.profile(), reference.profile());
        let names: Vec<_> = alike.iter().map(|client| client.name()).collect();
        let mut message = explain::keyed_message(reason, &names.join(", "), client, reference);
        let chance = self.options.counts.iter().find(|&&n| {
            explain::agree_only_at_powers_of_two(client.profile(), reference.profile(), n)
        });
        if let (false, Some(n)) = (affects_verdict, chance) {
            message = format!("they agree at {n} only because {n} is a power of two; {message}");
        } else if !affects_verdict {
            message = format!("they agree at the counts asked for only; {message}");
        }
        Finding {
            reason,
            clients: alike
                .iter()
                .map(|client| client.name().to_owned())
                .collect(),
            reference: reference.name().to_owned(),
            affects_verdict,
            message: format!("{message}{}", self.shares(client)),
            fixes: explain::fixes(alike, reference),
        }
    }

    /// On how many keys a client differs from the reference, count by count.
    fn shares(&self, client: &Client) -> String {
        let Some(at) = self
            .options
            .clients
            .iter()
            .position(|c| c.name() == client.name())
        else {
            return String::new();
        };
        let share = |(count, tally): (&PartitionCount, &CountTally), keys: u64| {
            let different = self.different(0, at, tally);
            format!("{} of keys at {count}", percent(different, keys))
        };
        let asked = self.options.counts.iter().zip(&self.total.asked);
        let probed = self.options.probes.iter().zip(&self.total.probed);
        let shares: Vec<_> = asked
            .map(|count| share(count, self.total.keyed))
            .chain(probed.map(|count| share(count, self.total.probed_keys)))
            .collect();
        format!(" ({})", shares.join(", "))
    }

    fn warnings(&self, counts: &[CountReport]) -> Vec<String> {
        let mut warnings = Vec::new();
        if counts.iter().any(|count| count.partitions == 1) {
            warnings.push("with one partition every client agrees with every other".into());
        }
        for client in &self.options.clients {
            if let Some(why) = client.unverified() {
                warnings.push(format!(
                    "{}: its placements have not been checked against the real client ({why})",
                    client.name()
                ));
            }
        }
        warnings
    }
}

pub(crate) fn summary(client: &Client) -> ClientSummary {
    let profile = client.profile();
    ClientSummary {
        name: client.name().to_owned(),
        id: client.entry().map(|entry| entry.id),
        rule: profile.keyed.to_string(),
        pins_keys: !matches!(profile.keyed, KeyedRule::Unpinned(_)),
        empty: profile.empty.to_string(),
        null: profile.null.to_string(),
        unverified: client.unverified(),
    }
}

fn client_placement(
    client: &Client,
    hash: Option<HashValue>,
    placement: Placement,
) -> ClientPlacement {
    ClientPlacement {
        client: client.name().to_owned(),
        hash: hash.map(|hash| hash.to_string()),
        partition: placement.partition(),
        outcome: match placement {
            Placement::Pinned(_) => Outcome::Pinned,
            Placement::Unpinned => Outcome::Unpinned,
            Placement::Rejected => Outcome::Rejected,
        },
    }
}

fn agreement(tally: &CountTally) -> Agreement {
    Agreement {
        agree: tally.agree,
        disagree: tally.disagree,
        unpinned: tally.apart,
    }
}

fn verdict(kinds: [Agreement; 3]) -> Verdict {
    if kinds.iter().any(|kind| kind.disagree > 0) {
        Verdict::Disagree
    } else if kinds.iter().any(|kind| kind.agree > 0) {
        Verdict::Agree
    } else {
        Verdict::Inconclusive
    }
}

/// The worst answer wins: disagreement, then doubt.
fn overall(mut verdicts: impl Iterator<Item = Verdict> + Clone) -> Verdict {
    if verdicts.clone().any(|verdict| verdict == Verdict::Disagree) {
        Verdict::Disagree
    } else if verdicts.all(|verdict| verdict == Verdict::Agree) {
        Verdict::Agree
    } else {
        Verdict::Inconclusive
    }
}

/// A share for people: no decimals where they would say nothing, but never 0 or 100 unless it is.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "none".into();
    }
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        _ if part == 0 => "0 %".into(),
        _ if part == whole => "100 %".into(),
        s if s < 0.1 => "<0.1 %".into(),
        s if s > 99.9 => ">99.9 %".into(),
        s if s < 10.0 => format!("{s:.1} %"),
        s => format!("{s:.0} %"),
    }
}
