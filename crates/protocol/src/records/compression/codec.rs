//! Which codec, and how hard it works.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::{Error, ErrorKind, Result};

/// A codec, with the number that the batch attributes carry for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Codec {
    /// Records as they are.
    #[default]
    None = 0,
    /// RFC 1952.
    Gzip = 1,
    /// Snappy blocks, framed as the Java library does.
    Snappy = 2,
    /// LZ4 frames of independent blocks.
    Lz4 = 3,
    /// RFC 8878.
    Zstd = 4,
}

impl Codec {
    /// All of them, by number.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The codec that batch attributes name by `id`, if there is one.
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::None),
            1 => Some(Self::Gzip),
            2 => Some(Self::Snappy),
            3 => Some(Self::Lz4),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The number that batch attributes carry.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The name that Kafka's `compression.type` has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The levels that Kafka's `compression.<codec>.level` takes.
    pub const fn levels(self) -> Option<RangeInclusive<i32>> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Gzip => Some(1..=9),
            Self::Lz4 => Some(1..=17),
            Self::Zstd => Some(-131_072..=22),
        }
    }

    /// What Kafka uses when no level is set. Without levels it is zero.
    const fn default_level(self) -> i32 {
        match self {
            Self::None | Self::Snappy => 0,
            // The value that zlib's own "default" (-1) stands for.
            Self::Gzip => 6,
            Self::Lz4 => 9,
            Self::Zstd => 3,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Codec {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|codec| codec.name() == name)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Unsupported,
                    format!(
                        "{name:?} is not a compression type; \
                         it is one of none, gzip, snappy, lz4, zstd"
                    ),
                )
            })
    }
}

/// A codec and its level.
///
/// Levels mean what they mean in Kafka's configuration. One oddity comes with
/// that: lz4's default, 9, is the fast compressor, and every other lz4 level
/// is the slower, tighter one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Compression {
    codec: Codec,
    level: Option<i32>,
}

impl Compression {
    /// Records as they are.
    pub const NONE: Self = Self::new(Codec::None);

    /// `codec` at its default level.
    pub const fn new(codec: Codec) -> Self {
        Self { codec, level: None }
    }

    /// The same codec at `level`.
    ///
    /// # Errors
    /// When the codec has no such level.
    pub fn with_level(self, level: i32) -> Result<Self> {
        match self.codec.levels() {
            Some(levels) if levels.contains(&level) => Ok(Self {
                level: Some(level),
                ..self
            }),
            Some(levels) => Err(Error::new(
                ErrorKind::Unencodable,
                format!(
                    "{} has no level {level}; it has {} to {}",
                    self.codec,
                    levels.start(),
                    levels.end()
                ),
            )),
            None => Err(Error::new(
                ErrorKind::Unencodable,
                format!("{} has no levels, but level {level} was set", self.codec),
            )),
        }
    }

    /// The codec.
    pub const fn codec(self) -> Codec {
        self.codec
    }

    /// The level, if one was set.
    pub const fn level(self) -> Option<i32> {
        self.level
    }

    pub(super) fn effective_level(self) -> i32 {
        self.level.unwrap_or(self.codec.default_level())
    }
}

impl From<Codec> for Compression {
    fn from(codec: Codec) -> Self {
        Self::new(codec)
    }
}
