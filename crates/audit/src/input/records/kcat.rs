//! What `kcat -C -f FORMAT` prints, read back by the same format string.

use std::io;
use std::str::FromStr;

use super::text::Text;

/// A format string of kcat's `-f`, such as `%p %o %T %k\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KcatFormat {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(Vec<u8>),
    Field(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Topic,
    Partition,
    Offset,
    Timestamp,
    Headers,
    Key,
    KeyLength,
    Payload,
    PayloadLength,
    /// The payload's length as four bytes, big-endian.
    PayloadLengthBinary,
}

impl Field {
    const ALL: &[(u8, Self)] = &[
        (b't', Self::Topic),
        (b'p', Self::Partition),
        (b'o', Self::Offset),
        (b'T', Self::Timestamp),
        (b'h', Self::Headers),
        (b'k', Self::Key),
        (b'K', Self::KeyLength),
        (b's', Self::Payload),
        (b'S', Self::PayloadLength),
        (b'R', Self::PayloadLengthBinary),
    ];

    const fn is_number(self) -> bool {
        matches!(
            self,
            Self::Partition
                | Self::Offset
                | Self::Timestamp
                | Self::KeyLength
                | Self::PayloadLength
        )
    }
}

impl FromStr for KcatFormat {
    type Err = String;

    fn from_str(format: &str) -> Result<Self, String> {
        let tokens = tokens(format.as_bytes())?;
        let has = |field| tokens.contains(&Token::Field(field));
        for (field, what) in [(Field::Partition, "%p"), (Field::Key, "%k")] {
            if !has(field) {
                return Err(format!(
                    "the format has no {what}; use one like %p %o %T %K %k\\n"
                ));
            }
        }
        for (i, token) in tokens.iter().enumerate() {
            let Token::Field(field) = *token else {
                continue;
            };
            let before = &tokens[..i];
            let length_known = match field {
                Field::Key => before.contains(&Token::Field(Field::KeyLength)),
                Field::Payload => {
                    before.contains(&Token::Field(Field::PayloadLength))
                        || before.contains(&Token::Field(Field::PayloadLengthBinary))
                }
                Field::PayloadLengthBinary => true,
                _ => false,
            };
            let ended = match tokens.get(i + 1) {
                Some(Token::Literal(text)) => {
                    !(field.is_number() && matches!(text[0], b'0'..=b'9' | b'-'))
                }
                _ => false,
            };
            if !length_known && !ended {
                return Err(format!(
                    "nothing says where {} ends: put a separator behind it (or %K before %k, %S before %s)",
                    field.name()
                ));
            }
        }
        Ok(Self { tokens })
    }
}

impl Field {
    fn name(self) -> String {
        let letter = Self::ALL.iter().find(|(_, field)| *field == self);
        letter.map_or(String::new(), |(letter, _)| {
            format!("%{}", char::from(*letter))
        })
    }
}

fn tokens(format: &[u8]) -> Result<Vec<Token>, String> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = format;
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match (first, after.split_first()) {
            (b'%', Some((b'%', after))) => (b'%', after),
            (b'%', Some((letter, after))) => {
                let known = Field::ALL.iter().find(|(known, _)| known == letter);
                let Some((_, field)) = known else {
                    return Err(format!(
                        "%{} is no token of kcat's format",
                        char::from(*letter)
                    ));
                };
                tokens.push(Token::Field(*field));
                rest = after;
                continue;
            }
            (b'%', None) => return Err("the format ends in a lone %".into()),
            (b'\\', Some((letter, after))) => escape(*letter, after)?,
            (byte, _) => (byte, after),
        };
        match tokens.last_mut() {
            Some(Token::Literal(text)) => text.push(byte),
            _ => tokens.push(Token::Literal(vec![byte])),
        }
        rest = after;
    }
    Ok(tokens)
}

