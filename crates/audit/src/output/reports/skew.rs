//! How evenly keys are spread, in every form.
//!
//! JSON lines, in this order: `input` (with `schema`, [`SCHEMA`]), `client`, then for each count
//! `count` and its `load` lines, `heavy`, `warning`, `verdict`. An output without a `verdict` line
//! is cut off. CSV has the loads: `partitions,partition,keys,records`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;

use super::movement::mark;
use super::{Forms, Lines, client, read, rows};
use crate::output::checks::{self, Case, Checks, Outcome, Rule};
use crate::output::document::{
    Cell, Document, Section, Table, cut, decimal, heavy_table, partly, share,
};
use crate::output::html::{self, Pictures};
use crate::output::wording::partitions;
use crate::skew::{ChiSquare, CountReport, Load, SkewReport, Spread};
use crate::text::number;
use crate::verify::InputSummary;
use crate::weighed::{Distinct, Records, Verdict};

/// The form of the JSON lines.
const SCHEMA: &str = "copart.skew.lines/1";

impl Forms for SkewReport {
    fn document(&self, room: usize) -> Document {
        document(self, room)
    }

    fn checks(&self) -> Checks {
        checks(self)
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        lines(self, out)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv(self, out)
    }

    fn pictures(&self) -> Pictures {
        html::skew::pictures(self)
    }
}

fn headline(report: &SkewReport) -> String {
    let counts: Vec<_> = report
        .counts
        .iter()
        .map(|count| sentence(report, count))
        .collect();
    let partial = partly(report.partial);
    format!(
        "{}: {} ({}){partial}",
        report.verdict.name(),
        counts.join("; "),
        report.client.name
    )
}

/// The answer at one count.
fn sentence(report: &SkewReport, count: &CountReport) -> String {
    let at = partitions(count.partitions);
    if count.verdict == Verdict::Inconclusive {
        return format!("no record is on a fixed partition at {at}");
    }
    let limit = match (count.verdict, report.max_skew) {
        (Verdict::OverLimit, Some(limit)) => format!(", more than {limit}"),
        _ => String::new(),
    };
    format!(
        "at {at} the busiest, {}, has {} times the mean of the records{limit}",
        count.records.max_partition,
        decimal(count.records.max_over_mean)
    )
}

fn document(report: &SkewReport, room: usize) -> Document {
    let mut sections = Vec::new();
    for (at, count) in report.counts.iter().enumerate() {
        sections.push(overview(report, at, count));
        if count.verdict != Verdict::Inconclusive {
            sections.push(loads(count, room));
        }
    }
    sections.extend(heavy(report, room));
    Document {
        headline: headline(report),
        mark: mark(report.verdict),
        lead: vec![
            read(&report.input, &report.records, &report.distinct),
            format!("placed by {}", client(&report.client)),
        ],
        sections,
        warnings: report.warnings.clone(),
    }
}

fn overview(report: &SkewReport, at: usize, count: &CountReport) -> Section {
    let row = |what: &str, spread: &Spread, test: &Option<ChiSquare>| {
        [
            Cell::text(what),
            Cell::Number(spread.total),
            Cell::Decimal(spread.mean),
            Cell::Number(spread.min),
            Cell::Number(spread.max),
            Cell::Decimal(spread.max_over_mean),
            Cell::Decimal(spread.coefficient_of_variation),
            Cell::Number(spread.empty),
            test.map_or(Cell::text("too few"), |test| Cell::Decimal(test.p_value)),
        ]
    };
    let rows = [
        row("distinct keys", &count.keys, &count.keys_test),
        row("records", &count.records, &count.records_test),
    ];
    let heads = [
        "",
        "total",
        "mean",
        "least",
        "most",
        "most/mean",
        "variation",
        "empty",
        "χ² p",
    ];
    let mut section =
        Section::new(partitions(count.partitions)).table(Table::new(heads, rows.into_iter(), 2));
    for sentence in meaning(report, at, count) {
        section = section.say(sentence);
    }
    section
}

