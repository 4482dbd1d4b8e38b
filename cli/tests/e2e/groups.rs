//! Groups, on the broker that is in the same binary.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::broker::{Running, start};
use crate::support::{Ran, copart, pipe, run};

fn on(broker: &Running, args: &[&str]) -> Ran {
    run(&[args, &["--bootstrap", &broker.bootstrap()]].concat())
}

fn ok(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out
}

fn filled() -> Running {
    let broker = start(&["--topic", "t:2", "--topic", "u:1"]);
    let rows = "partition,value,timestamp\n0,a,1000\n0,b,2000\n0,c,3000\n1,d,1000\n";
    let bootstrap = broker.bootstrap();
    let args = ["produce", "t", "--format", "csv", "--bootstrap", &bootstrap];
    assert_eq!(pipe(rows.as_bytes(), &args).code, 0);
    broker
}

/// The offsets after a reset, or those that it would set.
fn reset(broker: &Running, args: &[&str]) -> Vec<(i64, Value, i64)> {
    let base = ["groups", "reset-offsets", "g", "--output", "json"];
    let out = ok(on(broker, &[&base[..], args].concat()));
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["schema"], "copart.reset/1");
    let partitions = document["partitions"].as_array().unwrap().iter();
    partitions
        .map(|p| {
            let number = |name: &str| p[name].as_i64().unwrap();
            (number("partition"), p["before"].clone(), number("offset"))
        })
        .collect()
}

