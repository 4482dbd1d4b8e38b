//! Keys that a schema describes: `--key-schema`.

use std::path::Path;

use crate::support::{Ran, pipe, run};

const AVRO: &str = r#"{"type":"record","name":"Key","fields":[
    {"name":"region","type":"string"},{"name":"id","type":"long"}]}"#;

/// The descriptors of which protobuf-java made `protobuf.tsv` beside them.
const DESCRIPTORS: &str = "crates/serializers/oracle/schemas/types.binpb";

fn schema(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key.avsc");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

fn map(keys: &str, args: &[&str]) -> Ran {
    let base = [
        "map",
        "-",
        "-p",
        "12",
        "--clients",
        "java",
        "--output",
        "csv",
    ];
    pipe(keys.as_bytes(), &[&base[..], args].concat())
}

fn keys_of(ran: Ran) -> Vec<String> {
    assert_eq!(ran.code, 0, "{ran:?}");
    let rows = ran.out.lines().skip(1);
    rows.map(|row| row.split(',').next().unwrap().to_owned())
        .collect()
}

#[test]
fn avro_keys_are_hashed_as_a_producer_writes_them() {
    let (_dir, path) = schema(AVRO);
    let keys = "{\"region\":\"eu\",\"id\":42}\n{\"id\":-1,\"region\":\"é\"}\n";
    let args = ["--key-schema", &path];
    assert_eq!(keys_of(map(keys, &args)), ["04657554", "04c3a901"]);
    // With the frame of a registry, as its serializers write it.
    let framed = [&args[..], &["--key-frame", "add-id=258"]].concat();
    assert_eq!(
        keys_of(map(keys, &framed)),
        ["000000010204657554", "000000010204c3a901"]
    );
    // In a column of CSV, and nulls beside them.
    let csv = "key,n\n\"{\"\"region\"\":\"\"eu\"\",\"\"id\"\":42}\",1\n-,2\n";
    let more = ["--format", "csv", "--field", "key", "--null-value", "-"];
    assert_eq!(
        keys_of(map(csv, &[&args[..], &more].concat())),
        ["04657554", "null"]
    );
}

#[test]
fn protobuf_keys_are_those_of_protobuf_java() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../crates/serializers/oracle/schemas/protobuf.tsv");
    let table = std::fs::read_to_string(table).unwrap();
    let text = "bool_value: true message_value { next { } }";
    let row = table.lines().find_map(|line| {
        let mut cells = line.split('\t').skip(1);
        (cells.next() == Some(text)).then(|| cells.next().unwrap().to_owned())
    });
    let keys = "{\"boolValue\":true,\"message_value\":{\"next\":{}}}\n";
    let message = ["--key-schema", DESCRIPTORS, "--key-message"];
    let scalars = [&message[..], &["copart.oracle.Scalars"]].concat();
    assert_eq!(keys_of(map(keys, &scalars)), [row.unwrap()]);

    // A map is written in any order.
    let nested = [&message[..], &["copart.oracle.Scalars.Nested"]].concat();
    let ran = map("{}\n", &nested);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("by_text is a map"), "{ran:?}");
    let ran = map("{}\n", &[&message[..], &["copart.oracle.Scalar"]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("copart.oracle.Scalars"), "{ran:?}");
}

#[test]
fn a_key_that_does_not_fit_is_named_by_its_line() {
    let (_dir, path) = schema(AVRO);
    let keys = "{\"region\":\"eu\",\"id\":42}\n{\"region\":\"eu\",\"id\":\"42\"}\n";
    let ran = map(keys, &["--key-schema", &path]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.err.contains("standard input:2: ") && ran.err.contains("id: it takes a long"),
        "{ran:?}"
    );
    let (_dir, path) = schema("{\"type\":\"recrod\"}");
    let ran = map(keys, &["--key-schema", &path]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("key.avsc: the Avro schema can't be used"),
        "{ran:?}"
    );
    let ran = map(keys, &["--key-schema", DESCRIPTORS]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--key-message"), "{ran:?}");
    let ran = run(&[
        "map",
        "x",
        "-p",
        "2",
        "--key-schema",
        "y",
        "--key-encoding",
        "hex",
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
}
