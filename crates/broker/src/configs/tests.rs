//! The tables compared with Kafka's own settings, which `oracle/configs/run` reads from its classes.

use std::collections::BTreeMap;

use super::broker::{BROKER, Update};
use super::definition::{Check, Definition};
use super::group::{self, GROUP};
use super::honour::refusal;
use super::topic::{SYNONYMS, TOPIC};
use super::{BrokerConfig, BrokerSettings, ConfigType, TopicConfig, Values, check_topic};
use crate::log::{Durability, LogConfig};

const KAFKA: &str = include_str!("../../oracle/configs/kafka-4.4.0.tsv");

/// Defaults that are not Kafka's: the setting, ours, and why.
const OWN_DEFAULTS: &[(&str, Option<&str>, &str)] = &[
    (
        "auto.leader.rebalance.enable",
        Some("false"),
        "leadership comes back when a client asks for it, so that tests see what they did",
    ),
    (
        "group.consumer.heartbeat.interval.ms",
        Some("500"),
        "a test should not wait five seconds for each step of its members",
    ),
    (
        "group.consumer.min.heartbeat.interval.ms",
        Some("100"),
        "the same",
    ),
    (
        "group.coordinator.rebalance.protocols",
        Some("classic,consumer"),
        "there are no streams groups",
    ),
    (
        "group.initial.rebalance.delay.ms",
        Some("0"),
        "a test should not wait three seconds for its first record",
    ),
    (
        "max.decompressed.message.bytes",
        Some("67108864"),
        "a batch of a stranger takes this much memory while it is checked",
    ),
    (
        "process.roles",
        Some("broker,controller"),
        "Kafka has none, and must be told",
    ),
];

/// Settings that Kafka does not have, and throttles, which it lists among the dynamic ones alone.
const OWN: &[&str] = &[
    "copart.replication.simulated",
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
];

/// Lines of one kind, by name.
fn facts(kind: &str) -> BTreeMap<&'static str, Vec<&'static str>> {
    let lines = KAFKA
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let lines = lines.filter(|parts| parts[0] == kind);
    lines.map(|parts| (parts[1], parts[2..].to_vec())).collect()
}

fn type_name(config_type: ConfigType) -> String {
    format!("{config_type:?}").to_uppercase()
}

/// What Kafka's validator prints for the check.
fn valid(definition: &Definition) -> String {
    let list = |names: &[&str]| format!("[{}]", names.join(", "));
    match definition.check {
        Check::Any => String::new(),
        Check::AtLeast(low) => format!("[{low},...]"),
        Check::Between(low, high) => format!("[{low},...,{high}]"),
        Check::Fraction => "[0,...,1]".to_owned(),
        Check::GzipLevel => "[1,...,9] or -1".to_owned(),
        Check::OneOf(names) | Check::ListOf(names) => list(names),
        Check::ThrottledReplicas => {
            "[partitionId]:[brokerId],[partitionId]:[brokerId],...".to_owned()
        }
        Check::ShareOffsetReset => "[latest, earliest, by_duration:PnDTnHnMn.nS]".to_owned(),
    }
}

fn compare(kind: &str, definitions: &[&Definition], faults: &mut Vec<String>) {
    let kafka = facts(kind);
    for pair in definitions.windows(2) {
        if pair[0].name >= pair[1].name {
            faults.push(format!("{} is not in order", pair[1].name));
        }
    }
    for definition in definitions {
        let name = definition.name;
        let Some(parts) = kafka.get(name) else {
            if !OWN.contains(&name) {
                faults.push(format!("Kafka's {kind}s have no {name}"));
            }
            continue;
        };
        if type_name(definition.config_type) != parts[0] {
            faults.push(format!("{kind} {name} is a {}", parts[0]));
        }
        let own = OWN_DEFAULTS.iter().find(|(own, ..)| *own == name);
        let default = Some(parts[1]).filter(|value| *value != "<null>");
        match own {
            Some((_, ours, _)) if definition.default != *ours || default == *ours => {
                faults.push(format!(
                    "{kind} {name}: the list of own defaults is out of date"
                ));
            }
            None if definition.default != default => {
                faults.push(format!("{kind} {name} is {} by default", parts[1]));
            }
            _ => {}
        }
        // Kafka has validators for names of classes, which are facts here.
        if valid(definition) != parts[2] && !parts[2].starts_with("non-") && !is_fact(name) {
            faults.push(format!("{kind} {name} takes {}", parts[2]));
        }
        if definition.documentation.is_empty() {
            faults.push(format!("{kind} {name} has no documentation"));
        }
    }
}

