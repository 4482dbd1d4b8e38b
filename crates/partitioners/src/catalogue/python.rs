//! Python clients written in Python.

use super::*;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        id: "kafka-python/default",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "KafkaProducer()",
        profile: murmur2(RANDOM),
        source: "kafka-python kafka/partitioner/default.py",
        evidence: Evidence::Vectors,
        note: "",
    },
    Entry {
        id: "kafka-python/hashed@1",
        versions: VersionRange::before("2.0"),
        default_in: None,
        config: "KeyedProducer(SimpleClient(hosts))",
        profile: Profile {
            empty: KeylessRule::Fixed(0),
            ..unpinned(Spread::PerProcess)
        },
        source: "kafka-python kafka/partitioner/hashed.py",
        evidence: Evidence::Vectors,
        note: "Python's own hash() differs from process to process unless PYTHONHASHSEED is set; that of the empty key is 0. KafkaProducer cannot use it. Removed in 2.0.",
    },
    Entry {
        id: "aiokafka/default",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "AIOKafkaProducer()",
        profile: murmur2(RANDOM),
        source: "aiokafka aiokafka/partitioner.py",
        evidence: Evidence::Vectors,
        note: "Indexes into list(set(partitions)), whose order is not promised (issue 1127); in order on CPython for the counts that were run.",
    },
    Entry {
        id: "pykafka/random",
        versions: VersionRange::ALL,
        default_in: Some(VersionRange::ALL),
        config: "topic.get_producer()",
        profile: unpinned(Spread::Random),
        source: "pykafka pykafka/producer.py, pykafka/partitioners.py",
        evidence: Evidence::Vectors,
        note: "Keys are ignored.",
    },
    Entry {
        id: "pykafka/hashing",
        versions: VersionRange::ALL,
        default_in: None,
        config: "topic.get_producer(partitioner=hashing_partitioner)",
        profile: hashed(Hash::Sha1, Reduction::Unsigned, KeylessRule::Rejected),
        source: "pykafka pykafka/partitioners.py",
        evidence: Evidence::Vectors,
        note: "",
    },
];
