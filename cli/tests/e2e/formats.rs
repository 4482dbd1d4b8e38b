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

fn produce(broker: &Running, rows: &str, args: &[&str]) -> Ran {
    let bootstrap = broker.bootstrap();
    let common = [
        "produce",
        "t",
        "--partitioner",
        "java",
        "--bootstrap",
        &bootstrap,
    ];
    pipe(rows.as_bytes(), &[&common[..], args].concat())
}

#[test]
fn what_is_produced_by_a_registrys_schema_is_read_by_it() {
    let broker = start(&["--topic", "t:1", "--registry=127.0.0.1:0"]);
    let url = broker.registry.clone().unwrap();
    let register = |subject: &str, kind: &str, schema: &[u8]| {
        let args = ["schema", "register", subject, "-", "--type", kind];
        ok(pipe(schema, &[&args[..], &["--registry", &url]].concat()));
    };
    let order = r#"{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]}]}"#;
    register("t-value", "avro", order.as_bytes());
    register("t-key", "avro", br#""string""#);

    // By the newest schema. What does not fit is named, and the others are written.
    let avro = ["--value-format", "avro", "--registry", &url];
    let rows = "{\"id\":42,\"note\":\"x\"}\n{\"id\":\"x\"}\n{\"note\":null,\"id\":-1}\n";
    let ran = produce(&broker, rows, &avro);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.err.contains("line 2: value: the JSON does not fit"),
        "{ran:?}"
    );
    let hex = ok(read(&broker, &["--output", "hex"]));
    let values: Vec<_> = hex
        .lines()
        .map(|line| line.split('\t').nth(4).unwrap())
        .collect();
    // The registry's frame, and the Avro form of 42 and "x", of -1 and null.
    assert_eq!(values, ["000000000154020278", "00000000010100"]);
    assert_eq!(
        ok(read(&broker, &avro)),
        "{\"id\":42,\"note\":{\"string\":\"x\"}}\n{\"id\":-1,\"note\":null}\n"
    );

    // Keys have the id only where somebody says so.
    let keys = ["--delimiter", "|", "--key-format", "avro"];
    let ran = produce(
        &broker,
        "\"k\"|{}\n",
        &[&keys[..], &["--registry", &url]].concat(),
    );
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--allow-schema-id-in-keys"), "{ran:?}");
    let allowed = ["--allow-schema-id-in-keys", "--registry", &url];
    ok(produce(
        &broker,
        "\"k\"|{}\n",
        &[&keys[..], &allowed].concat(),
    ));
    let hex = ok(read(&broker, &["--start", "2", "--output", "hex"]));
    assert!(hex.ends_with("\t0000000002026b\t7b7d\n"), "{hex}");
}

#[test]
fn protobuf_is_produced_in_the_registrys_frame() {
    let broker = start(&["--topic", "t:1", "--registry=127.0.0.1:0"]);
    let url = broker.registry.clone().unwrap();
    let value = [
        &["--value-format", "protobuf", "--registry", &url],
        &SCALARS[..],
    ]
    .concat();
    let ran = produce(&broker, "{}\n", &value);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("t-value"), "{ran:?}");
    let schema = std::fs::read("../crates/serializers/oracle/schemas/types.proto").unwrap();
    let register = ["schema", "register", "t-value", "-", "--type", "protobuf"];
    ok(pipe(
        &schema,
        &[&register[..], &["--registry", &url]].concat(),
    ));
    ok(produce(&broker, "{\"boolValue\": true}\n", &value));
    let hex = ok(read(&broker, &["--output", "hex"]));
    // The second message of its file.
    assert!(hex.ends_with("\t000000000102026801\n"), "{hex}");
}