/// What the numbers mean.
fn meaning(report: &SkewReport, at: usize, count: &CountReport) -> Vec<String> {
    let mut said = Vec::new();
    match count.keys_are_uneven() {
        Some(false) => said.push(
            "distinct keys are spread as evenly as random placement would (χ²)".to_owned(),
        ),
        Some(true) => said.push(
            "distinct keys are spread worse than random placement would (χ²): the hash does not suit these keys at this count".to_owned(),
        ),
        None => said.push(format!(
            "too few distinct keys to test how the hash spreads them: {} are expected on each partition at least",
            crate::skew::LEAST_EXPECTED
        )),
    }
    if let (Some(false), Some(test)) = (count.keys_are_uneven(), count.records_test)
        && test.p_value < CountReport::SIGNIFICANT
    {
        said.push(
            "records are less even than the keys: some keys have many more than others".to_owned(),
        );
    }
    if count.parallelism > 0.0 {
        said.push(format!(
            "the busiest partition bounds the work of {} consumers to that of {}",
            count.partitions,
            decimal(count.parallelism)
        ));
    }
    if let (Some(bound), Some(key)) = (report.hot_key_parallelism, report.heavy.keys.first())
        && bound < f64::from(count.partitions)
    {
        let place = key
            .places
            .get(at)
            .map_or(String::new(), |place| format!(", on {place},"));
        said.push(format!(
            "the heaviest key{place} has {} of the records: with any number of partitions no more than {} consumers' work is done at a time",
            share(Some(key.share)),
            decimal(bound)
        ));
    }
    if count.unpinned_records > 0 {
        said.push(format!(
            "{} records have a key that the client does not pin, or none; they are on no partition here",
            number(count.unpinned_records)
        ));
    }
    said
}

fn loads(count: &CountReport, room: usize) -> Section {
    let (records, keys) = (count.records.total, count.keys.total);
    let of = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let rows = count.loads.iter().map(|load| {
        [
            Cell::Number(load.partition.into()),
            Cell::Number(load.keys),
            Cell::Share(of(load.keys, keys)),
            Cell::Number(load.records),
            Cell::Share(of(load.records, records)),
        ]
    });
    let heads = ["partition", "keys", "share", "records", "share"];
    Section::new(format!("Each of {}", partitions(count.partitions)))
        .table(Table::new(heads, rows, room))
}

fn heavy(report: &SkewReport, room: usize) -> Option<Section> {
    if report.records.total == 0 {
        return None;
    }
    let others = number(report.heavy.others_at_most);
    if report.heavy.keys.is_empty() {
        let section = Section::new("Keys of most records");
        return Some(section.say(format!(
            "none stands out: no key has more than {others} records"
        )));
    }
    let places: Vec<_> = report
        .counts
        .iter()
        .map(|c| format!("of {}", c.partitions))
        .collect();
    Some(
        Section::new("Keys of most records")
            .table(heavy_table(&report.heavy.keys, &places, room))
            .say(format!("no other key has more than {others} records")),
    )
}

const RULES: &[Rule] = &[
    Rule {
        id: "uneven-records",
        describe: "the busiest partition has more records than the limit allows",
        help: "Look at the keys of most records: a hot key stays on one partition, whatever the count. If no key is hot, choose another key or another count.",
    },
    Rule {
        id: "uneven-keys",
        describe: "the hash spreads the distinct keys worse than chance would",
        help: "Choose another partition count, prime or with few divisors, or a client's partitioner with a better hash.",
    },
    Rule {
        id: "hot-key",
        describe: "one key has more records than an average partition",
        help: "More partitions do not help. Split the key, for instance with a suffix, if the order of its records allows it.",
    },
    checks::INCONCLUSIVE,
    checks::INTERRUPTED,
];

