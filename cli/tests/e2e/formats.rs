//! Records whose keys and values are shown as JSON: `--key-format` and `--value-format`.

use crate::broker::{Running, start};
use crate::schema::Registry;
use crate::support::{Ran, pipe, run};

/// The descriptors of the serializers' tests; Scalars is the second message of its file.
const SCALARS: [&str; 4] = [
    "--value-schema",
    "crates/serializers/oracle/schemas/types.binpb",
    "--value-message",
    "copart.oracle.Scalars",
];

/// A broker with these values, in hexadecimal, in one partition.
fn with_values(values: &[&str]) -> Running {
    let broker = start(&["--topic", "t:1"]);
    let rows: String = values
        .iter()
        .map(|value| format!("0,k,{value}\n"))
        .collect();
    let rows = format!("partition,key,value\n{rows}");
    let bootstrap = broker.bootstrap();
    let args = ["produce", "t", "--format", "csv", "--value-encoding", "hex"];
    let args = [
        &args[..],
        &["--null-marker", "-", "--bootstrap", &bootstrap],
    ]
    .concat();
    let ran = pipe(rows.as_bytes(), &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    broker
}

fn read(broker: &Running, args: &[&str]) -> Ran {
    let bootstrap = broker.bootstrap();
    run(&[&["read", "t", "--bootstrap", &bootstrap], args].concat())
}

fn ok(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

#[test]
fn avro_is_read_by_the_schema_that_the_record_names() {
    let registry = Registry::start();
    let broker = with_values(&["000000000706616263", "-", "00000000070422c3"]);
    let args = ["--value-format", "avro", "--registry", registry.url()];
    let first = [&args[..], &["--count", "2", "--null-marker", "null"]].concat();
    assert_eq!(ok(read(&broker, &first)), "\"abc\"\nnull\n");
    let lines = [&args[..], &["--count", "1", "--output", "jsonl"]].concat();
    assert!(ok(read(&broker, &lines)).contains(r#""key":"k","value":"\"abc\"""#));
    // What can't be read is named; what comes before it is printed.
    let ran = read(&broker, &args);
    assert_eq!((ran.code, ran.out.as_str()), (3, "\"abc\"\n\n"), "{ran:?}");
    assert!(
        ran.err
            .contains("topic t, partition 0, offset 2: value: not Avro of this schema"),
        "{ran:?}"
    );
    // The schema was asked for once.
    assert_eq!(registry.requests(), 3);

    let ran = read(&broker, &["--value-format", "avro"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--registry"), "{ran:?}");
}

#[test]
fn a_group_goes_on_with_the_record_that_could_not_be_read() {
    let registry = Registry::start();
    let broker = with_values(&["000000000706616263", "ff"]);
    let bootstrap = broker.bootstrap();
    let args = ["consume", "t", "--group", "g", "--bootstrap", &bootstrap];
    let avro = ["--value-format", "avro", "--registry", registry.url()];
    let ran = run(&[&args[..], &avro].concat());
    assert_eq!((ran.code, ran.out.as_str()), (3, "\"abc\"\n"), "{ran:?}");
    assert!(ran.err.contains("offset 1: value: "), "{ran:?}");
    let ran = run(&[&args[..], &["--output", "hex", "--count", "1"]].concat());
    assert!(ok(ran).starts_with("0\t1\t"));
}

#[test]
fn json_and_protobuf_are_read_with_a_frame_and_without() {
    let broker = with_values(&["7b7d", "00000000077b2261223a317d"]);
    assert_eq!(
        ok(read(&broker, &["--value-format", "json"])),
        "{}\n{\"a\":1}\n"
    );

    let broker = with_values(&["6801", "000000000702026801", "0000000007006801"]);
    let protobuf = [&["--value-format", "protobuf"], &SCALARS[..]].concat();
    let ran = read(&broker, &protobuf);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(ran.out, "{\"boolValue\":true}\n{\"boolValue\":true}\n");
    assert!(
        ran.err
            .contains("offset 2: value: it holds message [0] of its schema"),
        "{ran:?}"
    );
    let ran = read(&broker, &["--value-format", "protobuf"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = read(&broker, &SCALARS);
    assert_eq!(ran.code, 2, "{ran:?}");
}
