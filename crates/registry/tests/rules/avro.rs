//! Registering, and compatibility of Avro.

use serde_json::{Value, json};

use crate::{Registry, record, sent};

#[test]
fn a_schema_has_one_id_however_it_is_written() {
    let mut registry = Registry::default();
    let schema = record("a.User", json!([{"name": "id", "type": "long"}]));
    assert_eq!(registry.register("users-value", &schema), 1);
    let spaced = r#"{"name": "User", "namespace": "a",
        "fields": [{"type": {"type": "long"}, "name": "id"}], "type": "record"}"#;
    let (status, body) = registry.ask(
        "POST /subjects/users-value/versions",
        &json!({"schema": spaced}),
    );
    assert_eq!(
        (status, &body["id"], &body["version"]),
        (200, &json!(1), &json!(1))
    );
    assert_eq!(
        registry.register("others-value", &schema),
        1,
        "the id is of the schema"
    );
    assert_eq!(registry.register("others-key", &json!("string")), 2);

    let by_id = registry.get("/schemas/ids/1");
    let text =
        r#"{"type":"record","name":"User","namespace":"a","fields":[{"name":"id","type":"long"}]}"#;
    assert_eq!(by_id["schema"], json!(text));
    let guid = by_id["guid"].as_str().expect("a GUID").to_owned();
    assert_eq!(
        registry.get(&format!("/schemas/guids/{guid}"))["schema"],
        json!(text)
    );
    assert_eq!(registry.get("/schemas/ids/2/schema"), json!("string"));
    assert_eq!(
        registry.get("/schemas/ids/1/subjects"),
        json!(["others-value", "users-value"])
    );
    assert_eq!(
        registry.get("/schemas/ids/1/versions"),
        json!([{"subject": "others-value", "version": 1}, {"subject": "users-value", "version": 1}])
    );
    assert_eq!(
        registry.get("/subjects?subjectPrefix=others"),
        json!(["others-key", "others-value"])
    );
    assert_eq!(
        registry.get("/subjects?subjectPrefix=:*:&offset=2"),
        json!(["users-value"])
    );
    let found = registry.get("/subjects/users-value/versions/latest");
    assert_eq!(
        (
            &found["subject"],
            &found["id"],
            &found["version"],
            &found["guid"]
        ),
        (&json!("users-value"), &json!(1), &json!(1), &json!(guid))
    );
    let (status, found) = registry.ask("POST /subjects/users-value", &json!({"schema": spaced}));
    assert_eq!((status, &found["version"]), (200, &json!(1)));

    let missing = sent(&json!("int"));
    assert_eq!(
        registry.error("POST /subjects/users-value", &missing),
        40403
    );
    assert_eq!(registry.error("POST /subjects/none", &missing), 40401);
    assert_eq!(
        registry.error("GET /subjects/none/versions", &Value::Null),
        40401
    );
    assert_eq!(
        registry.error("GET /subjects/users-value/versions/2", &Value::Null),
        40402
    );
    assert_eq!(
        registry.error("GET /subjects/users-value/versions/0", &Value::Null),
        42202
    );
    assert_eq!(registry.error("GET /schemas/ids/9", &Value::Null), 40403);
    assert_eq!(registry.error("GET /nowhere", &Value::Null), 404);
    let wrong = json!({"schema": "{\"type\": \"recrod\"}"});
    assert_eq!(registry.error("POST /subjects/a/versions", &wrong), 42201);
    assert_eq!(
        registry.error("POST /subjects/a/versions", &json!({})),
        42201
    );
    assert_eq!(
        registry.error(
            "POST /subjects/a/versions",
            &json!({"schema": "\"int\"", "schemaType": "X"})
        ),
        42201
    );
    assert_eq!(
        registry.error("POST /subjects/a%0A/versions", &sent(&json!("int"))),
        42208
    );
    let ruled = json!({"schema": "\"int\"", "ruleSet": {"domainRules": [{"name": "x"}]}});
    assert_eq!(registry.error("POST /subjects/a/versions", &ruled), 501);
}