/// The byte that an escape stands for, and what follows it.
fn escape(letter: u8, after: &[u8]) -> Result<(u8, &[u8]), String> {
    Ok(match letter {
        b'n' => (b'\n', after),
        b'r' => (b'\r', after),
        b't' => (b'\t', after),
        b'x' => {
            let digits = after
                .iter()
                .take(2)
                .take_while(|b| b.is_ascii_hexdigit())
                .count();
            let text = str::from_utf8(&after[..digits]).unwrap_or_default();
            let byte = u8::from_str_radix(text, 16)
                .map_err(|_| "\\x takes hexadecimal digits, as in \\x1f".to_owned())?;
            (byte, &after[digits..])
        }
        other => (other, after),
    })
}

/// A record as it was read; buffers are used again.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) partition: i64,
    pub(super) offset: Option<i64>,
    pub(super) timestamp: Option<i64>,
    pub(super) key: Vec<u8>,
    /// -1: a null key. Without it, an empty key may be a null one.
    pub(super) key_length: Option<i64>,
    pub(super) headers: Vec<u8>,
    scratch: Vec<u8>,
}

impl KcatFormat {
    /// Whether null and empty keys can be told apart.
    pub(super) fn has_key_length(&self) -> bool {
        self.tokens.contains(&Token::Field(Field::KeyLength))
    }

    /// Reads a record; `false` at the end. The error says what was expected.
    pub(super) fn read(&self, text: &mut Text, read: &mut Read) -> Result<bool, String> {
        if text.is_at_end().map_err(unreadable)? {
            return Ok(false);
        }
        *read = Read {
            key: std::mem::take(&mut read.key),
            headers: std::mem::take(&mut read.headers),
            scratch: std::mem::take(&mut read.scratch),
            ..Read::default()
        };
        read.headers.clear();
        let mut payload_length = None;
        let mut i = 0;
        while let Some(token) = self.tokens.get(i) {
            i += 1;
            let field = match token {
                Token::Literal(literal) => {
                    if !text.pass_if(literal).map_err(unreadable)? {
                        return Err(format!(
                            "the record does not fit the format: {} was expected",
                            shown(literal)
                        ));
                    }
                    continue;
                }
                Token::Field(field) => *field,
            };
            if field == Field::PayloadLengthBinary {
                let whole = text.take(4, &mut read.scratch).map_err(unreadable)?;
                let bytes = <[u8; 4]>::try_from(&read.scratch[..]);
                match (whole, bytes) {
                    (true, Ok(bytes)) => payload_length = Some(i32::from_be_bytes(bytes).into()),
                    _ => return Err(cut_short(field)),
                }
                continue;
            }
            let length = match field {
                Field::Key => read.key_length,
                Field::Payload => payload_length,
                _ => None,
            };
            let into = match field {
                Field::Key => &mut read.key,
                Field::Headers => &mut read.headers,
                _ => &mut read.scratch,
            };
            if let Some(length) = length {
                // Of a null key or payload nothing is printed.
                let length = usize::try_from(length).unwrap_or(0);
                if !text.take(length, into).map_err(unreadable)? {
                    return Err(cut_short(field));
                }
                continue;
            }
            let Some(Token::Literal(separator)) = self.tokens.get(i) else {
                return Err(cut_short(field)); // The format was checked: there is one.
            };
            i += 1;
            if !text.up_to(separator, into).map_err(unreadable)? {
                return Err(cut_short(field));
            }
            if field.is_number() {
                let number = number(&read.scratch)
                    .ok_or_else(|| format!("{} is no {}", shown(&read.scratch), field.name()))?;
                match field {
                    Field::Partition => read.partition = number,
                    Field::Offset => read.offset = Some(number),
                    // -1: the topic's records have none.
                    Field::Timestamp => read.timestamp = (number >= 0).then_some(number),
                    Field::KeyLength => read.key_length = Some(number),
                    _ => payload_length = Some(number),
                }
            }
        }
        Ok(true)
    }
}

