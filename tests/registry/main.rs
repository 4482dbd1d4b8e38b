//! The client of a Schema Registry against the registry of the reference broker.

use std::net::SocketAddr;

use copart_broker::Broker;
use copart_serializers::registry::{Registry, Version};
use copart_serializers::schema::{Framing, Reference, Schema, SchemaKey, SchemaType};
use copart_serializers::{
    Avro, AvroValue, Context, Deserialize, ErrorKind, Format, Payload, Serialize,
};

const ORDER: &str =
    r#"{"type":"record","name":"a.Order","fields":[{"name":"item","type":"long"}]}"#;

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Order {
    item: i64,
}

async fn start() -> (Broker, Registry) {
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let broker = Broker::builder()
        .registry(any)
        .start()
        .await
        .expect("starts");
    let url = broker.registry().expect("it has a registry");
    let registry = Registry::builder(&url).build().expect("builds");
    (broker, registry)
}

async fn prepare(format: &impl Format, context: &Context<'_>, payload: Option<&[u8]>) {
    if let Some(preparation) = format.prepare(context, payload.map(Payload::new)) {
        preparation.await.expect("the registry answers");
    }
}

#[tokio::test]
async fn schemas_are_registered_found_compared_and_evolved() {
    let (broker, registry) = start().await;
    let avro = |text: &str| Schema::new(SchemaType::Avro, text);
    let order = avro(ORDER);
    let registered = registry
        .register("orders-value", &order)
        .await
        .expect("new");
    assert_eq!(registered.version, Some(1));
    let again = registry
        .register("orders-value", &order)
        .await
        .expect("known");
    assert_eq!(again, registered);
    let found = registry
        .look_up("orders-value", &order)
        .await
        .expect("there");
    assert_eq!(found, registered);
    let missing = registry.look_up("orders-value", &avro("\"int\"")).await;
    assert_eq!(missing.expect_err("another").kind(), ErrorKind::Schema);

    let (schema, place) = registry
        .version("orders-value", Version::Latest)
        .await
        .expect("there");
    assert_eq!(place, registered);
    let by_id = registry
        .schema(SchemaKey::Id(registered.id))
        .await
        .expect("there");
    assert_eq!(schema, by_id);
    let guid = registered.guid.expect("it knows GUIDs");
    assert_eq!(
        registry.schema(SchemaKey::Guid(guid)).await.expect("there"),
        by_id
    );

    let bad = avro(&ORDER.replace("\"long\"", "\"string\""));
    let check = registry.check("orders-value", Version::Latest, &bad);
    let check = check.await.expect("an answer");
    assert!(!check.compatible);
    assert!(
        check.messages.join("").contains("TYPE_MISMATCH"),
        "{:?}",
        check.messages
    );
    let refused = registry.register("orders-value", &bad).await;
    assert_eq!(refused.expect_err("incompatible").kind(), ErrorKind::Schema);
    assert!(registry.compatibility(Some("orders-value")).await.is_err());
    registry
        .set_compatibility(Some("orders-value"), "NONE")
        .await
        .expect("is set");
    assert_eq!(
        registry
            .compatibility(Some("orders-value"))
            .await
            .expect("is set"),
        "NONE"
    );
    registry
        .register("orders-value", &bad)
        .await
        .expect("anything goes");
    assert_eq!(
        registry.versions("orders-value").await.expect("there"),
        [1, 2]
    );
    broker.stop().await.expect("stops");
}

#[tokio::test]
async fn values_are_written_and_read_by_id_and_by_guid() {
    let (broker, registry) = start().await;
    let value = Context::value("orders");
    for framing in [Framing::Prefix, Framing::Header] {
        let serializer = registry
            .serializer(Avro::<Order>::new(ORDER).expect("a schema"))
            .framing(framing)
            .register_schemas();
        prepare(&serializer, &value, None).await;
        if framing == Framing::Header {
            continue;
        }
        let bytes = serializer.to_vec(&value, &Order { item: 7 });
        let bytes = bytes.expect("written").expect("not null");
        assert_eq!(bytes, [0, 0, 0, 0, 1, 14]);
        // Read as a later version, in which the field has another name.
        let renamed = ORDER.replace("\"item\"", "\"thing\",\"aliases\":[\"item\"]");
        let deserializer = registry.deserializer(AvroValue::new(&renamed).expect("a schema"));
        prepare(&deserializer, &value, Some(&bytes)).await;
        let read = deserializer.read(&value, Some(Payload::new(&bytes)));
        let read = format!("{:?}", read.expect("read"));
        assert!(read.contains("thing") && read.contains("Long(7)"), "{read}");
    }
    assert_eq!(
        registry.subjects().await.expect("an answer"),
        ["orders-value"]
    );
    broker.stop().await.expect("stops");
}

#[tokio::test]
async fn references_are_followed() {
    let (broker, registry) = start().await;
    registry
        .register("order", &Schema::new(SchemaType::Avro, ORDER))
        .await
        .expect("new");
    let basket =
        r#"{"type":"record","name":"a.Basket","fields":[{"name":"first","type":"a.Order"}]}"#;
    let reference = Reference {
        name: "a.Order".to_owned(),
        subject: "order".to_owned(),
        version: 1,
    };
    let schema = Schema::new(SchemaType::Avro, basket).with_references(vec![reference.clone()]);
    let registered = registry
        .register("baskets-value", &schema)
        .await
        .expect("new");
    let found = registry
        .schema(SchemaKey::Id(registered.id))
        .await
        .expect("there");
    assert_eq!(found.references(), [reference]);
    broker.stop().await.expect("stops");
}
