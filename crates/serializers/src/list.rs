//! Lists as Java lays them out.

use crate::error::OTHER_SERIALIZER;
use crate::{
    Context, Deserialize, Error, ErrorKind, Format, Payload, Preparation, Result, Serialize, Sink,
};

/// The first byte, when all elements have one length, and nulls are counted out
/// in front.
const CONSTANT_SIZE: u8 = 0;
/// The first byte, when each element has its length in front.
const VARIABLE_SIZE: u8 = 1;
/// The length of a null.
const NULL: i32 = -1;

/// Several values in one. Java's `ListSerializer`, which Kafka Streams uses.
///
/// Elements of a fixed length stand behind each other, others have their length
/// in front. Elements that may be null take [`Optional`](crate::Optional).
///
/// ```
/// use copart_serializers::{Context, Deserialize, Int32, List, Payload, Serialize};
///
/// let value = Context::value("scores");
/// let bytes = List(Int32).to_vec(&value, &vec![7, 8])?.unwrap_or_default();
/// assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 8]);
/// assert_eq!(List(Int32).read(&value, Some(Payload::new(&bytes)))?, [7, 8]);
/// # Ok::<(), copart_serializers::Error>(())
/// ```
///
/// Reading refuses what Java's `ListDeserializer` ignores: bytes behind the
/// last element, and nulls that are not elements.
#[doc(alias = "ListSerializer")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List<S>(
    /// What writes and reads the elements.
    pub S,
);

impl<S: Format> Format for List<S> {
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        payload: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        self.0.prepare(context, payload)
    }
}

impl<S> List<S> {
    fn write<T>(&self, context: &Context<'_>, values: &[T], out: &mut Sink<'_>) -> Result<()>
    where
        S: Serialize<T>,
    {
        match self.0.fixed_len() {
            Some(len) => self.write_constant(len, context, values, out),
            None => self.write_variable(context, values, out),
        }
    }

    fn write_constant<T>(
        &self,
        len: usize,
        context: &Context<'_>,
        values: &[T],
        out: &mut Sink<'_>,
    ) -> Result<()>
    where
        S: Serialize<T>,
    {
        let nulls = values.iter().filter(|value| self.0.is_null(value)).count();
        out.reserve(9 + 4 * nulls + len * (values.len() - nulls));
        out.put(&[CONSTANT_SIZE]);
        put_length(context, nulls, out)?;
        for (index, value) in values.iter().enumerate() {
            if self.0.is_null(value) {
                put_length(context, index, out)?;
            }
        }
        put_length(context, values.len(), out)?;
        for (index, value) in values.iter().enumerate() {
            if self.0.is_null(value) {
                continue;
            }
            let mut element = out.nested();
            self.element(context, index, value, &mut element)?;
            if element.len() != len {
                let found = element.len();
                return Err(Error::new(
                    ErrorKind::Unserializable,
                    context,
                    format!("element {index}: {found} bytes from a serializer that says {len}"),
                )
                .advise("this is a bug in the serializer's fixed_len"));
            }
        }
        Ok(())
    }

    fn write_variable<T>(
        &self,
        context: &Context<'_>,
        values: &[T],
        out: &mut Sink<'_>,
    ) -> Result<()>
    where
        S: Serialize<T>,
    {
        out.put(&[VARIABLE_SIZE]);
        put_length(context, values.len(), out)?;
        for (index, value) in values.iter().enumerate() {
            if self.0.is_null(value) {
                out.put(&NULL.to_be_bytes());
                continue;
            }
            let mut framed = out.nested();
            framed.put(&[0; 4]);
            let mut element = framed.nested();
            self.element(context, index, value, &mut element)?;
            let len = length(context, element.len())?;
            if let Some(place) = framed.written_mut().first_chunk_mut() {
                *place = len.to_be_bytes();
            }
        }
        Ok(())
    }

    fn element<T>(
        &self,
        context: &Context<'_>,
        index: usize,
        value: &T,
        out: &mut Sink<'_>,
    ) -> Result<()>
    where
        S: Serialize<T>,
    {
        self.0
            .serialize(context, value, out)
            .map_err(|error| error.within(format_args!("element {index}")))
    }
}

/// A number of Java's, which has 31 bits for it.
fn length(context: &Context<'_>, len: usize) -> Result<i32> {
    i32::try_from(len).map_err(|_| {
        Error::new(
            ErrorKind::Unserializable,
            context,
            format!("a length of {len}; lists end at {}", i32::MAX),
        )
    })
}

fn put_length(context: &Context<'_>, len: usize, out: &mut Sink<'_>) -> Result<()> {
    out.put(&length(context, len)?.to_be_bytes());
    Ok(())
}

macro_rules! serialize {
    ($([$($generics:tt)*] $values:ty),+) => {
        $(impl<T, S: Serialize<T>, $($generics)*> Serialize<$values> for List<S> {
            fn serialize(
                &self,
                context: &Context<'_>,
                values: &$values,
                out: &mut Sink<'_>,
            ) -> Result<()> {
                self.write(context, &values[..], out)
            }
        })+
    };
}

