use core::fmt;

/// Which of the key's bytes a client hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyView {
    /// All of them.
    AllBytes,
    /// As many bytes as the key has *characters* when read as a UTF-8 string: rdkafka-ruby passes
    /// `str.size` where `bytesize` is meant (`lib/rdkafka/bindings.rb`, issue 629), so every
    /// multi-byte character drops bytes from the end.
    CharacterCount,
}

impl KeyView {
    /// The bytes that are hashed.
    #[must_use]
    #[inline]
    pub fn of(self, key: &[u8]) -> &[u8] {
        match self {
            Self::AllBytes => key,
            Self::CharacterCount => &key[..ruby_string_size(key)],
        }
    }

    /// The name used in a user-defined profile and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllBytes => "bytes",
            Self::CharacterCount => "characters",
        }
    }
}

/// Ruby's `String#size` of a UTF-8 string: a whole character counts one, and so does each byte
/// that belongs to none.
fn ruby_string_size(bytes: &[u8]) -> usize {
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
        .sum()
}

impl fmt::Display for KeyView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_as_ruby_does() {
        for (key, size) in [
            (&b"plain"[..], 5),
            ("München-1".as_bytes(), 9),
            ("東京".as_bytes(), 2),
            (b"\xff\xfe", 2),
            (b"a\xe6\x9d", 3), // a character cut short: both of its bytes count
            (b"", 0),
        ] {
            assert_eq!(KeyView::CharacterCount.of(key), &key[..size]);
        }
    }
}