fn unreadable(error: io::Error) -> String {
    error.to_string()
}

fn cut_short(field: Field) -> String {
    format!(
        "the input ends inside a record, before the end of {}",
        field.name()
    )
}

fn number(text: &[u8]) -> Option<i64> {
    str::from_utf8(text).ok()?.parse().ok()
}

/// The beginning of what was found, on one line.
fn shown(bytes: &[u8]) -> String {
    format!("`{}`", bytes[..bytes.len().min(40)].escape_ascii())
}

/// kcat's headers: `name=value,name=value`.
pub(super) fn headers(text: &[u8], out: &mut Vec<(Vec<u8>, Vec<u8>)>) {
    for header in text
        .split(|&b| b == b',')
        .filter(|header| !header.is_empty())
    {
        let at = memchr::memchr(b'=', header).unwrap_or(header.len());
        let value = header.get(at + 1..).unwrap_or_default();
        out.push((header[..at].to_vec(), value.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(format: &str, content: &[u8]) -> Result<Vec<Read>, String> {
        let format: KcatFormat = format.parse()?;
        let mut text = Text::new(Box::new(io::Cursor::new(content.to_vec())));
        let mut records = Vec::new();
        loop {
            let mut read = Read::default();
            if !format.read(&mut text, &mut read)? {
                return Ok(records);
            }
            records.push(read);
        }
    }

    #[test]
    fn fields_end_at_their_separators() {
        let records = all("%p %o %T %k\\n", b"3 17 1700000000000 user 1\n0 0 -1 \n").unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!(
            (
                records[0].partition,
                records[0].offset,
                records[0].timestamp
            ),
            (3, Some(17), Some(1_700_000_000_000))
        );
        assert_eq!(records[0].key, b"user 1");
        assert_eq!(
            (records[1].timestamp, &records[1].key[..]),
            (None, &b""[..])
        );
    }

    #[test]
    fn lengths_let_keys_hold_anything() {
        let records = all(
            "%p %K:%k;%h;%S %s\\x0a",
            b"1 3:a;\n;app=x,b=;2 \n\n\n2 -1:;;-1 \n",
        )
        .unwrap();
        assert_eq!(records[0].key, b"a;\n");
        assert_eq!(records[0].headers, b"app=x,b=");
        assert_eq!(records[1].key_length, Some(-1));
        let mut hints = Vec::new();
        headers(&records[0].headers, &mut hints);
        assert_eq!(
            hints,
            [
                (b"app".to_vec(), b"x".to_vec()),
                (b"b".to_vec(), b"".to_vec())
            ]
        );
    }

    #[test]
    fn formats_that_cannot_be_read_back_are_refused() {
        for (format, hint) in [
            ("%o %k\\n", "no %p"),
            ("%p %o\\n", "no %k"),
            ("%p%k\\n", "nothing says where %p ends"),
            ("%p %k", "nothing says where %k ends"),
            ("%p %k%s\\n", "nothing says where %k ends"),
            ("%p0%k\\n", "nothing says where %p ends"),
            ("%p %q\\n", "%q is no token"),
            ("%p %k %", "lone %"),
            ("%p\\xzz%k\\n", "hexadecimal"),
        ] {
            let error = format.parse::<KcatFormat>().unwrap_err();
            assert!(error.contains(hint), "{format}: {error}");
        }
    }

    #[test]
    fn what_does_not_fit_says_so() {
        for (format, content, hint) in [
            ("%p %k\\n", &b"x y\n"[..], "`x` is no %p"),
            ("%p %k\\n", b"1 y", "ends inside a record"),
            ("[%p] %k\\n", b"1] y\n", "`[` was expected"),
            ("%p %K %k\\n", b"1 9 abc\n", "ends inside a record"),
            ("%p %K %k\\n", b"1 2 abc\n", "`\\n` was expected"),
        ] {
            let error = all(format, content).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }
}
