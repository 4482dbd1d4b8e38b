//! Avro written with one version of a schema and read with another; and bytes that are no values.
#![cfg(feature = "avro")]

use std::time::{Duration, Instant};

use apache_avro::types::Value;
use copart_serializers::schema::{
    Described, MessageIndex, ReadEvolved, Reference, Schema, SchemaType,
};
use copart_serializers::{Avro, AvroValue, Context, Deserialize, ErrorKind, Payload, Serialize};
use proptest::prelude::*;

const OLD: &str = r#"{"type": "record", "name": "User", "namespace": "a", "fields": [
    {"name": "id", "type": "int"},
    {"name": "name", "type": "string"},
    {"name": "home", "type": {"type": "record", "name": "Place", "fields": [
        {"name": "town", "type": "string"}, {"name": "dropped", "type": "long"}]}},
    {"name": "others", "type": {"type": "array", "items": "Place"}}]}"#;

const NEW: &str = r#"{"type": "record", "name": "Person", "namespace": "b", "aliases": ["a.User"], "fields": [
    {"name": "full_name", "type": "string", "aliases": ["name"]},
    {"name": "id", "type": "long"},
    {"name": "email", "type": ["null", "string"], "default": null},
    {"name": "home", "type": {"type": "record", "name": "Location", "aliases": ["a.Place"], "fields": [
        {"name": "city", "type": "string", "aliases": ["place", "town"]}]}},
    {"name": "others", "type": {"type": "array", "items": "Location"}}]}"#;

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Old {
    id: i32,
    name: String,
    home: OldPlace,
    others: Vec<OldPlace>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct OldPlace {
    town: String,
    dropped: i64,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct New {
    full_name: String,
    id: i64,
    email: Option<String>,
    home: Location,
    others: Vec<Location>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Location {
    city: String,
}

fn place(town: &str) -> OldPlace {
    OldPlace {
        town: town.to_owned(),
        dropped: 1,
    }
}

fn evolve<F: ReadEvolved>(
    format: &F,
    written: &str,
    bytes: &[u8],
) -> copart_serializers::Result<F::Value> {
    let writer = format.writer(&Schema::new(SchemaType::Avro, written), &[])?;
    let none = MessageIndex::none();
    format.read_evolved(&Context::value("t"), &writer, &none, Payload::new(bytes))
}

#[test]
fn renamed_added_dropped_and_widened_fields() {
    let old = Old {
        id: 7,
        name: "Ada".to_owned(),
        home: place("Ulm"),
        others: vec![place("Graz"), place("Bern")],
    };
    let bytes = Avro::<Old>::new(OLD)
        .expect("a schema")
        .to_vec(&Context::value("t"), &old);
    let bytes = bytes.expect("writes").expect("not null");
    let expected = New {
        full_name: "Ada".to_owned(),
        id: 7,
        email: None,
        home: Location {
            city: "Ulm".to_owned(),
        },
        others: vec![
            Location {
                city: "Graz".to_owned(),
            },
            Location {
                city: "Bern".to_owned(),
            },
        ],
    };
    let reader = Avro::<New>::new(NEW).expect("a schema");
    assert_eq!(evolve(&reader, OLD, &bytes).expect("evolves"), expected);
    // The same schema, and one that differs in a comment.
    let bytes = reader
        .to_vec(&Context::value("t"), &expected)
        .expect("writes")
        .expect("not null");
    assert_eq!(evolve(&reader, NEW, &bytes).expect("reads"), expected);
    let commented = NEW.replacen("\"name\": \"id\"", "\"doc\": \"x\", \"name\": \"id\"", 1);
    assert_eq!(
        evolve(&reader, &commented, &bytes).expect("reads"),
        expected
    );
    // The other way round there are fields without a default.
    let error =
        evolve(&Avro::<Old>::new(OLD).expect("a schema"), NEW, &bytes).expect_err("no name");
    assert_eq!(error.kind(), ErrorKind::Malformed);
}

#[test]
fn a_schema_that_refers_to_another_twice() {
    let inner = Schema::new(
        SchemaType::Avro,
        r#"{"type":"record","name":"x.In","fields":[{"name":"a","type":"int"}]}"#,
    );
    let outer = Schema::new(
        SchemaType::Avro,
        r#"{"type":"record","name":"x.Out","fields":[{"name":"one","type":"In"},{"name":"two","type":"x.In"}]}"#,
    )
    .with_references(vec![Reference {
        name: "x.In".to_owned(),
        subject: "in".to_owned(),
        version: 1,
    }]);
    let format =
        AvroValue::with_references(outer.clone(), std::slice::from_ref(&inner)).expect("a schema");
    assert_eq!(format.record_name(), Some("x.Out"));
    let value = format
        .read(&Context::value("t"), Some(Payload::new(&[2, 4])))
        .expect("reads");
    let inner = |number| Value::Record(vec![("a".to_owned(), Value::Int(number))]);
    assert_eq!(
        value,
        Value::Record(vec![
            ("one".to_owned(), inner(1)),
            ("two".to_owned(), inner(2))
        ])
    );
    assert_eq!(
        format.to_vec(&Context::value("t"), &value).expect("writes"),
        Some(vec![2, 4])
    );
    let error = AvroValue::with_references(outer, &[]).expect_err("not there");
    assert_eq!(error.kind(), ErrorKind::Schema);
}

#[test]
fn what_is_no_schema() {
    for text in [
        "",
        "{",
        "\"nothing\"",
        "{\"type\":\"record\"}",
        "\"bytes\"",
        r#"{"type":"array","items":"Unknown"}"#,
    ] {
        let error = AvroValue::new(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(!error.to_string().contains("topic"), "{error}");
    }
    let error = AvroValue::with_references(Schema::new(SchemaType::Json, "\"int\""), &[]);
    assert!(error.expect_err("of JSON").to_string().contains("JSON"));
}

fn refused(schema: &str, bytes: &[u8]) -> String {
    let format = AvroValue::new(schema).expect("a schema");
    let error = format
        .read(&Context::value("t"), Some(Payload::new(bytes)))
        .expect_err("no value");
    assert_eq!(error.kind(), ErrorKind::Malformed);
    error.to_string()
}

const NODE: &str =
    r#"{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}"#;

#[test]
fn hostile_bytes_are_refused_before_anything_is_built() {
    // A mebibyte of nesting would end the process.
    assert!(refused(NODE, &vec![2; 1 << 20]).contains("nested deeper"));
    // 2^62 nulls in ten bytes; 2^40 elements; a text of 500 MB.
    assert!(
        refused(
            r#"{"type":"array","items":"null"}"#,
            &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0]
        )
        .contains("too many")
    );
    assert!(
        refused(
            r#"{"type":"array","items":"long"}"#,
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]
        )
        .contains("cut off")
    );
    assert!(refused("\"string\"", &[0x80, 0xca, 0xb5, 0xee, 3, b'x']).contains("cut off"));
    // apache-avro reads these as null.
    assert!(refused("\"string\"", &[4, b'x']).contains("cut off"));
    assert!(refused("\"boolean\"", &[]).contains("cut off"));
    assert!(refused(r#"["string","null"]"#, &[]).contains("cut off"));
    for (schema, bytes) in [
        ("\"long\"", &[0xff; 11][..]),
        (
            "\"long\"",
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
        ),
        ("\"int\"", &[0xff, 0xff, 0xff, 0xff, 0x1f]),
        ("\"int\"", &[0, 0]),
        ("\"string\"", &[1]),
        ("\"string\"", &[2, 0xff]),
        ("\"boolean\"", &[2]),
        (r#"["null","int"]"#, &[4]),
        (r#"["null","int"]"#, &[1]),
        (r#"{"type":"enum","name":"E","symbols":["A"]}"#, &[2]),
        (r#"{"type":"array","items":"int"}"#, &[1, 0x80]),
        (r#"{"type":"map","values":"int"}"#, &[2, 2, b'k']),
        (
            r#"{"type":"bytes","logicalType":"big-decimal"}"#,
            &[6, 0xfe, 0xff, 0x7f],
        ),
        (
            r#"{"type":"bytes","logicalType":"big-decimal"}"#,
            &[4, 0, 0],
        ),
        (
            r#"{"type":"bytes","logicalType":"decimal","precision":4}"#,
            &[0],
        ),
    ] {
        refused(schema, bytes);
    }
}

#[test]
fn ninety_levels_are_read() {
    let mut bytes = vec![2; 89];
    bytes.push(0);
    let format = AvroValue::new(NODE).expect("a schema");
    // In a thread whose stack is that of every test, tokio worker and client.
    format
        .read(&Context::value("t"), Some(Payload::new(&bytes)))
        .expect("reads");
}

/// Every schema of the oracle's table.
fn schemas() -> Vec<&'static str> {
    let table = include_str!("../oracle/schemas/avro.tsv").lines();
    let mut schemas: Vec<_> = table.filter_map(|line| line.split('\t').next()).collect();
    schemas.dedup();
    schemas
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No panic; and what is read is written again as a value of the same bytes' worth.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(prop_oneof![0u8..8, any::<u8>()], 0..60)) {
        for schema in schemas() {
            let format = AvroValue::new(schema).expect("a schema");
            if let Ok(value) = format.read(&Context::value("t"), Some(Payload::new(&bytes))) {
                let written = format.to_vec(&Context::value("t"), &value).expect("writes").unwrap_or_default();
                let again = format.read(&Context::value("t"), Some(Payload::new(&written)));
                prop_assert_eq!(format!("{:?}", again.expect("reads its own")), format!("{value:?}"));
            }
        }
    }
}

/// Longer than `any_bytes`, with mutations of real rows: `cargo test --features … -- --ignored`.
#[test]
#[ignore = "runs for COPART_FUZZ_SECONDS, 20 by default"]
fn fuzz() {
    let seconds = std::env::var("COPART_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(20));
    let rows: Vec<_> = include_str!("../oracle/schemas/avro.tsv")
        .lines()
        .map(|line| {
            let mut parts = line.split('\t');
            let schema = parts.next().expect("a schema");
            let hex = parts.nth(1).expect("bytes").trim_matches('.');
            (
                AvroValue::new(schema).expect("a schema"),
                data_encoding::HEXLOWER.decode(hex.as_bytes()).expect("hex"),
            )
        })
        .collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let (mut runs, mut values) = (0u64, 0u64);
    while Instant::now() < end {
        let (format, _) = &rows[random(rows.len())];
        let mut bytes = rows[random(rows.len())].1.clone();
        for _ in 0..random(4) {
            let at = random(bytes.len() + 1);
            match random(3) {
                0 if at < bytes.len() => bytes[at] ^= 1 << random(8),
                1 => bytes.insert(at, random(256) as u8),
                _ => bytes.truncate(at),
            }
        }
        let read = format.read(&Context::value("t"), Some(Payload::new(&bytes)));
        runs += 1;
        values += u64::from(read.is_ok());
    }
    assert!(values > 0);
    println!("{runs} runs, {values} values");
}
