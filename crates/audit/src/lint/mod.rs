//! Keys that are not what they seem: bytes that people don't see are hashed like all others.

mod checks;
mod report;
pub(crate) mod spelling;

use data_encoding::HEXLOWER;

pub(crate) use checks::look;
pub use checks::{KeyKind, LintRule, LintSeverity};
pub use report::*;

use crate::Error;
use crate::input::{KeyBlock, Source};
use crate::pipeline::{self, Ended, Run};
use spelling::{Spelled, Spelling, Spellings, Threshold};

/// What to lint for.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    /// Rules that are not looked at.
    pub allow: Vec<LintRule>,
    /// How many keys to show for each rule; at most 100 are kept.
    pub show: usize,
}

const RULES: usize = LintRule::ALL.len();
const KINDS: usize = KeyKind::ALL.len();

/// Keys that are kept for each rule.
const KEPT: usize = 100;

/// Bytes of a key that are kept.
const KEY_BYTES: usize = 1 << 10;

/// Counts over some keys.
#[derive(Default)]
struct Tally {
    empty: u64,
    null: u64,
    kinds: [u64; KINDS],
    rules: [u64; RULES],
    /// The first keys of each rule, with their positions from 0.
    first: [Vec<Kept>; RULES],
    /// The first binary keys of 4 and of 8 bytes.
    widths: [Option<Kept>; 2],
    spelled: Vec<Spelled>,
}

struct Kept {
    record: u64,
    key: Vec<u8>,
    truncated: bool,
}

impl Kept {
    fn new(record: u64, key: &[u8]) -> Self {
        Self {
            record,
            key: key[..key.len().min(KEY_BYTES)].to_vec(),
            truncated: key.len() > KEY_BYTES,
        }
    }

    fn example(&self) -> LintExample {
        LintExample {
            record: self.record + 1,
            key_hex: HEXLOWER.encode(&self.key),
            truncated: self.truncated,
            other: None,
        }
    }
}

/// Reads all keys and looks at each of them.
///
/// # Errors
///
/// When a record of the input can't be read.
pub fn lint(source: &Source, options: &LintOptions, run: &Run<'_>) -> Result<LintReport, Error> {
    let threshold = Threshold::new();
    let allowed = options.allow.iter().fold(0, |bits, rule| bits | rule.bit());
    let spellings_wanted = allowed & LintRule::TwoSpellings.bit() == 0;
    let mut total = Tally::default();
    let mut spellings = Spellings::new();
    let mut keys = 0;
    let ended = pipeline::run(
        source,
        run,
        |(): &mut (), block| {
            let tally = count(block, allowed, spellings_wanted.then_some(&threshold));
            (block.len() as u64, tally)
        },
        |(in_block, tally), merged| {
            keys += in_block;
            total.add(tally, merged.keys_before, &mut spellings, &threshold);
            Ok(())
        },
    )?;
    Ok(report(source, options, ended, keys, &total, &spellings))
}

fn count(block: &KeyBlock, allowed: u32, threshold: Option<&Threshold>) -> Tally {
    let mut tally = Tally::default();
    for (record, key) in (0u64..).zip(block.keys()) {
        let key = match key {
            None => {
                tally.null += 1;
                continue;
            }
            Some([]) => {
                tally.empty += 1;
                continue;
            }
            Some(key) => key,
        };
        let (kind, found) = look(key);
        tally.kinds[kind as usize] += 1;
        let mut found = found & !allowed;
        while found != 0 {
            let rule = found.trailing_zeros() as usize;
            found &= found - 1;
            tally.rules[rule] += 1;
            let first = &mut tally.first[rule];
            if first.len() < KEPT {
                first.push(Kept::new(record, key));
            }
        }
        let width = match kind {
            KeyKind::Binary4 => Some(0),
            KeyKind::Binary8 => Some(1),
            _ => None,
        };
        if let Some(width) = width
            && tally.widths[width].is_none()
        {
            tally.widths[width] = Some(Kept::new(record, key));
        }
        if let Some(threshold) = threshold {
            tally.spelled.extend(threshold.take(key, kind, record));
        }
    }
    tally
}

