//! Deleting, softly and for good, and what a restart makes of it.

use serde_json::{Value, json};

use crate::{Registry, record};

fn versions(registry: &mut Registry) {
    registry.register("s", &record("R", json!([])));
    let more = record("R", json!([{"name": "a", "type": "int", "default": 1}]));
    registry.register("s", &more);
}

#[test]
fn versions_go_in_two_steps() {
    let mut registry = Registry::default();
    versions(&mut registry);
    assert_eq!(
        registry.error("DELETE /subjects/s/versions/1?permanent=true", &Value::Null),
        40407
    );
    let (_, body) = registry.ask("DELETE /subjects/s/versions/1", &Value::Null);
    assert_eq!(body, json!(1));
    assert_eq!(
        registry.error("DELETE /subjects/s/versions/1", &Value::Null),
        40406
    );
    assert_eq!(registry.get("/subjects/s/versions"), json!([2]));
    assert_eq!(
        registry.get("/subjects/s/versions?deleted=true"),
        json!([1, 2])
    );
    assert_eq!(
        registry.get("/subjects/s/versions?deletedOnly=true"),
        json!([1])
    );
    assert_eq!(
        registry.error("GET /subjects/s/versions/1", &Value::Null),
        40402
    );
    assert_eq!(
        registry.get("/subjects/s/versions/1?deleted=true")["deleted"],
        json!(true)
    );
    assert_eq!(registry.get("/schemas/ids/1/versions"), json!([]));
    registry.get("/schemas/ids/1");

    // Registered again it is a new version with the id that it had.
    assert_eq!(registry.register("s", &record("R", json!([]))), 1);
    assert_eq!(
        registry.get("/subjects/s/versions?deleted=true"),
        json!([2, 3])
    );

    registry.ask("DELETE /subjects/s/versions/latest", &Value::Null);
    let (_, body) = registry.ask("DELETE /subjects/s/versions/3?permanent=true", &Value::Null);
    assert_eq!(body, json!(3));
    assert_eq!(registry.error("GET /schemas/ids/1", &Value::Null), 40403);
    assert_eq!(
        registry.register("t", &json!("int")),
        3,
        "no id is given out twice"
    );
}

#[test]
fn subjects_go_in_two_steps() {
    let mut registry = Registry::default();
    versions(&mut registry);
    registry.ask("PUT /config/s", &json!({"compatibility": "FULL"}));
    assert_eq!(
        registry.error("DELETE /subjects/s?permanent=true", &Value::Null),
        40405
    );
    let (_, body) = registry.ask("DELETE /subjects/s", &Value::Null);
    assert_eq!(body, json!([1, 2]));
    assert_eq!(registry.error("DELETE /subjects/s", &Value::Null), 40404);
    assert_eq!(registry.get("/subjects"), json!([]));
    assert_eq!(registry.get("/subjects?deleted=true"), json!(["s"]));
    assert_eq!(
        registry.error("GET /subjects/s/versions", &Value::Null),
        40401
    );
    let mut restarted = registry.restarted();
    assert_eq!(restarted.get("/subjects"), json!([]));
    assert_eq!(restarted.get("/subjects?deletedOnly=true"), json!(["s"]));
    let (_, body) = restarted.ask("DELETE /subjects/s?permanent=true", &Value::Null);
    assert_eq!(body, json!([1, 2]));
    assert_eq!(restarted.error("DELETE /subjects/s", &Value::Null), 40401);
    assert_eq!(
        restarted.error("GET /config/s", &Value::Null),
        40408,
        "its settings are gone, too"
    );
    assert_eq!(restarted.register("s", &json!("int")), 3);
    assert_eq!(restarted.get("/subjects/s/versions"), json!([1]));
}

#[test]
fn a_restart_changes_nothing() {
    let mut registry = Registry::default();
    versions(&mut registry);
    registry.ask("PUT /config", &json!({"compatibility": "FULL"}));
    registry.ask("PUT /config/s", &json!({"normalize": true}));
    registry.ask("PUT /mode/s", &json!({"mode": "READONLY"}));
    registry.ask("DELETE /subjects/s/versions/1", &Value::Null);
    registry.register("t", &json!("int"));
    let mut restarted = registry.restarted();
    for target in [
        "/subjects?deleted=true",
        "/schemas?deleted=true",
        "/config",
        "/config/s",
        "/mode",
        "/mode/s",
        "/schemas/ids/1",
        "/schemas/ids/3/versions",
    ] {
        assert_eq!(registry.get(target), restarted.get(target), "{target}");
    }
    assert_eq!(restarted.register("t", &json!("int")), 3);
}
