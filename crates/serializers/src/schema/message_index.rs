//! Which message of a Protobuf schema it is.

use std::fmt;

use crate::{Context, Error, ErrorKind, Payload, Result};

/// The path to a message: the number of the message in its file, then that of
/// the message nested in it, and so on. `[0]` is the first message of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageIndex {
    path: Vec<u32>,
    /// As it is written.
    bytes: Vec<u8>,
}

/// How message indexes are written in front of a Protobuf payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexForm {
    /// As Java: the count and each number as a zig-zag varint, `[0]` as the one
    /// byte `00`.
    #[default]
    ZigZag,
    /// As confluent-kafka-python once did (its issue 926, the setting
    /// `use.deprecated.format`): plain varints, `[0]` as `01 00`.
    Plain,
    /// Not at all, as kafkajs's confluent-schema-registry did (its issue 248).
    Absent,
}

/// More levels than any compiler takes.
const MAX_DEPTH: u64 = 100;

impl MessageIndex {
    /// The message at this path.
    pub fn new(path: impl Into<Vec<u32>>) -> Self {
        let path = path.into();
        let mut bytes = Vec::new();
        if path == [0] {
            bytes.push(0);
        } else if !path.is_empty() {
            put_zig_zag(&mut bytes, path.len() as u64);
            for &number in &path {
                put_zig_zag(&mut bytes, number.into());
            }
        }
        Self { path, bytes }
    }

    /// None: the format has no message indexes.
    pub const fn none() -> Self {
        Self {
            path: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// The numbers.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// As Java writes it, and every client does by now.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes the indexes off the front of `payload`.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if they are not of that form.
    pub fn take(form: IndexForm, context: &Context<'_>, payload: &mut Payload<'_>) -> Result<Self> {
        let wrong = |what: &str| {
            Error::new(
                ErrorKind::Malformed,
                context,
                format!("the Protobuf message indexes {what}"),
            )
            .advise(
                "old releases of some clients wrote them in another form, or none: see IndexForm",
            )
        };
        let number = |payload: &mut Payload<'_>| {
            let plain = varint(payload).ok_or_else(|| wrong("end too early, or are too large"))?;
            match form {
                // Zig-zag: the odd ones are negative.
                IndexForm::ZigZag if plain % 2 == 1 => Err(wrong("are negative")),
                IndexForm::ZigZag => Ok(plain / 2),
                _ => Ok(plain),
            }
        };
        if form == IndexForm::Absent {
            return Ok(Self::new([0]));
        }
        let count = number(payload)?;
        if count > MAX_DEPTH {
            return Err(wrong(&format!("are {count} levels deep")));
        }
        if count == 0 {
            return Ok(Self::new([0]));
        }
        let mut path = Vec::new();
        for _ in 0..count {
            let number = number(payload)?;
            path.push(u32::try_from(number).map_err(|_| wrong("are too large"))?);
        }
        Ok(Self::new(path))
    }
}

impl fmt::Display for MessageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.path)
    }
}

fn put_zig_zag(out: &mut Vec<u8>, value: u64) {
    let mut rest = value << 1;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// At most five bytes: what a 32-bit number takes.
fn varint(payload: &mut Payload<'_>) -> Option<u64> {
    let mut value = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = *payload.take(1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(form: IndexForm, bytes: &[u8]) -> Result<(Vec<u32>, usize)> {
        let mut payload = Payload::new(bytes);
        let index = MessageIndex::take(form, &Context::value("t"), &mut payload)?;
        Ok((index.path().to_vec(), payload.len()))
    }

    #[test]
    fn written_as_java_writes_them() {
        for (path, bytes) in [
            (&[0][..], &[0][..]),
            (&[1], &[2, 2]),
            (&[2], &[2, 4]),
            (&[0, 0], &[4, 0, 0]),
            (&[1, 3], &[4, 2, 6]),
            (&[64], &[2, 0x80, 1]),
        ] {
            let index = MessageIndex::new(path);
            assert_eq!(index.as_bytes(), bytes);
            assert_eq!(
                take(IndexForm::ZigZag, bytes).expect("reads"),
                (path.to_vec(), 0)
            );
        }
    }

    #[test]
    fn the_old_forms() {
        assert_eq!(
            take(IndexForm::Plain, &[1, 1, 8]).expect("reads"),
            (vec![1], 1)
        );
        assert_eq!(
            take(IndexForm::Plain, &[1, 0, 8]).expect("reads"),
            (vec![0], 1)
        );
        assert_eq!(
            take(IndexForm::Plain, &[2, 0, 1]).expect("reads"),
            (vec![0, 1], 0)
        );
        assert_eq!(
            take(IndexForm::Absent, &[8, 42]).expect("reads"),
            (vec![0], 2)
        );
        // Java's reader would see a count of -1.
        let error = take(IndexForm::ZigZag, &[1, 1, 8]).expect_err("not zig-zag");
        assert!(error.to_string().contains("IndexForm"), "{error}");
    }

    #[test]
    fn hostile_ones() {
        for bytes in [
            &[][..],
            &[2],
            &[0xff; 12],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 1],
            &[0xfe, 0xff, 0xff, 0xff, 0x0f, 0],
            &[2, 0x80],
        ] {
            take(IndexForm::ZigZag, bytes).expect_err("malformed");
        }
    }
}
