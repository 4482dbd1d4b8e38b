//! From Avro's JSON encoding to its binary form.

use std::collections::BTreeMap;

use apache_avro::Schema;
use apache_avro::schema::{InnerDecimalSchema, Name, NamesRef, NamespaceRef, UuidSchema};
use serde_json::Value;

/// Appends the binary form; the error says what does not fit, and where.
pub(super) fn encode(
    schema: &Schema,
    names: &NamesRef<'_>,
    value: &Value,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let encoder = Encoder { names };
    encoder.value(schema, None, value, out)
}

struct Encoder<'a> {
    names: &'a NamesRef<'a>,
}

impl Encoder<'_> {
    fn value(
        &self,
        schema: &Schema,
        namespace: NamespaceRef<'_>,
        value: &Value,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match schema {
            Schema::Null => match value {
                Value::Null => Ok(()),
                _ => Err(unfit(value, "null")),
            },
            Schema::Boolean => {
                let value = value.as_bool().ok_or_else(|| unfit(value, "a boolean"))?;
                out.push(value.into());
                Ok(())
            }
            Schema::Int | Schema::Date | Schema::TimeMillis => {
                let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
                long(number.ok_or_else(|| unfit(value, "an int"))?.into(), out);
                Ok(())
            }
            Schema::Long
            | Schema::TimeMicros
            | Schema::TimestampMillis
            | Schema::TimestampMicros
            | Schema::TimestampNanos
            | Schema::LocalTimestampMillis
            | Schema::LocalTimestampMicros
            | Schema::LocalTimestampNanos => {
                long(value.as_i64().ok_or_else(|| unfit(value, "a long"))?, out);
                Ok(())
            }
            Schema::Float => {
                let number = float(value).ok_or_else(|| unfit(value, "a float"))?;
                out.extend_from_slice(&(number as f32).to_le_bytes());
                Ok(())
            }
            Schema::Double => {
                let number = float(value).ok_or_else(|| unfit(value, "a double"))?;
                out.extend_from_slice(&number.to_le_bytes());
                Ok(())
            }
            Schema::String | Schema::Uuid(UuidSchema::String) => {
                let text = value.as_str().ok_or_else(|| unfit(value, "a string"))?;
                counted(text.as_bytes(), out);
                Ok(())
            }
            Schema::Bytes | Schema::BigDecimal | Schema::Uuid(UuidSchema::Bytes) => {
                counted(&bytes(value)?, out);
                Ok(())
            }
            Schema::Decimal(decimal) => match &decimal.inner {
                InnerDecimalSchema::Bytes => {
                    counted(&bytes(value)?, out);
                    Ok(())
                }
                InnerDecimalSchema::Fixed(schema) => fixed(schema.size, value, out),
            },
            Schema::Fixed(schema)
            | Schema::Duration(schema)
            | Schema::Uuid(UuidSchema::Fixed(schema)) => fixed(schema.size, value, out),
            Schema::Enum(schema) => {
                let text = value.as_str().ok_or_else(|| unfit(value, "a symbol"))?;
                let symbols = &schema.symbols;
                let place = symbols.iter().position(|symbol| symbol == text);
                let place = place.and_then(|place| i64::try_from(place).ok());
                long(
                    place.ok_or_else(|| {
                        format!(
                            "{text:?} is no symbol of {}",
                            schema.name.fullname(namespace)
                        )
                    })?,
                    out,
                );
                Ok(())
            }
            Schema::Array(schema) => {
                let items = value.as_array().ok_or_else(|| unfit(value, "an array"))?;
                count(items.len(), out);
                for (place, item) in items.iter().enumerate() {
                    self.value(&schema.items, namespace, item, out)
                        .map_err(|what| within(place, &what))?;
                }
                out.push(0);
                Ok(())
            }
            Schema::Map(schema) => {
                let members = value.as_object().ok_or_else(|| unfit(value, "a map"))?;
                // By name, whatever order the text has them in.
                let members: BTreeMap<_, _> = members.iter().collect();
                count(members.len(), out);
                for (name, member) in &members {
                    counted(name.as_bytes(), out);
                    self.value(&schema.types, namespace, member, out)
                        .map_err(|what| within(name, &what))?;
                }
                out.push(0);
                Ok(())
            }
            Schema::Record(schema) => {
                let members = value.as_object().ok_or_else(|| unfit(value, "a record"))?;
                let known = |name: &String| schema.fields.iter().any(|field| field.name == *name);
                if let Some(name) = members.keys().find(|name| !known(name)) {
                    return Err(format!(
                        "{} has no field {name:?}",
                        schema.name.fullname(namespace)
                    ));
                }
                let name = schema.name.fully_qualified_name(namespace);
                for field in &schema.fields {
                    let member = members
                        .get(&field.name)
                        .ok_or_else(|| format!("the field {:?} is not there", field.name))?;
                    self.value(&field.schema, name.namespace(), member, out)
                        .map_err(|what| within(&field.name, &what))?;
                }
                Ok(())
            }
            Schema::Union(schema) => {
                let variants = schema.variants();
                let (place, value) = variant(variants, namespace, value)?;
                long(place as i64, out);
                self.value(&variants[place], namespace, value, out)
            }
            Schema::Ref { name } => {
                let name = name.fully_qualified_name(namespace);
                let schema = self.names.get::<Name>(&name);
                let schema = schema.ok_or_else(|| format!("the schema has no type {name}"))?;
                self.value(schema, name.namespace(), value, out)
            }
        }
    }
}

