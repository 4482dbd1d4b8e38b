//! Topics and partitions: making and removing them.

use super::*;

#[test]
fn defaults_and_counts() {
    let mut controller = cluster(3);
    let (made, changes) = controller
        .create_topic(&NewTopic::named("a"), false)
        .expect("created");
    assert_eq!(made.partitions.len(), 1);
    assert_eq!(made.partitions[0].replicas.len(), 1);
    assert_eq!(
        changes,
        [Change::PartitionCreated {
            topic: "a".into(),
            id: made.id,
            partition: 0
        }]
    );
    let made = create(&mut controller, &topic("b", 8, 3));
    assert_eq!(made.partitions.len(), 8);
    for it in &made.partitions {
        assert_eq!(it.replicas.len(), 3);
        assert_eq!(it.leader, it.replicas.first().copied());
        assert_eq!(it.isr, it.replicas);
        assert_eq!((it.leader_epoch, it.partition_epoch), (0, 0));
    }
    let by_id = controller.topic_by_id(made.id).expect("found");
    assert_eq!(by_id.name, "b");
    let names: Vec<_> = controller.topics().map(|topic| &topic.name).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(!made.internal());
    assert!(create(&mut controller, &NewTopic::named("__consumer_offsets")).internal());
}

#[test]
fn started_defaults_count() {
    let mut options = options(3);
    for (name, value) in [("num.partitions", "4"), ("default.replication.factor", "2")] {
        options.configs.insert(name.into(), value.into());
    }
    let mut controller = open(&disk(), options).expect("opens");
    let made = create(&mut controller, &NewTopic::named("a"));
    assert_eq!(
        (made.partitions.len(), made.partitions[0].replicas.len()),
        (4, 2)
    );
}

#[test]
fn what_is_refused() {
    let mut controller = cluster(3);
    create(&mut controller, &topic("a.b", 1, 1));
    let mut refused = |new: &NewTopic| code(controller.create_topic(new, false));
    assert_eq!(
        refused(&topic("a b", 1, 1)),
        ErrorCode::INVALID_TOPIC_EXCEPTION
    );
    assert_eq!(
        refused(&topic("a_b", 1, 1)),
        ErrorCode::INVALID_TOPIC_EXCEPTION
    );
    assert_eq!(
        refused(&topic("a.b", 1, 1)),
        ErrorCode::TOPIC_ALREADY_EXISTS
    );
    for factor in [0, -2, 4, i16::MAX, i16::MIN] {
        let wrong = ErrorCode::INVALID_REPLICATION_FACTOR;
        assert_eq!(refused(&topic("c", 1, factor)), wrong, "{factor}");
    }
    for count in [0, -2, i32::MIN] {
        assert_eq!(
            refused(&topic("c", count, 1)),
            ErrorCode::INVALID_PARTITIONS
        );
    }
    for count in [10_001, i32::MAX] {
        assert_eq!(refused(&topic("c", count, 1)), ErrorCode::POLICY_VIOLATION);
    }
    let config = |name, value| with_config(topic("c", 1, 1), name, value);
    for (name, value) in [
        ("no.such.setting", "1"),
        ("retention.ms", "soon"),
        ("retention.ms", "-2"),
        ("segment.bytes", "1000"),
        ("cleanup.policy", "shred"),
        ("cleanup.policy", "delete,delete"),
        ("remote.storage.enable", "true"),
        ("compression.type", "gzip"),
        ("min.insync.replicas", "0"),
        ("min.cleanable.dirty.ratio", "1.5"),
    ] {
        assert_eq!(
            refused(&config(name, value)),
            ErrorCode::INVALID_CONFIG,
            "{name}={value}"
        );
    }
    let mut null = topic("c", 1, 1);
    null.configs.push(("retention.ms".into(), None));
    assert_eq!(refused(&null), ErrorCode::INVALID_CONFIG);
    assert_eq!(controller.topics().count(), 1);
}

#[test]
fn a_wrong_name_is_answered_with_the_right_one() {
    let mut controller = cluster(1);
    let new = with_config(topic("a", 1, 1), "retension.ms", "1");
    let error = controller.create_topic(&new, false).expect_err("refused");
    assert!(error.message.contains("is retention.ms meant?"), "{error}");
}

