//! A verification for people at a terminal.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use data_encoding::HEXLOWER;

use super::wording::placed;
use crate::text::{key, number};
use crate::verify::{Agreement, CountReport, Finding, Mismatch, Verdict, VerifyReport, percent};

/// Characters of a key, and of its hexadecimal form, that are shown.
const KEY_WIDTH: usize = 36;
const HEX_WIDTH: usize = 24;

pub(super) fn write(report: &VerifyReport, color: bool, out: &mut dyn Write) -> io::Result<()> {
    let input = &report.input;
    write!(out, "{}: {} keys", input.name, number(input.keys))?;
    if input.empty + input.null > 0 {
        write!(
            out,
            ", {} of them empty, {} null",
            number(input.empty),
            number(input.null)
        )?;
    }
    writeln!(out)?;
    if report.partial {
        writeln!(out, "PARTIAL: interrupted before the end of the input")?;
    }
    for count in &report.counts {
        writeln!(out)?;
        self::count(report, count, color, out)?;
    }
    if !report.findings.is_empty() {
        writeln!(out, "\nWhy")?;
        let mut said = Vec::new();
        for finding in &report.findings {
            self::finding(finding, &mut said, out)?;
        }
    }
    probes(report, out)?;
    for warning in &report.warnings {
        writeln!(out, "\nwarning: {warning}")?;
    }
    Ok(())
}

fn count(
    report: &VerifyReport,
    count: &CountReport,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (word, style) = match count.verdict {
        Verdict::Agree => ("the clients agree", "\x1b[1;32m"),
        Verdict::Disagree => ("the clients DISAGREE", "\x1b[1;31m"),
        Verdict::Inconclusive => (
            "inconclusive: no key on which they could differ",
            "\x1b[1;33m",
        ),
    };
    let (start, end) = if color { (style, "\x1b[0m") } else { ("", "") };
    writeln!(out, "{} partitions: {start}{word}{end}", count.partitions)?;

    if report.input.keys == 0 {
        return Ok(());
    }
    let mut table = plain_table(["", "agree", "disagree", "unpinned"]);
    let kinds = [
        ("keys with bytes", &count.keyed, report.input.keyed),
        ("empty keys", &count.empty.agreement, report.input.empty),
        ("null keys", &count.null.agreement, report.input.null),
    ];
    for (kind, agreement, keys) in kinds {
        if keys > 0 {
            let Agreement {
                agree,
                disagree,
                unpinned,
            } = *agreement;
            table.add_row([
                kind.into(),
                number(agree),
                number(disagree),
                number(unpinned),
            ]);
        }
    }
    right_align(&mut table, 1);
    indented(&table, out)?;

    if count.groups.len() > 1 && report.input.keyed > 0 {
        writeln!(out, "\n  Clients that place every key with bytes alike")?;
        for (i, group) in count.groups.iter().enumerate() {
            writeln!(out, "    {}  {}", letter(i), group.join(", "))?;
        }
        for pair in &count.pairs {
            let keys = pair.same + pair.different;
            writeln!(
                out,
                "    {} and {}: {} of {} keys alike ({}), {} not ({})",
                letter(pair.a),
                letter(pair.b),
                number(pair.same),
                number(keys),
                percent(pair.same, keys),
                number(pair.different),
                percent(pair.different, keys),
            )?;
        }
    }
    for (kind, keyless, keys) in [
        ("Empty", &count.empty, report.input.empty),
        ("Null", &count.null, report.input.null),
    ] {
        if keys > 0 {
            let placements: Vec<_> = keyless
                .placements
                .iter()
                .map(|p| format!("{} {}", p.client, placed(p)))
                .collect();
            writeln!(out, "\n  {kind} keys go to: {}", placements.join(", "))?;
        }
    }
    if !count.mismatches.is_empty() {
        writeln!(
            out,
            "\n  First keys on which they differ (hash -> partition)"
        )?;
        indented(&mismatches(count), out)?;
    }
    Ok(())
}

