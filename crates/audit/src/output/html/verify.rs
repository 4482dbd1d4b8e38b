//! The page of `copart verify`.

use std::io::{self, Write};

use super::plot::{Bar, Bars, Heat, Plot};
use super::{Pictures, ROOM};
use crate::output::document::{Cell, Document, HEX_WIDTH, Mark, Section, Table, cut};
use crate::output::wording::{FixText, headline, kinds, partitions, placed};
use crate::text::number;
use crate::verify::{CountReport, Finding, Verdict, VerifyReport, percent};

pub(in super::super) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let mut plots = Vec::new();
    if report.input.keys > 0 {
        plots.push(Plot::Bars(agreement(report)));
    }
    let differing = report.counts.iter().filter(|count| count.groups.len() > 1);
    if report.input.keyed > 0 {
        plots.extend(differing.map(|count| Plot::Heat(groups(count))));
    }
    let pictures = Pictures {
        tiles: vec![
            ("keys", number(report.input.keys)),
            ("with bytes", number(report.input.keyed)),
            ("empty", number(report.input.empty)),
            ("null", number(report.input.null)),
        ],
        plots,
    };
    super::write("verify", document(report), pictures, out)
}

fn document(report: &VerifyReport) -> Document {
    let mut sections = vec![counts(report)];
    sections.extend(
        report
            .findings
            .iter()
            .enumerate()
            .map(|(at, f)| finding(at, f)),
    );
    for count in &report.counts {
        if count.groups.len() > 1 && report.input.keyed > 0 {
            sections.push(pairs(count));
        }
    }
    sections.extend(probes(report));
    sections.push(clients(report));
    for count in report
        .counts
        .iter()
        .filter(|count| !count.mismatches.is_empty())
    {
        sections.push(mismatches(count));
    }
    Document {
        headline: headline(report),
        mark: match report.verdict {
            Verdict::Agree => Mark::Good,
            Verdict::Disagree => Mark::Bad,
            Verdict::Inconclusive => Mark::Unknown,
        },
        lead: vec![report.input.name.clone()],
        sections,
        warnings: report.warnings.clone(),
    }
}

fn agreement(report: &VerifyReport) -> Bars {
    let bar = |count: &CountReport| {
        let sum = |of: fn(&crate::verify::Agreement) -> u64| {
            kinds(report, count).map(|kind| of(&kind.agreement)).sum()
        };
        Bar {
            label: count.partitions.to_string(),
            name: None,
            parts: vec![sum(|a| a.agree), sum(|a| a.disagree), sum(|a| a.unpinned)],
        }
    };
    Bars {
        title: "Keys at each partition count".into(),
        unit: "keys",
        each: "count",
        parts: &[
            ("stay", "agree"),
            ("move", "disagree"),
            ("other", "unpinned"),
        ],
        bars: report.counts.iter().map(bar).collect(),
        mean: false,
    }
}

/// How many keys every two groups place differently.
fn groups(count: &CountReport) -> Heat {
    let names: Vec<_> = (1..=count.groups.len())
        .map(|group| group.to_string())
        .collect();
    let pairs = count.pairs.iter();
    Heat {
        title: format!(
            "Keys placed differently by two groups, at {}",
            partitions(count.partitions)
        ),
        unit: "keys",
        rows: names.clone(),
        columns: names,
        axes: ("group", "and group"),
        cells: pairs
            .flat_map(|pair| {
                [
                    (pair.a, pair.b, pair.different),
                    (pair.b, pair.a, pair.different),
                ]
            })
            .collect(),
        diagonal: false,
    }
}

