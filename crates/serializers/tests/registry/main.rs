//! The registry's client against a small registry in the same process.
#![cfg(all(
    feature = "registry",
    feature = "avro",
    feature = "protobuf",
    feature = "json-schema"
))]

mod mock;

use std::time::Duration;

use copart_serializers::registry::{Registry, SubjectName, Version};
use copart_serializers::schema::{Framing, IndexForm, Reference, Schema, SchemaKey, SchemaType};
use copart_serializers::{
    AddedHeaders, Avro, AvroValue, Context, Deserialize, Error, ErrorKind, Format, JsonSchema,
    Payload, Protobuf, Serialize, Sink,
};

use mock::{Mock, Reply};

const ORDER: &str =
    r#"{"type":"record","name":"a.Order","fields":[{"name":"item","type":"long"}]}"#;

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Order {
    item: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(int64, tag = "1")]
    item: i64,
}

async fn prepare(
    format: &impl Format,
    context: &Context<'_>,
    payload: Option<&[u8]>,
) -> Result<(), Error> {
    match format.prepare(context, payload.map(Payload::new)) {
        Some(preparation) => preparation.await,
        None => Ok(()),
    }
}

#[tokio::test]
async fn a_value_goes_there_and_back() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    let value = Context::value("orders");
    let serializer = registry
        .serializer(Avro::<Order>::new(ORDER).expect("a schema"))
        .register_schemas();
    let error = serializer
        .to_vec(&value, &Order { item: 7 })
        .expect_err("not asked yet");
    assert_eq!(error.kind(), ErrorKind::Unprepared);
    prepare(&serializer, &value, None).await.expect("registers");
    assert!(
        serializer.prepare(&value, None).is_none(),
        "it is known now"
    );
    let bytes = serializer
        .to_vec(&value, &Order { item: 7 })
        .expect("writes")
        .expect("not null");
    assert_eq!(bytes, [0, 0, 0, 0, 1, 14]);
    assert_eq!(mock.subjects(), ["orders-value"]);

    // Read with another version: the field has another name there.
    let renamed = ORDER.replace("\"item\"", "\"thing\",\"aliases\":[\"item\"]");
    let deserializer = registry.deserializer(AvroValue::new(&renamed).expect("a schema"));
    let read = |bytes: &[u8]| deserializer.read(&value, Some(Payload::new(bytes)));
    assert_eq!(
        read(&bytes).expect_err("not fetched yet").kind(),
        ErrorKind::Unprepared
    );
    prepare(&deserializer, &value, Some(&bytes))
        .await
        .expect("fetches");
    assert!(format!("{:?}", read(&bytes).expect("reads")).contains("thing"));

    // An id that the registry does not know is no reason to wait.
    let unknown = [0, 0, 0, 0, 99, 14];
    let error = prepare(&deserializer, &value, Some(&unknown))
        .await
        .expect_err("unknown");
    assert_eq!((error.kind(), error.topic()), (ErrorKind::Schema, "orders"));
    assert!(error.to_string().contains("40403"), "{error}");
    // What is no frame needs nothing, and fails when it is read.
    assert!(
        deserializer
            .prepare(&value, Some(Payload::new(b"{}")))
            .is_none()
    );
    assert_eq!(
        read(b"{}").expect_err("no frame").kind(),
        ErrorKind::Malformed
    );
}

#[tokio::test]
async fn keys_with_an_id_are_refused_unless_allowed_by_name() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    let key = Context::key("orders");
    let avro = || Avro::<i64>::new("\"long\"").expect("a schema");
    let serializer = registry.serializer(avro()).register_schemas();
    let asked = prepare(&serializer, &key, None).await.expect_err("refused");
    let written = serializer.to_vec(&key, &42i64).expect_err("refused");
    for error in [asked, written] {
        assert_eq!(error.kind(), ErrorKind::UnstableKey);
        let text = error.to_string();
        assert!(
            text.contains("another partition") && text.contains("Framing::Header"),
            "{text}"
        );
        assert!(text.contains("allow_schema_id_in_keys"), "{text}");
    }
    assert_eq!(mock.requests(), 0);

    let allowed = registry
        .serializer(avro())
        .register_schemas()
        .allow_schema_id_in_keys();
    prepare(&allowed, &key, None).await.expect("registers");
    assert_eq!(
        allowed.to_vec(&key, &42i64).expect("writes"),
        Some(vec![0, 0, 0, 0, 1, 84])
    );

    // In a header, the key is the payload alone.
    let header = registry
        .serializer(avro())
        .register_schemas()
        .framing(Framing::Header);
    prepare(&header, &key, None).await.expect("registers");
    let (mut bytes, mut headers) = (Vec::new(), AddedHeaders::new());
    header
        .serialize(
            &key,
            &42i64,
            &mut Sink::with_headers(&mut bytes, &mut headers),
        )
        .expect("writes");
    assert_eq!(bytes, [84]);
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (name, Some(value)))
        .collect();
    assert_eq!(headers[0].0, "__key_schema_id");
    let context = key.with_headers(&headers);
    let deserializer = registry.deserializer(avro());
    prepare(&deserializer, &context, Some(&bytes))
        .await
        .expect("fetches");
    assert_eq!(
        deserializer
            .read(&context, Some(Payload::new(&bytes)))
            .expect("reads"),
        42
    );
}

