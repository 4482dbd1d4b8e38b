//! Levels and modes.

use serde_json::{Value, json};

use crate::{Registry, record, sent};

#[test]
fn levels_are_a_subjects_or_all_of_theirs() {
    let mut registry = Registry::default();
    assert_eq!(
        registry.get("/config"),
        json!({"compatibilityLevel": "BACKWARD"})
    );
    assert_eq!(registry.error("GET /config/s", &Value::Null), 40408);
    assert_eq!(
        registry.get("/config/s?defaultToGlobal=true"),
        json!({"compatibilityLevel": "BACKWARD"})
    );
    let (status, body) = registry.ask("PUT /config", &json!({"compatibility": "FULL_TRANSITIVE"}));
    assert_eq!(
        (status, body),
        (200, json!({"compatibility": "FULL_TRANSITIVE"}))
    );
    assert_eq!(
        registry.get("/config/s?defaultToGlobal=true"),
        json!({"compatibilityLevel": "FULL_TRANSITIVE"})
    );
    registry.ask("PUT /config/s", &json!({"compatibility": "none"}));
    assert_eq!(
        registry.get("/config/s"),
        json!({"compatibilityLevel": "NONE"})
    );
    let (_, body) = registry.ask("DELETE /config/s", &Value::Null);
    assert_eq!(body, json!({"compatibilityLevel": "NONE"}));
    assert_eq!(registry.error("DELETE /config/s", &Value::Null), 40401);
    registry.ask("DELETE /config", &Value::Null);
    assert_eq!(
        registry.get("/config"),
        json!({"compatibilityLevel": "BACKWARD"})
    );
    assert_eq!(
        registry.error("PUT /config", &json!({"compatibility": "SOME"})),
        42203
    );
    assert_eq!(
        registry.error("PUT /config", &json!({"alias": "other"})),
        501
    );
    assert_eq!(registry.error("PUT /config", &json!([])), 400);
}

#[test]
fn normal_forms_do_not_depend_on_the_order_of_properties() {
    let mut registry = Registry::default();
    let one = json!({"schema": r#"{"type":"string","b":1,"a":{"d":1,"c":2}}"#});
    let other = json!({"schema": r#"{"type":"string","a":{"c":2,"d":1},"b":1}"#});
    let id = |registry: &mut Registry, query: &str, body: &Value| {
        let line = format!("POST /subjects/s/versions{query}");
        let (status, body) = registry.ask(&line, body);
        assert_eq!(status, 200, "{body}");
        body["id"].as_u64().expect("an id")
    };
    assert_eq!(id(&mut registry, "", &one), 1);
    assert_eq!(id(&mut registry, "", &other), 2);
    assert_eq!(
        id(&mut registry, "?normalize=true", &one),
        2,
        "the other one is normal"
    );
    registry.ask("PUT /config/s", &json!({"normalize": true}));
    assert_eq!(id(&mut registry, "", &one), 2);
}

#[test]
fn modes_say_what_may_be_done() {
    let mut registry = Registry::default();
    let empty = record("R", json!([]));
    registry.register("s", &empty);
    assert_eq!(registry.get("/mode"), json!({"mode": "READWRITE"}));
    assert_eq!(registry.error("GET /mode/s", &Value::Null), 40409);
    let (_, body) = registry.ask("PUT /mode/s", &json!({"mode": "READONLY"}));
    assert_eq!(body, json!({"mode": "READONLY"}));
    let more = record("R", json!([{"name": "a", "type": "int", "default": 1}]));
    assert_eq!(
        registry.error("POST /subjects/s/versions", &sent(&more)),
        42205
    );
    assert_eq!(registry.error("DELETE /subjects/s", &Value::Null), 42205);
    assert_eq!(
        registry.error("PUT /config/s", &json!({"compatibility": "NONE"})),
        42205
    );
    let (_, body) = registry.ask("DELETE /mode/s", &Value::Null);
    assert_eq!(body, json!({"mode": "READONLY"}));
    registry.register("s", &more);
    assert_eq!(
        registry.error("PUT /mode", &json!({"mode": "WRITEONLY"})),
        42204
    );
    assert_eq!(
        registry.error("PUT /mode", &json!({"mode": "IMPORT"})),
        42205,
        "there are subjects"
    );

    registry.ask("PUT /mode/moved", &json!({"mode": "IMPORT"}));
    assert_eq!(
        registry.error("POST /subjects/moved/versions", &sent(&empty)),
        42205,
        "no id"
    );
    let import = |id: u32, version: u32, schema: &Value| json!({"schema": schema.to_string(), "id": id, "version": version});
    let line = "POST /subjects/moved/versions";
    let (status, body) = registry.ask(line, &import(100, 7, &json!("long")));
    assert_eq!(
        (status, &body["id"], &body["version"]),
        (200, &json!(100), &json!(7))
    );
    assert_eq!(
        registry.error(line, &import(100, 8, &json!("int"))),
        42205,
        "the id is another's"
    );
    assert_eq!(registry.get("/subjects/moved/versions"), json!([7]));
    registry.ask("DELETE /mode/moved", &Value::Null);
    assert_eq!(
        registry.error(line, &import(101, 8, &json!("int"))),
        42205,
        "no import"
    );
    assert_eq!(registry.register("t", &json!("bytes")), 101);
}
