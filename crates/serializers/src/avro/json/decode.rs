//! From Avro's binary form to its JSON encoding.

use apache_avro::Schema;
use apache_avro::schema::{InnerDecimalSchema, Name, NamesRef, NamespaceRef, UuidSchema};

use super::encode::type_name;
use crate::Payload;

/// The text of bytes that were found to be of this schema.
pub(super) fn decode(
    schema: &Schema,
    names: &NamesRef<'_>,
    payload: Payload<'_>,
) -> Result<String, &'static str> {
    let mut decoder = Decoder {
        rest: payload.as_slice(),
        names,
        out: String::with_capacity(2 * payload.len()),
    };
    decoder.value(schema, None)?;
    Ok(decoder.out)
}

struct Decoder<'a> {
    rest: &'a [u8],
    names: &'a NamesRef<'a>,
    out: String,
}

const CUT_OFF: &str = "the value is cut off";

impl<'a> Decoder<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.take(N)?.try_into().map_err(|_| CUT_OFF)
    }

    fn long(&mut self) -> Result<i64, &'static str> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err("a number is longer than 64 bits")
    }

    fn counted(&mut self) -> Result<&'a [u8], &'static str> {
        let len = usize::try_from(self.long()?).map_err(|_| "a length is negative")?;
        self.take(len)
    }

    fn text(&mut self) -> Result<(), &'static str> {
        let bytes = self.counted()?;
        let text = std::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
        self.quoted(text);
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.out
            .push_str(&serde_json::Value::from(text).to_string());
    }

    /// A character for each byte.
    fn bytes(&mut self, bytes: &[u8]) {
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        self.quoted(&text);
    }

    fn float(&mut self, number: f64, text: impl FnOnce() -> String) {
        if number.is_finite() {
            self.out.push_str(&text());
        } else if number.is_nan() {
            self.out.push_str("\"NaN\"");
        } else if number > 0.0 {
            self.out.push_str("\"Infinity\"");
        } else {
            self.out.push_str("\"-Infinity\"");
        }
    }

    fn value(&mut self, schema: &Schema, namespace: NamespaceRef<'_>) -> Result<(), &'static str> {
        match schema {
            Schema::Null => self.out.push_str("null"),
            Schema::Boolean => {
                let [byte] = self.array()?;
                self.out.push_str(if byte == 0 { "false" } else { "true" });
            }
            Schema::Int
            | Schema::Date
            | Schema::TimeMillis
            | Schema::Long
            | Schema::TimeMicros
            | Schema::TimestampMillis
            | Schema::TimestampMicros
            | Schema::TimestampNanos
            | Schema::LocalTimestampMillis
            | Schema::LocalTimestampMicros
            | Schema::LocalTimestampNanos => {
                let number = self.long()?;
                self.out.push_str(&number.to_string());
            }
            Schema::Float => {
                let number = f32::from_le_bytes(self.array()?);
                self.float(number.into(), || serde_json::json!(number).to_string());
            }
            Schema::Double => {
                let number = f64::from_le_bytes(self.array()?);
                self.float(number, || serde_json::json!(number).to_string());
            }
            Schema::String | Schema::Uuid(UuidSchema::String) => self.text()?,
            Schema::Bytes | Schema::BigDecimal | Schema::Uuid(UuidSchema::Bytes) => {
                let bytes = self.counted()?;
                self.bytes(bytes);
            }
            Schema::Decimal(decimal) => {
                let bytes = match &decimal.inner {
                    InnerDecimalSchema::Bytes => self.counted()?,
                    InnerDecimalSchema::Fixed(fixed) => self.take(fixed.size)?,
                };
                self.bytes(bytes);
            }
            Schema::Fixed(fixed)
            | Schema::Duration(fixed)
            | Schema::Uuid(UuidSchema::Fixed(fixed)) => {
                let bytes = self.take(fixed.size)?;
                self.bytes(bytes);
            }
            Schema::Enum(schema) => {
                let place = usize::try_from(self.long()?).ok();
                let symbol = place.and_then(|place| schema.symbols.get(place));
                self.quoted(symbol.ok_or("an enum has no such symbol")?);
            }
            Schema::Array(schema) => {
                self.out.push('[');
                self.blocks(|decoder| decoder.value(&schema.items, namespace))?;
                self.out.push(']');
            }
            Schema::Map(schema) => {
                self.out.push('{');
                self.blocks(|decoder| {
                    decoder.text()?;
                    decoder.out.push(':');
                    decoder.value(&schema.types, namespace)
                })?;
                self.out.push('}');
            }
            Schema::Record(schema) => {
                let name = schema.name.fully_qualified_name(namespace);
                self.out.push('{');
                for (place, field) in schema.fields.iter().enumerate() {
                    if place > 0 {
                        self.out.push(',');
                    }
                    self.quoted(&field.name);
                    self.out.push(':');
                    self.value(&field.schema, name.namespace())?;
                }
                self.out.push('}');
            }
            Schema::Union(schema) => {
                let place = usize::try_from(self.long()?).ok();
                let variant = place.and_then(|place| schema.variants().get(place));
                let variant = variant.ok_or("a union has no such type")?;
                if matches!(variant, Schema::Null) {
                    self.out.push_str("null");
                } else {
                    self.out.push('{');
                    self.quoted(&type_name(variant, namespace));
                    self.out.push(':');
                    self.value(variant, namespace)?;
                    self.out.push('}');
                }
            }
            Schema::Ref { name } => {
                let name = name.fully_qualified_name(namespace);
                let schema = self.names.get::<Name>(&name);
                let schema = schema.ok_or("the schema has no such type")?;
                self.value(schema, name.namespace())?;
            }
        }
        Ok(())
    }

    fn blocks(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        let mut first = true;
        loop {
            let mut count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                // Then the block's length in bytes, for those who skip it.
                count = count.checked_neg().ok_or("a count is too large")?;
                self.long()?;
            }
            for _ in 0..count {
                if !std::mem::take(&mut first) {
                    self.out.push(',');
                }
                element(self)?;
            }
        }
    }
}
