//! What several outputs say in the same words, and how they look at a report.

use data_encoding::HEXLOWER;

use crate::text::number;
use crate::verify::{
    Agreement, ClientPlacement, CountReport, Fix, Mismatch, Outcome, Pair, Verdict, VerifyReport,
};

/// The keys of one kind at one count.
pub(super) struct Kind<'r> {
    /// What people call them.
    pub(super) title: &'static str,
    pub(super) keys: u64,
    pub(super) agreement: Agreement,
    /// Each client's placement, where all keys of the kind have the same.
    pub(super) placements: Option<&'r [ClientPlacement]>,
}

impl Kind<'_> {
    /// A number of keys of this kind, with its noun.
    pub(super) fn counted(&self, keys: u64) -> String {
        let title = if keys == 1 {
            self.title.replacen("keys", "key", 1)
        } else {
            self.title.to_owned()
        };
        format!("{} {title}", number(keys))
    }
}

/// The kinds of which the input has keys: those with bytes, empty ones, null ones.
pub(super) fn kinds<'r>(
    report: &'r VerifyReport,
    count: &'r CountReport,
) -> impl Iterator<Item = Kind<'r>> {
    let input = &report.input;
    let kind = |title, keys, agreement, placements| Kind {
        title,
        keys,
        agreement,
        placements,
    };
    let (empty, null) = (&count.empty, &count.null);
    [
        kind("keys with bytes", input.keyed, count.keyed, None),
        kind(
            "empty keys",
            input.empty,
            empty.agreement,
            Some(&empty.placements[..]),
        ),
        kind(
            "null keys",
            input.null,
            null.agreement,
            Some(&null.placements[..]),
        ),
    ]
    .into_iter()
    .filter(|kind| kind.keys > 0)
}

/// How a client compares with the reference on keys that have bytes; `None` when they are in one
/// group, since no key was placed differently.
pub(super) fn pair_with_reference<'r>(count: &'r CountReport, client: &str) -> Option<&'r Pair> {
    let group = count
        .groups
        .iter()
        .position(|group| group.iter().any(|name| name == client))?;
    count
        .pairs
        .iter()
        .find(|pair| (pair.a, pair.b) == (0, group))
}

/// The answer in one sentence.
pub(super) fn headline(report: &VerifyReport) -> String {
    let names: Vec<_> = report.clients.iter().map(|c| c.name.as_str()).collect();
    let counts: Vec<_> = report
        .counts
        .iter()
        .map(|count| count_sentence(report, count))
        .collect();
    let partial = if report.partial {
        " (partial: interrupted before the end of the input)"
    } else {
        ""
    };
    format!(
        "{}: {} ({}){partial}",
        report.verdict.name(),
        counts.join("; "),
        names.join(", "),
    )
}

/// The answer at one count.
pub(super) fn count_sentence(report: &VerifyReport, count: &CountReport) -> String {
    let sum = |of: fn(&Agreement) -> u64| -> u64 {
        kinds(report, count).map(|kind| of(&kind.agreement)).sum()
    };
    let at = partitions(count.partitions);
    let keys = number(report.input.keys);
    match count.verdict {
        Verdict::Disagree => format!(
            "{} of {keys} keys are placed differently at {at}",
            number(sum(|a| a.disagree))
        ),
        Verdict::Agree => {
            let agree = number(sum(|a| a.agree));
            format!("{agree} of {keys} keys are placed alike and none differently at {at}")
        }
        Verdict::Inconclusive if report.input.keys == 0 => {
            format!("the input has no keys to compare at {at}")
        }
        Verdict::Inconclusive => {
            format!("no client pins any of the {keys} keys at {at}, so none can tell")
        }
    }
}

/// A partition count with its noun.
pub(super) fn partitions(count: u32) -> String {
    match count {
        1 => "1 partition".into(),
        n => format!("{n} partitions"),
    }
}

/// The partition, or why there is none.
pub(super) fn placed(placement: &ClientPlacement) -> String {
    match (placement.outcome, placement.partition) {
        (Outcome::Pinned, Some(partition)) => partition.to_string(),
        (outcome, _) => outcome.name().into(),
    }
}

/// Whether two clients place this key differently.
pub(super) fn differs(mismatch: &Mismatch, a: &str, b: &str) -> bool {
    let of = |name: &str| {
        mismatch
            .placements
            .iter()
            .find(|p| p.client == name)
            .map(|p| (p.outcome, p.partition))
    };
    // Of a key that was too long to keep it is not known, and it is no example then.
    matches!((of(a), of(b)), (Some(a), Some(b)) if a != b)
}

/// The key as text, if all of it is printable and looks like what it is.
pub(super) fn printable(mismatch: &Mismatch) -> Option<String> {
    printable_bytes(&HEXLOWER.decode(mismatch.key_hex.as_bytes()).ok()?)
}

