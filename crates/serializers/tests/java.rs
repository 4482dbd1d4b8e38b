//! Every row that Java's serializers made: see `oracle/README.md`.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bytes::Bytes;
use copart_serializers::{
    Bool, Context, Deserialize, ErrorKind, Float32, Float64, Int16, Int32, Int64, List, Optional,
    Payload, Raw, Serialize, Utf8, UuidText, Void,
};
use data_encoding::HEXLOWER;
use uuid::Uuid;

const TABLE: &str = include_str!("../oracle/java.tsv");

/// What Java reads and copart refuses, beside what is not UTF-8. Each is documented at its type.
const STRICTER: &[(&str, &str)] = &[
    // 1-2-3-4-5, and three with a digit too few or a hyphen elsewhere
    ("uuid", "312d322d332d342d35"),
    (
        "uuid",
        "30303131323233332d343435352d363637372d383839392d6161626263636464656566",
    ),
    (
        "uuid",
        "303031313232332d33343435352d363637372d383839392d616162626363646465656666",
    ),
    (
        "uuid",
        "30303131323233332d343435352d363637372d38383939302d6162626363646465656666",
    ),
    // a plus sign, and a digit of another script
    (
        "uuid",
        "2b303131323233332d343435352d363637372d383839392d616162626363646465656666",
    ),
    (
        "uuid",
        "30303131323233d9a32d343435352d363637372d383839392d6161626263636464656566",
    ),
    // bytes behind the last element
    ("list-integer", "0000000000000000010000000700"),
    ("list-integer", "010000000000"),
    ("list-integer", "000000000000000000ff"),
    ("list-string", "0100000001000000016162"),
    // nulls out of order, twice there, or no elements
    ("list-integer", "000000000200000002000000000000000300000007"),
    ("list-integer", "0000000002000000000000000000000001"),
    ("list-integer", "000000000200000000000000000000000200000007"),
    ("list-integer", "0000000001000000010000000100000007"),
    ("list-integer", "0000000001ffffffff0000000100000007"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The same bytes, the same value, or refused by both.
    Equal,
    /// Java reads it, copart refuses it.
    Stricter,
    /// A value that Rust does not have: half a surrogate pair.
    NoSuchValue,
}

/// How the table writes values of one type.
trait Value: Sized + Debug {
    /// `None` if Rust has no such value.
    fn parse(text: &str) -> Option<Self>;
    fn show(&self) -> String;
}

macro_rules! decimal {
    ($($type:ty),+) => {
        $(impl Value for $type {
            fn parse(text: &str) -> Option<Self> {
                Some(text.parse().expect("a value of the table"))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        })+
    };
}

decimal!(i16, i32, i64, bool);

macro_rules! hexadecimal {
    ($($type:ty, $digits:literal, $from:expr, $bits:expr);+) => {
        $(impl Value for $type {
            fn parse(text: &str) -> Option<Self> {
                Some($from(u128::from_str_radix(text, 16).expect("bits of the table").try_into().expect("as many bits")))
            }

            fn show(&self) -> String {
                format!(concat!("{:0", $digits, "x}"), $bits(*self))
            }
        })+
    };
}

hexadecimal!(
    f32, "8", f32::from_bits, f32::to_bits;
    f64, "16", f64::from_bits, f64::to_bits;
    Uuid, "32", Uuid::from_u128, |uuid: Uuid| uuid.as_u128()
);

impl Value for String {
    fn parse(text: &str) -> Option<Self> {
        let units: Vec<u16> = bytes(text)
            .chunks(2)
            .map(|unit| u16::from_be_bytes(unit.try_into().expect("two bytes a unit")))
            .collect();
        String::from_utf16(&units).ok()
    }

    fn show(&self) -> String {
        hex(&self
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect::<Vec<_>>())
    }
}

impl Value for Bytes {
    fn parse(text: &str) -> Option<Self> {
        Some(bytes(text).into())
    }

    fn show(&self) -> String {
        hex(self)
    }
}

impl<T: Value> Value for Option<T> {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "null" => Some(None),
            _ => T::parse(text).map(Some),
        }
    }

    fn show(&self) -> String {
        self.as_ref().map_or("null".to_owned(), T::show)
    }
}

impl<T: Value> Value for Vec<T> {
    fn parse(text: &str) -> Option<Self> {
        let elements = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .expect("a list of the table");
        elements
            .split(',')
            .filter(|element| !element.is_empty())
            .map(T::parse)
            .collect()
    }

    fn show(&self) -> String {
        format!(
            "[{}]",
            self.iter().map(T::show).collect::<Vec<_>>().join(",")
        )
    }
}

fn bytes(text: &str) -> Vec<u8> {
    match text {
        "." => Vec::new(),
        _ => HEXLOWER.decode(text.as_bytes()).expect("hexadecimal"),
    }
}

fn hex(bytes: &[u8]) -> String {
    match bytes {
        [] => ".".to_owned(),
        _ => HEXLOWER.encode(bytes),
    }
}

#[derive(Clone, Copy)]
struct Row<'a> {
    direction: &'a str,
    format: &'a str,
    input: &'a str,
    output: &'a str,
}

