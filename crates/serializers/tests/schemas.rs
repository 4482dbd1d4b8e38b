//! Every row that Avro's, fastavro's and Protobuf's own libraries made: see `oracle/README.md`.
#![cfg(all(feature = "avro", feature = "protobuf-dynamic"))]

use std::collections::{BTreeMap, HashMap};

use apache_avro::schema::{InnerDecimalSchema, ResolvedSchema, UuidSchema};
use apache_avro::types::Value;
use apache_avro::{Decimal, Duration, Schema};
use copart_serializers::{
    Avro, AvroValue, Context, Deserialize, Payload, Protobuf, ProtobufDynamic, Serialize,
};
use data_encoding::HEXLOWER;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::Value as Json;

const AVRO: &str = include_str!("../oracle/schemas/avro.tsv");
const PROTOBUF: &str = include_str!("../oracle/schemas/protobuf.tsv");
const TYPES: &[u8] = include_bytes!("../oracle/schemas/types.binpb");

fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str, Vec<u8>)> {
    table.lines().map(|line| {
        let mut parts = line.split('\t');
        let mut part = || parts.next().expect("three columns");
        let (first, second, hex) = (part(), part(), part());
        let hex = if hex == "." { "" } else { hex };
        (first, second, HEXLOWER.decode(hex.as_bytes()).expect("hex"))
    })
}

/// Avro's JSON encoding has bytes as the characters U+0000 to U+00FF.
fn latin1(json: &Json) -> Vec<u8> {
    let text = json.as_str().expect("text");
    text.chars()
        .map(|character| u8::try_from(u32::from(character)).expect("a byte"))
        .collect()
}

/// The value that Java's JSON encoding says. `None` for one that this test has no way to build.
fn value(schema: &Schema, json: &Json, names: &HashMap<String, Schema>) -> Option<Value> {
    let int = || i32::try_from(json.as_i64().expect("an int")).expect("an int");
    let long = || json.as_i64().expect("a long");
    Some(match schema {
        Schema::Null => Value::Null,
        Schema::Boolean => Value::Boolean(json.as_bool().expect("a boolean")),
        Schema::Int => Value::Int(int()),
        Schema::Date => Value::Date(int()),
        Schema::TimeMillis => Value::TimeMillis(int()),
        Schema::Long => Value::Long(long()),
        Schema::TimeMicros => Value::TimeMicros(long()),
        Schema::TimestampMillis => Value::TimestampMillis(long()),
        Schema::TimestampMicros => Value::TimestampMicros(long()),
        Schema::TimestampNanos => Value::TimestampNanos(long()),
        Schema::LocalTimestampMillis => Value::LocalTimestampMillis(long()),
        Schema::LocalTimestampMicros => Value::LocalTimestampMicros(long()),
        Schema::LocalTimestampNanos => Value::LocalTimestampNanos(long()),
        Schema::Float => Value::Float(json.to_string().parse().expect("a float")),
        Schema::Double => Value::Double(json.to_string().parse().expect("a double")),
        Schema::String => Value::String(json.as_str().expect("text").to_owned()),
        Schema::Bytes => Value::Bytes(latin1(json)),
        Schema::Fixed(fixed) => Value::Fixed(fixed.size, latin1(json)),
        Schema::Uuid(UuidSchema::String) => {
            Value::Uuid(json.as_str().expect("text").parse().expect("a UUID"))
        }
        Schema::Uuid(_) => {
            Value::Uuid(apache_avro::Uuid::from_slice(&latin1(json)).expect("16 bytes"))
        }
        Schema::Decimal(decimal) => {
            assert!(matches!(
                decimal.inner,
                InnerDecimalSchema::Bytes | InnerDecimalSchema::Fixed(_)
            ));
            Value::Decimal(Decimal::from(latin1(json)))
        }
        Schema::Duration(_) => {
            let bytes: [u8; 12] = latin1(json).try_into().expect("12 bytes");
            Value::Duration(Duration::from(bytes))
        }
        // Its Rust type is another crate's.
        Schema::BigDecimal => return None,
        Schema::Enum(symbols) => {
            let symbol = json.as_str().expect("a symbol");
            let place = symbols.symbols.iter().position(|known| known == symbol);
            Value::Enum(place.expect("a symbol") as u32, symbol.to_owned())
        }
        Schema::Array(array) => {
            let items = json.as_array().expect("an array").iter();
            Value::Array(
                items
                    .map(|item| value(&array.items, item, names))
                    .collect::<Option<_>>()?,
            )
        }
        Schema::Map(map) => {
            let entries = json.as_object().expect("a map").iter();
            let entries =
                entries.map(|(key, entry)| Some((key.clone(), value(&map.types, entry, names)?)));
            Value::Map(entries.collect::<Option<_>>()?)
        }
        Schema::Union(union) => {
            let word = json
                .as_object()
                .map(|object| object.iter().next().expect("one member"));
            let (place, variant, inner) = union
                .variants()
                .iter()
                .enumerate()
                .find_map(|(place, variant)| match word {
                    None => matches!(variant, Schema::Null).then_some((place, variant, json)),
                    Some((word, inner)) => {
                        (type_name(variant) == *word).then_some((place, variant, inner))
                    }
                })
                .expect("a type of the union");
            Value::Union(place as u32, Box::new(value(variant, inner, names)?))
        }
        Schema::Record(record) => {
            let fields = record.fields.iter().map(|field| {
                Some((
                    field.name.clone(),
                    value(&field.schema, &json[&field.name], names)?,
                ))
            });
            Value::Record(fields.collect::<Option<_>>()?)
        }
        Schema::Ref { name } => value(&names[&name.fullname(None)], json, names)?,
    })
}

