//! Avro's JSON encoding: against apache-avro's generic values, and what does not fit.
#![cfg(feature = "avro")]

use apache_avro::Decimal;
use apache_avro::types::Value;
use copart_serializers::{
    AvroJson, AvroValue, Context, Deserialize, ErrorKind, Payload, Serialize,
};

const ALL: &str = r#"{"type":"record","name":"All","namespace":"a.b","fields":[
    {"name":"boolean","type":"boolean"},
    {"name":"int","type":"int"},
    {"name":"long","type":"long"},
    {"name":"float","type":"float"},
    {"name":"double","type":"double"},
    {"name":"bytes","type":"bytes"},
    {"name":"text","type":"string"},
    {"name":"when","type":{"type":"long","logicalType":"timestamp-millis"}},
    {"name":"amount","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
    {"name":"suit","type":{"type":"enum","name":"Suit","symbols":["S","H"]}},
    {"name":"sum","type":{"type":"fixed","name":"Sum","size":2}},
    {"name":"list","type":{"type":"array","items":"int"}},
    {"name":"map","type":{"type":"map","values":"long"}},
    {"name":"some","type":["null","string"]},
    {"name":"none","type":["null","string"]},
    {"name":"which","type":["int","string","Suit"]},
    {"name":"next","type":["null","All"]}]}"#;

fn text(next: &str) -> String {
    format!(
        r#"{{"boolean":true,"int":-1,"long":9007199254740993,"float":1.5,"double":-0.25,"bytes":"\u0000ÿA","text":"é\n","when":1700000000000,"amount":"\u00019","suit":"H","sum":"AB","list":[1,-2],"map":{{"k":7}},"some":{{"string":"x"}},"none":null,"which":{{"a.b.Suit":"S"}},"next":{next}}}"#
    )
}

fn value(next: Value) -> Value {
    let union = |place, value| Value::Union(place, Box::new(value));
    Value::Record(vec![
        ("boolean".into(), Value::Boolean(true)),
        ("int".into(), Value::Int(-1)),
        ("long".into(), Value::Long(9_007_199_254_740_993)),
        ("float".into(), Value::Float(1.5)),
        ("double".into(), Value::Double(-0.25)),
        ("bytes".into(), Value::Bytes(vec![0, 0xff, b'A'])),
        ("text".into(), Value::String("é\n".into())),
        ("when".into(), Value::TimestampMillis(1_700_000_000_000)),
        ("amount".into(), Value::Decimal(Decimal::from([1u8, b'9']))),
        ("suit".into(), Value::Enum(1, "H".into())),
        ("sum".into(), Value::Fixed(2, b"AB".to_vec())),
        (
            "list".into(),
            Value::Array(vec![Value::Int(1), Value::Int(-2)]),
        ),
        (
            "map".into(),
            Value::Map([("k".to_owned(), Value::Long(7))].into()),
        ),
        ("some".into(), union(1, Value::String("x".into()))),
        ("none".into(), union(0, Value::Null)),
        ("which".into(), union(2, Value::Enum(0, "S".into()))),
        ("next".into(), next),
    ])
}

#[test]
fn every_type_has_the_bytes_that_apache_avro_writes() {
    let context = Context::value("t");
    let json = AvroJson::new(ALL).expect("a schema");
    let generic = AvroValue::new(ALL).expect("a schema");
    let last = value(Value::Union(0, Box::new(Value::Null)));
    let nested = value(Value::Union(1, Box::new(last)));
    let bytes = generic.to_vec(&context, &nested).expect("writes");
    let bytes = bytes.expect("not null");
    let text = text(&format!(r#"{{"a.b.All":{}}}"#, text("null")));
    let written = json.to_vec(&context, text.as_str()).expect("writes");
    assert_eq!(written.as_ref(), Some(&bytes));
    let read = json.read(&context, Some(Payload::new(&bytes)));
    assert_eq!(read.expect("reads"), text);
    // Bytes that are cut off are refused, wherever.
    for len in 0..bytes.len() {
        let error = json.read(&context, Some(Payload::new(&bytes[..len])));
        assert_eq!(error.expect_err("cut off").kind(), ErrorKind::Malformed);
    }
}

fn written(schema: &str, text: &str) -> Result<Vec<u8>, String> {
    let json = AvroJson::new(schema).map_err(|error| error.to_string())?;
    let written = json.to_vec(&Context::key("t"), text);
    let written = written.map_err(|error| error.to_string())?;
    Ok(written.unwrap_or_default())
}

#[test]
fn one_text_is_one_key() {
    let map = r#"{"type":"map","values":"int"}"#;
    assert_eq!(
        written(map, r#"{"b":1,"a":2}"#),
        written(map, r#"{ "a": 2, "b": 1 }"#)
    );
    assert_eq!(written(map, "{}").as_deref(), Ok(&[0][..]));
    let optional = r#"["null","long"]"#;
    assert_eq!(written(optional, "7").as_deref(), Ok(&[2, 14][..]));
    assert_eq!(written(optional, r#"{"long":7}"#), written(optional, "7"));
    assert_eq!(written(optional, "null").as_deref(), Ok(&[0][..]));
    assert_eq!(
        written(r#""double""#, r#""-Infinity""#).as_deref(),
        Ok(&f64::NEG_INFINITY.to_le_bytes()[..])
    );
}

#[test]
fn what_does_not_fit_is_named_with_its_place() {
    let record = r#"{"type":"record","name":"R","fields":[
        {"name":"id","type":"int"},{"name":"list","type":{"type":"array","items":"long"}}]}"#;
    for (schema, text, hint) in [
        (record, "{", "EOF"),
        (record, r#"{"id":1}"#, r#"the field "list" is not there"#),
        (
            record,
            r#"{"id":1,"list":[],"x":1}"#,
            r#"R has no field "x""#,
        ),
        (
            record,
            r#"{"id":2147483648,"list":[]}"#,
            "id: it takes an int",
        ),
        (
            record,
            r#"{"id":1,"list":[1,"2"]}"#,
            "list: 1: it takes a long, and found a text",
        ),
        (r#""bytes2""#, "", "schema"),
        (
            r#"{"type":"fixed","name":"F","size":2}"#,
            r#""abc""#,
            "takes 2 bytes",
        ),
        (
            r#"{"type":"fixed","name":"F","size":2}"#,
            r#""€x""#,
            "\\u00ff",
        ),
        (
            r#"{"type":"enum","name":"E","symbols":["A"]}"#,
            r#""B""#,
            "no symbol of E",
        ),
        (r#"["int","string"]"#, "7", "there are int, string"),
        (r#"["int","string"]"#, "null", "null is no type"),
        (r#""long""#, "1.5", "it takes a long"),
    ] {
        let error = written(schema, text).expect_err(text);
        assert!(error.contains(hint), "{text}: {error}");
    }
}
