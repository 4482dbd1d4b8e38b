//! The report as JSON lines: one fact a line, each a JSON object with a `type`.
//!
//! The form is stable: members may be added, and lines of new types; none is removed or changes
//! its meaning while `schema` in the first line stays `copart.verify.lines/1`. Lines come in this
//! order; those in brackets may be missing, and all but the first and the last may repeat.
//!
//! | `type` | What it says | Members |
//! |---|---|---|
//! | `input` | what was read | `schema`, `name`, `records_are_lines`, `keys`, `keyed`, `empty`, `null` |
//! | `client` | who took part, in the order given; the first is the reference | `name`, `id`, `rule`, `pins_keys`, `empty`, `null`, `unverified` |
//! | `count` | the answer at one partition count | `partitions`, `verdict`, `keyed`, `empty`, `null` (each with `agree`, `disagree`, `unpinned`; the last two with `placements`), `groups` |
//! | \[`pair`\] | how two groups compare on keys that have bytes, after its `count` | `partitions`, `a`, `b` (names of clients), `same`, `different` |
//! | \[`mismatch`\] | a key on which clients differ, after its `count` | `partitions`, `record`, `key_hex`, `truncated`, `placements` |
//! | \[`probe`\] | a count that was tried besides | `partitions`, `keys`, `keyed` |
//! | \[`finding`\] | why clients differ | `reason`, `clients`, `reference`, `affects_verdict`, `message`, `fixes` |
//! | \[`warning`\] | what may make the answer worth less | `message` |
//! | `verdict` | the answer | `verdict`, `partial`, `unpinned_policy`, `exit_code` |
//!
//! An output without a `verdict` line is cut off. Members mean what they do in the JSON output.

use std::io::{self, Write};

use serde::Serialize;

use crate::verify::{
    Agreement, ClientSummary, CountReport, Finding, InputSummary, KeylessReport, Mismatch,
    UnpinnedPolicy, Verdict, VerifyReport,
};

const SCHEMA: &str = "copart.verify.lines/1";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'r> {
    Input {
        schema: &'static str,
        #[serde(flatten)]
        input: &'r InputSummary,
    },
    Client(&'r ClientSummary),
    Count {
        partitions: u32,
        verdict: Verdict,
        keyed: Agreement,
        empty: &'r KeylessReport,
        null: &'r KeylessReport,
        groups: &'r [Vec<String>],
    },
    Pair {
        partitions: u32,
        a: &'r [String],
        b: &'r [String],
        same: u64,
        different: u64,
    },
    Mismatch {
        partitions: u32,
        #[serde(flatten)]
        mismatch: &'r Mismatch,
    },
    Probe {
        partitions: u32,
        keys: u64,
        keyed: Agreement,
    },
    Finding(&'r Finding),
    Warning {
        message: &'r str,
    },
    Verdict {
        verdict: Verdict,
        partial: bool,
        unpinned_policy: UnpinnedPolicy,
        exit_code: u8,
    },
}

pub(crate) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let mut line = |line: Line<'_>| {
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    };
    line(Line::Input {
        schema: SCHEMA,
        input: &report.input,
    })?;
    for client in &report.clients {
        line(Line::Client(client))?;
    }
    for count in &report.counts {
        of_count(count).try_for_each(&mut line)?;
    }
    for probe in &report.probes.counts {
        line(Line::Probe {
            partitions: probe.partitions,
            keys: report.probes.keys,
            keyed: probe.keyed,
        })?;
    }
    for finding in &report.findings {
        line(Line::Finding(finding))?;
    }
    for message in &report.warnings {
        line(Line::Warning { message })?;
    }
    line(Line::Verdict {
        verdict: report.verdict,
        partial: report.partial,
        unpinned_policy: report.unpinned_policy,
        exit_code: report.exit_code(),
    })
}

