//! `copart infer`, `copartition` and `lint` as a user runs them.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{Ran, pipe, run, run_unread};

/// Records of these keys, placed by copart's own `map`, as the lines of a CSV file.
fn placed(client: &str, count: u32, keys: std::ops::Range<u32>) -> Vec<(u32, String)> {
    let keys: String = keys.map(|i| format!("user-{i}\n")).collect();
    let count = count.to_string();
    let args = [
        "map",
        "-",
        "-p",
        &count,
        "--clients",
        client,
        "--output",
        "jsonl",
    ];
    let ran = pipe(keys.as_bytes(), &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    let records = ran.out.lines().zip(keys.lines()).map(|(line, key)| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let partition = row["partitions"][&count][client].as_u64().unwrap();
        (partition as u32, key.to_owned())
    });
    records.collect()
}

fn csv(records: &[(u32, String)]) -> String {
    let mut text = String::from("partition,offset,key\n");
    for (i, (partition, key)) in records.iter().enumerate() {
        let _ = writeln!(text, "{partition},{i},{key}");
    }
    text
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn infer_reads_what_each_tool_prints() {
    let records = placed("ruby-kafka", 12, 0..200);
    let (mut kcat, mut console, mut jsonl) = (String::new(), String::new(), String::new());
    for (i, (partition, key)) in records.iter().enumerate() {
        let _ = writeln!(kcat, "{partition} {i} {} {key}", key.len());
        let _ = writeln!(
            console,
            "CreateTime:{i}\tPartition:{partition}\tOffset:{i}\tNO_HEADERS\t{key}\tvalue"
        );
        let _ = writeln!(
            jsonl,
            "{{\"partition\":{partition},\"offset\":{i},\"key\":\"{key}\",\"payload\":null}}"
        );
    }
    for (content, args) in [
        (&csv(&records), &["--format", "csv"][..]),
        (&kcat, &["--kcat-format", "%p %o %K %k\\n"]),
        (&console, &["--format", "console", "--headers"]),
        (&jsonl, &["--format", "jsonl"]),
    ] {
        let all = [
            &["infer", "--input", "-", "-p", "12", "--output", "json"],
            args,
        ]
        .concat();
        let ran = pipe(content.as_bytes(), &all);
        assert_eq!(ran.code, 0, "{args:?} {ran:?}");
        let report = json(&ran);
        assert_eq!(report["verdict"], "one_profile");
        assert_eq!(report["components"][0]["profile"], "librdkafka");
        assert_eq!(report["input"]["records"], 200);
    }
}

#[test]
fn infer_as_a_gate() {
    let dump = csv(&placed("java", 12, 0..200));
    let gate = |dump: &str, expect: &str| {
        let args = [
            "infer", "--input", "-", "--format", "csv", "-p", "12", "--expect", expect,
        ];
        pipe(dump.as_bytes(), &args)
    };
    assert_eq!(gate(&dump, "kafkajs").code, 0);
    let ran = gate(&dump, "librdkafka");
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("are not where librdkafka puts them"),
        "{}",
        ran.out
    );
    let few: String = dump
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(gate(&few, "java").code, 4);
    assert_eq!(gate(&dump, "jva").code, 2);
}

#[test]
fn infer_finds_a_change_and_a_stale_count() {
    let mut records = placed("kafkajs@1.16", 12, 0..500);
    records.extend(placed("kafkajs@2", 12, 300..800));
    let args = ["infer", "--input", "-", "--format", "csv", "-p", "12"];
    let ran = pipe(csv(&records).as_bytes(), &args);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "one after the other",
        "kafkajs/legacy",
        "Keys on more than one partition",
        "from offset",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let ran = pipe(csv(&placed("java", 6, 0..200)).as_bytes(), &args);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("java puts them at 6 partitions"),
        "{}",
        ran.out
    );
}

#[test]
fn records_that_cannot_be_read_are_named() {
    let bad = |input: &str, args: &[&str]| {
        let all = [&["infer", "--input", "-"], args].concat();
        pipe(input.as_bytes(), &all)
    };
    let ran = bad("a b\n", &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("what printed these records?"),
        "{}",
        ran.err
    );
    let ran = bad("partition,key\n0,a\nx,b\n", &["--format", "csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(
        ran.err.contains("standard input:3: `x` is no partition"),
        "{}",
        ran.err
    );
    let ran = bad("partition,key\n12,a\n", &["--format", "csv", "-p", "12"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("partition 12"), "{}", ran.err);
    let ran = bad("", &["--kcat-format", "%k\\n"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no %p"), "{}", ran.err);
    assert_eq!(bad("partition,key\n", &["--format", "csv"]).code, 4);
    assert_eq!(run(&["infer", "--input", "no-such.csv"]).code, 3);
}

#[test]
fn copartition_says_what_a_join_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let java = write(folder.path(), "a.csv", &csv(&placed("java", 12, 0..300)));
    let same = write(
        folder.path(),
        "b.csv",
        &csv(&placed("kafkajs", 12, 100..400)),
    );
    let other = write(
        folder.path(),
        "c.csv",
        &csv(&placed("sarama", 12, 100..400)),
    );
    let fewer = write(folder.path(), "d.csv", &csv(&placed("java", 6, 0..300)));
    let ran = run(&["copartition", &java, &same, "-p", "12"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = run(&["copartition", &java, &other, "-p", "12"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("silently loses matches"), "{}", ran.out);
    let ran = run(&["copartition", &java, &fewer, "-p", "12,6"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("TopologyException"), "{}", ran.out);
    assert_eq!(run(&["copartition", "-", "-"]).code, 2);
}

#[test]
fn lint_names_lines_and_rules() {
    let folder = tempfile::tempdir().unwrap();
    let keys = write(folder.path(), "keys.txt", "a\nb \n007\nMünchen\n7\n");
    let ran = run(&["lint", &keys, "--output", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = json(&ran);
    let rules: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["rule"].as_str().unwrap())
        .collect();
    assert_eq!(
        rules,
        [
            "surrounding-space",
            "leading-zeros",
            "two-spellings",
            "non-ascii"
        ]
    );
    assert_eq!(report["findings"][0]["examples"][0]["record"], 2);
    let ran = run(&[
        "lint",
        &keys,
        "--allow",
        "surrounding-space,leading-zeros,two-spellings",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = run(&["lint", &keys, "--output", "github"]);
    assert!(
        ran.out
            .contains("line=2,title=copart%3A the key begins or ends with white space"),
        "{}",
        ran.out
    );
    assert_eq!(run(&["lint", &keys, "--allow", "weather"]).code, 2);
    assert_eq!(pipe(b"", &["lint", "-"]).code, 4);
}

#[test]
fn a_reader_that_goes_away_does_not_change_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let keys = write(folder.path(), "keys.txt", &"007\n".repeat(1000));
    assert_eq!(
        run_unread(&["lint", &keys, "-o", "json"]),
        (Some(1), String::new())
    );
    let dump = write(folder.path(), "d.csv", &csv(&placed("java", 6, 0..200)));
    let args = ["infer", "--input", &dump, "-p", "12", "-o", "jsonl"];
    assert_eq!(run_unread(&args), (Some(1), String::new()));
}