impl Tally {
    /// Adds what was counted over the keys after the first `keys_before`.
    fn add(
        &mut self,
        other: Self,
        keys_before: u64,
        spellings: &mut Spellings,
        threshold: &Threshold,
    ) {
        self.empty += other.empty;
        self.null += other.null;
        for (own, other) in self.kinds.iter_mut().zip(other.kinds) {
            *own += other;
        }
        for (own, other) in self.rules.iter_mut().zip(other.rules) {
            *own += other;
        }
        let placed = |mut kept: Kept| {
            kept.record += keys_before;
            kept
        };
        for (own, other) in self.first.iter_mut().zip(other.first) {
            let wanted = KEPT - own.len();
            own.extend(other.into_iter().take(wanted).map(placed));
        }
        for (own, other) in self.widths.iter_mut().zip(other.widths) {
            if own.is_none() {
                *own = other.map(placed);
            }
        }
        for mut spelled in other.spelled {
            spelled.record += keys_before;
            spellings.add(spelled, threshold);
        }
    }
}

fn report(
    source: &Source,
    options: &LintOptions,
    ended: Ended,
    keys: u64,
    total: &Tally,
    spellings: &Spellings,
) -> LintReport {
    let show = options.show.min(KEPT);
    let allowed = |rule: LintRule| options.allow.contains(&rule);
    let mut findings: Vec<LintFinding> = Vec::new();
    for (i, &rule) in LintRule::ALL.iter().enumerate() {
        let (keys, examples) = match rule {
            LintRule::MixedWidths => mixed_widths(total, show),
            LintRule::TwoSpellings => two_spellings(spellings, show),
            _ => {
                let first = total.first[i].iter().take(show);
                (total.rules[i], first.map(Kept::example).collect())
            }
        };
        if keys > 0 && !allowed(rule) {
            findings.push(LintFinding {
                rule,
                severity: rule.severity(),
                message: rule.describe(),
                keys,
                sampled: if rule == LintRule::TwoSpellings {
                    spellings.share()
                } else {
                    1.0
                },
                examples,
            });
        }
    }
    findings.sort_by_key(|finding| finding.severity);
    let mut kinds: Vec<KindReport> = KeyKind::ALL
        .iter()
        .zip(total.kinds)
        .filter(|(_, keys)| *keys > 0)
        .map(|(&kind, keys)| KindReport { kind, keys })
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.keys));
    let verdict = if kinds.is_empty() {
        LintVerdict::NoKeys
    } else if findings
        .iter()
        .any(|finding| finding.severity < LintSeverity::Note)
    {
        LintVerdict::Problems
    } else {
        LintVerdict::Clean
    };
    let mut warnings = Vec::new();
    if !spellings.is_whole() {
        warnings.push(format!(
            "two spellings of one key are looked for on a sample of {} of the keys, both spellings of each",
            crate::verify::percent((spellings.share() * 1e6) as u64, 1_000_000)
        ));
    }
    LintReport {
        schema: LintReport::SCHEMA,
        verdict,
        partial: ended == Ended::Interrupted,
        input: LintInput {
            name: source.name().to_owned(),
            path: source.path().map(Into::into),
            records_are_lines: source.records_are_lines(),
            keys,
            empty: total.empty,
            null: total.null,
        },
        kinds,
        findings,
        warnings,
    }
}

/// Binary keys of the rarer width, if there are both.
fn mixed_widths(total: &Tally, show: usize) -> (u64, Vec<LintExample>) {
    let of = |kind: KeyKind| total.kinds[kind as usize];
    let examples = total.widths.iter().flatten().take(show).map(Kept::example);
    (
        of(KeyKind::Binary4).min(of(KeyKind::Binary8)),
        examples.collect(),
    )
}