serialize!([] [T], [] &[T], [] Vec<T>, [] &Vec<T>, [const N: usize] [T; N], [const N: usize] &[T; N]);

impl<S: Deserialize> Deserialize for List<S> {
    type Value = Vec<S::Value>;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<Self::Value> {
        let mut rest = Reader {
            context,
            len: payload.len(),
            rest: payload,
        };
        let values = match rest.take(1, "its first byte")?[0] {
            CONSTANT_SIZE => self.read_constant(&mut rest)?,
            VARIABLE_SIZE => self.read_variable(&mut rest)?,
            other => {
                return Err(rest.malformed(format!("a list begins with 0 or 1, found {other}")));
            }
        };
        match rest.rest.len() {
            0 => Ok(values),
            left => Err(rest.malformed(format!("{left} bytes behind the list's last element"))),
        }
    }
}

impl<S: Deserialize> List<S> {
    fn read_constant(&self, rest: &mut Reader<'_>) -> Result<Vec<S::Value>> {
        let Some(len) = self.0.fixed_len() else {
            return Err(
                rest.malformed("a list of elements of one length; these here have no fixed length")
            );
        };
        let nulls = rest.count("its number of nulls")?;
        let mut nulls = rest.take_all(nulls, 4, "the places of its nulls")?;
        let count = rest.count("its number of elements")?;
        let mut next_null = rest.next_null(&mut nulls, count, None)?;
        // Not with that capacity: the number is a stranger's.
        let mut values = Vec::new();
        for index in 0..count {
            let value = if next_null == Some(index) {
                next_null = rest.next_null(&mut nulls, count, Some(index))?;
                self.0.null(rest.context)
            } else {
                let element = rest.take(len, format_args!("element {index}"))?;
                self.0.deserialize(rest.context, element)
            };
            values.push(value.map_err(|error| error.within(format_args!("element {index}")))?);
        }
        Ok(values)
    }

    fn read_variable(&self, rest: &mut Reader<'_>) -> Result<Vec<S::Value>> {
        let count = rest.count("its number of elements")?;
        let mut values = Vec::new();
        for index in 0..count {
            let value = match rest.length(format_args!("the length of element {index}"))? {
                NULL => self.0.null(rest.context),
                len => {
                    let len = usize::try_from(len).map_err(|_| {
                        rest.malformed(format!("element {index} has the length {len}"))
                    })?;
                    let element = rest.take(len, format_args!("element {index}"))?;
                    self.0.deserialize(rest.context, element)
                }
            };
            values.push(value.map_err(|error| error.within(format_args!("element {index}")))?);
        }
        Ok(values)
    }
}

/// What is left of a list.
struct Reader<'a> {
    context: &'a Context<'a>,
    /// The length of the whole list.
    len: usize,
    rest: Payload<'a>,
}

impl<'a> Reader<'a> {
    #[cold]
    fn malformed(&self, reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Malformed, self.context, reason).advise(OTHER_SERIALIZER)
    }

    fn take(&mut self, len: usize, what: impl std::fmt::Display) -> Result<Payload<'a>> {
        let left = self.rest.len();
        self.rest.take(len).ok_or_else(|| {
            self.malformed(format!(
                "the list ends within {what}: {len} bytes, {left} are left"
            ))
        })
    }

    fn take_all(
        &mut self,
        count: usize,
        each: usize,
        what: impl std::fmt::Display,
    ) -> Result<Payload<'a>> {
        self.take(count.saturating_mul(each), what)
    }

    fn length(&mut self, what: impl std::fmt::Display) -> Result<i32> {
        let bytes = self.take(4, what)?;
        Ok(i32::from_be_bytes(bytes.array().unwrap_or_default()))
    }

    /// A number of things. There are no more of them than the list has bytes,
    /// which Java's deserializer checks too.
    fn count(&mut self, what: &str) -> Result<usize> {
        let count = self.length(what)?;
        usize::try_from(count)
            .ok()
            .filter(|&count| count <= self.len)
            .ok_or_else(|| {
                let len = self.len;
                self.malformed(format!("a list of {len} bytes with {count} as {what}"))
            })
    }

    /// The next null's place. They are in order, and each is an element.
    fn next_null(
        &self,
        nulls: &mut Payload<'a>,
        count: usize,
        before: Option<usize>,
    ) -> Result<Option<usize>> {
        let Some(place) = nulls.take(4) else {
            return Ok(None);
        };
        let place = i32::from_be_bytes(place.array().unwrap_or_default());
        match usize::try_from(place) {
            Ok(index) if index < count && before.is_none_or(|before| before < index) => {
                Ok(Some(index))
            }
            _ => Err(self.malformed(format!(
                "a null at {place} of {count} elements; nulls are elements, and in order"
            ))),
        }
    }
}
