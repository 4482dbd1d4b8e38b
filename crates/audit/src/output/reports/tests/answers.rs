//! Each output of each report that is made of an answer, and how they hold together.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use copart_partitioners::PartitionCount;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use crate::check::{CheckReport, Cluster, Contract, check};
use crate::copartition::{CopartitionOptions, CopartitionReport, copartition_from};
use crate::infer::testing::{Topic, keys};
use crate::infer::{InferOptions, InferReport, infer_from};
use crate::input::records::RecordSource;
use crate::input::{Format, InputOptions, Source};
use crate::lint::{LintOptions, LintReport, lint};
use crate::output::Output;
use crate::pipeline::Run;
use crate::{Client, Error};

enum Report {
    Infer(Box<InferReport>),
    Copartition(Box<CopartitionReport>),
    Lint(Box<LintReport>),
    Check(Box<CheckReport>),
}

impl Report {
    fn written(&self, output: Output) -> String {
        let mut out = Vec::new();
        match self {
            Self::Infer(report) => output.write(&**report, false, &mut out),
            Self::Copartition(report) => output.write(&**report, false, &mut out),
            Self::Lint(report) => output.write(&**report, false, &mut out),
            Self::Check(report) => output.write(&**report, false, &mut out),
        }
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Infer(report) => report.exit_code(),
            Self::Copartition(report) => report.exit_code(),
            Self::Lint(report) => report.exit_code(),
            Self::Check(report) => report.exit_code(),
        }
    }

    const fn schema(&self) -> &'static str {
        match self {
            Self::Infer(_) => "infer",
            Self::Copartition(_) => "copartition",
            Self::Lint(_) => "lint",
            Self::Check(_) => "check",
        }
    }
}

static GO_ON: AtomicBool = AtomicBool::new(false);

fn infer(mut topic: Topic, expect: Option<&str>) -> Report {
    let options = InferOptions {
        partitions: None,
        expect: expect.map(|name| Client::parse(name).unwrap()),
        show: 10,
    };
    let run = Run {
        threads: 1,
        interrupted: &GO_ON,
    };
    let mut report = infer_from(&mut topic, &options, &run).unwrap();
    report.input.path = Some("a dir/dump,1.jsonl".into());
    report.input.name = "a dir/dump,1.jsonl".into();
    Report::Infer(Box::new(report))
}

fn copartition(mut a: Topic, mut b: Topic) -> Report {
    let run = Run {
        threads: 1,
        interrupted: &GO_ON,
    };
    let options = CopartitionOptions {
        show: 10,
        ..CopartitionOptions::default()
    };
    Report::Copartition(Box::new(
        copartition_from([&mut a, &mut b], &options, &run).unwrap(),
    ))
}

fn linted(content: &[u8], interrupted: bool) -> Report {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    std::fs::write(&path, content).unwrap();
    let input = InputOptions {
        format: Some(Format::Lines),
        ..InputOptions::default()
    };
    let source = Source::open(&path, &input).unwrap();
    let run = Run {
        threads: 1,
        interrupted: &AtomicBool::new(interrupted),
    };
    let options = LintOptions {
        show: 10,
        ..LintOptions::default()
    };
    let mut report = lint(&source, &options, &run).unwrap();
    report.input.path = Some("keys.txt".into());
    report.input.name = "keys.txt".into();
    Report::Lint(Box::new(report))
}

/// A cluster with a topic of 12 partitions that Java's client wrote.
struct Fake;

impl Cluster for Fake {
    fn name(&self) -> &str {
        "kafka:9092"
    }

    fn partition_count(&mut self, _topic: &str) -> Result<PartitionCount, Error> {
        Ok(PartitionCount::new(12).unwrap())
    }

    fn records(&mut self, _topic: &str, _records: u64) -> Result<Box<dyn RecordSource>, Error> {
        Ok(Box::new(Topic::new(12).by("java", 12, &keys(0, 200))))
    }
}

/// A contract whose topic has a profile and a producer, and keys that try to break out.
fn checked(topic: &str, profile: &str, producer: &str) -> Report {
    let hostile = HOSTILE
        .iter()
        .map(|key| format!("{{ hex = \"{}\" }},", HEXLOWER.encode(key)));
    let text = format!(
        "contract = 1\n[[topic]]\nname = \"{topic}\"\npartitions = 12\nprofile = \"{profile}\"\nkeys = [{{ key = \"user-1\" }}, {{ null = true }}, {}]\n[[topic.producer]]\nname = \"<script>|%0A\"\nprofile = \"{producer}\"\n",
        hostile.collect::<String>()
    );
    let contract = Contract::parse(&text, Path::new("a dir/copart,1.toml"));
    let run = Run {
        threads: 1,
        interrupted: &GO_ON,
    };
    Report::Check(Box::new(check(&contract, Some(&mut Fake), &run)))
}

