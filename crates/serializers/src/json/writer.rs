//! The form of RFC 8785, straight from serde.

use serde_core::Serialize;
use serde_core::ser::{self, Error as _, Serializer};

type Error = serde_json::Error;
type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The largest whole number of which its neighbours are different doubles.
const MAX_SAFE: u128 = (1 << 53) - 1;

/// Appends one value.
///
/// Not serde_json with a formatter of our own: it has made `null` of NaN before
/// a formatter sees it, and hands on members as they come.
pub(super) struct Writer<'a>(pub(super) &'a mut Vec<u8>);

impl Writer<'_> {
    fn put(self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn whole(self, digits: &str, magnitude: u128) -> Result {
        if magnitude > MAX_SAFE {
            return Err(Error::custom(format!(
                "{digits} is beyond 2^53 - 1, where RFC 8785 rounds; write it as text"
            )));
        }
        self.put(digits);
        Ok(())
    }

    fn variant<T: Serialize + ?Sized>(self, variant: &str, value: &T) -> Result {
        self.0.push(b'{');
        string(self.0, variant)?;
        self.0.push(b':');
        value.serialize(Writer(self.0))?;
        self.0.push(b'}');
        Ok(())
    }
}

/// The RFC escapes what serde_json escapes, and in the same way.
fn string(out: &mut Vec<u8>, text: &str) -> Result {
    serde_json::to_writer(out, text)
}

fn not_finite<T: std::fmt::Display>(value: T) -> Error {
    Error::custom(format!("{value} is no number of JSON"))
}

macro_rules! whole {
    ($($method:ident $type:ty),+) => {
        $(fn $method(self, value: $type) -> Result {
            // Negative ones by their distance from zero.
            let magnitude = i128::from(value).unsigned_abs();
            self.whole(&value.to_string(), magnitude)
        })+
    };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Elements<'a>;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    whole!(serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64);
    whole!(serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64);
    whole!(serialize_i128 i128);

    fn serialize_u128(self, value: u128) -> Result {
        self.whole(&value.to_string(), value)
    }

    fn serialize_bool(self, value: bool) -> Result {
        self.put(if value { "true" } else { "false" });
        Ok(())
    }

    // The shortest digits that are this f32: what plain JSON of it says.
    fn serialize_f32(self, value: f32) -> Result {
        if !value.is_finite() {
            return Err(not_finite(value));
        }
        self.put(ryu_js::Buffer::new().format_finite(value));
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result {
        if !value.is_finite() {
            return Err(not_finite(value));
        }
        self.put(ryu_js::Buffer::new().format_finite(value));
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result {
        string(self.0, value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result {
        string(self.0, value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        self.put("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        string(self.0, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        self.variant(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'a>> {
        Ok(Elements::new(self.0, "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements<'a>> {
        Ok(Elements::new(self.0, "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>> {
        Ok(Elements::new(self.0, "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements<'a>> {
        self.0.push(b'{');
        string(self.0, variant)?;
        self.0.push(b':');
        Ok(Elements::new(self.0, "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>> {
        Ok(Members::new(self.0, "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'a>> {
        // How serde_json marks its RawValue: text that it would write as it is.
        if name.starts_with("$serde_json::private") {
            return Err(Error::custom(
                "raw JSON has no canonical form until it is read",
            ));
        }
        Ok(Members::new(self.0, "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>> {
        self.0.push(b'{');
        string(self.0, variant)?;
        self.0.push(b':');
        Ok(Members::new(self.0, "}}"))
    }
}

/// An array.
pub(super) struct Elements<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    end: &'static str,
}

impl<'a> Elements<'a> {
    fn new(out: &'a mut Vec<u8>, end: &'static str) -> Self {
        out.push(b'[');
        Self {
            out,
            first: true,
            end,
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        value.serialize(Writer(self.out))
    }

    fn finish(self) -> Result {
        Writer(self.out).put(self.end);
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident),+) => {
        $(impl ser::$trait for Elements<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
                self.element(value)
            }

            fn end(self) -> Result {
                self.finish()
            }
        })+
    };
}

elements!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

/// An object, whose members are held back until all are there.
pub(super) struct Members<'a> {
    out: &'a mut Vec<u8>,
    members: Vec<(String, Vec<u8>)>,
    name: Option<String>,
    end: &'static str,
}

impl<'a> Members<'a> {
    fn new(out: &'a mut Vec<u8>, end: &'static str) -> Self {
        Self {
            out,
            members: Vec::new(),
            name: None,
            end,
        }
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: String, value: &T) -> Result {
        let mut bytes = Vec::new();
        value.serialize(Writer(&mut bytes))?;
        self.members.push((name, bytes));
        Ok(())
    }

    fn finish(mut self) -> Result {
        // By UTF-16 units, which is not the order of UTF-8 beyond U+FFFF.
        self.members
            .sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        let mut pairs = self.members.windows(2);
        if let Some([(twice, _), _]) = pairs.find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::custom(format!(
                "two members have the name {twice:?}"
            )));
        }
        self.out.push(b'{');
        for (i, (name, value)) in self.members.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            string(self.out, name)?;
            self.out.push(b':');
            self.out.extend_from_slice(value);
        }
        Writer(self.out).put(self.end);
        Ok(())
    }
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        self.name = Some(match serde_json::to_value(key)? {
            serde_json::Value::String(text) => text,
            serde_json::Value::Bool(value) => value.to_string(),
            serde_json::Value::Number(number) if !number.is_f64() => number.to_string(),
            _ => return Err(Error::custom("a member's name is text, or a whole number")),
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        match self.name.take() {
            Some(name) => self.member(name, value),
            None => Err(Error::custom("a value without a name before it")),
        }
    }

    fn end(self) -> Result {
        self.finish()
    }
}

macro_rules! members {
    ($($trait:ident),+) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result {
                self.member(name.to_owned(), value)
            }

            fn end(self) -> Result {
                self.finish()
            }
        })+
    };
}

members!(SerializeStruct, SerializeStructVariant);
