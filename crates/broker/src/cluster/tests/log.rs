//! The metadata log's files: torn tails, damage, snapshots.

use std::path::PathBuf;

use super::*;
use crate::ErrorKind;
use crate::files::{File, Mode, read_small};

fn metadata_dir() -> PathBuf {
    dir().join(Controller::METADATA_DIR)
}

fn files_ending(files: &SimulatedFiles, suffix: &str) -> Vec<String> {
    let names = files.list(&metadata_dir()).expect("listed");
    names
        .into_iter()
        .filter(|name| name.ends_with(suffix))
        .collect()
}

fn file(files: &SimulatedFiles, name: &str) -> Arc<dyn File> {
    let path = metadata_dir().join(name);
    files.open(&path, Mode::Write).expect("opens")
}

fn flip(files: &SimulatedFiles, name: &str, at: u64) {
    let file = file(files, name);
    let mut byte = [0];
    file.read_at(&mut byte, at).expect("read");
    file.write_at(&[byte[0] ^ 1], at).expect("written");
}

const LOG: &str = "00000000000000000000.log";

#[test]
fn a_torn_tail_is_cut() {
    let files = disk();
    let mut options = options(1);
    // Nothing is promised beyond the file.
    options.durability = crate::log::Durability::Process;
    let mut controller = open(&files, options.clone()).expect("opens");
    create(&mut controller, &topic("a", 1, 1));
    let before = picture(&controller);
    let whole = file(&files, LOG).size().expect("a size");
    create(&mut controller, &topic("b", 40, 1));
    drop(controller);
    let end = file(&files, LOG).size().expect("a size");
    let content = read_small(&*files, &metadata_dir().join(LOG), 1 << 20)
        .expect("read")
        .expect("there");
    for cut in (whole..end).step_by(37).chain([end - 1]) {
        let log = file(&files, LOG);
        log.write_at(&content, 0).expect("written");
        log.set_size(cut).expect("cut");
        let controller = open(&files, options.clone()).expect("opens");
        assert_eq!(
            picture(&controller),
            before,
            "cut at {cut}: all of b is gone"
        );
        assert_eq!(controller.recovery().cut.is_some(), cut > whole);
    }
}

#[test]
fn damage_before_the_tail_is_reported_and_nothing_changed() {
    let files = disk();
    let mut controller = open(&files, options(1)).expect("opens");
    create(&mut controller, &topic("a", 1, 1));
    let whole = file(&files, LOG).size().expect("a size");
    create(&mut controller, &topic("b", 1, 1));
    drop(controller);
    for at in [20, whole - 1, whole + 70] {
        flip(&files, LOG, at);
        let error = open(&files, options(1)).expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        assert!(
            error.to_string().contains(Controller::METADATA_DIR),
            "{error}"
        );
        flip(&files, LOG, at);
        let controller = open(&files, options(1)).expect("whole again: nothing was cut");
        assert_eq!(controller.topics().count(), 2);
    }
}

fn with_snapshot(files: &Arc<SimulatedFiles>) -> String {
    let mut controller = open(files, options(3)).expect("opens");
    controller.set_worth_a_snapshot(2000);
    controller.next_producer_id().expect("an id");
    for round in 0..20 {
        let made = create(&mut controller, &topic("a", 10, 2));
        controller.delete_topic(made.id).expect("deleted");
        create(&mut controller, &topic(&format!("t{round}"), 1, 3));
    }
    controller.set_node_running(2, false).expect("stopped");
    create(&mut controller, &topic("last", 1, 1));
    picture(&controller)
}

#[test]
fn a_snapshot_takes_the_place_of_the_log() {
    let files = disk();
    let before = with_snapshot(&files);
    let snapshots = files_ending(&files, ".checkpoint");
    assert_eq!(snapshots.len(), 1, "{snapshots:?}");
    assert!(!files_ending(&files, ".log").contains(&LOG.to_owned()));
    let mut controller = open(&files, options(3)).expect("opens");
    // Node 2 runs again; all else is as it was.
    controller.set_node_running(2, false).expect("stopped");
    let epochs = |text: &str| {
        let mut text = text.to_owned();
        for number in 0..10 {
            text = text.replace(&format!("_epoch: {number}"), "_epoch");
        }
        text
    };
    assert_eq!(epochs(&picture(&controller)), epochs(&before));
    assert_eq!(controller.next_producer_id().expect("an id"), 1000);
}

#[test]
fn damage_in_a_snapshot_is_reported() {
    let files = disk();
    with_snapshot(&files);
    let name = files_ending(&files, ".checkpoint").remove(0);
    let size = file(&files, &name).size().expect("a size");
    for at in (0..size).step_by(97) {
        flip(&files, &name, at);
        let error = open(&files, options(3)).expect_err("a flipped bit");
        assert_eq!(error.kind(), ErrorKind::Damaged, "byte {at}: {error}");
        flip(&files, &name, at);
    }
    for size in [0, 60, size / 2, size - 1] {
        let content = read_small(&*files, &metadata_dir().join(&name), 1 << 20);
        let content = content.expect("read").expect("there");
        file(&files, &name).set_size(size).expect("cut");
        let error = open(&files, options(3)).expect_err("cut");
        assert_eq!(error.kind(), ErrorKind::Damaged, "{size} bytes: {error}");
        file(&files, &name).write_at(&content, 0).expect("written");
    }
    open(&files, options(3)).expect("whole again");
    files.remove(&metadata_dir().join(&name)).expect("removed");
    let error = open(&files, options(3)).expect_err("missing");
    assert!(error.to_string().contains("is missing"), "{error}");
}
