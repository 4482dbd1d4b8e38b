//! One key in two spellings: `7` and `007`, a UUID in upper and in lower case, `é` composed and
//! decomposed, a number as text and as eight bytes.
//!
//! Keys are compared by their plainest spelling. There may be more keys than fit, so those are
//! kept whose plainest spelling hashes below a threshold: both spellings of a key, or neither.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use super::checks::KeyKind;
use crate::frame::Frame;

/// Plainest spellings that are kept.
const KEPT: usize = 1 << 16;

/// Bytes of a key that are kept.
const KEY_BYTES: usize = 1 << 10;

/// Pairs that are kept as examples.
const PAIRS: usize = 1000;

/// The plainest spelling of a key; most keys have it.
pub(crate) fn plainest(key: &[u8], kind: KeyKind) -> Cow<'_, [u8]> {
    let integer = |number: i64| Cow::Owned(number.to_string().into_bytes());
    let uuid = |uuid: Uuid| {
        let mut text = [0; 36];
        Cow::Owned(
            uuid.hyphenated()
                .encode_lower(&mut text)
                .as_bytes()
                .to_vec(),
        )
    };
    match kind {
        KeyKind::SchemaFramed => match Frame::guess(key) {
            Some(frame) => Cow::Owned([b"schema:", frame.rest].concat()),
            None => Cow::Borrowed(key),
        },
        KeyKind::Binary4 => match key.try_into() {
            Ok(bytes) => integer(i32::from_be_bytes(bytes).into()),
            Err(_) => Cow::Borrowed(key),
        },
        KeyKind::Binary8 => match key.try_into() {
            Ok(bytes) => integer(i64::from_be_bytes(bytes)),
            Err(_) => Cow::Borrowed(key),
        },
        KeyKind::Binary16 => Uuid::from_slice(key).map_or(Cow::Borrowed(key), uuid),
        KeyKind::Binary => Cow::Borrowed(key),
        _ => plainest_text(key),
    }
}

fn plainest_text(key: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = str::from_utf8(key) else {
        return Cow::Borrowed(key);
    };
    let space = |c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}');
    let mut core = text.trim_matches(space);
    for quote in ['"', '\''] {
        let inner = core
            .strip_prefix(quote)
            .and_then(|core| core.strip_suffix(quote));
        core = inner.unwrap_or(core);
    }
    let digits = core.strip_prefix('-').unwrap_or(core);
    if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()) {
        let significant = digits.trim_start_matches('0');
        let significant = if significant.is_empty() {
            "0"
        } else {
            significant
        };
        let sign = if core.len() > digits.len() { "-" } else { "" };
        return Cow::Owned(format!("{sign}{significant}").into_bytes());
    }
    if matches!(core.len(), 32 | 36)
        && let Ok(uuid) = Uuid::try_parse(core)
    {
        return Cow::Owned(uuid.hyphenated().to_string().into_bytes());
    }
    if !core.is_ascii() && !unicode_normalization::is_nfc(core) {
        return Cow::Owned(core.nfc().collect::<String>().into_bytes());
    }
    Cow::Borrowed(core.as_bytes())
}

/// A key that may have another spelling.
pub(super) struct Spelled {
    plainest: u64,
    exact: u64,
    /// Its position among the keys, from 0.
    pub(super) record: u64,
    key: Vec<u8>,
    len: usize,
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Below which hash a spelling is kept; workers read it, so that they pass on what is needed only.
pub(super) struct Threshold(AtomicU64);

impl Threshold {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    /// The key, if its spelling may be kept.
    pub(super) fn take(&self, key: &[u8], kind: KeyKind, record: u64) -> Option<Spelled> {
        let spelling = plainest(key, kind);
        let plainest = hash(&spelling);
        if plainest > self.0.load(Ordering::Relaxed) {
            return None;
        }
        Some(Spelled {
            plainest,
            exact: if *spelling == *key {
                plainest
            } else {
                hash(key)
            },
            record,
            key: key[..key.len().min(KEY_BYTES)].to_vec(),
            len: key.len(),
        })
    }
}

/// A key in one of its spellings.
#[derive(Clone, Debug)]
pub(super) struct Spelling {
    pub(super) record: u64,
    pub(super) key: Vec<u8>,
    pub(super) len: usize,
    exact: u64,
}

/// The spellings that were kept.
pub(super) struct Spellings {
    first: HashMap<u64, Spelling>,
    /// By plainest spelling: the first key and another one.
    pub(super) pairs: Vec<(Spelling, Spelling)>,
    paired: HashMap<u64, ()>,
    below: u64,
}

impl Spellings {
    pub(super) fn new() -> Self {
        Self {
            first: HashMap::new(),
            pairs: Vec::new(),
            paired: HashMap::new(),
            below: u64::MAX,
        }
    }

