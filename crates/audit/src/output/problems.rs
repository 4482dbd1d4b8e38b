//! What a report has to complain about, one by one, for outputs that are made of annotations.

use super::wording::{FixText, count_sentence, differs, headline, kinds, partitions};
use crate::text::number;
use crate::verify::{
    CountReport, Finding, Mismatch, Reason, UnpinnedPolicy, Verdict, VerifyReport,
};

/// Something to annotate.
pub(super) struct Problem<'r> {
    pub(super) rule: Rule,
    pub(super) severity: Severity,
    /// What is wrong, in a sentence.
    pub(super) message: String,
    pub(super) finding: Option<&'r Finding>,
    /// The first key that shows it.
    pub(super) example: Option<&'r Mismatch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// It is why the command does not exit with 0.
    Error,
    /// It shows at other partition counts only.
    Note,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Clients differ.
    Difference(Reason),
    /// No client pins a key, and that was asked to fail.
    UnpinnedKeys,
    /// There was nothing to compare.
    Inconclusive,
    /// The input was not read to its end.
    Interrupted,
    /// Clients differ, and no rule above says why.
    Unexplained,
}

impl Rule {
    /// Every rule.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Reason::ALL
            .iter()
            .map(|&reason| Self::Difference(reason))
            .chain([
                Self::UnpinnedKeys,
                Self::Inconclusive,
                Self::Interrupted,
                Self::Unexplained,
            ])
    }

    /// A stable name.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Difference(reason) => reason.id(),
            Self::UnpinnedKeys => "unpinned-keys",
            Self::Inconclusive => "inconclusive",
            Self::Interrupted => "interrupted",
            Self::Unexplained => "disagreement",
        }
    }

    /// What the rule is about.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Difference(reason) => reason.describe(),
            Self::UnpinnedKeys => "no client pins these keys to a partition",
            Self::Inconclusive => "there was no key on which the clients could agree or disagree",
            Self::Interrupted => "the input was not read to its end",
            Self::Unexplained => "the clients place keys differently",
        }
    }

    /// What to do about it, in general; a finding's fixes say it for the client at hand.
    pub(super) const fn help(self) -> &'static str {
        match self {
            Self::Difference(reason) => match reason {
                Reason::KeyIgnored => {
                    "Select a partitioner that hashes keys on the client that ignores them. Until then the records of one key are on several partitions."
                }
                Reason::OtherHash => {
                    "Select the same partitioner on both clients before both write to one topic: `copart config --from X --to Y` prints the setting."
                }
                Reason::SignedTail => {
                    "Keys with bytes of 0x80 or more are placed differently where C's char is signed. Select another partitioner, or name the partition in each record."
                }
                Reason::FloatArithmetic => {
                    "Select the client's exact murmur2. Records of the affected keys that were written before stay where they are."
                }
                Reason::SignHandling => {
                    "The clients agree at partition counts that are powers of two only. Select the same partitioner on both before the count changes."
                }
                Reason::MultiByteView => {
                    "Hand the key over in the parameter that is hashed whole, or as bytes rather than characters."
                }
                Reason::EmptyKeyRule => {
                    "Avoid empty keys, or select a partitioner that treats them alike on both clients."
                }
                Reason::NullKeyRule => {
                    "Give records whose order matters a key. Where null keys must go to one partition, name it in each record."
                }
            },
            Self::UnpinnedKeys => {
                "Records of these keys are spread over partitions by every client. Give them keys that are hashed, or verify with `--unpinned report`."
            }
            Self::Inconclusive => {
                "Verify with keys as they are in production, at least one of which some client pins."
            }
            Self::Interrupted => "Run the command again and let it finish.",
            Self::Unexplained => {
                "`copart verify --output table` shows the partition of each key under each client."
            }
        }
    }
}

impl Problem<'_> {
    /// The message, and for each client library what to do.
    pub(super) fn full_message(&self) -> String {
        let fixes = self.finding.iter().flat_map(|finding| &finding.fixes);
        let lines = fixes
            .filter_map(FixText::of)
            .flat_map(|text| text.lines().collect::<Vec<_>>());
        let mut message = self.message.clone();
        for line in lines {
            message.push('\n');
            message.push_str(&line);
        }
        message
    }
}