#[test]
fn protobuf_is_written_and_read_by_the_registrys_text() {
    let broker = start(&["--topic", "t:1", "--registry=127.0.0.1:0"]);
    let url = broker.registry.clone().unwrap();
    let by_registry = ["--value-format", "protobuf", "--registry", &url];
    let register = |subject: &str, schema: &str, more: &[&str]| {
        let args = ["schema", "register", subject, "-", "--type", "protobuf"];
        let args = [&args[..], &["--registry", &url], more].concat();
        ok(pipe(schema.as_bytes(), &args));
    };
    let money = "syntax = \"proto3\"; package shop; message Money { int64 cents = 1; }";
    register("money", money, &[]);
    let order = r#"syntax = "proto3"; package shop; import "money.proto";
        message Customer { string name = 1; }
        message Order { message Line { string item = 1; Money price = 2; } repeated Line lines = 1; }"#;
    register("t-value", order, &["--reference", "money.proto=money:1"]);

    // The first message, that of a name, and one within it.
    let first = ok(produce(&broker, "{\"name\":\"Ada\"}\n", &by_registry));
    assert_eq!(first, "");
    let line = r#"{"item":"tea","price":{"cents":"350"}}"#;
    for (message, json) in [
        ("shop.Order", format!("{{\"lines\":[{line}]}}")),
        ("shop.Order.Line", line.to_owned()),
    ] {
        let named = [&by_registry[..], &["--value-message", message]].concat();
        ok(produce(&broker, &format!("{json}\n"), &named));
    }
    let hex = ok(read(&broker, &["--output", "hex"]));
    let frames: Vec<_> = hex
        .lines()
        .map(|line| &line.split('\t').nth(4).unwrap()[..16])
        .collect();
    // The indexes [0], [1] and [1, 0] behind the id 2.
    assert_eq!(frames[0], "0000000002000a03");
    assert!(frames[1].starts_with("00000000020202"), "{frames:?}");
    assert!(frames[2].starts_with("0000000002040200"), "{frames:?}");
    assert_eq!(
        ok(read(&broker, &by_registry)),
        format!("{{\"name\":\"Ada\"}}\n{{\"lines\":[{line}]}}\n{line}\n")
    );

    let unknown = [&by_registry[..], &["--value-message", "shop.Money"]].concat();
    let ran = produce(&broker, "{}\n", &unknown);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("it has no message shop.Money"), "{ran:?}");
    let avro = ["--value-format", "avro", "--registry", &url];
    let ran = produce(&broker, "{}\n", &avro);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("it is PROTOBUF, not AVRO"), "{ran:?}");
}

#[test]
fn what_the_registry_has_not_is_named() {
    let broker = start(&["--topic", "t:1", "--registry=127.0.0.1:0"]);
    let url = broker.registry.clone().unwrap();
    let by_registry = ["--value-format", "protobuf", "--registry", &url];
    let register = ["schema", "register", "t-value", "-", "--type", "protobuf"];
    let schema = b"syntax = \"proto3\"; message A { string a = 1; }";
    ok(pipe(
        schema,
        &[&register[..], &["--registry", &url]].concat(),
    ));
    let unreadable = [
        // An id and a message that nobody registered, and no frame.
        ("000000000900", "Schema 9 not found"),
        ("00000000010204", "there is no message [2] in schema id 1"),
        ("6801", "begins with 68"),
    ];
    let rows: Vec<_> = unreadable.iter().map(|(value, _)| *value).collect();
    let hex = ["--value-encoding", "hex"];
    ok(produce(&broker, &rows.join("\n"), &hex));
    for (offset, (_, said)) in unreadable.iter().enumerate() {
        let start = offset.to_string();
        let ran = read(&broker, &[&by_registry[..], &["--start", &start]].concat());
        assert_eq!(ran.code, 3, "{ran:?}");
        let place = format!("offset {offset}: value: ");
        assert!(ran.err.contains(&place), "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {ran:?}");
    }
}

#[test]
fn what_is_produced_without_a_registry_is_bare() {
    let broker = start(&["--topic", "t:1"]);
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("key.avsc");
    std::fs::write(&schema, r#""long""#).unwrap();
    let key = [
        "--key-format",
        "avro",
        "--key-schema",
        schema.to_str().unwrap(),
    ];
    let value = [&["--value-format", "protobuf"], &SCALARS[..]].concat();
    let args = [&["--delimiter", "|"], &key[..], &value].concat();
    ok(produce(&broker, "42|{\"boolValue\":true}\n", &args));
    let hex = ok(read(&broker, &["--output", "hex"]));
    assert!(hex.ends_with("\t54\t6801\n"), "{hex}");

    let json = ["--value-format", "json"];
    let ran = produce(&broker, "{\"a\" : 1}\n{\n", &json);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("line 2: value: it is no JSON"), "{ran:?}");
    let hex = ok(read(&broker, &["--start", "1", "--output", "hex"]));
    assert!(hex.ends_with("\t7b226122203a20317d\n"), "{hex}");

    for wrong in [
        &["--value-format", "avro"][..],
        &["--value-format", "json", "--value-encoding", "hex"],
        &["--value-format", "protobuf"],
        &["--allow-schema-id-in-keys"],
        &SCALARS,
    ] {
        let ran = produce(&broker, "{}\n", wrong);
        assert_eq!(ran.code, 2, "{wrong:?}: {ran:?}");
    }
}