const HOSTILE: &[&[u8]] = &[
    b"]]>\r",
    b"%0A::error::x\r",
    b"<script>&\"' ",
    b" a|b`c``d",
    b"</details>\r",
    b"\x1b[31m \r",
    b"\"=1+1\"",
    b"\xff\xfe\xfd",
];

fn reports() -> Vec<Report> {
    let java = |n| Topic::new(n).by("java", n, &keys(0, 200));
    let mut hostile =
        Topic::new(12)
            .by("java", 12, &keys(0, 200))
            .by("librdkafka", 12, &keys(200, 300));
    for (i, key) in HOSTILE.iter().enumerate() {
        for partition in [i as u32, 11 - i as u32] {
            hostile = hostile.at(partition, Some(key));
        }
    }
    let mut robin = Topic::new(12);
    for i in 0..600u32 {
        robin = robin.at(i % 12, Some(format!("k{}", i * 7 % 50).as_bytes()));
    }
    let framed: Vec<_> = (0..40u8)
        .map(|i| vec![0, 0, 0, 0, 1 + i % 2, i / 2, 3])
        .collect();
    let lines = [
        HOSTILE.join(&b'\n'),
        "é\ne\u{301}\n07\n7\n".as_bytes().to_vec(),
    ]
    .join(&b'\n');
    vec![
        infer(java(12), None),
        infer(java(16), None),
        infer(java(12), Some("java")),
        infer(java(12), Some("librdkafka")),
        infer(Topic::new(12).by("java", 12, &keys(0, 3)), Some("java")),
        infer(Topic::new(12).by("java", 7, &keys(0, 200)), None),
        infer(java(12).by("sarama", 12, &keys(100, 400)), None),
        infer(hostile, None),
        infer(robin, None),
        infer(
            Topic::new(12)
                .by("java", 12, &framed)
                .at(0, None)
                .at(3, Some(b"")),
            None,
        ),
        infer(Topic::new(12), None),
        copartition(java(12), java(12)),
        copartition(java(12), Topic::new(12).by("ruby-kafka", 12, &keys(0, 200))),
        copartition(java(12), java(6)),
        copartition(Topic::new(12), java(12)),
        linted(b"a\nb\n", false),
        linted("München\n".as_bytes(), false),
        linted(&lines, false),
        linted(b"\n\n", false),
        linted(b"a\n", true),
        checked("orders", "java", "kafkajs"),
        checked("orders", "java", "librdkafka"),
        checked("a|b<script>\\n::error::", "librdkafka", "java"),
        checked("orders", "kafka-go", "kafka-go"),
        checked("orders", "java", "confluent-kafka-go"),
        checked("orders", "jva", "java"),
    ]
}