fn counts(report: &VerifyReport) -> Section {
    let rows: Vec<_> = report
        .counts
        .iter()
        .flat_map(|count| kinds(report, count).map(move |kind| (count, kind)))
        .map(|(count, kind)| {
            let all: Vec<_> = kind.placements.unwrap_or_default().iter().collect();
            let placements: Vec<_> = all
                .iter()
                .map(|p| format!("{} {}", p.client, placed(p)))
                .collect();
            [
                Cell::Number(count.partitions.into()),
                Cell::text(kind.title),
                Cell::Number(kind.agreement.agree),
                Cell::Number(kind.agreement.disagree),
                Cell::Number(kind.agreement.unpinned),
                Cell::text(count.verdict.name()),
                Cell::text(placements.join(", ")),
            ]
        })
        .collect();
    let heads = [
        "partitions",
        "keys",
        "agree",
        "disagree",
        "unpinned",
        "answer",
        "go to",
    ];
    Section::new("At each count").table(Table::new(heads, rows.into_iter(), ROOM))
}

fn finding(at: usize, finding: &Finding) -> Section {
    let note = if finding.affects_verdict {
        ""
    } else {
        " (at other partition counts)"
    };
    let mut section = Section::new(format!(
        "Why, {}: {}{note}",
        at + 1,
        finding.reason.describe()
    ))
    .say(&finding.message);
    for fix in finding.fixes.iter().filter_map(FixText::of) {
        section = section.say(fix.intro);
        if let Some(config) = fix.config {
            section = section.verbatim(config.lines());
        }
        section = section.say_all(fix.notes);
    }
    section
}

fn pairs(count: &CountReport) -> Section {
    let rows = count.pairs.iter().map(|pair| {
        [
            Cell::Code(count.groups[pair.a].join(", ")),
            Cell::Code(count.groups[pair.b].join(", ")),
            Cell::Number(pair.same),
            Cell::Number(pair.different),
            Cell::Share(match pair.same + pair.different {
                0 => None,
                all => Some(pair.different as f64 / all as f64),
            }),
        ]
    });
    let heads = ["clients", "and", "same", "different", "share"];
    let mut section = Section::new(format!("Groups at {}", partitions(count.partitions)))
        .table(Table::new(heads, rows, ROOM));
    for (at, group) in count.groups.iter().enumerate() {
        section = section.say(format!("group {}: {}", at + 1, group.join(", ")));
    }
    section
}

fn probes(report: &VerifyReport) -> Option<Section> {
    let probes = &report.probes;
    if probes.keys == 0 || probes.counts.is_empty() {
        return None;
    }
    let shares = probes.counts.iter().map(|probe| {
        format!(
            "{} at {}",
            percent(probe.keyed.disagree, probes.keys),
            probe.partitions
        )
    });
    let shares: Vec<_> = shares.collect();
    Some(Section::new("Tried besides").say(format!(
        "of {} keys with bytes, placed differently: {}",
        number(probes.keys),
        shares.join(", ")
    )))
}

fn clients(report: &VerifyReport) -> Section {
    let rows = report.clients.iter().map(|client| {
        [
            Cell::Code(client.name.clone()),
            Cell::text(&client.rule),
            Cell::text(&client.empty),
            Cell::text(&client.null),
        ]
    });
    let heads = ["client", "keys with bytes", "empty keys", "null keys"];
    Section::new("Clients; the first is the reference").table(Table::new(heads, rows, ROOM))
}

fn mismatches(count: &CountReport) -> Section {
    let names: Vec<_> = count.groups.iter().flatten().collect();
    let heads = ["record", "key", "hex"].map(str::to_owned);
    let rows = count.mismatches.iter().map(|mismatch| {
        let fixed = [
            Cell::Number(mismatch.record),
            Cell::Key(mismatch.key_hex.clone(), mismatch.truncated),
            Cell::Code(cut(&mismatch.key_hex, HEX_WIDTH)),
        ];
        let places = names.iter().map(|name| {
            let placement = mismatch.placements.iter().find(|p| &p.client == *name);
            Cell::text(placement.map_or("key too long".into(), placed))
        });
        fixed.into_iter().chain(places).collect()
    });
    Section::new(format!(
        "First differing keys at {}",
        partitions(count.partitions)
    ))
    .table(Table {
        heads: heads
            .into_iter()
            .chain(names.iter().map(|name| (*name).clone()))
            .collect(),
        rows: rows.collect(),
        left_out: 0,
    })
}
