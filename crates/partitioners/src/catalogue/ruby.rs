//! ruby-kafka, and rdkafka-ruby with what is built on it (Karafka, WaterDrop, Racecar 2).

use super::*;

const RUBY_KAFKA: &str = "ruby-kafka lib/kafka/partitioner.rb, lib/kafka/digest.rb";
const BINDINGS: &str = "rdkafka-ruby lib/rdkafka/bindings.rb (self.partitioner), issue 629";
const BY_CHARACTERS: &str = "Hashes as many bytes as the String has characters, so a multi-byte key loses its tail: `partition_key: key.b` hashes all of it. A nil partition_key means the record's key decides.";

/// librdkafka's function called with Ruby's `size`; an empty string arrives as a null pointer,
/// which the `_random` functions take for no key.
const fn by_characters(hash: Hash, reduction: Reduction) -> Profile {
    Profile {
        keyed: KeyedRule::Hashed {
            view: KeyView::CharacterCount,
            hash,
            reduction,
        },
        empty: RANDOM,
        null: RANDOM,
    }
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        id: "ruby-kafka/crc32",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "Kafka.new(brokers)",
        profile: hashed(Hash::Crc32, Reduction::Unsigned, RANDOM),
        source: RUBY_KAFKA,
        evidence: Evidence::Vectors,
        note: "Partitions by `partition_key`, or by `key` when there is none.",
    },
    Entry {
        id: "ruby-kafka/murmur2",
        versions: VersionRange::since("1.4.0"),
        default_in: None,
        config: "Kafka.new(brokers, partitioner: Kafka::Partitioner.new(hash_function: :murmur2))",
        profile: hashed(Hash::Murmur2SignedTail, Reduction::MaskSign, RANDOM),
        source: "ruby-kafka lib/kafka/murmur2_hash.rb; digest-murmurhash ext/digest/murmurhash/2.c",
        evidence: Evidence::Vectors,
        note: "Where C's char is signed, as on x86-64: a key with a byte of 0x80 or more among its last len % 4 bytes differs from Java. ASCII keys agree.",
    },
    Entry {
        id: "ruby-kafka/murmur2-unsigned-char",
        versions: VersionRange::since("1.4.0"),
        default_in: None,
        config: "Kafka.new(brokers, partitioner: Kafka::Partitioner.new(hash_function: :murmur2))",
        profile: murmur2(RANDOM),
        source: "ruby-kafka lib/kafka/murmur2_hash.rb; digest-murmurhash ext/digest/murmurhash/2.c",
        evidence: Evidence::Vectors,
        note: "Only where C's char is unsigned, as on Linux for AArch64 (the vectors are from x86-64 with -funsigned-char). On x86-64 the same configuration is ruby-kafka/murmur2, and keys with a byte of 0x80 or more among the last len % 4 still go elsewhere than Java's.",
    },
    Entry {
        id: "rdkafka-ruby/key-consistent_random",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "producer.produce(topic: topic, key: key, payload: value)",
        profile: Profile {
            empty: RANDOM,
            ..hashed(Hash::Crc32, Reduction::Unsigned, RANDOM)
        },
        source: "rdkafka-ruby lib/rdkafka/producer.rb",
        evidence: Evidence::VectorsOf("librdkafka/consistent_random"),
        note: "`key:` goes to librdkafka as it is.",
    },
    Entry {
        id: "rdkafka-ruby/key-murmur2_random",
        versions: VersionRange::ALL,
        default_in: None,
        config: "Rdkafka::Config.new(\"partitioner\" => \"murmur2_random\")\nproducer.produce(topic: topic, key: key, payload: value)",
        profile: murmur2(RANDOM),
        source: "rdkafka-ruby lib/rdkafka/producer.rb",
        evidence: Evidence::VectorsOf("librdkafka/murmur2_random"),
        note: "`key:` goes to librdkafka as it is.",
    },
    Entry {
        id: "rdkafka-ruby/partition_key-consistent_random",
        versions: VersionRange::ALL,
        default_in: None,
        config: "producer.produce(topic: topic, partition_key: key, payload: value)",
        profile: by_characters(Hash::Crc32, Reduction::Unsigned),
        source: BINDINGS,
        evidence: Evidence::Vectors,
        note: BY_CHARACTERS,
    },
    Entry {
        id: "rdkafka-ruby/partition_key-murmur2_random",
        versions: VersionRange::ALL,
        default_in: None,
        config: "Rdkafka::Config.new(\"partitioner\" => \"murmur2_random\")\nproducer.produce(topic: topic, partition_key: key, payload: value)",
        profile: by_characters(Hash::Murmur2, Reduction::MaskSign),
        source: BINDINGS,
        evidence: Evidence::Vectors,
        note: BY_CHARACTERS,
    },
    Entry {
        id: "rdkafka-ruby/partition_key-fnv1a_random",
        versions: VersionRange::ALL,
        default_in: None,
        config: "Rdkafka::Config.new(\"partitioner\" => \"fnv1a_random\")\nproducer.produce(topic: topic, partition_key: key, payload: value)",
        profile: by_characters(Hash::Fnv1a32, Reduction::SignedRemainderAbs),
        source: BINDINGS,
        evidence: Evidence::Vectors,
        note: BY_CHARACTERS,
    },
];
