//! Every output of every weighing command, on plain and on hostile input.

use std::fs;
use std::sync::atomic::AtomicBool;

use copart_partitioners::PartitionCount;
use data_encoding::HEXLOWER;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

use crate::input::{InputOptions, KeyEncoding, Source};
use crate::movement::{Endpoint, MovementOptions, MovementReport, movement};
use crate::output::testing::{HOSTILE, closed, parsed};
use crate::output::{Output, Report};
use crate::size::platforms::LIMITS;
use crate::size::{SizeOptions, SizeReport, size};
use crate::skew::{SkewOptions, SkewReport, skew};
use crate::verify::UnpinnedPolicy;
use crate::{Client, EXACT_KEYS, Run};

/// An input of keys in hexadecimal, a line each; `-` is the null key.
struct Input {
    lines: String,
    interrupted: bool,
    exact_keys: usize,
}

impl Input {
    fn keys(keys: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let lines = keys
            .into_iter()
            .map(|key| HEXLOWER.encode(key.as_ref()) + "\n");
        Self {
            lines: lines.collect(),
            interrupted: false,
            exact_keys: EXACT_KEYS,
        }
    }

    fn open<R>(&self, look: impl FnOnce(&Source, &Run<'_>) -> R) -> R {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &self.lines).unwrap();
        let options = InputOptions {
            encoding: KeyEncoding::Hex,
            null_value: Some("-".into()),
            ..InputOptions::default()
        };
        let run = Run {
            threads: 2,
            interrupted: &AtomicBool::new(self.interrupted),
        };
        look(&Source::open(file.path(), &options).unwrap(), &run)
    }

    fn movement(&self, from: &str, to: &str, max_moved: Option<f64>) -> MovementReport {
        let options = MovementOptions {
            from: Endpoint::parse(from, None).unwrap(),
            to: Endpoint::parse(to, None).unwrap(),
            unpinned: UnpinnedPolicy::Report,
            max_moved,
            show: 10,
            exact_keys: self.exact_keys,
        };
        self.open(|source, run| movement(source, &options, run).unwrap())
    }

    fn skew(&self, client: &str, counts: &[u32], max_skew: Option<f64>) -> SkewReport {
        let options = SkewOptions {
            client: Client::parse(client).unwrap(),
            counts: counts
                .iter()
                .filter_map(|&n| PartitionCount::new(n))
                .collect(),
            max_skew,
            show: 10,
            exact_keys: self.exact_keys,
        };
        self.open(|source, run| skew(source, &options, run).unwrap())
    }
}

fn users() -> Input {
    let mut keys: Vec<String> = (0..400).map(|i| format!("user-{i}")).collect();
    keys.extend(std::iter::repeat_n("bot".to_owned(), 100));
    keys.push(String::new());
    let mut input = Input::keys(keys);
    input.lines.push_str("-\n");
    input
}

fn hostile() -> Input {
    // The later ones more often, so that some are heavy too.
    Input::keys((0..HOSTILE.len()).flat_map(|more| &HOSTILE[more..]))
}

fn movements() -> Vec<MovementReport> {
    let few = |exact_keys| Input {
        exact_keys,
        ..users()
    };
    let interrupted = Input {
        interrupted: true,
        ..users()
    };
    vec![
        users().movement("java:8", "java:12", None),
        users().movement("java:6", "librdkafka:9", Some(10.0)),
        users().movement("java:4", "java:4", Some(0.0)),
        users().movement("sarama:12", "sarama/reference-hash:40", None),
        users().movement("java:3", "pykafka/hashing:3", None),
        few(50).movement("java:100", "java:300", None),
        hostile().movement("java:1", "java:1009", Some(1.0)),
        Input::keys(["x".repeat(3000)]).movement("java:2", "java:1009", None),
        Input::keys([""; 0]).movement("java:8", "java:12", None),
        users().movement("kafka-go:8", "pykafka:8", None),
        interrupted.movement("java:8", "java:12", None),
    ]
}

fn skews() -> Vec<SkewReport> {
    let interrupted = Input {
        interrupted: true,
        ..users()
    };
    vec![
        users().skew("java", &[12], None),
        users().skew("librdkafka", &[1, 7, 300], Some(1.2)),
        hostile().skew("java", &[5], None),
        Input::keys([""; 0]).skew("java", &[12], None),
        users().skew("kafka-go", &[12], None),
        interrupted.skew("java", &[12], None),
    ]
}

fn sizes() -> Vec<SizeReport> {
    let options = |hot_key| SizeOptions {
        throughput: "100MB".parse().unwrap(),
        growth: 1.5,
        headroom: 0.2,
        record_bytes: Some(1000.0),
        produce: "20MB".parse().ok(),
        consume: "30k".parse().ok(),
        latency: Some(0.0001),
        consumers: Some(4),
        hot_key,
        replication: 3,
        brokers: Some(6),
        current: Some(8),
        limits: LIMITS.to_vec(),
    };
    vec![
        size(&options(None)).unwrap(),
        size(&options(Some(0.02))).unwrap(),
        size(&options(Some(0.9))).unwrap(),
    ]
}

fn written<'r>(output: Output, report: impl Into<Report<'r>>) -> String {
    let mut out = Vec::new();
    output.write(report, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn schema(name: &str) -> Value {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/schema");
    let path = format!("{docs}/copart.{name}-1.schema.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn validate<'r>(name: &str, reports: impl Iterator<Item = Report<'r>>) {
    let mut schema = schema(name);
    let open = jsonschema::validator_for(&schema).unwrap();
    closed(&mut schema);
    let closed = jsonschema::validator_for(&schema).unwrap();
    for report in reports {
        let value = parsed(&written(Output::Json, report));
        for validator in [&open, &closed] {
            let errors: Vec<_> = validator
                .iter_errors(&value)
                .map(|e| format!("{}: {e}", e.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
        }
        // The schema is not so loose that it accepts anything.
        for member in value.as_object().unwrap().keys() {
            let mut without = value.clone();
            without.as_object_mut().unwrap().remove(member);
            assert!(!open.is_valid(&without), "{name} without {member}");
            let mut wrong = value.clone();
            wrong[member] = json!({ "no": ["such"] });
            assert!(!open.is_valid(&wrong), "{name} with another {member}");
        }
    }
}

#[test]
fn every_report_is_as_its_schema_has_it() {
    validate("movement", movements().iter().map(Report::from));
    validate("skew", skews().iter().map(Report::from));
    validate("size", sizes().iter().map(Report::from));
}

/// What the exit code says is what the outputs for CI systems say.
fn ci<'r>(report: Report<'r>, exit_code: u8, partial: bool) {
    let failed = exit_code != 0;
    let xml = written(Output::Junit, report);
    let mut reader = Reader::from_str(&xml);
    let (mut cases, mut troubles) = (0, 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                "testcase" => cases += 1,
                "failure" | "error" => troubles += 1,
                _ => {}
            },
            _ => {}
        }
    }
    assert!(cases > 0 && (troubles > 0) == failed, "{exit_code} {xml}");

    let log = parsed(&written(Output::Sarif, report));
    let run = &log["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], exit_code);
    assert_eq!(run["invocations"][0]["executionSuccessful"], !partial);
    let results = run["results"].as_array().unwrap();
    assert_eq!(
        results.iter().any(|result| result["level"] == "error"),
        failed
    );
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }

    let annotations = written(Output::Github, report);
    assert!(
        annotations.lines().all(|line| line.starts_with("::")),
        "{annotations}"
    );
    assert_eq!(annotations.contains("::error "), failed);
    assert!(
        annotations
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("::notice "))
    );
}

#[test]
fn ci_systems_see_the_exit_code() {
    for report in &movements() {
        ci(report.into(), report.exit_code(), report.partial);
    }
    for report in &skews() {
        ci(report.into(), report.exit_code(), report.partial);
    }
    let codes: Vec<_> = movements().iter().map(MovementReport::exit_code).collect();
    assert_eq!(codes, [0, 1, 0, 0, 0, 0, 1, 0, 4, 4, 130]);
    let codes: Vec<_> = skews().iter().map(SkewReport::exit_code).collect();
    assert_eq!(codes, [0, 1, 0, 4, 4, 130]);
}

#[test]
fn json_lines_end_with_the_verdict_and_have_all() {
    fn types(report: Report<'_>) -> Vec<String> {
        written(Output::Jsonl, report)
            .lines()
            .map(|line| parsed(line)["type"].as_str().unwrap().to_owned())
            .collect()
    }
    let count = |types: &[String], kind: &str| types.iter().filter(|t| *t == kind).count();
    for report in &movements() {
        let types = types(report.into());
        assert_eq!(
            (types[0].as_str(), types[types.len() - 1].as_str()),
            ("input", "verdict")
        );
        assert_eq!(count(&types, "flow"), report.flows.len());
        assert_eq!(count(&types, "moved_key"), report.examples.len());
    }
    for report in &skews() {
        let types = types(report.into());
        assert_eq!(
            (types[0].as_str(), types[types.len() - 1].as_str()),
            ("input", "verdict")
        );
        let loads: usize = report.counts.iter().map(|count| count.loads.len()).sum();
        assert_eq!(count(&types, "load"), loads);
    }
}

#[test]
fn rows_add_up_to_the_report() {
    for report in &movements() {
        let csv = written(Output::Csv, report);
        let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
        let records: u64 = reader
            .records()
            .map(|row| row.unwrap()[3].parse::<u64>().unwrap())
            .sum();
        assert_eq!(records, report.records.total);
    }
    for report in &skews() {
        let csv = written(Output::Csv, report);
        let rows = csv.lines().count() - 1;
        assert_eq!(
            rows,
            report
                .counts
                .iter()
                .map(|count| count.loads.len())
                .sum::<usize>()
        );
    }
    assert_eq!(
        written(Output::Csv, &sizes()[2]).lines().count(),
        1,
        "no candidates"
    );
}

#[test]
fn people_get_a_headline_and_no_control_characters() {
    let reports = movements();
    let skews = skews();
    let sizes = sizes();
    let all = reports
        .iter()
        .map(Report::from)
        .chain(skews.iter().map(Report::from));
    for report in all.chain(sizes.iter().map(Report::from)) {
        for output in [Output::Table, Output::Markdown] {
            let text = written(output, report);
            assert!(
                text.chars().all(|c| c == '\n' || !c.is_control()),
                "{text:?}"
            );
            assert!(
                !text.contains("<script>") || output == Output::Table,
                "{text}"
            );
        }
    }
    let markdown = written(Output::Markdown, &reports[1]);
    assert!(markdown.starts_with("❌ **over limit**: "), "{markdown}");
    let table = written(Output::Table, &reports[0]);
    for part in [
        "measured: ",
        "(1 - gcd(n, m) / max(n, m), if hashes are uniform)",
        "expected of distinct keys: 66.7 %",
        "bot",
        "empty keys: 1 records, from 1 to 9",
        "null keys: 1 records, from unpinned to unpinned",
    ] {
        assert!(table.contains(part), "{part}\n{table}");
    }
}

#[test]
fn estimates_are_said_to_be() {
    let report = &movements()[5];
    assert!(!report.distinct.exact);
    for output in [Output::Table, Output::Markdown, Output::Html, Output::Jsonl] {
        assert!(
            written(output, report).contains("are estimates from a uniform sample"),
            "{output}"
        );
    }
    assert!(written(Output::Table, report).contains("distinct keys, estimated,"));
}

#[test]
fn a_page_is_bounded_and_hostile_keys_stay_text() {
    let many = Input::keys((0..4_000).map(|i| format!("{i}-{}", "<&\"'>".repeat(25))));
    let wide = many.movement("java:1000", "librdkafka:2000", None);
    let page = written(Output::Html, &wide);
    assert!(page.len() < 2_000_000, "{}", page.len());
    let counts = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000];
    let page = written(Output::Html, &many.skew("java", &counts, None));
    assert!(page.len() < 3_000_000, "{}", page.len());
    let hostile = hostile();
    for page in [
        written(Output::Html, &hostile.movement("java:7", "java:1009", None)),
        written(Output::Html, &hostile.skew("java", &[7], None)),
    ] {
        assert_eq!(page.matches("<script").count(), 1, "ours alone");
        assert!(page.contains("&lt;script&gt;&amp;&quot;&#39;"));
        assert!(!page.contains("</details>") && !page.contains('\u{202e}'));
    }
}

#[test]
fn a_sizing_has_the_forms_that_suit_it() {
    let report = &sizes()[0];
    for (output, _) in Output::ALL {
        let result = output.write(report, false, &mut Vec::new());
        assert_eq!(result.is_ok(), Output::OF_SIZE.contains(output), "{output}");
    }
}
