//! Settings: what they come to, and changing them.

use super::*;
use crate::configs::{ConfigEntry, ConfigOp, ConfigSource};
use crate::log::{Durability, LogConfig};

fn topic_a() -> ConfigResource {
    ConfigResource::Topic("a".into())
}

fn set(name: &str, value: &str) -> (String, ConfigOp) {
    (name.into(), ConfigOp::Set(value.into()))
}

fn alter(
    controller: &mut Controller,
    resource: &ConfigResource,
    ops: &[(String, ConfigOp)],
) -> ApiResult<Changes> {
    controller.incremental_alter_configs(resource, ops, false)
}

fn find(controller: &Controller, resource: &ConfigResource, name: &str) -> ConfigEntry {
    let entries = controller.describe_configs(resource).expect("described");
    let found = entries.into_iter().find(|entry| entry.name == name);
    found.unwrap_or_else(|| panic!("{name} is not there"))
}

fn log_config(controller: &Controller) -> LogConfig {
    let topic = controller.topic("a").expect("there");
    topic.config.log_config(&LogConfig::default())
}

#[test]
fn a_topics_own_setting_is_the_strongest() {
    let mut controller = cluster(1);
    let made = create(&mut controller, &topic("a", 1, 1));
    let name = "retention.ms";
    let entry = find(&controller, &topic_a(), name);
    assert_eq!(entry.value.as_deref(), Some("604800000"));
    assert_eq!(entry.source, ConfigSource::Default);
    assert_eq!(entry.synonyms.len(), 1);
    assert_eq!(entry.synonyms[0].name, "log.retention.hours");
    assert_eq!(entry.synonyms[0].value.as_deref(), Some("168"));

    let everybody = ConfigResource::Broker(None);
    let changes = alter(
        &mut controller,
        &everybody,
        &[set("log.retention.ms", "99")],
    )
    .expect("set");
    let topic_changed = Change::TopicConfigChanged {
        topic: "a".into(),
        id: made.id,
    };
    assert_eq!(
        changes,
        [
            Change::BrokerConfigChanged { node: None },
            topic_changed.clone()
        ]
    );
    let entry = find(&controller, &topic_a(), name);
    assert_eq!(entry.value.as_deref(), Some("99"));
    assert_eq!(entry.source, ConfigSource::DynamicDefaultBroker);
    assert_eq!(log_config(&controller).retention_ms, 99);

    let changes = alter(&mut controller, &topic_a(), &[set(name, "7")]).expect("set");
    assert_eq!(changes, [topic_changed]);
    let entry = find(&controller, &topic_a(), name);
    assert_eq!(entry.source, ConfigSource::DynamicTopic);
    let sources: Vec<_> = entry.synonyms.iter().map(|it| it.source).collect();
    assert_eq!(
        sources,
        [
            ConfigSource::DynamicTopic,
            ConfigSource::DynamicDefaultBroker,
            ConfigSource::Default
        ]
    );
    assert_eq!(log_config(&controller).retention_ms, 7);
    // The broker's changes do not reach the topic now.
    let changes = alter(
        &mut controller,
        &everybody,
        &[set("log.retention.ms", "98")],
    )
    .expect("set");
    assert_eq!(changes.len(), 1, "{changes:?}");

    alter(
        &mut controller,
        &topic_a(),
        &[(name.into(), ConfigOp::Delete)],
    )
    .expect("deleted");
    assert_eq!(log_config(&controller).retention_ms, 98);
}

#[test]
fn hours_and_minutes() {
    let mut options = options(1);
    for (name, value) in [
        ("log.retention.hours", "2"),
        ("log.roll.hours", "3"),
        ("log.retention.bytes", "5000"),
    ] {
        options.configs.insert(name.into(), value.into());
    }
    let mut controller = open(&disk(), options.clone()).expect("opens");
    create(&mut controller, &topic("a", 1, 1));
    let config = log_config(&controller);
    assert_eq!(config.retention_ms, 2 * 3_600_000);
    assert_eq!(config.segment_ms, 3 * 3_600_000);
    assert_eq!(config.retention_bytes, 5000);
    let entry = find(&controller, &topic_a(), "retention.ms");
    assert_eq!(entry.source, ConfigSource::StaticBroker);
    options
        .configs
        .insert("log.retention.minutes".into(), "-1".into());
    let mut controller = open(&disk(), options).expect("opens");
    create(&mut controller, &topic("a", 1, 1));
    assert_eq!(
        log_config(&controller).retention_ms,
        -1,
        "minutes are stronger"
    );
}

