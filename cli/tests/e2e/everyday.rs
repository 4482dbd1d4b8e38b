//! Topics, metadata, produce and read, on the broker that is in the same binary.

use serde_json::Value;

use crate::broker::{Running, start};
use crate::support::{Ran, pipe, run, run_unread};

fn at<'a>(bootstrap: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--bootstrap", bootstrap]].concat()
}

fn on(broker: &Running, args: &[&str]) -> Ran {
    run(&at(&broker.bootstrap(), args))
}

fn write(broker: &Running, input: &[u8], args: &[&str]) -> Ran {
    pipe(input, &at(&broker.bootstrap(), args))
}

fn ok(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out
}

fn document(ran: Ran, schema: &str) -> Value {
    let document: Value = serde_json::from_str(&ran.out).expect(&ran.err);
    assert_eq!(document["schema"], schema);
    document
}

#[test]
fn topics_from_creation_to_deletion() {
    let broker = start(&["--nodes", "3"]);
    let create = ["topics", "create", "a", "b", "-p", "4", "-r", "3"];
    let config = ["--config", "retention.ms=1000"];
    let dry = ok(on(
        &broker,
        &[&create[..], &config, &["--dry-run"]].concat(),
    ));
    assert!(dry.contains("a: can be created"), "{dry}");
    assert_eq!(ok(on(&broker, &["topics", "list"])).lines().count(), 1);
    let created = ok(on(&broker, &[&create[..], &config].concat()));
    assert!(
        created.contains("b: created, partitions: 4, replicas of each: 3"),
        "{created}"
    );

    let again = on(&broker, &create);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("TOPIC_ALREADY_EXISTS"), "{}", again.err);
    let tolerant = ok(on(&broker, &[&create[..], &["--if-not-exists"]].concat()));
    assert!(tolerant.contains("a: exists"), "{tolerant}");

    let altered = on(
        &broker,
        &[
            "topics",
            "alter",
            "a",
            "-p",
            "6",
            "--config",
            "segment.bytes=2097152",
            "--reset-config",
            "retention.ms",
        ],
    );
    assert!(altered.err.contains("copart movement"), "{}", altered.err);
    ok(altered);
    let fewer = on(&broker, &["topics", "alter", "a", "-p", "3"]);
    assert_eq!(fewer.code, 2, "{}", fewer.err);
    let wrong = on(
        &broker,
        &["topics", "alter", "a", "--config", "retention.ms=soon"],
    );
    assert!(
        wrong.code == 2 && wrong.err.contains("INVALID_CONFIG"),
        "{}",
        wrong.err
    );
    assert_eq!(on(&broker, &["topics", "alter", "a"]).code, 2);

    let described = ["topics", "describe", "a"];
    let text = ok(on(&broker, &described));
    assert!(
        text.contains("segment.bytes=2097152") && !text.contains("retention.ms"),
        "{text}"
    );
    let described = on(&broker, &[&described[..], &["--output", "json"]].concat());
    let topic = &document(described, "copart.topics/1")["topics"][0];
    let partitions = topic["partitions"].as_array().unwrap();
    assert_eq!(partitions.len(), 6);
    assert_eq!(partitions[5]["replicas"].as_array().unwrap().len(), 3);
    assert_eq!(partitions[5]["end_offset"], 0);

    let listed = ok(on(&broker, &["topics", "list"]));
    let lines: Vec<_> = listed
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>())
        .collect();
    assert_eq!(lines[1], ["a", "6", "3"]);
    assert_eq!(lines[2], ["b", "4", "3"]);

    let deleted = on(&broker, &["topics", "delete", "a", "gone"]);
    assert_eq!(deleted.code, 2);
    assert_eq!(deleted.out, "a: deleted\n");
    assert!(deleted.err.contains("gone"), "{}", deleted.err);
    ok(on(&broker, &["topics", "delete", "gone", "--if-exists"]));
}