#[tokio::test]
async fn protobuf_has_message_indexes() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    let value = Context::value("orders");
    let proto = "syntax = \"proto3\"; message A {} message B { int64 item = 1; }";
    let format = || Protobuf::<Message>::described(proto, "B", [1]);
    let serializer = registry
        .serializer(format())
        .register_schemas()
        .subject(SubjectName::Record);
    prepare(&serializer, &value, None).await.expect("registers");
    let bytes = serializer
        .to_vec(&value, &Message { item: 42 })
        .expect("writes")
        .expect("not null");
    assert_eq!(bytes, [0, 0, 0, 0, 1, 2, 2, 8, 42]);
    assert_eq!(mock.subjects(), ["B"]);

    let deserializer = registry.deserializer(format());
    prepare(&deserializer, &value, Some(&bytes))
        .await
        .expect("fetches");
    assert_eq!(
        deserializer
            .read(&value, Some(Payload::new(&bytes)))
            .expect("reads")
            .item,
        42
    );
    // Another message of the file, and the form of old Python clients.
    let error = deserializer.read(&value, Some(Payload::new(&[0, 0, 0, 0, 1, 0, 8, 42])));
    assert!(error.expect_err("A").to_string().contains("[0]"));
    let old = registry
        .deserializer(format())
        .message_indexes(IndexForm::Plain);
    let bytes = [0, 0, 0, 0, 1, 1, 1, 8, 42];
    prepare(&old, &value, Some(&bytes)).await.expect("fetches");
    assert_eq!(
        old.read(&value, Some(Payload::new(&bytes)))
            .expect("reads")
            .item,
        42
    );
}

#[tokio::test]
async fn json_schema_is_validated_in_both_directions() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    let value = Context::value("orders");
    let text =
        r#"{"title":"Order","type":"object","properties":{"item":{"type":"integer","minimum":1}}}"#;
    let serializer = registry
        .serializer(JsonSchema::<Order>::new(text).expect("a schema"))
        .register_schemas();
    prepare(&serializer, &value, None).await.expect("registers");
    let bytes = serializer
        .to_vec(&value, &Order { item: 7 })
        .expect("writes")
        .expect("not null");
    assert_eq!(bytes, b"\0\0\0\0\x01{\"item\":7}");
    let error = serializer
        .to_vec(&value, &Order { item: 0 })
        .expect_err("too small");
    assert_eq!(error.kind(), ErrorKind::Unserializable);
    assert!(error.to_string().contains("/item"), "{error}");
    let deserializer = registry.deserializer(JsonSchema::<Order>::new(text).expect("a schema"));
    prepare(&deserializer, &value, Some(&bytes))
        .await
        .expect("fetches");
    assert_eq!(
        deserializer
            .read(&value, Some(Payload::new(&bytes)))
            .expect("reads"),
        Order { item: 7 }
    );
    let error = deserializer.read(&value, Some(Payload::new(b"\0\0\0\0\x01{\"item\":0}")));
    assert_eq!(error.expect_err("too small").kind(), ErrorKind::Malformed);
    // An Avro reader says what it found.
    let avro = registry.deserializer(Avro::<Order>::new(ORDER).expect("a schema"));
    let error = prepare(&avro, &value, Some(&bytes))
        .await
        .expect_err("JSON");
    assert!(error.to_string().contains("JSON"), "{error}");
}

#[tokio::test]
async fn a_schema_that_is_not_there_is_not_registered_by_itself() {
    let mock = Mock::start().await;
    let serializer = mock
        .registry()
        .serializer(Avro::<Order>::new(ORDER).expect("a schema"));
    let error = prepare(&serializer, &Context::value("orders"), None)
        .await
        .expect_err("not there");
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("orders-value"), "{error}");
    assert!(error.to_string().contains("register_schemas"), "{error}");
    assert!(mock.subjects().is_empty());
}

