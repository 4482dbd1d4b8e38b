//! A report to paste into a pull request: GitHub-flavoured Markdown.
//!
//! Keys and names can hold anything, so they never reach the page as Markdown: they are in
//! `<code>` elements, with every character that means something as a character reference. That
//! also keeps an `@name` in a key from notifying anyone.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::wording::{FixText, Kind, headline, kinds, partitions, placed, printable};
use crate::text::number;
use crate::verify::{CountReport, Finding, Mismatch, Verdict, VerifyReport, percent};

/// Mismatches shown for each count: a comment has room for 65,536 characters.
const SHOWN: usize = 10;

/// Characters of a key that are shown.
const KEY_WIDTH: usize = 64;

pub(crate) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    verdict(report, out)?;
    counts_table(report, out)?;
    pairs_table(report, out)?;
    keyless_table(report, out)?;
    findings(report, out)?;
    probes(report, out)?;
    for count in &report.counts {
        mismatches(count, out)?;
    }
    for warning in &report.warnings {
        writeln!(out, "\n**Warning:** {}", text(warning))?;
    }
    Ok(())
}

fn verdict(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let mark = match report.verdict {
        Verdict::Agree => "✅",
        Verdict::Disagree => "❌",
        Verdict::Inconclusive => "⚠️",
    };
    let sentence = headline(report);
    let (word, rest) = sentence.split_once(':').unwrap_or((&sentence, ""));
    writeln!(out, "{mark} **{}**:{}", text(word), text(rest))?;
    writeln!(
        out,
        "\n{} holds {} keys: {} with bytes, {} empty, {} null.",
        code(&report.input.name),
        number(report.input.keys),
        number(report.input.keyed),
        number(report.input.empty),
        number(report.input.null)
    )
}

fn counts_table(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    if report.input.keys == 0 {
        return Ok(());
    }
    let rows = report
        .counts
        .iter()
        .flat_map(|count| kinds(report, count).map(move |kind| (count, kind)));
    let rows = rows.map(|(count, kind)| {
        let Kind {
            title, agreement, ..
        } = kind;
        [
            count.partitions.to_string(),
            title.to_owned(),
            number(agreement.agree),
            number(agreement.disagree),
            number(agreement.unpinned),
            count.verdict.name().to_owned(),
        ]
    });
    let heads = [
        "partitions",
        "keys",
        "agree",
        "disagree",
        "unpinned",
        "answer",
    ];
    table(heads, "rlrrrl", rows, out)
}

fn pairs_table(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    if report.input.keyed == 0 {
        return Ok(());
    }
    let pairs = report
        .counts
        .iter()
        .flat_map(|count| count.pairs.iter().map(move |pair| (count, pair)));
    let rows = pairs.map(|(count, pair)| {
        [
            count.partitions.to_string(),
            codes(&count.groups[pair.a]),
            codes(&count.groups[pair.b]),
            number(pair.same),
            number(pair.different),
            percent(pair.different, pair.same + pair.different),
        ]
    });
    let heads = ["partitions", "clients", "and", "same", "different", "share"];
    table(heads, "rllrrr", rows, out)
}

/// Where empty and null keys go, if there are any.
fn keyless_table(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let kinds = report
        .counts
        .iter()
        .flat_map(|count| kinds(report, count).map(move |kind| (count, kind)));
    let rows = kinds.filter_map(|(count, kind)| {
        let placements = kind.placements?.iter();
        let placements: Vec<_> = placements
            .map(|p| format!("{} {}", code(&p.client), placed(p)))
            .collect();
        Some([
            count.partitions.to_string(),
            kind.title.to_owned(),
            placements.join(", "),
        ])
    });
    table(["partitions", "keys", "go to"], "rll", rows, out)
}

fn findings(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    if report.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n#### Why\n")?;
    let mut said = Vec::new();
    for finding in &report.findings {
        self::finding(finding, &mut said, out)?;
    }
    Ok(())
}

/// A finding as a list item; a fix that was `said` before is not said again.
fn finding<'r>(
    finding: &'r Finding,
    said: &mut Vec<(&'r str, &'r str)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let note = if finding.affects_verdict {
        ""
    } else {
        " (at other partition counts)"
    };
    writeln!(out, "- {}{note}", text(&finding.message))?;
    for fix in &finding.fixes {
        if said.contains(&(&fix.client, &fix.as_client)) {
            continue;
        }
        said.push((&fix.client, &fix.as_client));
        let Some(fix) = FixText::of(fix) else {
            continue;
        };
        writeln!(out, "\n  {}", text(&fix.intro))?;
        if let Some(config) = fix.config {
            let fence = fence(config);
            writeln!(out, "\n  {fence}")?;
            for line in config.lines() {
                writeln!(out, "  {line}")?;
            }
            writeln!(out, "  {fence}")?;
        }
        for note in &fix.notes {
            writeln!(out, "\n  {}", text(note))?;
        }
    }
    Ok(())
}