#[test]
fn manual_assignments() {
    let mut controller = cluster(3);
    controller.set_node_running(3, false).expect("stopped");
    let assigned = |replicas: &[&[i32]]| NewTopic {
        assignments: (0..).zip(replicas.iter().map(|it| it.to_vec())).collect(),
        ..NewTopic::named("a")
    };
    for wrong in [
        &[&[][..]][..],
        &[&[1, 1]],
        &[&[1, 9]],
        &[&[3]],
        &[&[1, 2], &[1]],
    ] {
        let result = controller.create_topic(&assigned(wrong), false);
        assert_eq!(
            code(result),
            ErrorCode::INVALID_REPLICA_ASSIGNMENT,
            "{wrong:?}"
        );
    }
    let mut gap = assigned(&[&[1], &[2]]);
    gap.assignments.remove(&0);
    let result = controller.create_topic(&gap, false);
    assert_eq!(code(result), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
    let mut both = assigned(&[&[1]]);
    both.partitions = 1;
    assert_eq!(
        code(controller.create_topic(&both, false)),
        ErrorCode::INVALID_REQUEST
    );

    let made = create(&mut controller, &assigned(&[&[3, 2], &[1, 2]]));
    assert_eq!(made.partitions[0].replicas, [3, 2]);
    assert_eq!(made.partitions[0].isr, [2], "node 3 does not run");
    assert_eq!(made.partitions[0].leader, Some(2));
    assert_eq!(made.partitions[1].leader, Some(1));
}

#[test]
fn validate_only_changes_nothing() {
    let mut controller = cluster(3);
    let end = controller.metadata_end_offset();
    let new = with_config(topic("a", 5, 2), "retention.ms", "5");
    let (would_be, changes) = controller.create_topic(&new, true).expect("valid");
    assert_eq!((would_be.partitions.len(), changes.len()), (5, 0));
    assert_eq!(
        would_be.config.log_config(&Default::default()).retention_ms,
        5
    );
    assert!(would_be.id.is_zero());
    assert_eq!(controller.topics().count(), 0);
    create(&mut controller, &topic("b", 1, 1));
    let before = controller.metadata_end_offset();
    assert!(before > end);
    controller
        .create_partitions("b", 4, None, true)
        .expect("valid");
    assert_eq!(controller.metadata_end_offset(), before);
    assert_eq!(controller.topic("b").expect("there").partitions.len(), 1);
}

#[test]
fn a_topic_made_again_is_another_one() {
    let mut controller = cluster(1);
    let new = with_config(topic("a", 2, 1), "retention.ms", "5");
    let first = create(&mut controller, &new);
    let changes = controller.delete_topic(first.id).expect("deleted");
    assert_eq!(changes.len(), 2);
    assert!(matches!(
        &changes[1],
        Change::PartitionDeleted { partition: 1, .. }
    ));
    assert_eq!(
        code(controller.delete_topic(first.id)),
        ErrorCode::UNKNOWN_TOPIC_ID
    );
    assert!(controller.topic("a").is_none() && controller.topic_by_id(first.id).is_none());
    let second = create(&mut controller, &topic("a", 1, 1));
    assert_ne!(first.id, second.id);
    assert!(second.overrides.is_empty(), "settings go with the topic");
}

#[test]
fn deleting_can_be_forbidden() {
    let mut options = options(1);
    options
        .configs
        .insert("delete.topic.enable".into(), "false".into());
    let mut controller = open(&disk(), options).expect("opens");
    let made = create(&mut controller, &topic("a", 1, 1));
    assert_eq!(
        code(controller.delete_topic(made.id)),
        ErrorCode::TOPIC_DELETION_DISABLED
    );
}

#[test]
fn partitions_are_added() {
    let mut controller = cluster(3);
    let made = create(&mut controller, &topic("a", 2, 2));
    for count in [-1, 0, 1, 2] {
        let result = controller.create_partitions("a", count, None, false);
        assert_eq!(code(result), ErrorCode::INVALID_PARTITIONS, "{count}");
    }
    let result = controller.create_partitions("a", i32::MAX, None, false);
    assert_eq!(code(result), ErrorCode::POLICY_VIOLATION);
    let result = controller.create_partitions("b", 3, None, false);
    assert_eq!(code(result), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    for wrong in [
        &[][..],
        &[vec![1]],
        &[vec![1, 1]],
        &[vec![1, 2], vec![1, 2]],
    ] {
        let result = controller.create_partitions("a", 3, Some(wrong), false);
        assert_eq!(
            code(result),
            ErrorCode::INVALID_REPLICA_ASSIGNMENT,
            "{wrong:?}"
        );
    }
    let changes = controller
        .create_partitions("a", 3, Some(&[vec![3, 1]]), false)
        .expect("added");
    assert_eq!(
        changes,
        [Change::PartitionCreated {
            topic: "a".into(),
            id: made.id,
            partition: 2
        }]
    );
    controller
        .create_partitions("a", 7, None, false)
        .expect("added");
    let after = controller.topic("a").expect("there");
    assert_eq!(after.partitions.len(), 7);
    assert_eq!(after.partitions[2].replicas, [3, 1]);
    assert!(after.partitions.iter().all(|it| it.replicas.len() == 2));
    assert_eq!(after.partitions[..2], made.partitions[..]);
}

/// As `kcat -L` shows it on a real cluster: five brokers, 24 replicas.
#[test]
fn eight_partitions_on_five_nodes() {
    let mut controller = cluster(5);
    let made = create(&mut controller, &topic("orders", 8, 3));
    let mut held = [0; 6];
    let mut led = [0; 6];
    for it in &made.partitions {
        for id in &it.replicas {
            held[*id as usize] += 1;
        }
        led[it.leader.expect("a leader") as usize] += 1;
    }
    assert_eq!(held.iter().sum::<i32>(), 24);
    assert!(
        held[1..].iter().all(|count| (3..=7).contains(count)),
        "{held:?}"
    );
    assert!(
        led[1..].iter().all(|count| (1..=2).contains(count)),
        "{led:?}"
    );
}