fn two_spellings(spellings: &Spellings, show: usize) -> (u64, Vec<LintExample>) {
    let example = |spelling: &Spelling| LintExample {
        record: spelling.record + 1,
        key_hex: HEXLOWER.encode(&spelling.key),
        truncated: spelling.len > spelling.key.len(),
        other: None,
    };
    let pairs = spellings
        .pairs
        .iter()
        .take(show)
        .map(|(first, other)| LintExample {
            other: Some(Box::new(example(first))),
            ..example(other)
        });
    (spellings.keys(), pairs.collect())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::input::{Format, InputOptions, KeyEncoding};

    fn linted(content: &[u8], format: Format, options: &LintOptions) -> LintReport {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        std::fs::write(&path, content).unwrap();
        let input = InputOptions {
            format: Some(format),
            encoding: if format == Format::Csv {
                KeyEncoding::Hex
            } else {
                KeyEncoding::Utf8
            },
            ..InputOptions::default()
        };
        let source = Source::open(&path, &input).unwrap();
        let run = Run {
            threads: 2,
            interrupted: &AtomicBool::new(false),
        };
        lint(&source, options, &run).unwrap()
    }

    fn show(show: usize) -> LintOptions {
        LintOptions {
            show,
            ..LintOptions::default()
        }
    }

    fn finding(report: &LintReport, rule: LintRule) -> Option<&LintFinding> {
        report.findings.iter().find(|finding| finding.rule == rule)
    }

    #[test]
    fn counts_are_exact_and_examples_have_their_lines() {
        // Over several blocks.
        let mut content = String::new();
        for i in 0..120_000 {
            content.push_str(match i % 40_000 {
                7 => "007\n",
                9 => "x\r\n",
                _ => "key\n",
            });
        }
        let report = linted(content.as_bytes(), Format::Lines, &show(2));
        assert_eq!(report.verdict, LintVerdict::Problems);
        let zeros = finding(&report, LintRule::LeadingZeros).unwrap();
        assert_eq!((zeros.keys, zeros.examples.len()), (3, 2));
        assert_eq!(zeros.examples[1].record, 40_008);
        assert_eq!(zeros.examples[1].key_hex, "303037");
        assert_eq!(
            finding(&report, LintRule::TrailingCarriageReturn)
                .unwrap()
                .keys,
            3
        );
        assert_eq!(report.input.keys, 120_000);
        assert_eq!(
            report.findings[0].severity,
            LintSeverity::Error,
            "the worst first"
        );
    }

    #[test]
    fn two_spellings_show_both() {
        let report = linted("é\nx\ne\u{301}\n".as_bytes(), Format::Lines, &show(10));
        let pair = &finding(&report, LintRule::TwoSpellings).unwrap().examples[0];
        assert_eq!((pair.record, pair.other.as_ref().unwrap().record), (3, 1));
        assert!(finding(&report, LintRule::NotNfc).is_some());
    }

    #[test]
    fn widths_are_mixed_when_both_are_there() {
        let mixed = linted(
            b"00000001\n0000000000000001\n0000000000000002\n",
            Format::Csv,
            &show(10),
        );
        // The first row names the column.
        assert!(finding(&mixed, LintRule::MixedWidths).is_none());
        let mixed = linted(
            b"key\n00000001\n0000000000000001\n0000000000000002\n",
            Format::Csv,
            &show(10),
        );
        assert_eq!(finding(&mixed, LintRule::MixedWidths).unwrap().keys, 1);
        assert_eq!(finding(&mixed, LintRule::TwoSpellings).unwrap().keys, 1);
    }

    #[test]
    fn notes_are_no_problems_and_allowed_rules_are_silent() {
        let report = linted("München\n".as_bytes(), Format::Lines, &show(10));
        assert_eq!(
            (report.verdict, report.exit_code()),
            (LintVerdict::Clean, 0)
        );
        assert_eq!(report.findings.len(), 1);
        let allow = LintOptions {
            allow: vec![LintRule::LeadingZeros, LintRule::TwoSpellings],
            show: 10,
        };
        let report = linted(b"07\n7\n", Format::Lines, &allow);
        assert_eq!(
            (report.verdict, report.findings.len()),
            (LintVerdict::Clean, 0)
        );
        assert_eq!(linted(b"\n\n", Format::Lines, &allow).exit_code(), 4);
        assert_eq!(linted(b"a\nb\n", Format::Lines, &show(1)).exit_code(), 0);
    }

    #[test]
    fn the_order_of_threads_does_not_matter() {
        let content: String = (0..300_000)
            .map(|i| format!("{}{i}\n", "0".repeat(i % 2)))
            .collect();
        let twice = content.clone() + &content.replace("\n0", "\n");
        let reports: Vec<_> = (0..3)
            .map(|_| {
                serde_json::to_string(&LintReport {
                    input: LintInput {
                        name: String::new(),
                        ..linted(twice.as_bytes(), Format::Lines, &show(20)).input
                    },
                    ..linted(twice.as_bytes(), Format::Lines, &show(20))
                })
                .unwrap()
            })
            .collect();
        assert!(reports.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