fn schema(name: &str) -> Value {
    let path = format!(
        "{}/../../docs/src/schema/copart.{name}-1.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The schema with every object closed, so that a member it does not describe is an error.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(closed);
            if members.contains_key("properties") {
                members.insert("unevaluatedProperties".into(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

/// A validator; the schema of `copartition` refers to that of `infer`.
fn validator(name: &str, close: bool) -> jsonschema::Validator {
    let prepared = |name: &str| {
        let mut schema = schema(name);
        if close {
            closed(&mut schema);
        }
        schema
    };
    let (main, infer) = (prepared(name), prepared("infer"));
    let id = infer["$id"].as_str().unwrap().to_owned();
    let registry = jsonschema::Registry::new()
        .add(id, &infer)
        .unwrap()
        .prepare()
        .unwrap();
    jsonschema::options()
        .with_registry(&registry)
        .build(&main)
        .unwrap()
}

#[test]
fn every_json_report_is_valid_and_every_member_described() {
    for close in [false, true] {
        for report in reports() {
            let validator = validator(report.schema(), close);
            let value: Value = serde_json::from_str(&report.written(Output::Json)).unwrap();
            let errors: Vec<_> = validator
                .iter_errors(&value)
                .map(|e| format!("{}: {e}", e.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
        }
    }
}

#[test]
fn the_schemas_refuse_what_is_no_report() {
    for (report, spoilt) in [
        (
            infer(Topic::new(12).by("java", 12, &keys(0, 200)), None),
            &[
                ("/schema", json!("copart.infer/2")),
                ("/verdict", json!("maybe")),
                ("/partitions/count", json!(0)),
                ("/components/0/profile", json!(1)),
                ("/components/0/share", json!(1.5)),
                ("/evidence/keys", json!(-1)),
                ("/ranking/0/by_chance", json!("low")),
            ][..],
        ),
        (
            linted(b"a\r\n", false),
            &[
                ("/verdict", json!("fine")),
                ("/findings/0/rule", json!("weather")),
                ("/findings/0/severity", json!("bad")),
                ("/findings/0/examples/0/key_hex", json!("XY")),
                ("/kinds/0/kind", json!("other")),
            ],
        ),
        (
            checked("orders", "java", "librdkafka"),
            &[
                ("/verdict", json!("fine")),
                ("/findings/0/rule", json!("weather")),
                ("/findings/0/line", json!(0)),
                ("/topics/0/partitions", json!(0)),
                ("/topics/0/producers/0/outcome", json!("maybe")),
                ("/topics/0/producers/0/moves/0/key_hex", json!("XY")),
                ("/topics/0/records/0/keys", json!(-1)),
            ],
        ),
        (
            copartition(Topic::new(12).by("java", 12, &keys(0, 200)), Topic::new(6)),
            &[
                ("/verdict", json!("yes")),
                ("/checks/0/outcome", json!("maybe")),
                ("/topics/0/verdict", json!("maybe")),
                ("/shared/keys", json!(0.5)),
            ],
        ),
    ] {
        let validator = validator(report.schema(), false);
        let good: Value = serde_json::from_str(&report.written(Output::Json)).unwrap();
        assert!(validator.is_valid(&good));
        for (pointer, bad) in spoilt {
            let mut report = good.clone();
            *report
                .pointer_mut(pointer)
                .unwrap_or_else(|| panic!("{pointer}: {good:#}")) = bad.clone();
            assert!(!validator.is_valid(&report), "{pointer}");
        }
    }
}

#[test]
fn annotations_and_exit_codes_agree() {
    for report in reports() {
        let github = report.written(Output::Github);
        let lines: Vec<_> = github.lines().collect();
        assert!(lines.iter().all(|line| line.starts_with("::")), "{github}");
        let errors = lines
            .iter()
            .filter(|line| line.starts_with("::error "))
            .count();
        let partial = report.exit_code() == 130;
        assert!(
            (errors > 0) == (report.exit_code() != 0) || partial,
            "{github}"
        );
        assert!(lines.last().unwrap().starts_with("::notice "), "{github}");
        let sarif: Value = serde_json::from_str(&report.written(Output::Sarif)).unwrap();
        let run = &sarif["runs"][0];
        assert_eq!(run["invocations"][0]["exitCode"], report.exit_code());
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(result["ruleId"], rules[index]["id"]);
        }
        let junit = report.written(Output::Junit);
        let trouble = junit.contains("<failure") || junit.contains("<error");
        assert_eq!(trouble, report.exit_code() != 0, "{junit}");
        let facts = report.written(Output::Jsonl);
        let last: Value = serde_json::from_str(facts.lines().last().unwrap()).unwrap();
        assert_eq!(last["type"], "verdict");
        let whole: Value = serde_json::from_str(&report.written(Output::Json)).unwrap();
        assert_eq!(last["verdict"], whole["verdict"]);
        assert_eq!(last["exit_code"], report.exit_code());
    }
}

#[test]
fn hostile_keys_stay_where_they_are_put() {
    for report in reports() {
        let markdown = report.written(Output::Markdown);
        assert!(
            !markdown.contains("<script") && !markdown.contains("</details>"),
            "{markdown}"
        );
        let mut width = None;
        for line in markdown.lines() {
            if !line.starts_with('|') {
                width = None;
                assert!(!line.contains('|'), "{line}");
                continue;
            }
            let cells = line.matches(" | ").count();
            assert_eq!(*width.get_or_insert(cells), cells, "{markdown}");
        }
        let table = report.written(Output::Table);
        assert!(!table.contains('\x1b') && !table.contains('\r'), "{table}");
        let junit = report.written(Output::Junit);
        let mut reader = quick_xml::Reader::from_str(&junit);
        loop {
            if reader.read_event().unwrap() == quick_xml::events::Event::Eof {
                break;
            }
        }
        let csv = report.written(Output::Csv);
        let mut rows = ::csv::Reader::from_reader(csv.as_bytes());
        let columns = rows.headers().unwrap().len();
        assert!(rows.records().all(|row| row.unwrap().len() == columns));
    }
}

/// Every page has the answer, plots and its own script alone.
#[test]
fn every_report_has_a_page() {
    for report in reports() {
        let page = report.written(Output::Html);
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(!page.contains("</details>") && page.contains("<main id=\"answer\">"));
        assert!(page.contains(&format!("<h1>copart {}</h1>", report.schema())));
    }
}

#[test]
fn every_sarif_log_is_valid_under_the_published_schema() {
    let schema = crate::output::sarif::tests::published_schema();
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    for report in reports() {
        let log: Value = serde_json::from_str(&report.written(Output::Sarif)).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(&log)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{log:#}");
    }
}