#[test]
fn metadata_is_kcats_listing() {
    let broker = start(&["--nodes", "3", "--topic", "t:2"]);
    let listing = ok(on(&broker, &["metadata"]));
    assert!(
        listing.starts_with("Metadata for all topics (from broker "),
        "{listing}"
    );
    assert!(
        listing.contains("\n 3 brokers:\n  broker 1 at 127.0.0.1:"),
        "{listing}"
    );
    assert!(
        listing
            .contains("\n 1 topics:\n  topic \"t\" with 2 partitions:\n    partition 0, leader ")
    );
    assert_eq!(listing.matches(" (controller)\n").count(), 1);
    let json = on(&broker, &["metadata", "--topic", "t", "--output", "json"]);
    let found = document(json, "copart.metadata/1");
    assert_eq!(found["brokers"].as_array().unwrap().len(), 3);
    assert_eq!(found["topics"][0]["name"], "t");
    let missing = on(&broker, &["metadata", "--topic", "gone"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.out.contains("Broker: Unknown topic or partition"),
        "{}",
        missing.out
    );
}

#[test]
fn what_is_written_is_read_back() {
    let broker = start(&["--topic", "t:4", "--topic", "copy:4", "--topic", "one:1"]);
    let lines = "k1:v1\nk2:\nk3:-\nno delimiter\nk1:v2\n";
    let produce = [
        "produce",
        "t",
        "--delimiter",
        ":",
        "--null-marker",
        "-",
        "--header",
        "h=1",
    ];
    let refused = write(&broker, lines.as_bytes(), &produce);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(
        refused.err.contains("line 1: ") && refused.err.contains("--partitioner java"),
        "{}",
        refused.err
    );

    let java = [
        &produce[..],
        &[
            "--partitioner",
            "java",
            "--compression",
            "zstd",
            "-o",
            "json",
        ],
    ]
    .concat();
    let written = write(&broker, lines.as_bytes(), &java);
    assert_eq!(written.code, 3);
    assert!(
        written.err.contains("line 4: there is no `:`"),
        "{}",
        written.err
    );
    let report = document(written, "copart.produce/1");
    assert_eq!(
        (&report["records"], &report["failed"]),
        (&4.into(), &1.into())
    );

    // Where copart itself says that Java puts them.
    let placed = pipe(
        b"k1\nk2\nk3\n",
        &[
            "map",
            "-",
            "-p",
            "4",
            "--clients",
            "java",
            "--output",
            "csv",
        ],
    );
    let read = ok(on(
        &broker,
        &[
            "read",
            "t",
            "--format",
            "%k,%p,%s,%S,%h\\n",
            "--null-marker",
            "NULL",
        ],
    ));
    let mut lines: Vec<_> = read.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 4, "{read}");
    for (line, end) in lines
        .iter()
        .zip([",v1,2,h=1", ",v2,2,h=1", ",,0,h=1", ",NULL,-1,h=1"])
    {
        assert!(line.ends_with(end), "{line}");
        let fields: Vec<_> = line.split(',').collect();
        let hex: String = fields[0]
            .bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let row = format!("{hex},4,java,{}", fields[1]);
        assert!(
            placed.out.lines().any(|placed| placed == row),
            "{row}: {}",
            placed.out
        );
    }

    // JSON lines come back as they were: same partitions, null values, headers, times.
    let all = ok(on(&broker, &["read", "t", "--output", "jsonl"]));
    let copied = write(
        &broker,
        all.as_bytes(),
        &["produce", "copy", "--format", "jsonl"],
    );
    assert_eq!(copied.code, 0, "{}", copied.err);
    assert!(
        copied.err.contains("4 records written to"),
        "{}",
        copied.err
    );
    let copy = ok(on(&broker, &["read", "copy", "--output", "jsonl"]));
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text
            .lines()
            .map(|l| l.replace("\"copy\"", "\"t\""))
            .collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(&copy), sorted(&all));

    let hex = write(
        &broker,
        b"ff\n",
        &[
            "produce",
            "one",
            "--value-encoding",
            "hex",
            "--partitioner",
            "uniform",
        ],
    );
    assert_eq!(hex.code, 0, "{}", hex.err);
    let hex = ok(on(&broker, &["read", "one", "--output", "hex"]));
    assert!(
        hex.starts_with("0\t0\t") && hex.ends_with("\t-\tff\n"),
        "{hex}"
    );
    let base64 = ok(on(&broker, &["read", "one", "--output", "jsonl"]));
    assert!(base64.contains("\"value_base64\":\"/w==\""), "{base64}");
}