/// All problems: those that decide the answer, then the others.
pub(super) fn problems(report: &VerifyReport) -> Vec<Problem<'_>> {
    let mut problems: Vec<_> = report
        .findings
        .iter()
        .map(|finding| from_finding(report, finding))
        .collect();
    problems.extend(unpinned(report));
    let plain = |rule, message| Problem {
        rule,
        severity: Severity::Error,
        message,
        finding: None,
        example: None,
    };
    if report.verdict == Verdict::Inconclusive {
        let counts = report.counts.iter();
        let why: Vec<_> = counts
            .filter(|count| count.verdict == Verdict::Inconclusive)
            .map(|count| count_sentence(report, count))
            .collect();
        problems.push(plain(Rule::Inconclusive, why.join("; ")));
    }
    if report.partial {
        let keys = number(report.input.keys);
        let message = format!("interrupted after {keys} keys; the rest of the input may differ");
        problems.push(plain(Rule::Interrupted, message));
    }
    let explained = problems
        .iter()
        .any(|problem| problem.severity == Severity::Error && problem.rule != Rule::Interrupted);
    if report.verdict == Verdict::Disagree && !explained {
        problems.push(plain(Rule::Unexplained, headline(report)));
    }
    problems.sort_by_key(|problem| problem.severity == Severity::Note);
    problems
}

fn from_finding<'r>(report: &'r VerifyReport, finding: &'r Finding) -> Problem<'r> {
    let client = finding.clients.first().map_or("", String::as_str);
    let mismatches = report.counts.iter().flat_map(|count| &count.mismatches);
    let example = mismatches
        .filter(|mismatch| differs(mismatch, client, &finding.reference))
        .min_by_key(|mismatch| mismatch.record)
        .filter(|_| finding.affects_verdict && !finding.reason.is_keyless());
    // The messages on keys with bytes end with their share at each count.
    let keys = match finding.reason {
        Reason::EmptyKeyRule => keyless_keys(report, "empty keys"),
        Reason::NullKeyRule => keyless_keys(report, "null keys"),
        _ => String::new(),
    };
    Problem {
        rule: Rule::Difference(finding.reason),
        severity: if finding.affects_verdict {
            Severity::Error
        } else {
            Severity::Note
        },
        message: format!("{}{keys}", finding.message),
        finding: Some(finding),
        example,
    }
}

/// How many such keys there are, in parentheses.
fn keyless_keys(report: &VerifyReport, title: &str) -> String {
    let mut kinds = report.counts.iter().flat_map(|count| kinds(report, count));
    kinds
        .find(|kind| kind.title == title)
        .map_or(String::new(), |kind| {
            format!(" ({})", kind.counted(kind.keys))
        })
}

/// Keys that no client pins, where that is a disagreement.
fn unpinned(report: &VerifyReport) -> Vec<Problem<'_>> {
    if report.unpinned_policy != UnpinnedPolicy::Fail {
        return Vec::new();
    }
    let mut problems: Vec<Problem<'_>> = Vec::new();
    for count in &report.counts {
        for kind in kinds(report, count) {
            let alike = match kind.placements {
                None => count.groups.len() == 1,
                Some(placements) => placements
                    .windows(2)
                    .all(|p| (p[0].outcome, p[0].partition) == (p[1].outcome, p[1].partition)),
            };
            // Placed alike and yet a disagreement: the policy made it one.
            if alike && kind.agreement.disagree > 0 {
                problems.push(Problem {
                    rule: Rule::UnpinnedKeys,
                    severity: Severity::Error,
                    message: format!(
                        "{}: pinned by no client at {}, which is to fail",
                        kind.counted(kind.agreement.disagree),
                        partitions(count.partitions)
                    ),
                    finding: None,
                    example: None,
                });
            }
        }
    }
    problems
}

/// The line of the input that shows a problem, if records are lines.
pub(super) fn line(report: &VerifyReport, problem: &Problem<'_>) -> Option<u64> {
    let example = problem.example.filter(|_| report.input.records_are_lines)?;
    Some(example.record)
}