/// Bytes as text, if all of it is printable and looks like what it is.
pub(super) fn printable_bytes(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    // Quotes and backslashes are printable, though Rust escapes them.
    let unquoted: String = text
        .chars()
        .map(|c| {
            if matches!(c, '"' | '\'' | '\\') {
                '-'
            } else {
                c
            }
        })
        .collect();
    let plain = unquoted.escape_debug().eq(unquoted.chars());
    let spaced = text.starts_with(' ') || text.ends_with(' ') || text.contains("  ");
    (plain && !spaced).then_some(text)
}

/// A mismatch on one line, with the placements of some clients.
pub(super) fn mismatch_line(mismatch: &Mismatch, clients: &[&str]) -> String {
    let more = if mismatch.truncated { "…" } else { "" };
    let text = printable(mismatch).map_or(String::new(), |text| format!(" ({text}{more})"));
    let placements: Vec<_> = mismatch
        .placements
        .iter()
        .filter(|p| clients.contains(&p.client.as_str()))
        .map(|p| match &p.hash {
            Some(hash) => format!("{} {} (hash {hash})", p.client, placed(p)),
            None => format!("{} {}", p.client, placed(p)),
        })
        .collect();
    format!(
        "record {}, key in hexadecimal {}{more}{text}: {}",
        mismatch.record,
        mismatch.key_hex,
        placements.join(", ")
    )
}

/// A fix in words: what to do, the setting that does it, and what it leaves.
pub(super) struct FixText<'r> {
    pub(super) intro: String,
    /// In the client's own syntax.
    pub(super) config: Option<&'r str>,
    pub(super) notes: Vec<String>,
}

impl<'r> FixText<'r> {
    /// `None` when there is nothing to be done.
    pub(super) fn of(fix: &'r Fix) -> Option<Self> {
        match (&fix.setting, &fix.by_hand) {
            (Some(setting), _) => {
                let still = setting.differences.iter();
                let note = Some(setting.note).filter(|note| !note.is_empty());
                Some(Self {
                    intro: format!("To make {} place keys as {}:", fix.client, fix.as_client),
                    config: Some(setting.config),
                    notes: still
                        .map(|difference| format!("Still different: {difference}"))
                        .chain(note.map(str::to_owned))
                        .collect(),
                })
            }
            (None, Some(by_hand)) => Some(Self {
                intro: format!(
                    "{} has no setting that places keys as {}: {by_hand}",
                    fix.client, fix.as_client
                ),
                config: None,
                notes: Vec::new(),
            }),
            (None, None) => None,
        }
    }

    /// As lines of plain text.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.intro.clone())
            .chain(
                self.config
                    .into_iter()
                    .flat_map(str::lines)
                    .map(|line| format!("    {line}")),
            )
            .chain(self.notes.iter().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Case;
    use super::*;

    #[test]
    fn only_what_looks_like_itself_is_shown_as_text() {
        let key = |bytes: &[u8]| {
            printable(&Mismatch {
                record: 1,
                key_hex: HEXLOWER.encode(bytes),
                truncated: false,
                placements: Vec::new(),
            })
        };
        for text in [
            "user-1",
            "München",
            "e\u{301}t",
            "a|`<\"'\\>",
            "日本",
            "a b",
        ] {
            assert_eq!(key(text.as_bytes()).as_deref(), Some(text));
        }
        for bytes in [
            &b"a\nb"[..],
            b"\x1b[31m",
            b"\xff",
            b" a",
            b"a ",
            b"a  b",
            "\u{202e}evil".as_bytes(),
            "zero\u{200b}width".as_bytes(),
            "a\u{a0}b".as_bytes(),
        ] {
            assert_eq!(key(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn headlines() {
        for (keys, clients, counts, expected) in [
            (
                "TT0124\n",
                "java,librdkafka",
                &[15][..],
                "disagree: 1 of 1 keys are placed differently at 15 partitions (java, librdkafka)",
            ),
            (
                "TT0124\n",
                "java,kafkajs",
                &[1, 15],
                "agree: 1 of 1 keys are placed alike and none differently at 1 partition; \
                 1 of 1 keys are placed alike and none differently at 15 partitions (java, kafkajs)",
            ),
            (
                "",
                "java,kafkajs",
                &[15],
                "inconclusive: the input has no keys to compare at 15 partitions (java, kafkajs)",
            ),
            (
                "TT0124\n",
                "kafka-go,pykafka",
                &[15],
                "inconclusive: no client pins any of the 1 keys at 15 partitions, so none can tell \
                 (kafka-go, pykafka)",
            ),
        ] {
            let report = Case::text(keys).clients(clients).counts(counts).run();
            assert_eq!(headline(&report), expected);
        }
    }

    #[test]
    fn the_reference_is_compared_with_each_other_client() {
        let report = Case::text("a\nb\nc\nd\n")
            .clients("java,kafkajs,librdkafka,ruby-kafka")
            .counts(&[1009])
            .run();
        let different = |client| {
            pair_with_reference(&report.counts[0], client).map_or(0, |pair| pair.different)
        };
        assert_eq!(
            ["kafkajs", "librdkafka", "ruby-kafka"].map(different),
            [0, 4, 4]
        );
    }
}