#[test]
fn lists_grow_and_shrink() {
    let mut controller = cluster(1);
    create(&mut controller, &topic("a", 1, 1));
    let op =
        |op: fn(String) -> ConfigOp, value: &str| ("cleanup.policy".to_owned(), op(value.into()));
    alter(
        &mut controller,
        &topic_a(),
        &[op(ConfigOp::Append, "compact")],
    )
    .expect("added");
    let value = find(&controller, &topic_a(), "cleanup.policy").value;
    assert_eq!(
        value.as_deref(),
        Some("delete,compact"),
        "added to the default"
    );
    let config = log_config(&controller);
    assert!(config.deletes && config.compacts);
    alter(
        &mut controller,
        &topic_a(),
        &[op(ConfigOp::Subtract, "delete")],
    )
    .expect("taken");
    let config = log_config(&controller);
    assert!(!config.deletes && config.compacts);
    let ops = [("retention.ms".to_owned(), ConfigOp::Append("1".into()))];
    assert_eq!(
        code(alter(&mut controller, &topic_a(), &ops)),
        ErrorCode::INVALID_CONFIG
    );
    let twice = [set("retention.ms", "1"), set("retention.ms", "2")];
    assert_eq!(
        code(alter(&mut controller, &topic_a(), &twice)),
        ErrorCode::INVALID_REQUEST
    );
}

