//! Protobuf and JSON Schema.

use serde_json::{Value, json};

use crate::Registry;

fn protobuf(text: &str) -> Value {
    json!({"schemaType": "PROTOBUF", "schema": text})
}

#[test]
fn protobuf_is_compiled_and_printed() {
    let mut registry = Registry::default();
    let text = r#"
        // A comment.
        syntax = "proto3"; package a.b;
        import "google/protobuf/timestamp.proto";
        option java_package = "x.y";
        message User { int64 id = 1; repeated string names = 2 [deprecated = true];
          oneof contact { string mail = 3; Phone phone = 4; }
          map<string, Phone> phones = 5; optional Kind kind = 6; google.protobuf.Timestamp at = 7;
          reserved 10 to 12, 15; reserved "old";
          message Phone { string number = 1 [json_name = "nr"]; } }
        enum Kind { UNKNOWN = 0; BIG = -1; }
        service Users { rpc Find(User) returns (stream User) { option deprecated = true; } }
    "#;
    let (status, body) = registry.ask("POST /subjects/u/versions", &protobuf(text));
    assert_eq!(status, 200, "{body}");
    let kept = registry.get("/subjects/u/versions/1/schema");
    let kept = kept.as_str().expect("a text");
    let expected = r#"syntax = "proto3";
package a.b;
import "google/protobuf/timestamp.proto";
option java_package = "x.y";
message User {
  int64 id = 1;
  repeated string names = 2 [deprecated = true];
  oneof contact {
    string mail = 3;
    .a.b.User.Phone phone = 4;
  }
  map<string, .a.b.User.Phone> phones = 5;
  optional .a.b.Kind kind = 6;
  .google.protobuf.Timestamp at = 7;
  reserved 10 to 12;
  reserved 15;
  reserved "old";
  message Phone {
    string number = 1 [json_name = "nr"];
  }
}
enum Kind {
  UNKNOWN = 0;
  BIG = -1;
}
service Users {
  rpc Find(.a.b.User) returns (stream .a.b.User) {
    option deprecated = true;
  }
}
"#;
    assert_eq!(kept, expected);
    // What was printed, and the descriptor in base64, are the same schema.
    let serialized = registry.get("/schemas/ids/1?format=serialized");
    let serialized = serialized["schema"].as_str().expect("a text").to_owned();
    assert!(!serialized.contains(' '));
    for same in [kept, &serialized] {
        let (status, again) = registry.ask("POST /subjects/u", &protobuf(same));
        assert_eq!((status, &again["id"]), (200, &json!(1)), "{again}");
    }
    assert_eq!(
        registry.error("POST /subjects/u/versions", &protobuf("message A {")),
        42201
    );
    let unknown = "syntax = \"proto3\"; message A { B b = 1; }";
    assert_eq!(
        registry.error("POST /subjects/u/versions", &protobuf(unknown)),
        42201
    );
}

#[test]
fn protobuf_of_the_second_syntax_is_printed_whole() {
    let mut registry = Registry::default();
    let text = r#"syntax = "proto2";
message Old {
  required int32 a = 1 [default = 7];
  optional string b = 2 [default = "x\"\n"];
  optional bytes c = 3 [default = "\001\377"];
  repeated group Inner = 4 {
    optional .Kind kind = 1 [default = TWO];
  }
  extensions 100 to 199;
  extensions 1000 to max;
}
enum Kind {
  option allow_alias = true;
  ONE = 1;
  TWO = 2 [deprecated = true];
  ZWEI = 2;
}
extend .Old {
  optional int32 more = 100;
}
"#;
    let (status, body) = registry.ask("POST /subjects/o/versions", &protobuf(text));
    assert_eq!(status, 200, "{body}");
    let kept = registry.get("/subjects/o/versions/latest");
    assert_eq!(kept["schema"], json!(text));
}

#[test]
fn protobuf_imports_references_and_is_compared() {
    let mut registry = Registry::default();
    let part = "syntax = \"proto3\"; package p; message Part { int32 x = 1; }";
    let (status, _) = registry.ask("POST /subjects/part/versions", &protobuf(part));
    assert_eq!(status, 200);
    let whole = |field: &str| {
        json!({
            "schemaType": "PROTOBUF",
            "schema": format!("syntax = \"proto3\"; import \"part.proto\"; message Whole {{ p.Part part = 1; {field} }}"),
            "references": [{"name": "part.proto", "subject": "part", "version": 1}],
        })
    };
    let line = "POST /subjects/whole/versions";
    let (status, body) = registry.ask(line, &whole("int32 a = 2;"));
    assert_eq!(status, 200, "{body}");
    let (status, body) = registry.ask(line, &whole("sint64 b = 3; uint64 a = 2;"));
    assert_eq!(status, 200, "{body}");
    for (field, reason) in [
        ("sint32 a = 2;", "FIELD_SCALAR_KIND_CHANGED"),
        ("p.Part a = 2;", "FIELD_KIND_CHANGED"),
        (
            "oneof o { int32 a = 2; sint64 b = 3; }",
            "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
        ),
    ] {
        assert_eq!(registry.error(line, &whole(field)), 40901);
        let (_, body) = registry.ask(
            "POST /compatibility/subjects/whole/versions/latest?verbose=true",
            &whole(field),
        );
        assert_eq!(body["is_compatible"], json!(false));
        assert!(body["messages"].to_string().contains(reason), "{body}");
    }
    let moved = protobuf("syntax = \"proto3\"; package q; message Part { int32 x = 1; }");
    assert_eq!(
        registry.error("POST /subjects/part/versions", &moved),
        40901
    );
    let gone = protobuf("syntax = \"proto3\"; package p; message Other { int32 x = 1; }");
    assert_eq!(registry.error("POST /subjects/part/versions", &gone), 40901);
}