/// A column for each group, since its clients have the same hash and partition.
fn mismatches(count: &CountReport) -> Table {
    let heads = count.groups.iter().map(|group| match group.as_slice() {
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
        [] => String::new(),
    });
    let fixed = ["record", "key", "hex"].map(String::from);
    let mut table = plain_table(fixed.into_iter().chain(heads));
    for mismatch in &count.mismatches {
        let fixed = [
            number(mismatch.record),
            shown_key(mismatch),
            shown_hex(mismatch),
        ];
        let groups = count.groups.iter().map(|group| {
            let placement = mismatch
                .placements
                .iter()
                .find(|p| Some(&p.client) == group.first());
            placement.map_or("(key too long)".into(), |p| match &p.hash {
                Some(hash) => format!("{hash} -> {}", placed(p)),
                None => placed(p),
            })
        });
        table.add_row(fixed.into_iter().chain(groups));
    }
    if let Some(column) = table.column_mut(0) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn shown_key(mismatch: &Mismatch) -> String {
    let bytes = HEXLOWER
        .decode(mismatch.key_hex.as_bytes())
        .unwrap_or_default();
    key(Some(&bytes), KEY_WIDTH)
}

fn shown_hex(mismatch: &Mismatch) -> String {
    match mismatch.key_hex.get(..HEX_WIDTH - 1) {
        Some(start) if mismatch.key_hex.len() > HEX_WIDTH => format!("{start}…"),
        _ => mismatch.key_hex.clone(),
    }
}

/// Says a difference and what to do; a fix that was `said` before is not repeated.
fn finding<'r>(
    finding: &'r Finding,
    said: &mut Vec<&'r str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "  - {}", finding.message)?;
    for fix in &finding.fixes {
        if said.contains(&fix.client.as_str()) {
            continue;
        }
        said.push(&fix.client);
        match (&fix.setting, &fix.by_hand) {
            (Some(setting), _) => {
                writeln!(
                    out,
                    "    to make {} place keys as {}:",
                    fix.client, fix.as_client
                )?;
                for line in setting.config.lines() {
                    writeln!(out, "        {line}")?;
                }
                for difference in &setting.differences {
                    writeln!(out, "      still different: {difference}")?;
                }
                if !setting.note.is_empty() {
                    writeln!(out, "      note: {}", setting.note)?;
                }
            }
            (None, Some(by_hand)) => writeln!(
                out,
                "    {} has no setting that places keys as {}: {by_hand}",
                fix.client, fix.as_client
            )?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn probes(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    if report.probes.keys == 0 || report.probes.counts.is_empty() {
        return Ok(());
    }
    let counts: Vec<_> = report
        .probes
        .counts
        .iter()
        .map(|probe| probe.partitions.to_string())
        .collect();
    if report
        .probes
        .counts
        .iter()
        .all(|probe| probe.keyed.disagree == 0)
    {
        return writeln!(
            out,
            "\nAt other counts ({}) they agree as well",
            counts.join(", ")
        );
    }
    let shares: Vec<_> = report
        .probes
        .counts
        .iter()
        .map(|probe| {
            let keys = report.probes.keys;
            format!(
                "{} at {}",
                percent(probe.keyed.disagree, keys),
                probe.partitions
            )
        })
        .collect();
    let sample = if report.probes.keys < report.input.keyed {
        format!("{} sampled keys", number(report.probes.keys))
    } else {
        "keys".into()
    };
    writeln!(
        out,
        "\nAt other counts the clients disagree on {} of {sample}",
        shares.join(", ")
    )
}

fn letter(group: usize) -> String {
    match u8::try_from(group) {
        Ok(n) if n < 26 => char::from(b'A' + n).to_string(),
        _ => format!("#{}", group + 1),
    }
}

pub(super) fn plain_table(heads: impl IntoIterator<Item = impl Into<comfy_table::Cell>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(heads.into_iter().map(Into::into));
    table
}

fn right_align(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

pub(super) fn indented(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    table
        .lines()
        .try_for_each(|line| writeln!(out, "   {}", line.trim_end()))
}
