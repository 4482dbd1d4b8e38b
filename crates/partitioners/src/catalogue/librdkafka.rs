//! librdkafka and the clients that are bindings of it.

use super::*;

const SOURCE: &str = "librdkafka src/rdkafka_msg.c, src/rdkafka_topic.c, CONFIGURATION.md";

const CRC32: Profile = hashed(Hash::Crc32, Reduction::Unsigned, KeylessRule::Hashed);
const FNV1A: Profile = hashed(
    Hash::Fnv1a32,
    Reduction::SignedRemainderAbs,
    KeylessRule::Hashed,
);

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        id: "librdkafka/consistent_random",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::since("0.9.1")),
        config: "partitioner=consistent_random",
        profile: Profile {
            empty: RANDOM,
            null: RANDOM,
            ..CRC32
        },
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "An empty key counts as no key. Before 0.9.1 the default was `random`.",
    },
    Entry {
        id: "librdkafka/consistent",
        versions: VersionRange::ALL,
        default_in: None,
        config: "partitioner=consistent",
        profile: CRC32,
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "Null and empty keys all go to partition 0.",
    },
    Entry {
        id: "librdkafka/murmur2",
        versions: VersionRange::since("0.11.4"),
        default_in: None,
        config: "partitioner=murmur2",
        profile: murmur2(KeylessRule::Hashed),
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "As Java for keyed records; null keys all go to one partition, which Java's do not.",
    },
    Entry {
        id: "librdkafka/murmur2_random",
        versions: VersionRange::since("0.11.4"),
        default_in: None,
        config: "partitioner=murmur2_random",
        profile: murmur2(RANDOM),
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "The same as Java, null and empty keys included. node-rdkafka takes it in the topic configuration (its second argument) and ignores it in the global one.",
    },
    Entry {
        id: "librdkafka/fnv1a",
        versions: VersionRange::since("1.4.0"),
        default_in: None,
        config: "partitioner=fnv1a",
        profile: FNV1A,
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "As Sarama for keyed records; null keys all go to one partition.",
    },
    Entry {
        id: "librdkafka/fnv1a_random",
        versions: VersionRange::since("1.4.0"),
        default_in: None,
        config: "partitioner=fnv1a_random",
        profile: Profile {
            null: RANDOM,
            ..FNV1A
        },
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "The same as Sarama's default.",
    },
    Entry {
        id: "librdkafka/random",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::before("0.9.1")),
        config: "partitioner=random",
        profile: unpinned(Spread::Random),
        source: SOURCE,
        evidence: Evidence::Vectors,
        note: "Keys are ignored.",
    },
    Entry {
        id: "confluent-kafka-javascript/murmur2_random",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "new Kafka({ kafkaJS: { … } }).producer()",
        profile: murmur2(RANDOM),
        source: "@confluentinc/kafka-javascript lib/kafkajs/_producer.js",
        evidence: Evidence::VectorsOf("librdkafka/murmur2_random"),
        note: "Its KafkaJS API sets murmur2_random; its node-rdkafka API keeps librdkafka's consistent_random.",
    },
    Entry {
        id: "confluent-kafka-javascript/consistent_random",
        versions: VersionRange::ALL,
        default_in: None,
        config: "new Kafka({ kafkaJS: { … } }).producer({ 'partitioner': 'consistent_random' })",
        profile: Profile {
            empty: RANDOM,
            null: RANDOM,
            ..CRC32
        },
        source: "@confluentinc/kafka-javascript lib/kafkajs/_producer.js",
        evidence: Evidence::VectorsOf("librdkafka/consistent_random"),
        note: "The default of its node-rdkafka API.",
    },
];

/// Clients that hand every key to librdkafka: a name of theirs means librdkafka's entry.
pub(super) const BINDINGS: &[&str] = &[
    "confluent-kafka-dotnet",
    "confluent-kafka-go",
    "confluent-kafka-python",
    "kcat",
    "node-rdkafka",
    "php-rdkafka",
    "rust-rdkafka",
];