#[test]
fn reading_begins_and_ends_where_it_is_told() {
    let broker = start(&["--topic", "t:1"]);
    let rows = "timestamp,value,partition\n1000,a,0\n2000,b,0\n3000,c,0\n4000,d,7\n";
    let written = write(
        &broker,
        rows.as_bytes(),
        &["produce", "t", "--format", "csv"],
    );
    assert_eq!(written.code, 3, "{}", written.err);
    assert!(
        written.err.contains("line 5: ") && written.err.contains("partition 7"),
        "{}",
        written.err
    );
    for (more, expected) in [
        (&[][..], "a\nb\nc\n"),
        (&["--start", "1"], "b\nc\n"),
        (&["--start", "@1500"], "b\nc\n"),
        (&["--start", "latest"], ""),
        (&["--start", "-1m"], ""),
        (&["--count", "2"], "a\nb\n"),
        (
            &[
                "--count",
                "1",
                "--follow",
                "--start",
                "1970-01-01T00:00:03Z",
            ],
            "c\n",
        ),
        (
            &["--partitions", "0", "--isolation", "read_uncommitted"],
            "a\nb\nc\n",
        ),
    ] {
        let read = ok(on(&broker, &[&["read", "t"][..], more].concat()));
        assert_eq!(read, expected, "{more:?}");
    }
    for (more, code) in [
        (&["--partitions", "5"][..], 2),
        (&["--start", "soon"], 2),
        (&["--format", "%z"], 2),
    ] {
        let read = on(&broker, &[&["read", "t"][..], more].concat());
        assert_eq!(read.code, code, "{more:?} {}", read.err);
    }
    assert_eq!(on(&broker, &["read", "gone", "--timeout", "5"]).code, 2);
    // A reader at the other end that goes away ends it, without a word.
    let bootstrap = broker.bootstrap();
    let (code, err) = run_unread(&["read", "t", "--bootstrap", &bootstrap]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
}

#[test]
fn properties_say_where_the_cluster_is_and_whose_rule_holds() {
    let broker = start(&["--topic", "t:3"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.properties");
    let path = file.to_str().unwrap();
    let set = |more: &str| {
        let text = format!("bootstrap.servers={}\n{more}", broker.bootstrap());
        std::fs::write(&file, text).unwrap();
    };
    set("partitioner=murmur2_random\ncompression.type=lz4\n");
    let written = pipe(
        b"k:v\n",
        &["produce", "t", "--delimiter", ":", "--properties", path],
    );
    assert_eq!(written.code, 0, "{}", written.err);
    let read = run(&["read", "t", "--properties", path, "--format", "%k=%s\\n"]);
    assert_eq!(ok(read), "k=v\n");
    let infer = run(&["infer", "--topic", "t", "--properties", path]);
    assert_eq!(infer.code, 4, "{}", infer.err);
    let map = pipe(b"k\n", &["map", "-", "--topic", "t", "--properties", path]);
    assert_eq!(map.code, 0, "{}", map.err);

    set("linger=5\nsasl.mechanism=GSSAPI\nssl.key.password=s3cret\n");
    let bad = run(&["metadata", "--properties", path]);
    assert_eq!(bad.code, 2);
    for hint in [
        "client.properties",
        "linger.ms is near",
        "SCRAM-SHA-512",
        "ssl.key.password",
    ] {
        assert!(bad.err.contains(hint), "{hint}: {}", bad.err);
    }
    assert!(!bad.err.contains("s3cret"), "{}", bad.err);
    let nowhere = run(&["metadata"]);
    assert!(
        nowhere.code == 2 && nowhere.err.contains("--bootstrap"),
        "{}",
        nowhere.err
    );
    assert_eq!(run(&["map", "-", "-p", "3", "--bootstrap", "x:1"]).code, 2);
}

#[test]
fn a_cluster_that_is_not_there_is_exit_code_5() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    for command in [
        &["topics", "list"][..],
        &["topics", "create", "t"],
        &["metadata"],
        &["produce", "t", "/dev/null", "--partitioner", "java"],
        &["read", "t"],
        &["bench", "consume", "t"],
    ] {
        let ran = run(&[command, &["--bootstrap", &address, "--timeout", "2"]].concat());
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (5, ""),
            "{command:?} {}",
            ran.err
        );
        assert!(ran.err.contains(&address), "{}", ran.err);
    }
}

#[test]
fn bench_measures_both_ways() {
    let broker = start(&["--topic", "t:3"]);
    let produce = [
        "bench",
        "produce",
        "t",
        "--records",
        "5000",
        "--size",
        "50",
        "-o",
        "json",
    ];
    let wrote = document(on(&broker, &produce), "copart.bench/1");
    assert_eq!(
        (&wrote["records"], &wrote["bytes"]),
        (&5000.into(), &250_000.into())
    );
    assert!(wrote["latency_ms"]["p999"].as_f64() >= wrote["latency_ms"]["p50"].as_f64());
    assert!(wrote["cpu_seconds"].as_f64().unwrap() > 0.0);
    let consume = ["bench", "consume", "t", "-o", "json"];
    let read = document(on(&broker, &consume), "copart.bench/1");
    assert_eq!(
        (&read["records"], &read["bytes"]),
        (&5000.into(), &250_000.into())
    );
    let text = ok(on(&broker, &["bench", "consume", "t", "--records", "10"]));
    assert!(text.contains(" records/s, "), "{text}");
    ok(on(&broker, &["topics", "create", "empty", "-p", "1"]));
    assert_eq!(on(&broker, &["bench", "consume", "empty"]).code, 4);
}