/// Which type of a union it is, and the value without the type's name.
fn variant<'v>(
    variants: &[Schema],
    namespace: NamespaceRef<'_>,
    value: &'v Value,
) -> Result<(usize, &'v Value), String> {
    let named = |name: &str| {
        variants
            .iter()
            .position(|schema| type_name(schema, namespace) == name)
    };
    if value.is_null() {
        return named("null")
            .map(|place| (place, value))
            .ok_or_else(|| "null is no type of the union".into());
    }
    if let Some(object) = value.as_object()
        && object.len() == 1
        && let Some((name, inner)) = object.iter().next()
        && let Some(place) = named(name)
    {
        return Ok((place, inner));
    }
    let mut others = variants
        .iter()
        .enumerate()
        .filter(|(_, schema)| !matches!(schema, Schema::Null));
    match (others.next(), others.next()) {
        (Some((place, _)), None) => Ok((place, value)),
        _ => {
            let names = variants.iter().map(|schema| type_name(schema, namespace));
            let names: Vec<_> = names.collect();
            Err(format!(
                "the value of a union names its type, as in {{\"{}\": …}}; there are {}",
                names.last().map_or("string", String::as_str),
                names.join(", ")
            ))
        }
    }
}

/// What a union's value is called in JSON: the type beneath a logical one.
pub(super) fn type_name(schema: &Schema, namespace: NamespaceRef<'_>) -> String {
    let name = match schema {
        Schema::Null => "null",
        Schema::Boolean => "boolean",
        Schema::Int | Schema::Date | Schema::TimeMillis => "int",
        Schema::Long
        | Schema::TimeMicros
        | Schema::TimestampMillis
        | Schema::TimestampMicros
        | Schema::TimestampNanos
        | Schema::LocalTimestampMillis
        | Schema::LocalTimestampMicros
        | Schema::LocalTimestampNanos => "long",
        Schema::Float => "float",
        Schema::Double => "double",
        Schema::Bytes | Schema::BigDecimal | Schema::Uuid(UuidSchema::Bytes) => "bytes",
        Schema::String | Schema::Uuid(UuidSchema::String) => "string",
        Schema::Array(_) => "array",
        Schema::Map(_) => "map",
        Schema::Union(_) => "union",
        Schema::Decimal(decimal) => match &decimal.inner {
            InnerDecimalSchema::Bytes => "bytes",
            InnerDecimalSchema::Fixed(fixed) => return fixed.name.fullname(namespace),
        },
        Schema::Record(record) => return record.name.fullname(namespace),
        Schema::Enum(symbols) => return symbols.name.fullname(namespace),
        Schema::Fixed(fixed) | Schema::Duration(fixed) | Schema::Uuid(UuidSchema::Fixed(fixed)) => {
            return fixed.name.fullname(namespace);
        }
        Schema::Ref { name } => return name.fullname(namespace),
    };
    name.to_owned()
}

fn unfit(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "another number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("it takes {wanted}, and found {found}")
}

fn within(place: impl std::fmt::Display, what: &str) -> String {
    format!("{place}: {what}")
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        // JSON has no such numbers; Java writes their names.
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// A character for each byte.
fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    let text = value
        .as_str()
        .ok_or_else(|| unfit(value, "bytes as text"))?;
    text.chars()
        .map(|character| u8::try_from(u32::from(character)))
        .collect::<Result<_, _>>()
        .map_err(|_| "bytes are written with characters up to \\u00ff, one for each".into())
}

fn fixed(size: usize, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    let bytes = bytes(value)?;
    if bytes.len() != size {
        return Err(format!("it takes {size} bytes, and found {}", bytes.len()));
    }
    out.extend_from_slice(&bytes);
    Ok(())
}

/// A zig-zag varint.
fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = (value << 1 ^ value >> 63) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn counted(bytes: &[u8], out: &mut Vec<u8>) {
    long(bytes.len() as i64, out);
    out.extend_from_slice(bytes);
}

/// One block for all elements, and none for none; a zero ends them.
fn count(len: usize, out: &mut Vec<u8>) {
    if len > 0 {
        long(len as i64, out);
    }
}
