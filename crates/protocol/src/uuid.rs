//! Topic, directory and other ids.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// Sixteen bytes that identify a topic, a log directory or a member. Printed as Kafka's tools print them:
/// 22 characters of URL-safe base64.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Uuid {
    /// All zero: no id.
    pub const ZERO: Self = Self([0; 16]);

    /// Whether there is no id.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 22];
        for (index, character) in text.iter_mut().enumerate() {
            let bit = index * 6;
            // Six bits from two bytes; the last character has only two bits to show.
            let pair =
                u16::from_be_bytes([self.0[bit / 8], *self.0.get(bit / 8 + 1).unwrap_or(&0)]);
            *character = ALPHABET[usize::from(pair >> (10 - bit % 8) & 0x3f)];
        }
        f.pad(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uuid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |reason: &'static str| {
            Error::new(ErrorKind::Malformed, reason).within(format!("id {text:?}"))
        };
        if text.len() != 22 {
            return Err(refused("an id has 22 characters"));
        }
        let mut bits = 0u128;
        for (index, character) in text.bytes().enumerate() {
            let Some(value) = ALPHABET.iter().position(|&c| c == character) else {
                return Err(refused("an id has letters, digits, - and _ only"));
            };
            if index < 21 {
                bits = bits << 6 | value as u128;
            } else if value & 0x0f == 0 {
                bits = bits << 2 | (value >> 4) as u128;
            } else {
                return Err(refused("the last character carries more than 128 bits"));
            }
        }
        Ok(Self(bits.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_reads_base64() {
        // From Kafka: new Uuid(0x0011223344556677L, 0x8899aabbccddeeffL).toString()
        let id = Uuid(0x00112233445566778899aabbccddeeff_u128.to_be_bytes());
        assert_eq!(id.to_string(), "ABEiM0RVZneImaq7zN3u_w");
        assert_eq!("ABEiM0RVZneImaq7zN3u_w".parse::<Uuid>().expect("valid"), id);
        assert_eq!(Uuid::ZERO.to_string(), "A".repeat(22));
        for id in [Uuid([0xff; 16]), Uuid([0x5a; 16]), Uuid::ZERO] {
            assert_eq!(id.to_string().parse::<Uuid>().expect("valid"), id);
        }
    }

    #[test]
    fn refuses_what_is_no_id() {
        for text in [
            "",
            "ABEiM0RVZneImaq7zN3u_",
            "ABEiM0RVZneImaq7zN3u/w",
            "ABEiM0RVZneImaq7zN3u_x",
        ] {
            let error = text.parse::<Uuid>().expect_err(text);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
