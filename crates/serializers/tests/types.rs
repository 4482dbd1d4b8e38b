//! What a record may hold for a serializer, as a typed producer and consumer will ask for it.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use copart_serializers::{
    Context, Deserialize, ErrorKind, Int16, Int64, Json, List, Optional, Payload, Raw, Serialize,
    Utf8, Void,
};

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Order {
    item: u32,
}

/// What a producer does with a record's key: the record owns it or borrows it.
fn send<S: Serialize<K>, K>(serializer: &S, key: K) -> Option<Vec<u8>> {
    serializer
        .to_vec(&Context::key("orders"), &key)
        .expect("serializes")
}

#[test]
fn text_comes_in_many_types() {
    let owned = "key".to_owned();
    let expected = Some(b"key".to_vec());
    assert_eq!(send(&Utf8, "key"), expected);
    assert_eq!(send(&Utf8, &owned), expected);
    assert_eq!(send(&Utf8, Arc::<str>::from("key")), expected);
    assert_eq!(send(&Utf8, Cow::Borrowed("key")), expected);
    assert_eq!(send(&Utf8, owned), expected);
    assert_eq!(send(&Raw, "key"), expected);
    assert_eq!(send(&Raw, b"key"), expected);
    assert_eq!(send(&Raw, Bytes::from_static(b"key")), expected);
    assert_eq!(send(&Raw, &vec![b'k', b'e', b'y']), expected);
}

#[test]
fn a_number_takes_the_serializers_type() {
    assert_eq!(send(&Int16, 42), Some(vec![0, 42]));
    assert_eq!(send(&Int64, 42), Some(vec![0, 0, 0, 0, 0, 0, 0, 42]));
    assert_eq!(send(&Int64, &-1), Some(vec![0xff; 8]));
    assert_eq!(send(&List(Int16), [1, 2]), send(&List(Int16), vec![1, 2]));
}

#[test]
fn null_and_what_looks_like_it() {
    assert_eq!(send(&Void, ()), None);
    assert_eq!(send(&Optional(Utf8), None::<&str>), None);
    assert_eq!(send(&Optional(Utf8), Some("")), Some(vec![]));
    assert_eq!(send(&Optional(Utf8), &Some("key")), Some(b"key".to_vec()));
    assert_eq!(send(&Optional(Optional(Utf8)), Some(None::<&str>)), None);
    assert_eq!(send(&Optional(Json::<Order>::new()), None::<Order>), None);
    // JSON has a null of its own.
    assert_eq!(
        send(&Json::<Option<Order>>::new(), None::<Order>),
        Some(b"null".to_vec())
    );
}

#[test]
fn structs_are_lent_or_given() {
    let json = Json::<Order>::new();
    let order = Order { item: 7 };
    let expected = Some(br#"{"item":7}"#.to_vec());
    assert_eq!(send(&json, &order), expected);
    assert_eq!(send(&json, Box::new(order.clone())), expected);
    assert_eq!(send(&Optional(json), Some(&order)), expected);
    assert_eq!(send(&json, order), expected);
}

#[test]
fn a_null_that_nobody_expects_says_what_to_do() {
    let error = Utf8
        .read(&Context::value("orders"), None)
        .expect_err("a null");
    assert_eq!(error.kind(), ErrorKind::Null);
    assert_eq!(
        error.to_string(),
        "topic \"orders\", value: the record has a null value: a tombstone \
         (wrap the deserializer, as Optional(…), to read nulls as None)"
    );
    assert!(Utf8.read(&Context::key("orders"), None).is_err());
}

#[test]
fn formats_can_be_chosen_while_running() {
    let context = Context::value("orders");
    let order = Order { item: 7 };
    let writer: Box<dyn Serialize<Order>> = Box::new(Json::<Order>::new());
    let reader: Arc<dyn Deserialize<Value = Order>> = Arc::new(Json::<Order>::new());
    let bytes = writer
        .to_vec(&context, &order)
        .expect("JSON")
        .expect("not null");
    assert_eq!(
        reader
            .read(&context, Some(Payload::new(&bytes)))
            .expect("JSON"),
        order
    );
}
