//! What can be wrong with one key, whatever the others are.

use unicode_normalization::{IsNormalized, is_nfc_quick};

use serde::Serialize;

use crate::frame::Frame;

/// Something that a key has and its owner may not know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LintRule {
    /// It ends in a line feed.
    TrailingNewline,
    /// It ends in a carriage return.
    TrailingCarriageReturn,
    /// It is text that ends in NUL bytes.
    TrailingNul,
    /// It begins with a byte order mark.
    ByteOrderMark,
    /// It holds U+FFFD, which stands for bytes that were lost.
    ReplacementCharacter,
    /// It is a Connect struct, printed.
    StructText,
    /// It begins or ends with white space.
    SurroundingSpace,
    /// It is in quotes.
    Quoted,
    /// It is a UUID with upper-case digits.
    UuidCase,
    /// It is a number with leading zeros.
    LeadingZeros,
    /// Its characters are decomposed, or otherwise not in Unicode's form NFC.
    NotNfc,
    /// There are binary keys of 4 bytes and of 8.
    MixedWidths,
    /// It is there in another spelling, too.
    TwoSpellings,
    /// It begins with a schema registry's frame.
    SchemaFramed,
    /// It has characters of more than one byte.
    NonAscii,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LintSeverity {
    /// Nobody wants this.
    Error,
    /// Somebody may, and others will write the key otherwise.
    Warning,
    /// To be known.
    Note,
}

impl LintRule {
    /// Every rule.
    pub const ALL: &[Self] = &[
        Self::TrailingNewline,
        Self::TrailingCarriageReturn,
        Self::TrailingNul,
        Self::ByteOrderMark,
        Self::ReplacementCharacter,
        Self::StructText,
        Self::SurroundingSpace,
        Self::Quoted,
        Self::UuidCase,
        Self::LeadingZeros,
        Self::NotNfc,
        Self::MixedWidths,
        Self::TwoSpellings,
        Self::SchemaFramed,
        Self::NonAscii,
    ];