/// The counts at which a finding's clients differ on keys that have bytes.
pub(super) fn counts_affected<'r>(
    report: &'r VerifyReport,
    finding: &'r Finding,
) -> impl Iterator<Item = &'r CountReport> {
    report.counts.iter().filter(|count| {
        finding.clients.iter().any(|client| {
            super::wording::pair_with_reference(count, client)
                .is_some_and(|pair| pair.different > 0)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Case;
    use super::*;

    /// Each problem's rule, whether it is an error, and its line.
    fn found(case: Case) -> Vec<(&'static str, bool, Option<u64>)> {
        let report = case.run();
        problems(&report)
            .iter()
            .map(|p| (p.rule.id(), p.severity == Severity::Error, line(&report, p)))
            .collect()
    }

    #[test]
    fn every_way_to_fail_is_a_problem() {
        let clients = |clients, text: &str| Case::text(text).clients(clients).counts(&[12]);
        for (case, expected) in [
            (clients("java,kafkajs", "a\nb\n"), vec![]),
            // Seen from the second key on: the first is placed alike.
            (
                Case::text("user-17\n100:48069\nuser-1\nuser-2\n")
                    .clients("java,kafkajs@1.16")
                    .counts(&[12]),
                vec![("float-arithmetic", true, Some(2))],
            ),
            // 16 is a power of two, and the probes are not.
            (
                clients(
                    "java,hash=murmur2,reduce=unsigned",
                    "100:48069\nTT0124\nx\ny\nz\n",
                )
                .counts(&[16]),
                vec![("sign-handling", false, None)],
            ),
            (
                clients("java,librdkafka", "\n"),
                vec![("empty-key-rule", true, None)],
            ),
            (
                clients("java,platformatic/compatibility", "-\n").null("-"),
                vec![("null-key-rule", true, None)],
            ),
            // No key with bytes shows that the hashes differ, but the empty one does.
            (
                clients("java,ruby-kafka", "\n"),
                vec![("other-hash", true, None)],
            ),
            // With bytes it is said once.
            (
                clients("java,ruby-kafka", "\nTT0124\n").counts(&[15]),
                vec![("other-hash", true, Some(2))],
            ),
            (
                clients("java,kafkajs", "-\n").null("-"),
                vec![("inconclusive", true, None)],
            ),
            (
                clients("java,kafkajs", ""),
                vec![("inconclusive", true, None)],
            ),
            (
                clients("java,kafkajs", "-\na\n")
                    .null("-")
                    .unpinned(UnpinnedPolicy::Fail),
                vec![("unpinned-keys", true, None)],
            ),
            (
                clients("kafka-go,pykafka", "a\n").unpinned(UnpinnedPolicy::Fail),
                vec![("unpinned-keys", true, None)],
            ),
            (
                clients("java,kafkajs", "a\n").interrupted(),
                vec![("inconclusive", true, None), ("interrupted", true, None)],
            ),
        ] {
            assert_eq!(found(case), expected);
        }
    }

    #[test]
    fn a_rule_that_changes_nothing_at_this_count_is_no_error() {
        // With one partition, the hash of the empty key is on it too.
        let report = Case::text("\na\n")
            .clients("hash=murmur2,reduce=mask,hash=murmur2,reduce=mask,empty=0")
            .counts(&[1])
            .run();
        assert_eq!(report.verdict, Verdict::Agree);
        let found: Vec<_> = problems(&report)
            .iter()
            .map(|p| (p.rule.id(), p.severity))
            .collect();
        assert_eq!(found, [("empty-key-rule", Severity::Note)]);
    }

    #[test]
    fn messages_carry_the_share_and_the_setting() {
        let report = Case::text("TT0124\n").counts(&[15]).run();
        let problems = problems(&report);
        let message = problems[0].full_message();
        assert!(message.contains("100 % of keys at 15"), "{message}");
        assert!(
            message.contains("\n    partitioner=murmur2_random"),
            "{message}"
        );
    }

    #[test]
    fn rules_have_distinct_ids() {
        let mut ids: Vec<_> = Rule::all().map(Rule::id).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }
}