impl Row<'_> {
    /// Compares the row with this format and its nulls.
    fn check<S, T>(self, inner: S) -> Outcome
    where
        T: Value,
        S: Serialize<T> + Deserialize<Value = T>,
    {
        let format = Optional(inner);
        let context = Context::key("topic");
        match self.direction {
            "serialize" => {
                let Some(value) = Option::<T>::parse(self.input) else {
                    assert!(self.output.contains("3f"), "{self}: Java writes `?`");
                    return Outcome::NoSuchValue;
                };
                let written = format.to_vec(&context, &value).expect("Java writes it too");
                assert_eq!(
                    written.as_deref().map_or("null".to_owned(), hex),
                    self.output,
                    "{self}"
                );
                Outcome::Equal
            }
            "deserialize" => {
                self.check_read(format.read(&context, self.payload().as_deref().map(Payload::new)))
            }
            other => panic!("direction {other}"),
        }
    }

    fn check_read<T: Value>(self, read: Result<T, copart_serializers::Error>) -> Outcome {
        let refused_by_java = self.output.starts_with('!');
        match read {
            Ok(value) => {
                assert_eq!(value.show(), self.output, "{self}");
                Outcome::Equal
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Malformed, "{self}: {error}");
                if refused_by_java {
                    return Outcome::Equal;
                }
                let not_utf8 = self.format.ends_with("string")
                    && self.output.contains("fffd")
                    && error.reason().contains("UTF-8");
                assert!(
                    not_utf8 || STRICTER.contains(&(self.format, self.input)),
                    "{self}: Java reads it: {error}"
                );
                Outcome::Stricter
            }
        }
    }

    fn payload(&self) -> Option<Vec<u8>> {
        (self.input != "null").then(|| bytes(self.input))
    }

    fn outcome(self) -> Outcome {
        match self.format {
            "short" => self.check(Int16),
            "integer" => self.check(Int32),
            "long" => self.check(Int64),
            "float" => self.check(Float32),
            "double" => self.check(Float64),
            "boolean" => self.check(Bool),
            "string" => self.check(Utf8),
            "uuid" => self.check(UuidText),
            "bytearray" | "bytes" => self.check(Raw),
            "bytebuffer" if self.direction == "deserialize" => self.check(Raw),
            "bytebuffer" => self.check_buffer(),
            "void" => self.check_void(),
            "list-short" => self.check(List(Optional(Int16))),
            "list-integer" => self.check(List(Optional(Int32))),
            "list-long" => self.check(List(Optional(Int64))),
            "list-float" => self.check(List(Optional(Float32))),
            "list-double" => self.check(List(Optional(Float64))),
            "list-uuid" => self.check(List(Optional(UuidText))),
            "list-boolean" => self.check(List(Optional(Bool))),
            "list-string" => self.check(List(Optional(Utf8))),
            "list-bytearray" => self.check(List(Optional(Raw))),
            other => panic!("format {other}"),
        }
    }

    /// Java writes a buffer from 0 to its limit, wherever its position is.
    fn check_buffer(self) -> Outcome {
        let [_position, limit, content] = self.input.split(':').collect::<Vec<_>>()[..] else {
            panic!("{self}");
        };
        let limit: usize = limit.parse().expect("a limit");
        let written = Raw.to_vec(&Context::key("topic"), &bytes(content)[..limit]);
        assert_eq!(
            hex(&written.expect("bytes").expect("not null")),
            self.output,
            "{self}"
        );
        Outcome::Equal
    }

    fn check_void(self) -> Outcome {
        let context = Context::key("topic");
        if self.direction == "serialize" {
            assert_eq!((self.input, self.output), ("null", "null"));
            assert_eq!(Void.to_vec(&context, &()).expect("a null"), None);
            return Outcome::Equal;
        }
        let read = Void.read(&context, self.payload().as_deref().map(Payload::new));
        self.check_read(read.map(|()| None::<bool>))
    }
}

impl std::fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {} -> {}",
            self.direction, self.format, self.input, self.output
        )
    }
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLE
        .lines()
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [direction, format, input, output] => Row {
                direction,
                format,
                input,
                output,
            },
            _ => panic!("not a row: {line}"),
        })
}

#[test]
fn every_row_is_as_java_has_it() {
    let mut outcomes = BTreeMap::<_, usize>::new();
    for row in rows() {
        *outcomes.entry((row.outcome(), row.direction)).or_default() += 1;
    }
    println!("{outcomes:?}");
    // Both directions were compared, and what differs is what is expected to.
    assert!(
        outcomes[&(Outcome::Equal, "serialize")] > 500,
        "{outcomes:?}"
    );
    assert!(
        outcomes[&(Outcome::Equal, "deserialize")] > 500,
        "{outcomes:?}"
    );
    assert_eq!(
        outcomes[&(Outcome::NoSuchValue, "serialize")],
        6,
        "{outcomes:?}"
    );
}

#[test]
fn what_is_listed_as_stricter_is() {
    for &(format, input) in STRICTER {
        let row = rows()
            .find(|row| (row.direction, row.format, row.input) == ("deserialize", format, input))
            .unwrap_or_else(|| panic!("{format} {input} is not in the table"));
        assert_eq!(row.outcome(), Outcome::Stricter, "{row}");
    }
}

/// The one difference between the two forms of doubles.
#[test]
fn raw_doubles_differ_in_nans_only() {
    use copart_serializers::Float64Raw;
    let context = Context::key("topic");
    let mut nans = 0;
    for row in rows().filter(|row| (row.direction, row.format) == ("serialize", "double")) {
        let Some(Some(value)) = Option::<f64>::parse(row.input) else {
            continue;
        };
        let raw = Float64Raw
            .to_vec(&context, &value)
            .expect("a double")
            .expect("not null");
        assert_eq!(hex(&raw), row.input);
        assert!(row.input == row.output || value.is_nan(), "{row}");
        nans += usize::from(row.input != row.output);
    }
    assert!(nans > 10, "{nans} NaNs in the table");
}
