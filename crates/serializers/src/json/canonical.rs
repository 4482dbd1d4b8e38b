//! JSON of which equal values have equal bytes.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use serde_core::de::DeserializeOwned;

use super::Json;
use super::writer::Writer;
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

/// Values of one type as JSON in the canonical form of RFC 8785: the form for
/// keys.
///
/// Members are sorted by their names' UTF-16 units, there are no spaces, and
/// numbers are written as JavaScript writes them, so that 1.0 and 1 are the same
/// key. The order of a struct's fields, the order of a hash map and the language
/// don't matter any more.
///
/// Where the RFC would let two values become one, it is an error here:
///
/// - whole numbers beyond ±(2⁵³ − 1), which the RFC reads as the nearest double.
///   Write them as text, or the whole key with [`Int64`](crate::Int64);
/// - NaN and infinities, which [`Json`] writes as `null`;
/// - two members of one name.
///
/// What is not changed is text: composed and decomposed characters are
/// different keys. Reading takes any JSON, as [`Json`] does.
///
/// ```
/// use std::collections::HashMap;
/// use copart_serializers::{CanonicalJson, Context, Serialize};
///
/// let key = HashMap::from([("region", "eu"), ("id", "7")]);
/// let bytes = CanonicalJson::new().to_vec(&Context::key("orders"), &key)?;
/// assert_eq!(bytes.as_deref(), Some(&br#"{"id":"7","region":"eu"}"#[..]));
/// # Ok::<(), copart_serializers::Error>(())
/// ```
#[doc(alias = "JCS")]
pub struct CanonicalJson<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> CanonicalJson<T> {
    /// Canonical JSON of this type.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: ?Sized> Format for CanonicalJson<T> {}

impl<T, B> Serialize<B> for CanonicalJson<T>
where
    T: serde_core::Serialize + ?Sized,
    B: Borrow<T> + ?Sized,
{
    fn serialize(&self, context: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        let written = value.borrow().serialize(Writer(out.as_vec()));
        written.map_err(|error| {
            Error::new(
                ErrorKind::Unserializable,
                context,
                format!("the value has no canonical JSON: {error}"),
            )
            .caused_by(error)
        })
    }
}

impl<T: DeserializeOwned> Deserialize for CanonicalJson<T> {
    type Value = T;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<T> {
        Json::new().deserialize(context, payload)
    }
}

// Not derived: a derive would ask all of it of T.
impl<T: ?Sized> Clone for CanonicalJson<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for CanonicalJson<T> {}

impl<T: ?Sized> Default for CanonicalJson<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for CanonicalJson<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanonicalJson<{}>", std::any::type_name::<T>())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical<T: serde::Serialize>(value: &T) -> Result<String, String> {
        let mut bytes = Vec::new();
        value
            .serialize(Writer(&mut bytes))
            .map_err(|error| error.to_string())?;
        Ok(String::from_utf8(bytes).expect("JSON is UTF-8"))
    }

    /// The example of RFC 8785, section 3.2.2 and 3.2.3.
    #[test]
    fn the_examples_of_the_rfc() {
        // More digits than a double has.
        let long: f64 = "333333333.33333329".parse().expect("a number");
        let value = json!({
            "numbers": [long, 1E30, 4.50, 2e-3, 0.000_000_000_000_000_000_000_000_001],
            "string": "\u{20ac}$\u{f}\nA'B\"\\\\\"/",
            "literals": [null, true, false],
        });
        assert_eq!(
            canonical(&value).as_deref(),
            Ok(concat!(
                r#"{"literals":[null,true,false],"#,
                r#""numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
                r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
            ))
        );
        let sorted = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let text = canonical(&sorted).expect("a value of JSON");
        let order = [
            "Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew",
        ];
        let places: Vec<_> = order.iter().map(|word| text.find(word)).collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{text}"
        );
    }

    #[test]
    fn numbers_are_what_they_are_worth() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (9_007_199_254_740_992.0, "9007199254740992"),
        ] {
            assert_eq!(canonical(&value).as_deref(), Ok(expected));
        }
        assert_eq!(canonical(&0.1f32).as_deref(), Ok("0.1"));
        assert_eq!(
            canonical(&9_007_199_254_740_991u64).as_deref(),
            Ok("9007199254740991")
        );
        for refused in [
            canonical(&f64::NAN),
            canonical(&f32::INFINITY),
            canonical(&(1u64 << 53)),
            canonical(&i64::MIN),
            canonical(&u128::MAX),
        ] {
            assert!(refused.is_err(), "{refused:?}");
        }
    }

    #[test]
    fn serdes_shapes_are_those_of_plain_json() {
        #[derive(serde::Serialize)]
        enum Shape {
            Unit,
            Newtype(i32),
            Tuple(i32, char),
            Struct { z: Option<()>, a: [u8; 2] },
        }
        #[derive(serde::Serialize)]
        struct Unit;
        #[derive(serde::Serialize)]
        struct All {
            shapes: Vec<Shape>,
            keys: std::collections::BTreeMap<i64, ()>,
            unit: Unit,
            pair: (bool, String),
        }
        let all = All {
            shapes: vec![
                Shape::Unit,
                Shape::Newtype(-1),
                Shape::Tuple(1, 'x'),
                Shape::Struct { z: None, a: [1, 2] },
            ],
            keys: [(10, ()), (9, ())].into(),
            unit: Unit,
            pair: (true, String::new()),
        };
        let text = canonical(&all).expect("serializes");
        assert_eq!(
            text,
            r#"{"keys":{"10":null,"9":null},"pair":[true,""],"shapes":["Unit",{"Newtype":-1},{"Tuple":[1,"x"]},{"Struct":{"a":[1,2],"z":null}}],"unit":null}"#
        );
        let plain = serde_json::to_value(&all).expect("serializes");
        assert_eq!(
            plain,
            serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
        );
    }

    #[test]
    fn members_of_one_name_are_refused() {
        struct Twice;
        impl serde::Serialize for Twice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map([("a", 1), ("a", 2)])
            }
        }
        let error = canonical(&Twice).expect_err("not one value");
        assert!(error.contains("\"a\""), "{error}");
        let error = CanonicalJson::<f64>::new()
            .to_vec(&Context::key("orders"), &f64::NAN)
            .expect_err("no number");
        assert_eq!(error.kind(), ErrorKind::Unserializable);
    }
}
