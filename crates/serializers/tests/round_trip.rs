//! Random values come back, and random bytes are read or refused, never worse.

use std::fmt::Debug;

use bytes::Bytes;
use copart_serializers::{
    Bool, Context, Deserialize, ErrorKind, Float32, Float64, Float64Raw, Int16, Int32, Int64, Json,
    List, Optional, Payload, Raw, Serialize, Utf8, UuidBytes, UuidText, Void,
};
use proptest::prelude::*;
use uuid::Uuid;

fn context() -> Context<'static> {
    Context::value("topic")
}

/// Written, and read back.
fn round<S, T>(format: S, value: &T) -> T
where
    S: Serialize<T> + Deserialize<Value = T>,
{
    // Behind something else, as in a batch.
    let mut buffer = b"before".to_vec();
    let range = format
        .append(&context(), value, &mut buffer)
        .expect("serializes");
    assert!(buffer.starts_with(b"before"));
    let batch = Bytes::from(buffer);
    let payload = range.map(|range| Payload::within(&batch, &batch[range]));
    format.read(&context(), payload).expect("deserializes")
}

/// Reads any bytes. What is read is written as the same bytes again, where `canonical`.
fn check<S>(format: S, bytes: &[u8], canonical: bool)
where
    S: Serialize<S::Value> + Deserialize<Value: Debug>,
{
    match format.deserialize(&context(), Payload::new(bytes)) {
        Ok(value) => {
            let written = format.to_vec(&context(), &value).expect("serializes");
            assert!(
                !canonical || written.as_deref() == Some(bytes),
                "{value:?}: {written:?}"
            );
        }
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Null),
                "{error}"
            );
            assert!(!error.is_retriable());
        }
    }
}

fn every_format(bytes: &[u8]) {
    check(Int16, bytes, true);
    check(Int32, bytes, true);
    check(Int64, bytes, true);
    check(Float32, bytes, true);
    check(Float64, bytes, false); // its NaNs
    check(Float64Raw, bytes, true);
    check(Bool, bytes, true);
    check(Utf8, bytes, true);
    check(Raw, bytes, true);
    check(UuidText, bytes, false); // its upper case
    check(UuidBytes, bytes, true);
    check(Void, bytes, true);
    check(Optional(Utf8), bytes, true);
    check(List(Utf8), bytes, true);
    check(List(Bool), bytes, true);
    check(List(Optional(Int16)), bytes, false); // its lengths
    check(List(Optional(List(Optional(Utf8)))), bytes, true);
    check(List(Void), bytes, true);
    check(Json::<serde_json::Value>::new(), bytes, false);
}

proptest! {
    #[test]
    fn values_come_back(
        short: i16, int: i32, long: i64, float: f32, double: f64, flag: bool, text: String, raw: Vec<u8>, id: u128,
        ints in proptest::collection::vec(any::<Option<i32>>(), 0..20),
        texts in proptest::collection::vec(any::<Option<String>>(), 0..20),
    ) {
        prop_assert_eq!(round(Int16, &short), short);
        prop_assert_eq!(round(Int32, &int), int);
        prop_assert_eq!(round(Int64, &long), long);
        prop_assert_eq!(round(Float32, &float).to_bits(), float.to_bits());
        prop_assert_eq!(round(Float64Raw, &double).to_bits(), double.to_bits());
        let read = round(Float64, &double);
        prop_assert!(read.to_bits() == double.to_bits() || read.is_nan() && double.is_nan());
        prop_assert_eq!(round(Bool, &flag), flag);
        prop_assert_eq!(&round(Utf8, &text), &text);
        prop_assert_eq!(&round(Raw, &Bytes::from(raw.clone())), &raw);
        let id = Uuid::from_u128(id);
        prop_assert_eq!(round(UuidText, &id), id);
        prop_assert_eq!(round(UuidBytes, &id), id);
        prop_assert_eq!(&round(List(Optional(Int32)), &ints), &ints);
        prop_assert_eq!(&round(List(Optional(Utf8)), &texts), &texts);
        prop_assert_eq!(&round(Optional(Json::<Vec<Option<String>>>::new()), &Some(texts.clone())), &Some(texts));
        prop_assert_eq!(round(Optional(Int64), &None), None);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        every_format(&bytes);
    }

    /// Bytes that look like lists get further.
    #[test]
    fn almost_lists_are_read_or_refused(
        strategy in 0u8..3,
        words in proptest::collection::vec(prop_oneof![-2i32..6, any::<i32>()], 0..12),
        tail in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        let mut bytes = vec![strategy];
        bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        bytes.extend(tail);
        every_format(&bytes);
    }

    /// A UUID with one byte changed is another UUID, the same in upper case, or refused.
    #[test]
    fn almost_uuids_are_read_or_refused(id: u128, at in 0usize..36, byte: u8) {
        let text = UuidText.to_vec(&context(), &Uuid::from_u128(id)).expect("a UUID");
        let mut text = text.expect("not null");
        text[at] = byte;
        if let Ok(read) = UuidText.deserialize(&context(), Payload::new(&text)) {
            text.make_ascii_lowercase();
            prop_assert_eq!(UuidText.to_vec(&context(), &read).expect("a UUID"), Some(text));
        }
    }
}

#[test]
fn deep_json_is_refused() {
    let deep = "[".repeat(1_000_000);
    let error = Json::<serde_json::Value>::new()
        .deserialize(&context(), Payload::new(deep.as_bytes()))
        .expect_err("too deep");
    assert!(error.reason().contains("recursion limit"), "{error}");
}

#[test]
fn json_is_read_to_its_end() {
    let read = |text: &str| {
        Json::<Vec<u8>>::new()
            .deserialize(&context(), Payload::new(text.as_bytes()))
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(" [1, 2]\n"), Ok(vec![1, 2]));
    assert_eq!(
        read("[1] [2]").unwrap_err(),
        "topic \"topic\", value: not JSON: trailing characters at line 1 column 5 \
         (was it written with another serializer?)"
    );
    assert_eq!(
        read("{}").unwrap_err(),
        "topic \"topic\", value: JSON, but not of the expected type: invalid type: map, expected a sequence \
         at line 1 column 0 (was it written with another serializer?)"
    );
}

#[test]
fn json_that_cannot_be_written_leaves_the_buffer_alone() {
    let map = std::collections::BTreeMap::from([((1, 2), 3)]);
    let mut buffer = b"before".to_vec();
    let error = Json::<std::collections::BTreeMap<(i32, i32), i32>>::new()
        .append(&context(), &map, &mut buffer)
        .expect_err("a key that is no string");
    assert_eq!(error.kind(), ErrorKind::Unserializable);
    assert_eq!(buffer, b"before");
}