/// A fence that the text can't end.
pub(super) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

fn probes(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let probes = &report.probes;
    if probes.keys == 0 || probes.counts.is_empty() {
        return Ok(());
    }
    let shares: Vec<_> = probes
        .counts
        .iter()
        .map(|probe| {
            let share = percent(probe.keyed.disagree, probes.keys);
            format!("{share} at {}", partitions(probe.partitions))
        })
        .collect();
    writeln!(
        out,
        "\nTried besides, on {} keys with bytes: {} are placed differently.",
        number(probes.keys),
        shares.join(", ")
    )
}

fn mismatches(count: &CountReport, out: &mut dyn Write) -> io::Result<()> {
    let shown = &count.mismatches[..count.mismatches.len().min(SHOWN)];
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n<details><summary>First {} of {} differing keys at {} (partition, hash)</summary>",
        shown.len(),
        number(count.keyed.disagree),
        partitions(count.partitions)
    )?;
    let clients: Vec<_> = count.groups.iter().flatten().collect();
    let heads = ["record", "key"].map(str::to_owned);
    let heads = heads.into_iter().chain(clients.iter().map(|c| code(c)));
    let align = format!("rl{}", "l".repeat(clients.len()));
    let rows = shown.iter().map(|mismatch| {
        let placements = clients.iter().map(|client| {
            let placement = mismatch.placements.iter().find(|p| &p.client == *client);
            placement.map_or("key too long".into(), |p| match &p.hash {
                Some(hash) => format!("{} {}", placed(p), code(hash)),
                None => placed(p),
            })
        });
        let fixed = [number(mismatch.record), key(mismatch)];
        fixed.into_iter().chain(placements).collect::<Vec<_>>()
    });
    table(heads, &align, rows, out)?;
    writeln!(out, "\n</details>")
}

/// A key as text, or in hexadecimal when it is not printable or would mislead.
fn key(mismatch: &Mismatch) -> String {
    let (prefix, shown) = match printable(mismatch) {
        Some(text) => ("", text),
        None => ("hex ", mismatch.key_hex.clone()),
    };
    let cut = shown.chars().count() > KEY_WIDTH;
    let kept: String = shown.chars().take(KEY_WIDTH).collect();
    let more = if cut || mismatch.truncated { "…" } else { "" };
    format!("{prefix}{}{more}", code(&kept))
}

/// A table, its columns aligned `l`eft or `r`ight; nothing at all without rows.
pub(super) fn table<R: IntoIterator<Item = String>>(
    heads: impl IntoIterator<Item = impl ToString>,
    align: &str,
    rows: impl Iterator<Item = R>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let heads = heads.into_iter().map(|head| head.to_string());
    writeln!(out)?;
    self::row(heads, out)?;
    let rules = align
        .chars()
        .map(|c| if c == 'r' { "---:" } else { ":---" });
    self::row(rules.map(str::to_owned), out)?;
    rows.try_for_each(|row| self::row(row, out))
}

fn row(cells: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::from("|");
    for cell in cells {
        let _ = write!(line, " {cell} |");
    }
    writeln!(out, "{line}")
}

fn codes(names: &[String]) -> String {
    let codes: Vec<_> = names.iter().map(|name| code(name)).collect();
    codes.join(", ")
}

/// Text that is shown as it is, in a fixed-width font.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", self::text(text))
}

/// Text that is shown as it is.
pub(super) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Nothing in Markdown, in a table or in HTML.
            c if c.is_alphanumeric() => escaped.push(c),
            ' ' | ',' | '.' | ';' | ':' | '/' | '-' | '=' | '%' | '(' | ')' | '?' | '\'' | '…' => {
                escaped.push(c)
            }
            c if c.is_control() => {
                let _ = write!(escaped, "{}", text_of_control(c));
            }
            c => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
        }
    }
    escaped
}