    /// A stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::TrailingNewline => "trailing-newline",
            Self::TrailingCarriageReturn => "trailing-carriage-return",
            Self::TrailingNul => "trailing-nul",
            Self::ByteOrderMark => "byte-order-mark",
            Self::ReplacementCharacter => "replacement-character",
            Self::StructText => "struct-text",
            Self::SurroundingSpace => "surrounding-space",
            Self::Quoted => "quoted",
            Self::UuidCase => "uuid-case",
            Self::LeadingZeros => "leading-zeros",
            Self::NotNfc => "not-nfc",
            Self::MixedWidths => "mixed-widths",
            Self::TwoSpellings => "two-spellings",
            Self::SchemaFramed => "schema-framed",
            Self::NonAscii => "non-ascii",
        }
    }

    /// How bad it is.
    #[must_use]
    pub const fn severity(self) -> LintSeverity {
        match self {
            Self::TrailingNewline
            | Self::TrailingCarriageReturn
            | Self::TrailingNul
            | Self::ByteOrderMark
            | Self::ReplacementCharacter
            | Self::StructText => LintSeverity::Error,
            Self::SurroundingSpace
            | Self::Quoted
            | Self::UuidCase
            | Self::LeadingZeros
            | Self::NotNfc
            | Self::MixedWidths
            | Self::TwoSpellings => LintSeverity::Warning,
            Self::SchemaFramed | Self::NonAscii => LintSeverity::Note,
        }
    }

    /// What it is.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::TrailingNewline => "the key ends in a line feed",
            Self::TrailingCarriageReturn => "the key ends in a carriage return",
            Self::TrailingNul => "the key ends in NUL bytes",
            Self::ByteOrderMark => "the key begins with a byte order mark",
            Self::ReplacementCharacter => "the key holds U+FFFD, so bytes of it were lost",
            Self::StructText => "the key is a Connect struct printed as text",
            Self::SurroundingSpace => "the key begins or ends with white space",
            Self::Quoted => "the key is in quotes",
            Self::UuidCase => "the key is a UUID with upper-case digits",
            Self::LeadingZeros => "the key is a number with leading zeros",
            Self::NotNfc => "the key is not in Unicode's composed form (NFC)",
            Self::MixedWidths => "there are binary keys of 4 bytes and of 8",
            Self::TwoSpellings => "one key is there in two spellings",
            Self::SchemaFramed => "the key begins with a schema registry's frame",
            Self::NonAscii => "the key has characters of more than one byte",
        }
    }

    /// Why it matters and what to do.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::TrailingNewline => {
                "Every byte is hashed, this one too. Cut it off where the key is read, as from a file or a shell's output."
            }
            Self::TrailingCarriageReturn => {
                "The input may have Windows line ends. Convert it, or strip the key before it is sent: the byte is hashed."
            }
            Self::TrailingNul => {
                "A C string's end or a fixed-width column's filling was sent along. Cut it off before the key is sent."
            }
            Self::ByteOrderMark => {
                "The file that the key came from begins with one. Remove it there: its three bytes are hashed."
            }
            Self::ReplacementCharacter => {
                "Binary keys were read as text somewhere. Dump them as hexadecimal or base64; if producers send them like this, different keys have become one."
            }
            Self::StructText => {
                "A Connect converter printed a structured key. Extract the field (ExtractField$Key) or use a converter that other producers can match."
            }
            Self::SurroundingSpace => {
                "Other producers will trim it, and then place the key elsewhere. Trim it everywhere or nowhere."
            }
            Self::Quoted => {
                "A JSON serializer or a CSV export quoted it. Producers that send the plain text place it elsewhere."
            }
            Self::UuidCase => {
                "Java's UUIDSerializer and most libraries write lower case. The case is hashed, so agree on one."
            }
            Self::LeadingZeros => {
                "As a number the zeros are lost, and the key goes elsewhere. Keep the text everywhere, or the number everywhere."
            }
            Self::NotNfc => {
                "The same characters have two byte forms, and macOS and browsers mix them. Normalise to NFC before the key is sent."
            }
            Self::MixedWidths => {
                "One producer sends 32-bit integers and another 64-bit ones: the same number is two keys. Agree on one width."
            }
            Self::TwoSpellings => {
                "The spellings are different keys, most likely on different partitions, and compaction keeps both. Normalise before the key is sent."
            }
            Self::SchemaFramed => {
                "The schema id is hashed with the key. When the key schema gets a new id, every key moves: `copart map --key-frame replace-id=N` shows where to. Use plain keys, or pin the schema."
            }
            Self::NonAscii => {
                "rdkafka-ruby's partition_key hashes only as many bytes as the string has characters (rdkafka-ruby issue 629); ruby-kafka's murmur2 on x86-64 reads bytes of 0x80 and more as negative. `copart verify` shows which keys they move."
            }
        }
    }

    /// Its bit in a set of rules.
    pub(super) const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// What a key looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Decimal digits, with or without a minus.
    IntegerText,
    /// A UUID of 36 characters.
    UuidText,
    /// 32 hexadecimal digits.
    UuidPlain,
    /// A JSON object or array.
    Json,
    /// Other text, ASCII only.
    AsciiText,
    /// Other text in UTF-8.
    Utf8Text,
    /// Binary, under a schema registry's framing.
    SchemaFramed,
    /// Binary, 4 bytes.
    Binary4,
    /// Binary, 8 bytes.
    Binary8,
    /// Binary, 16 bytes.
    Binary16,
    /// Binary of another length.
    Binary,
}

impl KeyKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::IntegerText,
        Self::UuidText,
        Self::UuidPlain,
        Self::Json,
        Self::AsciiText,
        Self::Utf8Text,
        Self::SchemaFramed,
        Self::Binary4,
        Self::Binary8,
        Self::Binary16,
        Self::Binary,
    ];

    /// What it is, for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::IntegerText => "numbers as text",
            Self::UuidText => "UUIDs as text",
            Self::UuidPlain => "32 hexadecimal digits",
            Self::Json => "JSON",
            Self::AsciiText => "ASCII text",
            Self::Utf8Text => "text with characters of several bytes",
            Self::SchemaFramed => "binary, with a schema id",
            Self::Binary4 => "binary, 4 bytes (int32)",
            Self::Binary8 => "binary, 8 bytes (int64, double)",
            Self::Binary16 => "binary, 16 bytes (UUID)",
            Self::Binary => "binary, of another length",
        }
    }
}

