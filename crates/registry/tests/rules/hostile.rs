//! Requests of those who mean harm: they are refused, and take little time, stack and memory.

use serde_json::{Value, json};

use crate::{Registry, record, sent};

#[test]
fn nesting_is_bounded() {
    let mut registry = Registry::default();
    let line = "POST /subjects/s/versions";
    let arrays = format!(
        "{}\"int\"{}",
        r#"{"type":"array","items":"#.repeat(50_000),
        "}".repeat(50_000)
    );
    assert_eq!(registry.error(line, &json!({"schema": arrays})), 42201);
    assert_eq!(
        registry.error(line, &json!({"schema": "[".repeat(1_000_000)})),
        42201
    );
    let messages = "message A {".repeat(100_000);
    let deep = json!({"schema": messages, "schemaType": "PROTOBUF"});
    assert_eq!(registry.error(line, &deep), 42201);
    let objects = format!("{}{{}}{}", "{\"not\":".repeat(50_000), "}".repeat(50_000));
    let deep = json!({"schema": objects, "schemaType": "JSON"});
    assert_eq!(registry.error(line, &deep), 42201);
    let (status, _) = registry.ask_bytes(line, &b"[".repeat(1_000_000));
    assert_eq!(status, 400);
    let (status, _) = registry.ask_bytes(line, b"{\"schema\": \"\xff\"}");
    assert_eq!(status, 400);
}

/// Named types can be within each other deeper than any JSON is.
#[test]
fn chains_of_names_take_no_stack() {
    let mut registry = Registry::default();
    let sent = |fields: Vec<Value>| sent(&record("Chain", json!(fields)));
    // Each type leads to the next, which comes later: printed they would be within each other.
    let forward = (0..3000).map(|link| {
        let next = json!(["null", format!("R{}", (link + 1) % 3000)]);
        let link = record(&format!("R{link}"), json!([{"name": "next", "type": next}]));
        json!({"name": link["name"], "type": link})
    });
    let forward = sent(forward.collect());
    assert_eq!(registry.error("POST /subjects/s/versions", &forward), 42201);

    // Each type leads to the one before it. The fields of two such schemas have nothing in common but the last one.
    let backward = |links: usize, prefix: &str| {
        let mut fields: Vec<Value> = (0..links)
            .map(|link| {
                let next = match link {
                    0 => json!("null"),
                    link => json!(["null", format!("R{}", link - 1)]),
                };
                let name = format!("R{link}");
                let link = record(&name, json!([{"name": "next", "type": next}]));
                json!({"name": format!("{prefix}{name}"), "type": link, "default": null})
            })
            .collect();
        fields.push(json!({"name": "last", "type": format!("R{}", links - 1)}));
        sent(fields)
    };
    for (links, wanted) in [(60, 200), (3000, 422)] {
        let line = format!("POST /subjects/t{links}/versions");
        let (status, answer) = registry.ask(&line, &backward(links, "a"));
        assert_eq!(status, 200, "{answer}");
        let (status, answer) = registry.ask(&line, &backward(links, "b"));
        assert_eq!(status, wanted, "{answer}");
    }
}

#[test]
fn every_short_text_is_answered() {
    let mut registry = Registry::default();
    registry.register("s", &json!("int"));
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"type\"",
        ":",
        ",",
        "\"record\"",
        "\"fields\"",
        "\"name\"",
        "\"a\"",
        "null",
        "1",
        "message",
        "A",
        "=",
        ";",
        "syntax",
        "\"proto3\"",
        "int32",
        "oneof",
        "map<",
        ">",
        "\\",
        "//",
        "/*",
    ];
    let mut seed = 7_u32;
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..seed % 12 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(pieces[(seed >> 16) as usize % pieces.len()]);
        }
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let kind = ["AVRO", "PROTOBUF", "JSON"][(seed >> 16) as usize % 3];
        let body = json!({"schema": text, "schemaType": kind});
        let (status, answer) = registry.ask("POST /subjects/x", &body);
        assert_eq!(status, 404, "{text}: {answer}");
        let (status, answer) =
            registry.ask("POST /compatibility/subjects/s/versions/latest", &body);
        assert!([200, 422].contains(&status), "{text}: {answer}");
    }
}