/// A control character as Rust writes it, its backslash and braces as references.
fn text_of_control(c: char) -> String {
    let escape = c.escape_default().to_string();
    escape
        .replace('\\', "&#92;")
        .replace('{', "&#123;")
        .replace('}', "&#125;")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, HOSTILE, written};
    use super::*;

    fn tables(markdown: &str) -> Vec<Vec<Vec<&str>>> {
        let mut tables: Vec<Vec<Vec<&str>>> = Vec::new();
        let mut inside = false;
        for line in markdown.lines() {
            let row = line.strip_prefix("| ").and_then(|l| l.strip_suffix(" |"));
            match row {
                Some(row) => {
                    if !inside {
                        tables.push(Vec::new());
                    }
                    tables.last_mut().unwrap().push(row.split(" | ").collect());
                }
                None => assert!(!line.contains('|'), "a pipe outside a table: {line}"),
            }
            inside = row.is_some();
        }
        for table in &tables {
            assert!(
                table.iter().all(|row| row.len() == table[0].len()),
                "{table:#?}"
            );
        }
        tables
    }

    #[test]
    fn the_answer_its_numbers_its_reasons_and_its_keys() {
        let report = Case::text("TT0124\nMünchen\n\n-\n")
            .null("-")
            .clients("java,kafkajs,librdkafka")
            .counts(&[15, 16])
            .run();
        let markdown = written(write, &report);
        assert!(markdown.starts_with("❌ **disagree**: "), "{markdown}");
        let tables = tables(&markdown);
        assert_eq!(tables[0].len(), 2 + 6, "three kinds at two counts");
        assert_eq!(
            tables[0][2],
            ["15", "keys with bytes", "0", "2", "0", "disagree"]
        );
        assert_eq!(
            tables[1][2],
            [
                "15",
                "<code>java</code>, <code>kafkajs</code>",
                "<code>librdkafka</code>",
                "0",
                "2",
                "100 %"
            ]
        );
        assert_eq!(tables[2].len(), 2 + 4, "empty and null keys at two counts");
        assert_eq!(tables.len(), 3 + 2, "and the keys at each count");
        let key = &tables[3][2];
        assert_eq!(key[..2], ["1", "<code>TT0124</code>"]);
        assert_eq!(key[2], "10 <code>0xaa07cf36</code>");
        assert_eq!(key[4], "9 <code>0xf208558b</code>");
        assert_eq!(tables[3][3][1], "<code>München</code>");
        assert_eq!(
            markdown
                .matches("\n  ```\n  partitioner=murmur2_random\n  ```\n")
                .count(),
            1,
            "a fix is said once: {markdown}"
        );
    }

    #[test]
    fn agreement_has_no_reasons_and_no_keys() {
        let markdown = written(write, &Case::text("a\n").clients("java,kafkajs").run());
        assert!(markdown.starts_with("✅ **agree**: "));
        assert!(!markdown.contains("Why") && !markdown.contains("<details>"));
        assert_eq!(tables(&markdown).len(), 1);
    }

    #[test]
    fn an_empty_input_is_inconclusive_and_has_no_tables() {
        let markdown = written(write, &Case::text("").run());
        assert!(markdown.starts_with("⚠️ **inconclusive**: the input has no keys"));
        assert!(tables(&markdown).is_empty());
    }

    #[test]
    fn hostile_keys_stay_in_their_cells() {
        let report = Case::hostile().counts(&[65_536]).run();
        let markdown = written(write, &report);
        let tables = tables(&markdown);
        let keys: Vec<_> = tables.last().unwrap()[2..]
            .iter()
            .map(|row| row[1])
            .collect();
        assert_eq!(keys.len(), SHOWN);
        for (key, mismatch) in keys.iter().zip(&report.counts[0].mismatches) {
            let shown = key
                .strip_prefix("hex ")
                .unwrap_or(key)
                .strip_prefix("<code>")
                .and_then(|key| key.strip_suffix("</code>"))
                .unwrap();
            assert!(
                !shown.contains(['<', '>', '`', '|', '"', '*', '_', '@', '[', ']', '\\', '\n']),
                "{shown}"
            );
            let bytes = HOSTILE[mismatch.record as usize - 1];
            let back = unescape(shown);
            match key.starts_with("hex ") {
                true => assert_eq!(back, mismatch.key_hex),
                false => assert_eq!(back.as_bytes(), bytes),
            }
        }
        assert_eq!(markdown.matches("</details>").count(), 1);
        assert!(!markdown.contains("<script"));
    }

    fn unescape(text: &str) -> String {
        let mut parts = text.split("&#");
        let mut plain = parts.next().unwrap().to_owned();
        for part in parts {
            let (code, rest) = part.split_once(';').unwrap();
            plain.push(char::from_u32(code.parse().unwrap()).unwrap());
            plain.push_str(rest);
        }
        plain
    }

    #[test]
    fn a_file_name_is_not_markdown() {
        let mut report = Case::text("a\n").run();
        report.input.name = "a|b\n# <img src=x>`.txt".into();
        let markdown = written(write, &report);
        tables(&markdown);
        assert!(!markdown.contains("<img") && !markdown.contains("\n# "));
    }

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence("a=b"), "```");
        assert_eq!(fence("``` ` ````x"), "`````");
    }
}