/// The kind of a key, and the rules that apply to it, as bits.
pub(crate) fn look(key: &[u8]) -> (KeyKind, u32) {
    let ascii = key.is_ascii();
    let Some(text) = str::from_utf8(key).ok().filter(|text| is_text(text)) else {
        return binary(key);
    };
    let mut found = 0;
    let mut add = |rule: LintRule, is: bool| found |= if is { rule.bit() } else { 0 };
    add(LintRule::TrailingNewline, key.ends_with(b"\n"));
    add(LintRule::TrailingCarriageReturn, key.ends_with(b"\r"));
    add(LintRule::TrailingNul, key.ends_with(b"\0"));
    add(LintRule::NonAscii, !ascii);
    if !ascii {
        add(LintRule::ByteOrderMark, text.starts_with('\u{feff}'));
        add(LintRule::ReplacementCharacter, text.contains('\u{fffd}'));
        add(LintRule::NotNfc, !is_nfc(text));
    }
    // Line ends have rules of their own.
    let spaced =
        |c: Option<char>| c.is_some_and(|c| c.is_whitespace() && !matches!(c, '\n' | '\r'));
    let unended = text.trim_end_matches(['\n', '\r', '\0']);
    add(
        LintRule::SurroundingSpace,
        spaced(text.chars().next()) || spaced(unended.chars().next_back()),
    );
    let core = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}'));
    let bytes = core.as_bytes();
    let quote = matches!(bytes, [b'"', .., b'"'] | [b'\'', .., b'\'']) && bytes.len() >= 2;
    add(LintRule::Quoted, quote);
    add(
        LintRule::StructText,
        core.starts_with("Struct{") && core.ends_with('}'),
    );
    let kind = kind_of_text(bytes, ascii);
    match kind {
        KeyKind::UuidText | KeyKind::UuidPlain => {
            add(
                LintRule::UuidCase,
                bytes.iter().any(|b| matches!(b, b'A'..=b'F')),
            );
        }
        KeyKind::IntegerText => {
            let digits = core.trim_start_matches('-');
            add(
                LintRule::LeadingZeros,
                digits.len() > 1 && digits.starts_with('0'),
            );
        }
        _ => {}
    }
    (kind, found)
}

/// Text has no control characters but white space, and NUL at its end only.
fn is_text(text: &str) -> bool {
    let unended = text.trim_end_matches('\0');
    let nuls = text.len() - unended.len();
    // An integer whose first byte happens to be a letter: `2a 00 00 00`.
    let integer = nuls > 0 && (matches!(text.len(), 4 | 8 | 16) || unended.len() < 2);
    !integer
        && unended
            .bytes()
            .all(|b| b >= 0x20 && b != 0x7f || matches!(b, b'\t' | b'\n' | b'\r'))
        && !unended.is_empty()
}

fn kind_of_text(bytes: &[u8], ascii: bool) -> KeyKind {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    if !digits.is_empty() && digits.len() <= 39 && digits.iter().all(u8::is_ascii_digit) {
        // 32 digits may be a UUID, but rather a number.
        return KeyKind::IntegerText;
    }
    let hyphen = |i: usize| matches!(i, 8 | 13 | 18 | 23);
    match bytes {
        _ if bytes.len() == 36
            && bytes.iter().enumerate().all(|(i, b)| {
                if hyphen(i) {
                    *b == b'-'
                } else {
                    b.is_ascii_hexdigit()
                }
            }) =>
        {
            KeyKind::UuidText
        }
        _ if bytes.len() == 32 && bytes.iter().all(u8::is_ascii_hexdigit) => KeyKind::UuidPlain,
        [b'{', .., b'}'] | [b'[', .., b']'] => KeyKind::Json,
        _ if ascii => KeyKind::AsciiText,
        _ => KeyKind::Utf8Text,
    }
}