fn is_fact(name: &str) -> bool {
    BROKER
        .iter()
        .any(|row| row.definition.name == name && row.update == Update::Fact)
}

#[test]
fn the_tables_say_what_kafka_says() {
    let mut faults = Vec::new();
    let topics: Vec<&Definition> = TOPIC.iter().collect();
    let brokers: Vec<&Definition> = BROKER.iter().map(|row| &row.definition).collect();
    let groups: Vec<&Definition> = GROUP.iter().collect();
    compare("topic", &topics, &mut faults);
    compare("broker", &brokers, &mut faults);
    compare("group", &groups, &mut faults);
    for (kind, count) in [("topic", topics.len()), ("group", groups.len())] {
        if facts(kind).len() != count {
            faults.push(format!(
                "Kafka has {} settings of {kind}s",
                facts(kind).len()
            ));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn clients_can_change_nothing_that_kafka_does_not_let_them() {
    let dynamic = facts("dynamic");
    for row in BROKER.iter().filter(|row| row.update == Update::Dynamic) {
        let mode = dynamic.get(row.definition.name);
        assert_eq!(
            mode.map(|it| it[0]),
            Some("cluster-wide"),
            "{}",
            row.definition.name
        );
    }
}

#[test]
fn a_topics_defaults_are_the_brokers_settings_that_kafka_has_for_them() {
    let ours: Vec<String> = SYNONYMS
        .iter()
        .flat_map(|(topic, synonyms)| {
            let lines = synonyms
                .iter()
                .map(move |it| format!("topic-synonym\t{topic}\t{}\t{}", it.name, it.convert("1")));
            lines.collect::<Vec<String>>()
        })
        .collect();
    let kafkas: Vec<&str> = KAFKA
        .lines()
        .filter(|line| line.starts_with("topic-synonym"))
        .collect();
    assert_eq!(ours, kafkas);
    // All of them are there, and have the same default.
    for (topic, synonyms) in SYNONYMS {
        let topic = TOPIC
            .iter()
            .find(|it| it.name == *topic)
            .expect("a topic's");
        let last = synonyms.last().expect("one at least");
        let broker = super::broker::broker(last.name).expect("a broker's");
        let default = broker.definition.default.map(|value| last.convert(value));
        assert_eq!(default.as_deref(), topic.default, "{}", topic.name);
    }
    let groups = facts("group-synonym");
    for definition in GROUP {
        if let Some(ours) = group::synonym(definition.name) {
            assert_eq!(groups[definition.name], [ours]);
        }
    }
}

/// What the log does unless it is told otherwise, is what a topic without settings has.
#[test]
fn defaults_are_the_logs() {
    let settings = BrokerSettings {
        node_count: 1,
        ..BrokerSettings::default()
    };
    let config = TopicConfig::resolve(&Values::new(), settings).expect("resolves");
    assert_eq!(
        config.log_config(&LogConfig::default()),
        LogConfig::default()
    );
    assert_eq!(config.min_insync_replicas, 1);
    assert!(!config.unclean_leader_election);
    let config = BrokerConfig::resolve(settings).expect("resolves");
    assert_eq!(config.num_partitions, 1);
    assert!(config.auto_create_topics_enable);
    assert_eq!(config.transaction_state_log_min_isr, 1, "one node");
}

/// Every setting either reaches the log, or is refused, or asks for what is done anyway.
#[test]
fn settings_reach_the_log() {
    let set = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let overrides: Values = pairs.collect();
        check_topic(&overrides, BrokerSettings::default(), Durability::Disk)
    };
    let config = set(&[
        ("cleanup.policy", "compact"),
        ("delete.retention.ms", "1"),
        ("index.interval.bytes", "2"),
        ("internal.segment.bytes", "3"),
        ("max.decompressed.message.bytes", "4"),
        ("max.message.bytes", "5"),
        ("message.timestamp.after.max.ms", "6"),
        ("message.timestamp.before.max.ms", "7"),
        ("message.timestamp.type", "LogAppendTime"),
        ("min.compaction.lag.ms", "8"),
        ("preallocate", "true"),
        ("retention.bytes", "9"),
        ("retention.ms", " 10 "),
        ("segment.index.bytes", "11"),
        ("segment.ms", "12"),
    ]);
    let expected = LogConfig {
        durability: Durability::Process,
        segment_bytes: 3,
        segment_ms: 12,
        segment_index_bytes: 11,
        index_interval_bytes: 2,
        retention_ms: 10,
        retention_bytes: 9,
        deletes: false,
        compacts: true,
        delete_retention_ms: 1,
        min_compaction_lag_ms: 8,
        max_message_bytes: 5,
        message_timestamp_type: copart_protocol::records::TimestampType::LogAppendTime,
        message_timestamp_before_max_ms: 7,
        message_timestamp_after_max_ms: 6,
        preallocate_bytes: 3,
        max_decompressed_bytes: 4,
        verify_reads: false,
        ..LogConfig::default()
    };
    let base = LogConfig {
        durability: Durability::Process,
        verify_reads: false,
        ..LogConfig::default()
    };
    assert_eq!(config.expect("takes them").log_config(&base), expected);
    let config = set(&[
        ("segment.bytes", "2000000"),
        ("cleanup.policy", "delete, compact"),
    ]);
    let config = config.expect("takes them").log_config(&base);
    assert_eq!(
        (config.segment_bytes, config.deletes, config.compacts),
        (2_000_000, true, true)
    );
    // Kafka 4.2 and later: neither deleted nor compacted.
    let config = set(&[("cleanup.policy", "")])
        .expect("takes it")
        .log_config(&base);
    assert!(!config.deletes && !config.compacts);
}

#[test]
fn what_is_a_default_is_never_refused() {
    for durability in [Durability::Memory, Durability::Process, Durability::Disk] {
        for definition in TOPIC {
            if let Some(default) = definition.default {
                assert_eq!(definition.validate(default), Ok(()));
                assert_eq!(refusal(definition.name, default, durability), None);
            }
        }
    }
    for row in BROKER.iter().filter(|row| row.update != Update::Fact) {
        if let Some(default) = row.definition.default {
            assert_eq!(row.definition.validate(default), Ok(()));
        }
    }
}

#[test]
fn values_are_checked_by_type() {
    let topic = |name: &str| TOPIC.iter().find(|it| it.name == name).expect("there");
    for (name, good, bad) in [
        (
            "preallocate",
            &["true", "FALSE", " true "][..],
            &["yes", "1", ""][..],
        ),
        (
            "retention.ms",
            &["-1", "0", "9223372036854775807", " 5 "],
            &["-2", "1.5", "9223372036854775808", ""],
        ),
        (
            "segment.bytes",
            &["1048576", "2147483647"],
            &["1048575", "2147483648"],
        ),
        (
            "min.cleanable.dirty.ratio",
            &["0", "0.5", "1", "1e-3"],
            &["-0.1", "1.1", "NaN", "half"],
        ),
        ("compression.gzip.level", &["-1", "1", "9"], &["0", "10"]),
        (
            "cleanup.policy",
            &["", "delete", "delete , compact"],
            &["delete,", "delete,delete", "Delete"],
        ),
        (
            "message.timestamp.type",
            &["CreateTime"],
            &["createtime", ""],
        ),
        (
            "leader.replication.throttled.replicas",
            &["", "*", "0:1", "0:1,1:2"],
            &["0", "0:", "a:b", "*,0:1"],
        ),
    ] {
        for value in good {
            assert_eq!(topic(name).validate(value), Ok(()), "{name}={value:?}");
        }
        for value in bad {
            let error = topic(name).validate(value).expect_err(value);
            assert!(error.contains(name), "{error}");
        }
    }
}
