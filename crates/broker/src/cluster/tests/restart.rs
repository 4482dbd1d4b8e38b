//! What a restart keeps.

use super::*;
use crate::ErrorKind;
use crate::configs::ConfigOp;
use crate::log::Durability;

/// Something of everything.
fn busy(controller: &mut Controller) {
    let new = with_config(topic("a", 3, 2), "retention.ms", "5");
    create(
        controller,
        &with_config(new, "cleanup.policy", "compact,delete"),
    );
    let gone = create(controller, &topic("gone", 2, 1));
    create(controller, &on("moving", &[1, 2]));
    controller.delete_topic(gone.id).expect("deleted");
    create(controller, &topic("gone", 1, 1));
    controller
        .create_partitions("a", 5, None, false)
        .expect("added");
    controller.set_node_running(2, false).expect("stopped");
    let wish = Reassignment {
        topic: "moving".into(),
        partition: 0,
        replicas: Some(vec![3, 2]),
    };
    let (results, _) = controller.reassign(&[wish], true).expect("written");
    assert_eq!(results, [Ok(())]);
    controller.set_isr("a", 0, &[1]).ok();
    let set = |name: &str, value: &str| [(name.to_owned(), ConfigOp::Set(value.to_owned()))];
    for (resource, ops) in [
        (
            ConfigResource::Broker(None),
            set("log.retention.bytes", "777"),
        ),
        (
            ConfigResource::Group("g".into()),
            set("share.auto.offset.reset", "earliest"),
        ),
    ] {
        controller
            .incremental_alter_configs(&resource, &ops, false)
            .expect("set");
    }
    controller.next_producer_id().expect("an id");
}

#[test]
fn everything_comes_back() {
    let files = disk();
    let mut controller = open(&files, options(3)).expect("opens");
    busy(&mut controller);
    let before = picture(&controller);
    assert!(before.contains("777") && before.contains("earliest"));
    drop(controller);
    // Node 2 stays out, or it would come back to ISRs.
    let mut only = options(3);
    only.nodes.remove(1);
    let mut without = open(&files, only).expect("opens");
    assert!(without.node(2).is_none());
    // Of the cluster as it was, only that node is missing.
    let expected = before.replace(", Node { id: 2, rack: None, running: false }", "");
    assert_eq!(picture(&without), expected);
    let end = without.metadata_end_offset();
    assert_eq!(
        without.next_producer_id().expect("an id"),
        1000,
        "a new block"
    );
    drop(without);
    let mut only = options(3);
    only.nodes.remove(1);
    let again = open(&files, only).expect("opens");
    assert_eq!(picture(&again), expected);
    assert_eq!(
        again.metadata_end_offset(),
        end + 1,
        "a start writes nothing"
    );
}

#[test]
fn nodes_that_were_stopped_run_again() {
    let files = disk();
    let mut controller = open(&files, options(3)).expect("opens");
    create(&mut controller, &on("a", &[2, 3, 1]));
    create(&mut controller, &on("alone", &[2]));
    controller.set_node_running(2, false).expect("stopped");
    assert_eq!(state(&controller, "alone"), (None, vec![2], 1, 1));
    drop(controller);
    let controller = open(&files, options(3)).expect("opens");
    assert!(controller.nodes().iter().all(|node| node.running));
    assert_eq!(state(&controller, "a"), (Some(3), vec![3, 1, 2], 1, 2));
    assert_eq!(state(&controller, "alone"), (Some(2), vec![2], 2, 2));
}

#[test]
fn nodes_come_and_go() {
    let files = disk();
    let mut controller = open(&files, options(2)).expect("opens");
    create(&mut controller, &on("a", &[2, 1]));
    drop(controller);
    let mut controller = open(&files, options(1)).expect("opens");
    assert_eq!(controller.nodes().len(), 1);
    assert_eq!(state(&controller, "a"), (Some(1), vec![1], 1, 1));
    assert_eq!(partition(&controller, "a").offline(controller.nodes()), [2]);
    let result = controller.create_topic(&on("b", &[2]), false);
    assert_eq!(code(result), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
    drop(controller);
    let mut more = options(3);
    more.nodes[2].rack = Some("r".into());
    let controller = open(&files, more.clone()).expect("opens");
    assert_eq!(controller.nodes().len(), 3);
    drop(controller);
    more.nodes[2].rack = Some("s".into());
    let controller = open(&files, more).expect("opens");
    assert_eq!(
        controller.node(3).expect("there").rack.as_deref(),
        Some("s")
    );
}

#[test]
fn random_ids_are_random() {
    let unseeded = || {
        let mut options = options(1);
        options.seed = None;
        let mut controller = open(&disk(), options).expect("opens");
        create(&mut controller, &topic("a", 1, 1)).id
    };
    assert_ne!(unseeded(), unseeded());
}

#[test]
fn producer_ids_are_never_given_twice() {
    let files = disk();
    let mut last = -1;
    for life in 0..5 {
        let mut controller = open(&files, options(1)).expect("opens");
        for _ in 0..1 + life * 700 {
            let id = controller.next_producer_id().expect("an id");
            assert!(id > last, "{id} after {last}");
            last = id;
        }
    }
}

#[test]
fn options_that_make_no_sense() {
    let refuse = |change: fn(&mut Options)| {
        let mut options = options(2);
        change(&mut options);
        let error = open(&disk(), options).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
    };
    refuse(|options| options.nodes.clear());
    refuse(|options| options.nodes[0].id = -1);
    refuse(|options| options.nodes[0].id = 2);
}

#[test]
fn a_full_disk_refuses_changes_and_keeps_what_is_there() {
    for durability in [Durability::Disk, Durability::Process] {
        let files = disk();
        let mut options = options(1);
        options.durability = durability;
        let mut controller = open(&files, options.clone()).expect("opens");
        create(&mut controller, &topic("a", 1, 1));
        let before = picture(&controller);
        files.set_free_space(Some(0));
        let error = controller
            .create_topic(&topic("b", 1, 1), false)
            .expect_err("no space");
        assert_eq!(error.code, ErrorCode::KAFKA_STORAGE_ERROR);
        assert_eq!(picture(&controller), before);
        files.set_free_space(None);
        create(&mut controller, &topic("b", 1, 1));
        let after = picture(&controller);
        drop(controller);
        assert_eq!(picture(&open(&files, options).expect("opens")), after);
    }
}

#[test]
fn a_failed_sync_stops_changes() {
    let files = disk();
    let mut controller = open(&files, options(1)).expect("opens");
    create(&mut controller, &topic("a", 1, 1));
    files.fail_syncs(1);
    let result = controller.create_topic(&topic("b", 1, 1), false);
    assert_eq!(code(result), ErrorCode::KAFKA_STORAGE_ERROR);
    let result = controller.create_topic(&topic("c", 1, 1), false);
    assert_eq!(code(result), ErrorCode::KAFKA_STORAGE_ERROR);
    assert!(
        controller.topic("b").is_none(),
        "not acknowledged, not applied"
    );
    assert!(controller.topic("a").is_some(), "reads go on");
}