#[test]
fn offsets_are_set_only_when_told_and_come_back_from_a_file() {
    let broker = filled();
    let topic = ["--topic", "t"];
    let to = |place: &'static str| [&topic[..], &["--to", place]].concat();
    let none = Value::Null;
    let dry = reset(&broker, &to("earliest"));
    assert_eq!(dry, [(0, none.clone(), 0), (1, none.clone(), 0)]);
    let listed = ok(on(&broker, &["groups", "list"]));
    assert_eq!(listed.lines().count(), 1, "{listed}");

    for (place, first, second) in [
        ("latest", 3, 1),
        ("2", 2, 1),
        ("@1500", 1, 1),
        ("-1h", 3, 1),
    ] {
        let planned = reset(&broker, &to(place));
        assert_eq!((planned[0].2, planned[1].2), (first, second), "{place}");
    }
    reset(&broker, &[&to("1")[..], &["--execute"]].concat());
    for form in ["csv", "json", "jsonl"] {
        let export = ok(on(&broker, &["groups", "describe", "g", "-o", form]));
        let moved = ["--all-topics", "--to", "latest", "--execute"];
        let moved = reset(&broker, &moved);
        assert_eq!(moved, [(0, 1.into(), 3), (1, 1.into(), 1)], "{form}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("offsets");
        std::fs::write(&file, export).unwrap();
        let restored = ["--file", file.to_str().unwrap(), "--execute"];
        let restored = reset(&broker, &restored);
        assert_eq!(restored, [(0, 3.into(), 1), (1, 1.into(), 1)], "{form}");
    }
    let one = reset(&broker, &["--topic", "t:0", "--to", "earliest"]);
    assert_eq!(one, [(0, 1.into(), 0)]);

    for args in [
        &["--to", "earliest"][..],
        &["--topic", "t"],
        &["--topic", "t:7", "--to", "latest"],
        &["--topic", "gone", "--to", "latest", "--timeout", "5"],
    ] {
        let ran = on(
            &broker,
            &[&["groups", "reset-offsets", "g"][..], args].concat(),
        );
        assert_eq!(ran.code, 2, "{args:?} {}", ran.err);
    }
    let deleted = on(&broker, &["groups", "delete", "g", "gone"]);
    assert_eq!((deleted.code, deleted.out.as_str()), (2, "g: deleted\n"));
    ok(on(&broker, &["groups", "delete", "gone", "--if-exists"]));
}

#[test]
fn lag_is_a_gate() {
    let broker = filled();
    let gate = |limit: &str| on(&broker, &["groups", "lag", "--max-lag", limit]);
    assert_eq!(gate("9").code, 4);
    reset(&broker, &["--topic", "t", "--to", "1", "--execute"]);
    assert_eq!(gate("2").code, 0);
    let behind = gate("1");
    assert_eq!(behind.code, 1);
    assert!(behind.err.contains("behind by 2"), "{}", behind.err);
    let gone = ["groups", "lag", "gone", "--max-lag", "1"];
    assert_eq!(on(&broker, &gone).code, 2);
    let rows = ok(on(&broker, &["groups", "lag", "g", "--output", "csv"]));
    let lags: Vec<_> = rows.lines().map(|row| row.split(',').nth(6)).collect();
    assert_eq!(lags, [Some("lag"), Some("2"), Some("0")]);
}

/// What is said of a group while a member with these arguments has its partitions.
fn with_member(broker: &Running, group: &str, args: &[&str]) -> Value {
    let bootstrap = broker.bootstrap();
    let consume = ["consume", "t", "--bootstrap", &bootstrap];
    let mut member = copart()
        .args([&consume[..], args].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(member.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let described = on(broker, &["groups", "describe", group, "-o", "json"]);
    member.kill().unwrap();
    member.wait().unwrap();
    let described: Value = serde_json::from_str(&ok(described)).unwrap();
    described["groups"][0].clone()
}

#[test]
fn a_consumers_properties_count_and_options_go_before_them() {
    let broker = filled();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("consumer.properties");
    let text = "group.id=file\ngroup.protocol=classic\ngroup.instance.id=here\n\
                partition.assignment.strategy=roundrobin\nauto.offset.reset=none\n\
                enable.auto.commit=false\n";
    std::fs::write(&file, text).unwrap();
    let properties = ["--properties", file.to_str().unwrap()];

    let consume = |args: &[&str]| on(&broker, &[&["consume", "t"], args].concat());
    let nowhere = consume(&[&properties[..], &["--count", "1"]].concat());
    assert_ne!(nowhere.code, 0);
    assert!(
        nowhere.err.contains("there is no reset policy"),
        "{}",
        nowhere.err
    );
    let read = [&properties[..], &["--start", "earliest", "--count", "4"]].concat();
    let printed = ok(consume(&read));
    assert_eq!(printed.lines().count(), 4);
    // Nothing was committed, so that it begins again.
    assert_eq!(ok(consume(&read)).lines().count(), 4);

    let start = ["--start", "earliest"];
    let args = [&properties[..], &start].concat();
    let classic = with_member(&broker, "file", &args);
    assert_eq!(classic["kind"], "classic", "{classic}");
    assert_eq!(classic["assignor"], "roundrobin");
    assert_eq!(classic["members"][0]["instance_id"], "here");
    let other = ["--group", "other", "--protocol", "consumer"];
    let args = [&properties[..], &start, &other].concat();
    let consumer = with_member(&broker, "other", &args);
    assert_eq!(consumer["kind"], "consumer", "{consumer}");

    let nobody = consume(&["--count", "1"]);
    assert_eq!(nobody.code, 2);
    assert!(nobody.err.contains("which group?"), "{}", nobody.err);
}

#[test]
fn a_member_prints_and_commits_and_is_not_reset_under() {
    let broker = filled();
    let bootstrap = broker.bootstrap();
    let consume = [
        "consume",
        "t",
        "--group",
        "g",
        "--format",
        "%p:%o\\n",
        "--bootstrap",
        &bootstrap,
    ];
    let mut first = run(&[&consume[..], &["--count", "3"]].concat());
    assert_eq!(first.code, 0, "{}", first.err);
    let rest = run(&[&consume[..], &["--count", "1"]].concat());
    first.out.push_str(&rest.out);
    let mut printed: Vec<_> = first.out.lines().collect();
    printed.sort_unstable();
    assert_eq!(printed, ["0:0", "0:1", "0:2", "1:0"]);
    ok(on(&broker, &["groups", "lag", "g", "--max-lag", "0"]));

    let mut member = copart()
        .args(consume)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let rows = b"partition,value\n1,e\n";
    let args = ["produce", "t", "--format", "csv", "--bootstrap", &bootstrap];
    assert_eq!(pipe(rows, &args).code, 0);
    let mut line = String::new();
    let mut out = BufReader::new(member.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "1:1\n");
    let args = [
        "groups",
        "reset-offsets",
        "g",
        "--topic",
        "t",
        "--to",
        "0",
        "--execute",
    ];
    let refused = on(&broker, &args);
    let described = ok(on(
        &broker,
        &["groups", "describe", "g", "--output", "json"],
    ));
    let deleted = on(&broker, &["groups", "delete", "g"]);
    member.kill().unwrap();
    member.wait().unwrap();
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("has 1 members") && refused.err.contains("copart-cli at "),
        "{}",
        refused.err
    );
    let described: Value = serde_json::from_str(&described).unwrap();
    let group = &described["groups"][0];
    assert_eq!(
        group["members"][0]["partitions"].as_array().unwrap().len(),
        2
    );
    assert_eq!(group["offsets"][0]["client_id"], "copart-cli");
    assert!(
        deleted.code == 2 && deleted.err.contains("NON_EMPTY_GROUP"),
        "{}",
        deleted.err
    );
}