fn json_schema(schema: &Value) -> Value {
    json!({"schemaType": "JSON", "schema": schema.to_string()})
}

#[test]
fn json_schemas_are_checked() {
    let mut registry = Registry::default();
    let one = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let (status, body) = registry.ask("POST /subjects/j/versions", &json_schema(&one));
    assert_eq!((status, &body["id"]), (200, &json!(1)));
    assert_eq!(registry.get("/schemas/ids/1")["schemaType"], json!("JSON"));
    let wrong = json!({"type": "objekt"});
    assert_eq!(
        registry.error("POST /subjects/k/versions", &json_schema(&wrong)),
        42201
    );
    // Another language never fits.
    let other = json!({"schema": "\"int\""});
    assert_eq!(registry.error("POST /subjects/j/versions", &other), 40901);
    assert_eq!(
        registry.get("/schemas/types"),
        json!(["JSON", "PROTOBUF", "AVRO"])
    );
}

#[test]
fn json_schemas_are_compared_as_far_as_the_rules_go() {
    let object = |properties: Value, more: Value| {
        let mut schema = json!({"type": "object", "properties": properties});
        for (name, value) in more.as_object().expect("an object") {
            schema[name] = value.clone();
        }
        schema
    };
    let integer = json!({"type": "integer"});
    let with_a = object(json!({"a": integer}), json!({}));
    let with_b = object(json!({"a": integer, "b": {"type": "string"}}), json!({}));
    let closed = json!({"additionalProperties": false});
    let closed_a = object(json!({"a": integer}), closed.clone());
    let closed_b = object(
        json!({"a": integer, "b": {"type": "string"}}),
        closed.clone(),
    );
    let required = object(json!({"a": integer}), json!({"required": ["a"]}));
    let titled = object(
        json!({"a": {"type": "integer", "title": "A"}}),
        json!({"description": "d"}),
    );
    let strings = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let referring = json!({"$ref": "#/definitions/x", "definitions": {"x": {"type": "string"}}});
    // Old, new, and what keeps the new one from reading the old one's data; "?" is not compared.
    let rows = [
        (&with_a, &with_a, ""),
        (&with_a, &titled, ""),
        (&with_a, &with_b, "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"),
        (&with_b, &with_a, ""),
        (&closed_a, &closed_b, ""),
        (
            &closed_b,
            &closed_a,
            "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        ),
        (&closed_a, &with_a, ""),
        (&with_a, &closed_a, "ADDITIONAL_PROPERTIES_REMOVED"),
        (&with_a, &required, "REQUIRED_ATTRIBUTE_ADDED"),
        (&required, &with_a, ""),
        (&with_a, &json!(true), ""),
        (&json!({}), &with_a, "TYPE_CHANGED"),
        (&with_a, &json!({"type": "array"}), "TYPE_CHANGED"),
        (&integer, &json!({"type": "number"}), ""),
        (&json!({"type": "number"}), &integer, "TYPE_NARROWED"),
        (&integer, &json!({"type": ["integer", "null"]}), ""),
        (
            &json!({"type": "integer", "maximum": 5}),
            &json!({"type": "integer", "maximum": 6}),
            "",
        ),
        (
            &json!({"type": "integer", "maximum": 5}),
            &json!({"type": "integer", "maximum": 4}),
            "MAXIMUM_DECREASED",
        ),
        (
            &integer,
            &json!({"type": "integer", "minimum": 0}),
            "MINIMUM_ADDED",
        ),
        (&json!({"enum": ["a"]}), &json!({"enum": ["b", "a"]}), ""),
        (
            &json!({"enum": ["a", "b"]}),
            &json!({"enum": ["a"]}),
            "ENUM_ARRAY_NARROWED",
        ),
        (
            &json!({"type": "array", "items": integer}),
            &json!({"type": "array", "items": {"type": "number"}}),
            "",
        ),
        (
            &json!({"type": "array"}),
            &json!({"type": "array", "items": integer}),
            "SCHEMA_ADDED",
        ),
        (
            &strings,
            &object(
                json!({"b": {"type": "string"}}),
                json!({"additionalProperties": {"type": "string"}}),
            ),
            "",
        ),
        (
            &strings,
            &object(
                json!({"b": integer}),
                json!({"additionalProperties": {"type": "string"}}),
            ),
            "TYPE_CHANGED",
        ),
        (
            &integer,
            &json!({"type": "integer", "not": {"const": 3}}),
            "?",
        ),
        (&integer, &json!({"oneOf": [integer]}), "?"),
        (
            &referring,
            &json!({"$ref": "#/definitions/x", "definitions": {"x": integer}}),
            "?",
        ),
        (&referring, &referring, ""),
    ];
    for (number, (old, new, wanted)) in rows.into_iter().enumerate() {
        let mut registry = Registry::default();
        let line = format!("POST /subjects/s{number}/versions");
        let (status, body) = registry.ask(&line, &json_schema(old));
        assert_eq!(status, 200, "{body}");
        let check = format!("POST /compatibility/subjects/s{number}/versions/latest?verbose=true");
        let (status, body) = registry.ask(&check, &json_schema(new));
        let what = format!("{old} {new}: {body}");
        if wanted == "?" {
            assert_eq!(status, 501, "{what}");
            registry.ask("PUT /config", &json!({"compatibility": "NONE"}));
            let (status, _) = registry.ask(&line, &json_schema(new));
            assert_eq!(status, 200, "anything may follow");
            continue;
        }
        assert_eq!(status, 200, "{what}");
        assert_eq!(body["is_compatible"], json!(wanted.is_empty()), "{what}");
        assert!(body["messages"].to_string().contains(wanted), "{what}");
    }
}