fn type_name(schema: &Schema) -> String {
    match schema {
        Schema::Ref { name } => name.fullname(None),
        _ => match schema.name() {
            Some(name) => name.fullname(None),
            None => schema.to_string().to_lowercase(),
        },
    }
}

#[test]
fn avro_as_java_and_fastavro() {
    let context = Context::value("t");
    let mut built = 0;
    for (text, json, expected) in rows(AVRO) {
        let format = AvroValue::new(text).expect("a schema");
        let read = format
            .read(&context, Some(Payload::new(&expected)))
            .unwrap_or_else(|error| panic!("{error}: {text} {json}"));
        let written = format.to_vec(&context, &read).expect("writes");
        assert_eq!(written.as_deref(), Some(&expected[..]), "{text} {json}");

        // Java's JSON encoder writes nothing for a record without fields.
        if json.is_empty() {
            continue;
        }
        let schema = format.avro_schema();
        let resolved = ResolvedSchema::new(schema).expect("resolves");
        let names = resolved.get_names().iter();
        let names = names
            .map(|(name, schema)| (name.fullname(None), (*schema).clone()))
            .collect();
        let json: Json = serde_json::from_str(json).expect("JSON");
        if let Some(value) = value(schema, &json, &names) {
            assert_eq!(read, value, "{text}");
            built += 1;
        }
    }
    assert!(built > 500, "{built}");
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum Kind {
    A,
    B,
    C,
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Inner {
    a: Kind,
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct All {
    flag: bool,
    small: i32,
    large: i64,
    single: f32,
    twice: f64,
    text: String,
    #[serde(with = "apache_avro::serde::bytes")]
    raw: Vec<u8>,
    kind: Kind,
    maybe: Option<String>,
    list: Vec<i64>,
    names: BTreeMap<String, i64>,
    inner: Inner,
    inners: Vec<Inner>,
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Node {
    value: i32,
    next: Option<Box<Node>>,
    others: Vec<Node>,
}

fn typed<T: serde::Serialize + serde::de::DeserializeOwned>(name: &str) -> usize {
    let context = Context::value("t");
    let mut count = 0;
    // The record All has fields of every type.
    let all = r#""name":"All""#;
    let wanted = |text: &str| text.contains(name) && (name == all || !text.contains(all));
    for (text, json, expected) in rows(AVRO).filter(|(text, ..)| wanted(text)) {
        let format = Avro::<T>::new(text).expect("a schema");
        let value = format
            .read(&context, Some(Payload::new(&expected)))
            .unwrap_or_else(|error| panic!("{error}: {text} {json}"));
        let written = format.to_vec(&context, &value).expect("writes");
        assert_eq!(written.as_deref(), Some(&expected[..]), "{text} {json}");
        count += 1;
    }
    count
}

#[test]
fn avro_of_serde_types() {
    assert!(typed::<All>(r#""name":"All""#) > 20);
    assert!(typed::<Node>(r#""name":"Node""#) > 15);
    assert!(typed::<i64>("\"local-timestamp-nanos\"") > 15);
    assert!(typed::<i32>("\"date\"") > 15);
    assert!(typed::<f32>("\"float\"") > 15);
}

#[derive(Clone, PartialEq, prost::Message)]
struct InnerMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, boxed, tag = "2")]
    next: Option<Box<InnerMessage>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Scalars {
    #[prost(double, tag = "1")]
    double_value: f64,
    #[prost(float, tag = "2")]
    float_value: f32,
    #[prost(int32, tag = "3")]
    int32_value: i32,
    #[prost(int64, tag = "4")]
    int64_value: i64,
    #[prost(uint32, tag = "5")]
    uint32_value: u32,
    #[prost(uint64, tag = "6")]
    uint64_value: u64,
    #[prost(sint32, tag = "7")]
    sint32_value: i32,
    #[prost(sint64, tag = "8")]
    sint64_value: i64,
    #[prost(fixed32, tag = "9")]
    fixed32_value: u32,
    #[prost(fixed64, tag = "10")]
    fixed64_value: u64,
    #[prost(sfixed32, tag = "11")]
    sfixed32_value: i32,
    #[prost(sfixed64, tag = "12")]
    sfixed64_value: i64,
    #[prost(bool, tag = "13")]
    bool_value: bool,
    #[prost(string, tag = "14")]
    string_value: String,
    #[prost(bytes = "vec", tag = "15")]
    bytes_value: Vec<u8>,
    #[prost(int32, tag = "16")]
    enum_value: i32,
    #[prost(message, optional, tag = "536870911")]
    message_value: Option<InnerMessage>,
}

/// Whether an entry of a map has a key or value that is its type's default. -0.0 is one to prost.
fn has_default_in_map(text: &str) -> bool {
    ["by_text {", "by_number {"].iter().any(|map| {
        text.match_indices(map).any(|(at, _)| {
            let entry = &text[at + map.len()..];
            [" key: 0 ", " key: \"\" "]
                .iter()
                .any(|key| entry.starts_with(key))
                || entry.split('}').next().is_some_and(|entry| {
                    entry.ends_with(" value: 0.0 ") || entry.ends_with(" value: -0.0 ")
                })
                || entry
                    .split(" value {")
                    .nth(1)
                    .is_some_and(|value| value.starts_with(" }"))
        })
    })
}

#[test]
fn protobuf_as_java() {
    let pool = DescriptorPool::decode(TYPES).expect("a descriptor set");
    let context = Context::value("t");
    let (mut count, mut shortened) = (0, 0);
    for (name, text, expected) in rows(PROTOBUF) {
        let descriptor = pool.get_message_by_name(name).expect("a message");
        let format = ProtobufDynamic::new(descriptor.clone());
        let read = format
            .read(&context, Some(Payload::new(&expected)))
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        let said = DynamicMessage::parse_text_format(descriptor, text).expect("text format");
        for message in [&read, &said] {
            let written = format.to_vec(&context, message).expect("writes");
            let written = written.expect("not null");
            if written != expected && has_default_in_map(text) {
                // The book says so: prost leaves defaults out of the entries of maps.
                assert!(written.len() < expected.len(), "{text}");
                let again = format.read(&context, Some(Payload::new(&written)));
                assert_eq!(again.expect("reads its own"), read, "{text}");
                shortened += 1;
            } else {
                assert_eq!(written, expected, "{text}");
            }
        }
        if name.ends_with("Scalars") {
            let format = Protobuf::<Scalars>::new();
            let read = format
                .read(&context, Some(Payload::new(&expected)))
                .expect("reads");
            let written = format.to_vec(&context, &read).expect("writes");
            assert_eq!(written.as_deref(), Some(&expected[..]), "{text}");
        }
        count += 1;
    }
    assert_eq!(count, 120);
    assert!(shortened < 40, "{shortened}");
}
