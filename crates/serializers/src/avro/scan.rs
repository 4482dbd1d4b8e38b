//! Whether bytes are a value of a schema, before anything is built of them.
//!
//! apache-avro allocates what a length field asks for (up to 512 MiB), recurses
//! as deep as the bytes say, which ends the process, and reads a text or a
//! boolean that is cut off as null. This walks over the bytes first, and
//! allocates nothing.

use apache_avro::Schema;
use apache_avro::schema::{InnerDecimalSchema, Name, NamesRef, NamespaceRef, UuidSchema};

use crate::error::OTHER_SERIALIZER;
use crate::{Context, Error, ErrorKind, Payload, Result};

use super::codec::Parsed;

/// Records, arrays and maps within each other. protobuf's limit is 100 too.
const MAX_DEPTH: usize = 100;

/// Values may take no bytes (nulls, records without fields), so a count of them
/// is not held to the bytes that are left. This many are let pass, beside some
/// for each byte.
const FREE_VALUES: usize = 1 << 12;
const VALUES_PER_BYTE: usize = 16;

/// Fails unless the bytes are one value, all of them. Returns how deep it is.
pub(super) fn check(
    schema: &Parsed,
    context: &Context<'_>,
    payload: &Payload<'_>,
) -> Result<usize> {
    let refuse = |what: &str, at: usize| {
        Error::new(
            ErrorKind::Malformed,
            context,
            format!("not Avro of this schema: {what} at byte {at}"),
        )
        .advise(OTHER_SERIALIZER)
    };
    let mut scan = Scan {
        rest: *payload,
        names: schema.names(),
        budget: FREE_VALUES.saturating_add(payload.len().saturating_mul(VALUES_PER_BYTE)),
        deepest: 0,
    };
    let end = scan.value(schema.schema(), None, 0);
    let at = payload.len() - scan.rest.len();
    match end {
        Err(what) => Err(refuse(what, at)),
        Ok(()) if !scan.rest.is_empty() => Err(refuse("bytes are left over", at)),
        Ok(()) => Ok(scan.deepest),
    }
}

type Step<T = ()> = std::result::Result<T, &'static str>;

const CUT_OFF: &str = "the value is cut off";

struct Scan<'a> {
    rest: Payload<'a>,
    names: &'a NamesRef<'a>,
    /// How many values may still come.
    budget: usize,
    /// How many records, arrays and maps were within each other.
    deepest: usize,
}

impl<'a> Scan<'a> {
    fn skip(&mut self, len: usize) -> Step {
        self.rest.take(len).map(drop).ok_or(CUT_OFF)
    }