fn checks(report: &SkewReport) -> Checks {
    let mut cases = Vec::new();
    for count in &report.counts {
        let at = partitions(count.partitions);
        let mut case = |name: &str, rule, outcome, message: String| {
            cases.push(Case {
                name: format!("{name} at {at}"),
                rule,
                outcome,
                message,
                input: 0,
                line: None,
                subject: count.partitions.to_string(),
            });
        };
        let answer = sentence(report, count);
        match count.verdict {
            Verdict::Inconclusive => {
                case("records", checks::INCONCLUSIVE.id, Outcome::Error, answer);
                continue;
            }
            Verdict::OverLimit => case("records", "uneven-records", Outcome::Failed, answer),
            Verdict::Measured | Verdict::WithinLimit => {
                case("records", "uneven-records", Outcome::Passed, answer)
            }
        }
        if let (Some(test), Some(uneven)) = (count.keys_test, count.keys_are_uneven()) {
            let outcome = if uneven {
                Outcome::Noted
            } else {
                Outcome::Passed
            };
            let message = format!(
                "χ² of {} distinct keys at {at} is {} with p = {}",
                number(report.distinct.counted),
                decimal(test.statistic),
                decimal(test.p_value)
            );
            case("distinct keys", "uneven-keys", outcome, message);
        }
        let hot = report.heavy.keys.first();
        if let Some(hot) = hot.filter(|key| key.share * f64::from(count.partitions) > 1.0)
            && count.partitions > 1
        {
            let message = format!(
                "the key {} (in hexadecimal) has {} of the records at {at}",
                cut(&hot.key_hex, 64),
                share(Some(hot.share))
            );
            case("hot key", "hot-key", Outcome::Noted, message);
        }
    }
    cases.extend(Case::interrupted(report.partial, Some(report.input.keys)));
    Checks {
        command: "skew",
        headline: headline(report),
        inputs: vec![(&report.input).into()],
        partial: report.partial,
        exit_code: report.exit_code(),
        rules: RULES.to_vec(),
        cases,
        warnings: report.warnings.clone(),
        properties: json!({
            "input": report.input,
            "verdict": report.verdict,
            "client": report.client.name,
            "counts": report.counts.iter().map(|count| json!({
                "partitions": count.partitions,
                "verdict": count.verdict,
                "records": count.records,
                "keys": count.keys,
            })).collect::<Vec<_>>(),
        }),
    }
}

#[derive(Serialize)]
struct Input<'r> {
    schema: &'static str,
    #[serde(flatten)]
    input: &'r InputSummary,
    records: &'r Records,
    distinct: &'r Distinct,
}

#[derive(Serialize)]
struct CountLine<'r> {
    partitions: u32,
    verdict: Verdict,
    records: &'r Spread,
    records_test: &'r Option<ChiSquare>,
    keys: &'r Spread,
    keys_test: &'r Option<ChiSquare>,
    unpinned_records: u64,
    parallelism: f64,
}

#[derive(Serialize)]
struct LoadLine<'r> {
    partitions: u32,
    #[serde(flatten)]
    load: &'r Load,
}

fn lines(report: &SkewReport, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines(out);
    lines.line(
        "input",
        &Input {
            schema: SCHEMA,
            input: &report.input,
            records: &report.records,
            distinct: &report.distinct,
        },
    )?;
    lines.line("client", &report.client)?;
    for count in &report.counts {
        lines.line(
            "count",
            &CountLine {
                partitions: count.partitions,
                verdict: count.verdict,
                records: &count.records,
                records_test: &count.records_test,
                keys: &count.keys,
                keys_test: &count.keys_test,
                unpinned_records: count.unpinned_records,
                parallelism: count.parallelism,
            },
        )?;
        for load in &count.loads {
            let partitions = count.partitions;
            lines.line("load", &LoadLine { partitions, load })?;
        }
    }
    report
        .heavy
        .keys
        .iter()
        .try_for_each(|key| lines.line("heavy", key))?;
    lines.warnings(&report.warnings)?;
    lines.line(
        "verdict",
        &json!({
            "verdict": report.verdict,
            "partial": report.partial,
            "max_skew": report.max_skew,
            "others_at_most": report.heavy.others_at_most,
            "hot_key_parallelism": report.hot_key_parallelism,
            "exit_code": report.exit_code(),
        }),
    )
}

fn csv(report: &SkewReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = rows(out);
    rows.write_record(["partitions", "partition", "keys", "records"])?;
    for count in &report.counts {
        for load in &count.loads {
            rows.write_record([
                count.partitions.to_string(),
                load.partition.to_string(),
                load.keys.to_string(),
                load.records.to_string(),
            ])?;
        }
    }
    rows.flush()
}
