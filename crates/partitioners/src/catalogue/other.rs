//! Erlang, Elixir, PHP and Rust.

use super::*;

/// `erlang:phash2(undefined)`: brod hashes the atom that stands for no key.
const PHASH2_UNDEFINED: u32 = 45_914_356;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        id: "brod/hash",
        versions: VersionRange::ALL,
        default_in: None,
        config: "brod:produce_sync(Client, Topic, hash, Key, Value)",
        profile: hashed(
            Hash::ErlangPhash2,
            Reduction::Unsigned,
            KeylessRule::HashValue(PHASH2_UNDEFINED),
        ),
        source: "brod src/brod_utils.erl (make_part_fun)",
        evidence: Evidence::Vectors,
        note: "For binary keys: a list of the same characters hashes differently. brod's own form of no key, <<>>, is the empty key.",
    },
    Entry {
        id: "kafka_ex/default",
        versions: VersionRange::since("0.11.0"),
        default_in: Some(VersionRange::since("0.11.0")),
        config: "config :kafka_ex, partitioner: KafkaEx.Producer.Partitioner.Default",
        profile: murmur2(RANDOM),
        source: "kafka_ex lib/kafka_ex/producer/partitioner/default.ex",
        evidence: Evidence::Vectors,
        note: "",
    },
    Entry {
        id: "kafka_ex/legacy",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::before("0.11.0")),
        config: "config :kafka_ex, partitioner: KafkaEx.Producer.Partitioner.Legacy",
        profile: hashed(Hash::Murmur2, Reduction::Unsigned, RANDOM),
        source: "kafka_ex lib/kafka_ex/producer/partitioner/legacy.ex",
        evidence: Evidence::Vectors,
        note: "Java's hash without Java's mask: agrees with Java at powers of two only.",
    },
    Entry {
        id: "phpkafka/default",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "new Producer(new ProducerConfig())",
        profile: hashed(Hash::Crc32, Reduction::Unsigned, ROUND_ROBIN),
        source: "longlang/phpkafka src/Producer/Partitioner/DefaultPartitioner.php",
        evidence: Evidence::Vectors,
        note: "On 32-bit PHP crc32() is signed and large hashes go elsewhere.",
    },
    Entry {
        id: "kafka-rust/default",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "Producer::from_hosts(hosts).create()",
        profile: hashed(Hash::Xxh32, Reduction::Unsigned, ROUND_ROBIN),
        source: "kafka-rust src/producer.rs (DefaultPartitioner)",
        evidence: Evidence::Vectors,
        note: "The crate `kafka`.",
    },
];