#[test]
fn all_or_nothing_and_validate_only() {
    let mut controller = cluster(1);
    create(&mut controller, &topic("a", 1, 1));
    let before = picture(&controller);
    let ops = [set("retention.ms", "1"), set("segment.bytes", "x")];
    let error = alter(&mut controller, &topic_a(), &ops).expect_err("refused");
    assert_eq!(error.code, ErrorCode::INVALID_CONFIG);
    assert!(error.message.contains("segment.bytes"), "{error}");
    let ops = [
        set("min.compaction.lag.ms", "9"),
        set("max.compaction.lag.ms", "8"),
    ];
    assert_eq!(
        code(alter(&mut controller, &topic_a(), &ops)),
        ErrorCode::INVALID_CONFIG
    );
    let long = "1".repeat(40_000);
    let ops = [set("follower.replication.throttled.replicas", &long)];
    assert_eq!(
        code(alter(&mut controller, &topic_a(), &ops)),
        ErrorCode::INVALID_CONFIG
    );
    let ops = [set("retention.ms", "1")];
    let changes = controller.incremental_alter_configs(&topic_a(), &ops, true);
    assert!(changes.expect("valid").is_empty());
    assert_eq!(picture(&controller), before);
    let gone = ConfigResource::Topic("b".into());
    let result = alter(&mut controller, &gone, &ops);
    assert_eq!(code(result), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[test]
fn the_old_call_replaces_everything() {
    let mut controller = cluster(1);
    let new = with_config(topic("a", 1, 1), "retention.ms", "5");
    create(&mut controller, &with_config(new, "segment.ms", "6"));
    let configs = [("segment.ms".to_owned(), Some("7".to_owned()))];
    controller
        .alter_configs(&topic_a(), &configs, false)
        .expect("replaced");
    let config = log_config(&controller);
    assert_eq!((config.segment_ms, config.retention_ms), (7, 604_800_000));
    let null = [("segment.ms".to_owned(), None)];
    let result = controller.alter_configs(&topic_a(), &null, false);
    assert_eq!(code(result), ErrorCode::INVALID_CONFIG);
}

#[test]
fn brokers() {
    let mut controller = cluster(3);
    create(&mut controller, &topic("a", 1, 1));
    let (one, all) = (
        ConfigResource::Broker(Some(1)),
        ConfigResource::Broker(None),
    );
    assert_eq!(
        find(&controller, &one, "node.id").value.as_deref(),
        Some("1")
    );
    let factor = find(&controller, &one, "offsets.topic.replication.factor");
    assert_eq!(factor.value.as_deref(), Some("3"));
    let simulated = find(&controller, &one, "copart.replication.simulated");
    assert_eq!(
        (simulated.value.as_deref(), simulated.read_only),
        (Some("true"), true)
    );
    assert!(
        controller
            .describe_configs(&all)
            .expect("described")
            .is_empty()
    );

    for (name, value) in [
        ("node.id", "2"),
        ("num.partitions", "2"),
        ("copart.replication.simulated", "false"),
        ("log.retention.ms", "long"),
        ("log.segment.bytes", "5"),
        ("compression.type", "zstd"),
        ("no.such", "1"),
    ] {
        let result = alter(&mut controller, &all, &[set(name, value)]);
        assert_eq!(code(result), ErrorCode::INVALID_CONFIG, "{name}={value}");
    }
    let result = alter(&mut controller, &one, &[set("log.retention.ms", "5")]);
    let error = result.expect_err("nodes share logs");
    assert!(error.message.contains("share their logs"), "{error}");
    let nine = ConfigResource::Broker(Some(9));
    let result = alter(&mut controller, &nine, &[]);
    assert_eq!(code(result), ErrorCode::BROKER_ID_NOT_REGISTERED);

    alter(&mut controller, &all, &[set("message.max.bytes", "2000")]).expect("set");
    assert_eq!(
        controller.describe_configs(&all).expect("described").len(),
        1
    );
    let entry = find(&controller, &one, "message.max.bytes");
    assert_eq!(entry.value.as_deref(), Some("2000"));
    assert_eq!(log_config(&controller).max_message_bytes, 2000);
}

#[test]
fn the_only_node_may_have_its_own() {
    let mut controller = cluster(1);
    create(&mut controller, &topic("a", 1, 1));
    let one = ConfigResource::Broker(Some(1));
    alter(&mut controller, &one, &[set("log.retention.ms", "5")]).expect("set");
    assert_eq!(log_config(&controller).retention_ms, 5);
    let entry = find(&controller, &topic_a(), "retention.ms");
    assert_eq!(entry.source, ConfigSource::DynamicBroker);
    let factor = find(&controller, &one, "offsets.topic.replication.factor");
    assert_eq!(
        factor.value.as_deref(),
        Some("1"),
        "no more than there are nodes"
    );
    assert_eq!(
        controller.broker_config().offsets_topic_replication_factor,
        1
    );
}

#[test]
fn groups() {
    let mut controller = cluster(1);
    let group = ConfigResource::Group("g".into());
    let changes = alter(
        &mut controller,
        &group,
        &[set("consumer.session.timeout.ms", "50000")],
    );
    assert_eq!(
        changes.expect("set"),
        [Change::GroupConfigChanged { group: "g".into() }]
    );
    let entry = find(&controller, &group, "consumer.session.timeout.ms");
    assert_eq!(entry.value.as_deref(), Some("50000"));
    assert_eq!(entry.source, ConfigSource::DynamicGroup);
    for (name, value) in [
        ("consumer.session.timeout.ms", "1"),
        ("consumer.session.timeout.ms", "99999"),
        ("consumer.heartbeat.interval.ms", "99"),
        ("share.auto.offset.reset", "middle"),
        ("no.such", "1"),
    ] {
        let result = alter(&mut controller, &group, &[set(name, value)]);
        assert_eq!(code(result), ErrorCode::INVALID_CONFIG, "{name}={value}");
    }
}

#[test]
fn what_syncs_is_asked_for_needs_a_durability_that_does() {
    let new = with_config(topic("a", 1, 1), "flush.ms", "1000");
    create(&mut cluster(1), &new);
    let mut options = options(1);
    options.durability = Durability::Process;
    let mut controller = open(&disk(), options).expect("opens");
    let error = controller.create_topic(&new, false).expect_err("refused");
    assert!(error.message.contains("--durability disk"), "{error}");
}

#[test]
fn a_broker_is_not_started_with_what_it_cannot_honour() {
    for (name, value) in [
        ("num.partitions", "0"),
        ("num.partitons", "1"),
        ("listeners", "PLAINTEXT://:1"),
        ("log.roll.jitter.hours", "1"),
    ] {
        let mut options = options(1);
        options.configs.insert(name.into(), value.into());
        let error = open(&disk(), options).expect_err("refused");
        assert_eq!(error.kind(), crate::ErrorKind::InvalidConfig);
        assert!(error.to_string().contains(name), "{error}");
    }
}