    /// Whether all keys were compared.
    pub(super) const fn is_whole(&self) -> bool {
        self.below == u64::MAX
    }

    /// The share of keys that were compared.
    pub(super) fn share(&self) -> f64 {
        self.below as f64 / u64::MAX as f64
    }

    /// Keys, of those compared, that are there in several spellings.
    pub(super) fn keys(&self) -> u64 {
        self.paired.len() as u64
    }

    /// Adds a key, in the order of the input.
    pub(super) fn add(&mut self, spelled: Spelled, threshold: &Threshold) {
        if spelled.plainest > self.below {
            return;
        }
        let spelling = Spelling {
            record: spelled.record,
            key: spelled.key,
            len: spelled.len,
            exact: spelled.exact,
        };
        match self.first.get(&spelled.plainest) {
            Some(first) if first.exact == spelling.exact => {}
            Some(first) => {
                if self.paired.insert(spelled.plainest, ()).is_none() && self.pairs.len() < PAIRS {
                    self.pairs.push((first.clone(), spelling));
                }
            }
            None => {
                self.first.insert(spelled.plainest, spelling);
            }
        }
        while self.first.len() > KEPT {
            self.below /= 2;
            let below = self.below;
            threshold.0.store(below, Ordering::Relaxed);
            self.first.retain(|hash, _| *hash <= below);
            self.paired.retain(|hash, ()| *hash <= below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::look;
    use super::*;

    fn same(a: &[u8], b: &[u8]) -> bool {
        plainest(a, look(a).0) == plainest(b, look(b).0)
    }

    #[test]
    fn spellings_of_one_key_meet() {
        let uuid = "fd7af248-ce5c-46a5-93d7-1c0c9005b99d";
        let raw = Uuid::parse_str(uuid).unwrap();
        for (a, b) in [
            (&b"7"[..], &b"007"[..]),
            (b"0", b"000"),
            (b"-7", b"-07"),
            (b"7", b"7\n"),
            (b"a", b" a "),
            (b"a", b"\"a\""),
            (b"42", b"\0\0\0\x2a"),
            (b"\0\0\0\x2a", b"\0\0\0\0\0\0\0\x2a"),
            (uuid.as_bytes(), uuid.to_uppercase().as_bytes()),
            (uuid.as_bytes(), uuid.replace('-', "").as_bytes()),
            (uuid.as_bytes(), raw.as_bytes()),
            ("é".as_bytes(), "e\u{301}".as_bytes()),
            ("\u{feff}a".as_bytes(), b"a"),
            (b"\0\0\0\0\x01abcd", b"\0\0\0\0\x02abcd"),
        ] {
            assert!(same(a, b), "{} {}", a.escape_ascii(), b.escape_ascii());
        }
        for (a, b) in [
            (&b"7"[..], &b"70"[..]),
            (b"a", b"A"),
            (b"a b", b"ab"),
            (b"\0\0\0\0\x01abcd", b"abcd"),
        ] {
            assert!(!same(a, b));
        }
    }

    #[test]
    fn many_keys_are_sampled_with_both_their_spellings() {
        let threshold = Threshold::new();
        let mut spellings = Spellings::new();
        for i in 0..200_000u64 {
            for key in [format!("{i}"), format!("0{i}")] {
                if let Some(spelled) = threshold.take(key.as_bytes(), KeyKind::IntegerText, i) {
                    spellings.add(spelled, &threshold);
                }
            }
        }
        assert!(!spellings.is_whole() && spellings.first.len() <= KEPT);
        let estimated = spellings.keys() as f64 / spellings.share();
        assert!(
            (0.95..1.05).contains(&(estimated / 200_000.0)),
            "{estimated}"
        );
        assert_eq!(spellings.pairs.len(), PAIRS);
    }
}