fn binary(key: &[u8]) -> (KeyKind, u32) {
    let mut found = 0;
    let kind = if Frame::guess(key).is_some() {
        found |= LintRule::SchemaFramed.bit();
        KeyKind::SchemaFramed
    } else {
        match key.len() {
            4 => KeyKind::Binary4,
            8 => KeyKind::Binary8,
            16 => KeyKind::Binary16,
            _ => KeyKind::Binary,
        }
    };
    (kind, found)
}

fn is_nfc(text: &str) -> bool {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => unicode_normalization::is_nfc(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: &[u8]) -> Vec<&'static str> {
        let (_, found) = look(key);
        let rules = LintRule::ALL.iter().filter(|rule| found & rule.bit() != 0);
        rules.map(|rule| rule.id()).collect()
    }

    #[test]
    fn each_rule_sees_its_keys_and_no_others() {
        for (key, rules) in [
            (&b"user-1"[..], &[][..]),
            (b"a\n", &["trailing-newline"]),
            (b"a\r\n", &["trailing-newline"]),
            (b"a\r", &["trailing-carriage-return"]),
            (b"abc\0\0", &["trailing-nul"]),
            (b" a", &["surrounding-space"]),
            (b"a\t", &["surrounding-space"]),
            (b"a \n", &["trailing-newline", "surrounding-space"]),
            (b"a b", &[]),
            (b"\"a\"", &["quoted"]),
            (b"'a'", &["quoted"]),
            (b"\"", &[]),
            (b"007", &["leading-zeros"]),
            (b"-07", &["leading-zeros"]),
            (b"0", &[]),
            (b"700", &[]),
            (b"Struct{id=43}", &["struct-text"]),
            (b"FD7AF248-CE5C-46A5-93D7-1C0C9005B99D", &["uuid-case"]),
            (b"fd7af248-ce5c-46a5-93d7-1c0c9005b99D", &["uuid-case"]),
            (b"fd7af248-ce5c-46a5-93d7-1c0c9005b99d", &[]),
            (b"FD7AF248CE5C46A593D71C0C9005B99D", &["uuid-case"]),
            (b"\0\0\0\0\x01\x54", &["schema-framed"]),
            (b"\0\0\0\0\0\0\0\0\x01\x54", &["schema-framed"]),
            (b"\x03\0abcdef\x4a\x8b\x8cdefghij\x54", &["schema-framed"]),
            (b"\0\0\0\x2a", &[]),
            (b"\x2a\0\0\0", &[]),
            (b"\xff\xfe", &[]),
            ("München".as_bytes(), &["non-ascii"]),
            ("Mu\u{308}nchen".as_bytes(), &["not-nfc", "non-ascii"]),
            ("\u{feff}a".as_bytes(), &["byte-order-mark", "non-ascii"]),
            (
                "a\u{fffd}".as_bytes(),
                &["replacement-character", "non-ascii"],
            ),
        ] {
            assert_eq!(found(key), rules, "{}", key.escape_ascii());
        }
    }

    #[test]
    fn kinds() {
        for (key, kind) in [
            (&b"42"[..], KeyKind::IntegerText),
            (b"-42", KeyKind::IntegerText),
            (b"4.2", KeyKind::AsciiText),
            (b"fd7af248ce5c46a593d71c0c9005b99d", KeyKind::UuidPlain),
            (b"{\"id\":1}", KeyKind::Json),
            (b"\0\0\0\x01", KeyKind::Binary4),
            (b"\0\0\0\0\0\0\0\x01", KeyKind::Binary8),
            (b"\0\x01\x02", KeyKind::Binary),
            ("é".as_bytes(), KeyKind::Utf8Text),
        ] {
            assert_eq!(look(key).0, kind, "{}", key.escape_ascii());
        }
    }

    #[test]
    fn rules_have_distinct_bits_and_names() {
        let bits = LintRule::ALL.iter().fold(0, |bits, rule| bits | rule.bit());
        assert_eq!(bits.count_ones() as usize, LintRule::ALL.len());
        for (i, rule) in LintRule::ALL.iter().enumerate() {
            assert!(
                LintRule::ALL[..i]
                    .iter()
                    .all(|other| other.id() != rule.id())
            );
        }
    }
}
