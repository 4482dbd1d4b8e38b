//! The hash functions that Kafka clients use, bit for bit.
//!
//! Each is exposed as a plain function, and all of them through [`Hash`](enum@Hash), the form a
//! [`Profile`](crate::Profile) stores. [`lanes`] computes the common ones for many keys at a time.

mod crc32;
mod fnv1a;
mod java_string;
mod kafka_node;
pub mod lanes;
mod murmur2;
mod phash2;

use core::fmt;

pub use crc32::crc32;
pub use fnv1a::fnv1a_32;
pub use java_string::java_string_hash;
pub use kafka_node::kafka_node_hash;
pub use murmur2::{murmur2, murmur2_float, murmur2_signed_tail};
pub use phash2::erlang_phash2;

/// A hash function, named by what it computes rather than by who uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// MurmurHash2 with Kafka's seed `0x9747b28c`
    /// (Apache Kafka `clients/…/common/utils/Utils.java`).
    Murmur2,
    /// [`Hash::Murmur2`] compiled where C's `char` is signed: the one to three tail bytes are
    /// sign-extended (the Ruby gem `digest-murmurhash`, `ext/digest/murmurhash/2.c`, on x86).
    Murmur2SignedTail,
    /// [`Hash::Murmur2`] computed in JavaScript doubles without `Math.imul`
    /// (KafkaJS 1.x, `src/producer/partitioners/legacy/murmur2.js`).
    Murmur2Float,
    /// CRC-32 as in zlib and Ethernet (IEEE polynomial, reflected).
    Crc32,
    /// FNV-1a with 32 bits. The `fnv` crate cannot compute it: it has 64 bits only.
    Fnv1a32,
    /// xxHash32 with seed 0 (the Rust crate `kafka`).
    Xxh32,
    /// SHA-1, read as one unsigned 160-bit big-endian integer (pykafka).
    Sha1,
    /// `java.lang.String.hashCode` of the bytes decoded as UTF-8.
    JavaString,
    /// kafka-node's `h = (h * 31 + unit) & 0x7fffffff` over UTF-16 units, where 0 becomes 1.
    KafkaNode,
    /// `erlang:phash2/1` of a binary (brod).
    ErlangPhash2,
}

/// What a [`Hash`](enum@Hash) computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashValue {
    /// A 32-bit hash; signed clients read the same bits as `i32`.
    Bits32(u32),
    /// A 160-bit hash, big-endian.
    Bits160([u8; 20]),
}

impl Hash {
    /// Hashes `bytes`. No allocation.
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> HashValue {
        HashValue::Bits32(match self {
            Self::Murmur2 => murmur2(bytes),
            Self::Murmur2SignedTail => murmur2_signed_tail(bytes),
            Self::Murmur2Float => murmur2_float(bytes),
            Self::Crc32 => crc32(bytes),
            Self::Fnv1a32 => fnv1a_32(bytes),
            Self::Xxh32 => xxhash_rust::xxh32::xxh32(bytes, 0),
            Self::JavaString => java_string_hash(bytes),
            Self::KafkaNode => kafka_node_hash(bytes),
            Self::ErlangPhash2 => erlang_phash2(bytes),
            Self::Sha1 => return HashValue::Bits160(sha1_smol::Sha1::from(bytes).digest().bytes()),
        })
    }

    /// Every hash, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Murmur2,
        Self::Murmur2SignedTail,
        Self::Murmur2Float,
        Self::Crc32,
        Self::Fnv1a32,
        Self::Xxh32,
        Self::Sha1,
        Self::JavaString,
        Self::KafkaNode,
        Self::ErlangPhash2,
    ];

    /// The name used in a user-defined profile and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Murmur2 => "murmur2",
            Self::Murmur2SignedTail => "murmur2-signed-tail",
            Self::Murmur2Float => "murmur2-float",
            Self::Crc32 => "crc32",
            Self::Fnv1a32 => "fnv1a",
            Self::Xxh32 => "xxh32",
            Self::Sha1 => "sha1",
            Self::JavaString => "java-string",
            Self::KafkaNode => "kafka-node",
            Self::ErlangPhash2 => "phash2",
        }
    }

    /// Whether the hash has more than 32 bits, which only an unsigned modulo can reduce.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::Sha1)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for HashValue {
    /// `0x` and hexadecimal digits, all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits32(h) => write!(f, "{h:#010x}"),
            Self::Bits160(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
        }
    }
}