    /// A zig-zag varint.
    fn long(&mut self) -> Step<i64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.rest.take(1).and_then(|byte| byte.array());
            let [byte]: [u8; 1] = byte.ok_or(CUT_OFF)?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err("a number is longer than 64 bits")
    }

    fn int(&mut self) -> Step<i32> {
        i32::try_from(self.long()?).map_err(|_| "a number is larger than 32 bits")
    }

    /// What has its length in front.
    fn bytes(&mut self) -> Step<Payload<'a>> {
        let len = usize::try_from(self.long()?).map_err(|_| "a length is negative")?;
        self.rest.take(len).ok_or(CUT_OFF)
    }

    /// The number of a decimal, without its scale. Java's `BigInteger` takes no
    /// fewer bytes than one, and apache-avro does not write what it reads there.
    fn digits(&mut self) -> Step {
        match self.bytes()?.is_empty() {
            true => Err("a decimal before has no bytes"),
            false => Ok(()),
        }
    }

    fn text(&mut self) -> Step {
        match std::str::from_utf8(self.bytes()?.as_slice()) {
            Ok(_) => Ok(()),
            Err(_) => Err("a text before is not UTF-8"),
        }
    }

    fn value(&mut self, schema: &Schema, namespace: NamespaceRef<'_>, depth: usize) -> Step {
        self.budget = self
            .budget
            .checked_sub(1)
            .ok_or("there are too many values for so few bytes")?;
        match schema {
            Schema::Null => Ok(()),
            Schema::Boolean => match self.rest.take(1).as_deref() {
                Some([0 | 1]) => Ok(()),
                Some(_) => Err("a boolean before is neither 0 nor 1"),
                None => Err(CUT_OFF),
            },
            Schema::Int | Schema::Date | Schema::TimeMillis => self.int().map(drop),
            Schema::Long
            | Schema::TimeMicros
            | Schema::TimestampMillis
            | Schema::TimestampMicros
            | Schema::TimestampNanos
            | Schema::LocalTimestampMillis
            | Schema::LocalTimestampMicros
            | Schema::LocalTimestampNanos => self.long().map(drop),
            Schema::Float => self.skip(4),
            Schema::Double => self.skip(8),
            Schema::Bytes | Schema::Uuid(UuidSchema::Bytes) => self.bytes().map(drop),
            Schema::String | Schema::Uuid(UuidSchema::String) => self.text(),
            Schema::BigDecimal => {
                let inner = self.bytes()?;
                // Bytes with their own length, and the scale.
                let mut inner = Scan {
                    rest: inner,
                    names: self.names,
                    budget: 0,
                    deepest: 0,
                };
                inner.digits()?;
                inner.long().map(drop)
            }
            Schema::Decimal(decimal) => match &decimal.inner {
                InnerDecimalSchema::Bytes => self.digits(),
                InnerDecimalSchema::Fixed(fixed) => self.skip(fixed.size),
            },
            Schema::Fixed(fixed)
            | Schema::Duration(fixed)
            | Schema::Uuid(UuidSchema::Fixed(fixed)) => self.skip(fixed.size),
            Schema::Enum(symbols) => {
                let number = usize::try_from(self.int()?).ok();
                match number.and_then(|number| symbols.symbols.get(number)) {
                    Some(_) => Ok(()),
                    None => Err("an enum before has no such symbol"),
                }
            }
            Schema::Union(union) => {
                let number = usize::try_from(self.long()?).ok();
                let variants = union.variants();
                match number.and_then(|number| variants.get(number)) {
                    Some(variant) => self.value(variant, namespace, depth),
                    None => Err("a union before has no such type"),
                }
            }
            Schema::Array(array) => {
                let depth = self.deeper(depth)?;
                self.blocks(|scan| scan.value(&array.items, namespace, depth))
            }
            Schema::Map(map) => {
                let depth = self.deeper(depth)?;
                self.blocks(|scan| {
                    scan.text()?;
                    scan.value(&map.types, namespace, depth)
                })
            }
            Schema::Record(record) => {
                let depth = self.deeper(depth)?;
                let name = record.name.fully_qualified_name(namespace);
                for field in &record.fields {
                    self.value(&field.schema, name.namespace(), depth)?;
                }
                Ok(())
            }
            Schema::Ref { name } => {
                let name = name.fully_qualified_name(namespace);
                match self.names.get::<Name>(&name) {
                    Some(schema) => self.value(schema, name.namespace(), depth),
                    None => Err("the schema has no such type"),
                }
            }
        }
    }

    fn deeper(&mut self, depth: usize) -> Step<usize> {
        if depth == MAX_DEPTH {
            return Err("values are nested deeper than 100 levels");
        }
        self.deepest = self.deepest.max(depth + 1);
        Ok(depth + 1)
    }

    /// The elements of an array or map, in blocks with their count in front.
    fn blocks(&mut self, mut element: impl FnMut(&mut Self) -> Step) -> Step {
        loop {
            let mut count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                // Then the block's length in bytes, for those who skip it.
                count = count.checked_neg().ok_or("a count is too large")?;
                let len = usize::try_from(self.long()?).map_err(|_| "a length is negative")?;
                if len > self.rest.len() {
                    return Err(CUT_OFF);
                }
            }
            // Ends at the latest when the budget does.
            for _ in 0..count {
                element(self)?;
            }
        }
    }
}