fn of_count(count: &CountReport) -> impl Iterator<Item = Line<'_>> {
    let partitions = count.partitions;
    let itself = Line::Count {
        partitions,
        verdict: count.verdict,
        keyed: count.keyed,
        empty: &count.empty,
        null: &count.null,
        groups: &count.groups,
    };
    let pairs = count.pairs.iter().map(move |pair| Line::Pair {
        partitions,
        a: &count.groups[pair.a],
        b: &count.groups[pair.b],
        same: pair.same,
        different: pair.different,
    });
    let mismatches = count.mismatches.iter().map(move |mismatch| Line::Mismatch {
        partitions,
        mismatch,
    });
    std::iter::once(itself).chain(pairs).chain(mismatches)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::testing::{Case, parsed, written};
    use super::*;

    fn lines(report: &VerifyReport) -> Vec<Value> {
        written(write, report).lines().map(parsed).collect()
    }

    fn types(lines: &[Value]) -> Vec<&str> {
        lines.iter().map(|l| l["type"].as_str().unwrap()).collect()
    }

    #[test]
    fn facts_come_in_the_documented_order() {
        let report = Case::text("TT0124\r\n\n-\n")
            .null("-")
            .clients("java,kafkajs,librdkafka,goka")
            .counts(&[15, 1])
            .run();
        let lines = lines(&report);
        let expected = "input client client client client count pair pair pair mismatch count \
                        probe probe finding finding finding finding warning warning verdict";
        assert_eq!(types(&lines), expected.split(' ').collect::<Vec<_>>());
    }

    /// The table at the top of this file is what users get to read.
    #[test]
    fn members_are_those_documented() {
        let documented: Vec<(String, Vec<String>)> = include_str!("jsonl.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("//! | "))
            .filter(|row| row.starts_with(['`', '\\']) && !row.starts_with("`type`"))
            .map(|row| {
                let cells: Vec<_> = row.split(" | ").collect();
                let name = cells[0].trim_matches(['\\', '[', ']', '`']).to_owned();
                // What is in parentheses are members of members.
                let mut members = String::new();
                let mut depth = 0;
                for c in cells[2].chars() {
                    match c {
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ if depth == 0 => members.push(c),
                        _ => {}
                    }
                }
                let members = members.split('`').skip(1).step_by(2);
                let mut members: Vec<_> = members.map(str::to_owned).collect();
                members.push("type".into());
                members.sort_unstable();
                (name, members)
            })
            .collect();
        let report = Case::text("TT0124\r\n\n-\n")
            .null("-")
            .clients("java,kafkajs,librdkafka,goka")
            .counts(&[15, 1])
            .run();
        let mut seen = Vec::new();
        for line in lines(&report) {
            let name = line["type"].as_str().unwrap();
            let members: Vec<_> = line.as_object().unwrap().keys().cloned().collect();
            let (_, expected) = documented.iter().find(|(d, _)| d == name).unwrap();
            assert_eq!(&members, expected, "{name}");
            seen.push(name.to_owned());
        }
        assert!(documented.iter().all(|(name, _)| seen.contains(name)));
    }

    #[test]
    fn numbers_and_names_are_those_of_the_report() {
        let report = Case::text("TT0124\nMünchen\n\n")
            .clients("java,kafkajs,librdkafka")
            .counts(&[15])
            .run();
        let lines = lines(&report);
        let of = |name: &str| lines.iter().find(|l| l["type"] == name).unwrap();
        assert_eq!(of("input")["keys"], 3);
        assert_eq!(of("input")["schema"], SCHEMA);
        assert_eq!(of("count")["verdict"], "disagree");
        assert_eq!(of("count")["empty"]["disagree"], 1);
        assert_eq!(of("pair")["a"], serde_json::json!(["java", "kafkajs"]));
        assert_eq!(of("pair")["b"], serde_json::json!(["librdkafka"]));
        let mismatch = of("mismatch");
        assert_eq!(mismatch["partitions"], 15);
        assert_eq!(mismatch["key_hex"], "545430313234");
        assert_eq!(mismatch["placements"][0]["partition"], 10);
        assert_eq!(mismatch["placements"][2]["partition"], 9);
        assert_eq!(of("verdict")["exit_code"], 1);
        assert_eq!(of("verdict")["partial"], false);
    }

    #[test]
    fn the_last_line_says_that_the_run_was_partial() {
        let lines = lines(&Case::text("a\n").interrupted().run());
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "verdict");
        assert_eq!(last["partial"], true);
        assert_eq!(last["exit_code"], 130);
    }

    #[test]
    fn no_key_breaks_a_line() {
        let report = Case::hostile().run();
        let lines = lines(&report);
        let mismatches = lines.iter().filter(|l| l["type"] == "mismatch").count();
        assert_eq!(mismatches, report.counts[0].mismatches.len());
        assert!(mismatches > 0);
    }
}