#[tokio::test]
async fn references_are_fetched_before_what_refers_to_them() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    let leaf = Schema::new(
        SchemaType::Avro,
        r#"{"type":"record","name":"Leaf","fields":[{"name":"a","type":"int"}]}"#,
    );
    let reference = |name: &str| Reference {
        name: name.to_owned(),
        subject: name.to_lowercase(),
        version: 1,
    };
    let branch = Schema::new(
        SchemaType::Avro,
        r#"{"type":"record","name":"Branch","fields":[{"name":"leaf","type":"Leaf"}]}"#,
    )
    .with_references(vec![reference("Leaf")]);
    let tree = Schema::new(
        SchemaType::Avro,
        r#"{"type":"record","name":"Tree","fields":[{"name":"branch","type":"Branch"},{"name":"leaf","type":"Leaf"}]}"#,
    )
    .with_references(vec![reference("Branch"), reference("Leaf")]);
    registry.register("leaf", &leaf).await.expect("registers");
    registry
        .register("branch", &branch)
        .await
        .expect("registers");
    registry
        .register("trees-value", &tree)
        .await
        .expect("registers");
    assert_eq!(
        registry.subjects().await.expect("lists"),
        ["branch", "leaf", "trees-value"]
    );
    assert_eq!(registry.versions("leaf").await.expect("lists"), [1]);
    let (found, registered) = registry
        .version("trees-value", Version::Latest)
        .await
        .expect("finds");
    assert_eq!((found, registered.version), (tree.clone(), Some(1)));

    let format = AvroValue::with_references(tree.clone(), &[leaf, branch]).expect("a schema");
    let deserializer = registry.deserializer(format);
    let bytes = [0, 0, 0, 0, 3, 2, 4];
    let value = Context::value("trees");
    prepare(&deserializer, &value, Some(&bytes))
        .await
        .expect("fetches");
    deserializer
        .read(&value, Some(Payload::new(&bytes)))
        .expect("reads");
    // What was fetched is kept.
    let before = mock.requests();
    let key = SchemaKey::Id(registered.id);
    assert_eq!(registry.clone().schema(key).await.expect("knows"), tree);
    assert_eq!(mock.requests(), before);
}

#[tokio::test]
async fn compatibility() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    let schema = Schema::new(SchemaType::Avro, ORDER);
    registry.register("s", &schema).await.expect("registers");
    mock.reply(Reply::new(
        200,
        r#"{"is_compatible":false,"messages":["READER_FIELD_MISSING"]}"#,
    ));
    let found = registry
        .check("s", Version::Latest, &schema)
        .await
        .expect("answers");
    assert!(!found.compatible);
    assert_eq!(found.messages, ["READER_FIELD_MISSING"]);
    mock.reply(Reply::new(200, r#"{"is_compatible":true}"#));
    let found = registry.check_registrable("s", &schema).await;
    assert!(found.expect("answers").compatible);
    let path = "/base/compatibility/subjects/s/versions?verbose=true";
    assert_eq!(mock.last(), format!("POST {path} HTTP/1.1"));
    mock.reply(Reply::new(200, r#"{"id":1}"#));
    let place = registry.register_normalized("s", &schema).await;
    assert_eq!(place.expect("answers").version, None);
    let path = "/base/subjects/s/versions?normalize=true";
    assert_eq!(mock.last(), format!("POST {path} HTTP/1.1"));
    mock.reply(Reply::new(200, r#"{"compatibilityLevel":"FULL"}"#));
    assert_eq!(
        registry.compatibility(Some("s")).await.expect("answers"),
        "FULL"
    );
    mock.reply(Reply::new(
        409,
        r#"{"error_code":409,"message":"incompatible"}"#,
    ));
    let error = registry
        .register("s", &schema)
        .await
        .expect_err("incompatible");
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("incompatible"), "{error}");
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_what_may_not_is_not() {
    let mock = Mock::start().await;
    let registry = mock.registry();
    mock.reply(Reply::new(503, "busy"));
    mock.reply(Reply::cut_off());
    registry.subjects().await.expect("the third try");
    assert_eq!(mock.requests(), 3);

    mock.reply(Reply::new(
        401,
        r#"{"error_code":40101,"message":"who are you"}"#,
    ));
    let error = registry.subjects().await.expect_err("not allowed");
    assert_eq!(error.kind(), ErrorKind::Settings);
    assert!(!error.is_retriable());
    assert_eq!(mock.requests(), 4);

    mock.reply(Reply::new(200, "<html>a proxy</html>"));
    let error = registry.subjects().await.expect_err("no registry");
    assert!(error.to_string().contains("address"), "{error}");

    for _ in 0..3 {
        mock.reply(Reply::new(500, ""));
    }
    let error = registry.subjects().await.expect_err("three tries");
    assert!(error.is_retriable());
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let mock = Mock::start().await;
    mock.reply(Reply::endless());
    mock.reply(Reply::endless());
    mock.reply(Reply::endless());
    let error = mock.registry().subjects().await.expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn signs_in_and_turns_to_the_next_address() {
    let mock = Mock::start().await;
    // Nobody listens on the first one.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let dead = free.local_addr().expect("an address");
    drop(free);
    let registry = Registry::builder(&format!("http://{dead},{}", mock.url()))
        .basic_auth("user", "pass:word")
        .timeout(Duration::from_secs(5))
        .build()
        .expect("builds");
    registry.subjects().await.expect("the second address");
    assert_eq!(
        mock.authorization().as_deref(),
        Some("Basic dXNlcjpwYXNzOndvcmQ=")
    );
    let registry = Registry::builder(&mock.url())
        .bearer("token")
        .build()
        .expect("builds");
    registry.subjects().await.expect("lists");
    assert_eq!(mock.authorization().as_deref(), Some("Bearer token"));
}