#[test]
fn new_versions_must_fit() {
    let mut registry = Registry::default();
    let one = record("User", json!([{"name": "id", "type": "long"}]));
    let with_default = record(
        "User",
        json!([{"name": "id", "type": "long"}, {"name": "name", "type": "string", "default": ""}]),
    );
    let without_default = record(
        "User",
        json!([{"name": "id", "type": "long"}, {"name": "mail", "type": "string"}]),
    );
    registry.register("u", &one);
    assert_eq!(
        registry.error("POST /subjects/u/versions", &sent(&without_default)),
        40901
    );
    let line = "POST /compatibility/subjects/u/versions/latest";
    let (_, body) = registry.ask(line, &sent(&without_default));
    assert_eq!(body, json!({"is_compatible": false}));
    let (_, body) = registry.ask(&format!("{line}?verbose=true"), &sent(&without_default));
    let messages = body["messages"].to_string();
    assert!(
        messages.contains("READER_FIELD_MISSING_DEFAULT_VALUE"),
        "{messages}"
    );
    assert!(messages.contains("/fields/1"), "{messages}");
    assert!(messages.contains("oldSchemaVersion: 1"), "{messages}");
    let (_, body) = registry.ask(&format!("{line}?verbose=true"), &sent(&with_default));
    assert_eq!(body, json!({"is_compatible": true, "messages": []}));
    assert_eq!(registry.register("u", &with_default), 2);

    // FORWARD: a field without default may be added, and none that has none may go.
    let (_, body) = registry.ask("PUT /config/u", &json!({"compatibility": "forward"}));
    assert_eq!(body, json!({"compatibility": "FORWARD"}));
    let (_, body) = registry.ask(line, &sent(&without_default));
    assert_eq!(
        body,
        json!({"is_compatible": true}),
        "the new field's name has a default in version 2"
    );
    let gone = record(
        "User",
        json!([{"name": "name", "type": "string", "default": ""}]),
    );
    let (_, body) = registry.ask(line, &sent(&gone));
    assert_eq!(body, json!({"is_compatible": false}));

    registry.ask("PUT /config/u", &json!({"compatibility": "NONE"}));
    assert_eq!(registry.register("u", &json!("int")), 3);
    // One version against another, or against all that count.
    registry.ask(
        "PUT /config/u",
        &json!({"compatibility": "BACKWARD_TRANSITIVE"}),
    );
    let (_, body) = registry.ask(
        "POST /compatibility/subjects/u/versions/3",
        &sent(&json!("long")),
    );
    assert_eq!(body, json!({"is_compatible": true}));
    let (_, body) = registry.ask(
        "POST /compatibility/subjects/u/versions",
        &sent(&json!("long")),
    );
    assert_eq!(body, json!({"is_compatible": false}));
    assert_eq!(
        registry.error("POST /compatibility/subjects/u/versions/9", &sent(&one)),
        40402
    );
    let (_, body) = registry.ask(
        "POST /compatibility/subjects/new/versions/latest",
        &sent(&one),
    );
    assert_eq!(
        body,
        json!({"is_compatible": true}),
        "there is nothing to fit to"
    );
}

#[test]
fn references_lead_to_other_subjects() {
    let mut registry = Registry::default();
    let place = record("a.Place", json!([{"name": "x", "type": "int"}]));
    registry.register("place", &place);
    let trip = record("a.Trip", json!([{"name": "to", "type": "a.Place"}]));
    let body = json!({
        "schema": trip.to_string(),
        "references": [{"name": "a.Place", "subject": "place", "version": 1}]
    });
    assert_eq!(
        registry.error("POST /subjects/trip/versions", &sent(&trip)),
        42201
    );
    let (status, registered) = registry.ask("POST /subjects/trip/versions", &body);
    assert_eq!(status, 200, "{registered}");
    assert_eq!(
        registry.get("/subjects/place/versions/1/referencedby"),
        json!([2])
    );
    let described = registry.get("/schemas/ids/2");
    assert_eq!(described["references"], body["references"]);
    let text = r#"{"type":"record","name":"Trip","namespace":"a","fields":[{"name":"to","type":"Place"}]}"#;
    assert_eq!(described["schema"], json!(text));
    let whole = registry.get("/schemas/ids/2?format=resolved");
    assert!(
        whole["schema"]
            .as_str()
            .is_some_and(|text| text.contains("\"x\"")),
        "{whole}"
    );
    assert_eq!(
        registry.error("DELETE /subjects/place/versions/1", &Value::Null),
        42206
    );
    assert_eq!(
        registry.error("DELETE /subjects/place", &Value::Null),
        42206
    );
    let missing = json!({
        "schema": trip.to_string(),
        "references": [{"name": "a.Place", "subject": "place", "version": 7}]
    });
    assert_eq!(
        registry.error("POST /subjects/trip/versions", &missing),
        42201
    );
    // The reference is part of what is compared.
    let line = "POST /compatibility/subjects/trip/versions/latest";
    let other = record("a.Trip", json!([{"name": "to", "type": place}]));
    let (_, answer) = registry.ask(line, &sent(&other));
    assert_eq!(answer, json!({"is_compatible": true}));
}
