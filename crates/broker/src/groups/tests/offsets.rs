//! Offsets: who may commit, and when they expire.

use copart_protocol::messages::offset_commit_key::OffsetCommitKey;
use copart_protocol::messages::offset_commit_value::OffsetCommitValue;
use copart_protocol::{ErrorCode, Uuid};

use super::super::commits::{Commit, Committer, FetchTopic};
use super::super::env::Cluster;
use super::super::record::Record;
use super::{Bench, join_request, sync_request};

const NOBODY: Committer<'_> = Committer {
    member_id: Some(""),
    instance: None,
    epoch: -1,
    version: 9,
};

fn commit(bench: &mut Bench, by: Committer<'_>, offset: i64) -> Result<(), ErrorCode> {
    commit_for(bench, by, -1, offset)
}

fn commit_for(
    bench: &mut Bench,
    by: Committer<'_>,
    retention_ms: i64,
    offset: i64,
) -> Result<(), ErrorCode> {
    let commit = Commit {
        topic: "t".to_owned(),
        topic_id: bench.cluster.topic("t").expect("there").id,
        partition: 0,
        offset,
        leader_epoch: -1,
        metadata: String::new(),
    };
    let committed = bench
        .act(|coordinator, input| coordinator.commit(input, "g", by, retention_ms, vec![commit]));
    committed
        .map_err(|error| error.code)
        .and_then(|codes| codes[0].ok())
}

fn fetch(bench: &Bench) -> Option<i64> {
    let topic = FetchTopic {
        name: "t".to_owned(),
        id: bench.cluster.topic("t").expect("there").id,
        partitions: vec![0],
    };
    let by = Committer {
        member_id: None,
        ..NOBODY
    };
    let fetched = bench.coordinator.fetch("g", by, Some(&[topic]), true);
    let mut fetched = fetched.expect("anybody may");
    let (_, committed) = fetched.remove(0).partitions.remove(0);
    committed.expect("no transaction").map(|it| it.offset)
}

const WEEK_MS: u64 = 7 * 24 * 3_600_000;

#[test]
fn only_members_of_the_generation_commit() {
    let mut bench = Bench::new(&[]);
    assert_eq!(commit(&mut bench, NOBODY, 1), Ok(()));
    let joined = bench.join_now(3, &join_request("", &["range"]));
    let member = Committer {
        member_id: Some(&joined.member_id),
        epoch: joined.generation_id,
        ..NOBODY
    };
    // It knows of the generation, and not yet what it has in it.
    assert_eq!(
        commit(&mut bench, member, 2),
        Err(ErrorCode::REBALANCE_IN_PROGRESS)
    );
    bench.sync(sync_request(&joined, &[]));
    assert_eq!(commit(&mut bench, member, 3), Ok(()));
    assert_eq!(
        commit(&mut bench, NOBODY, 4),
        Err(ErrorCode::UNKNOWN_MEMBER_ID)
    );
    let older = Committer { epoch: 0, ..member };
    assert_eq!(
        commit(&mut bench, older, 5),
        Err(ErrorCode::ILLEGAL_GENERATION)
    );
    let stranger = Committer {
        member_id: Some("x"),
        ..member
    };
    assert_eq!(
        commit(&mut bench, stranger, 6),
        Err(ErrorCode::UNKNOWN_MEMBER_ID)
    );
    let fenced = Committer {
        instance: Some("i"),
        ..member
    };
    assert_eq!(
        commit(&mut bench, fenced, 6),
        Err(ErrorCode::UNKNOWN_MEMBER_ID)
    );
    assert_eq!(fetch(&bench), Some(3));
    // Of a group that is not there, a generation cannot be.
    let mut bench = Bench::new(&[]);
    assert_eq!(
        commit(&mut bench, member, 1),
        Err(ErrorCode::GROUP_ID_NOT_FOUND)
    );
    let older = Committer {
        version: 8,
        ..member
    };
    assert_eq!(
        commit(&mut bench, older, 1),
        Err(ErrorCode::ILLEGAL_GENERATION)
    );
    assert_eq!(fetch(&bench), None);
}

#[test]
fn offsets_expire_a_week_after_the_group_is_empty() {
    let mut bench = Bench::new(&[]);
    bench.act(|coordinator, input| coordinator.loaded(input));
    let joined = bench.join_now(3, &join_request("", &["range"]));
    bench.sync(sync_request(&joined, &[]));
    let member = Committer {
        member_id: Some(&joined.member_id),
        epoch: joined.generation_id,
        ..NOBODY
    };
    assert_eq!(commit(&mut bench, member, 1), Ok(()));
    // As long as it consumes the topic, for ever.
    for _ in 0..WEEK_MS / 9_000 * 2 {
        bench.pass(9_000);
        bench.beat(&joined.member_id, 1);
    }
    assert_eq!(fetch(&bench), Some(1));
    bench.leave(&joined.member_id, None);
    bench.pass(WEEK_MS - 1_000_000);
    assert_eq!(fetch(&bench), Some(1));
    bench.pass(2_000_000);
    assert_eq!(fetch(&bench), None);
    assert_eq!(bench.state(), "Dead", "nothing is left of the group");
    bench.restart();
    assert_eq!((fetch(&bench), bench.state()), (None, "Dead".to_owned()));
}

#[test]
fn offsets_without_a_group_expire_after_their_commit() {
    let mut bench = Bench::new(&[("offsets.retention.minutes", "1")]);
    bench.act(|coordinator, input| coordinator.loaded(input));
    assert_eq!(commit(&mut bench, NOBODY, 1), Ok(()));
    bench.pass(590_000);
    assert_eq!(commit(&mut bench, NOBODY, 2), Ok(()));
    bench.pass(20_000);
    assert_eq!(fetch(&bench), Some(2));
    bench.pass(600_000);
    assert_eq!(fetch(&bench), None);
    // A client of old says how long.
    assert_eq!(commit_for(&mut bench, NOBODY, 3_600_000, 3), Ok(()));
    bench.restart();
    bench.pass(1_800_000);
    assert_eq!(fetch(&bench), Some(3));
    bench.pass(2_400_000);
    assert_eq!(fetch(&bench), None);
}

#[test]
fn a_topic_of_the_same_name_begins_anew() {
    let mut bench = Bench::new(&[]);
    assert_eq!(commit(&mut bench, NOBODY, 1), Ok(()));
    let old = bench.cluster.topic("t").expect("there").id;
    bench.cluster.topics.get_mut("t").expect("there").id = Uuid([9; 16]);
    assert_eq!(fetch(&bench), None);
    assert_eq!(commit(&mut bench, NOBODY, 2), Ok(()));
    // The news of the deletion come late.
    bench.act(|coordinator, _| coordinator.topic_deleted("t", old));
    assert_eq!(fetch(&bench), Some(2));
    bench.act(|coordinator, _| coordinator.topic_deleted("t", Uuid([9; 16])));
    assert_eq!(fetch(&bench), None);
    bench.restart();
    assert_eq!(fetch(&bench), None);
}

#[test]
fn offsets_of_open_transactions_are_not_stable() {
    let mut bench = Bench::new(&[]);
    assert_eq!(commit(&mut bench, NOBODY, 1), Ok(()));
    let key = OffsetCommitKey {
        group: "g".to_owned(),
        topic: "t".to_owned(),
        partition: 0,
    };
    let value = OffsetCommitValue {
        offset: 2,
        ..Default::default()
    };
    let now = bench.now();
    bench
        .coordinator
        .apply(Record::OffsetCommit(key, Some(value)), Some(77), now);
    let topic = FetchTopic {
        name: "t".to_owned(),
        id: Uuid::ZERO,
        partitions: vec![0],
    };
    let by = Committer {
        member_id: None,
        ..NOBODY
    };
    let one = |bench: &Bench, stable| {
        let fetched = bench
            .coordinator
            .fetch("g", by, Some(std::slice::from_ref(&topic)), stable);
        let committed = fetched
            .expect("anybody may")
            .remove(0)
            .partitions
            .remove(0)
            .1;
        committed.map(|it| it.map(|it| it.offset))
    };
    assert_eq!(one(&bench, true), Err(ErrorCode::UNSTABLE_OFFSET_COMMIT));
    assert_eq!(one(&bench, false), Ok(Some(1)));
    bench.coordinator.transaction_ended(77, true);
    assert_eq!(one(&bench, true), Ok(Some(2)));
}

#[test]
fn what_is_consumed_is_not_deleted() {
    let mut bench = Bench::new(&[]);
    let topics = [("t".to_owned(), vec![0])];
    let delete = |bench: &mut Bench| {
        let deleted = bench.act(|coordinator, _| coordinator.delete_offsets("g", &topics));
        deleted.map_or_else(|error| error.code, |codes| codes[0][0])
    };
    assert_eq!(delete(&mut bench), ErrorCode::GROUP_ID_NOT_FOUND);
    let joined = bench.join_now(3, &join_request("", &["range"]));
    bench.sync(sync_request(&joined, &[]));
    assert_eq!(delete(&mut bench), ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC);
    let removed = bench.act(|coordinator, _| coordinator.delete("g"));
    assert_eq!(
        removed.expect_err("it has members").code,
        ErrorCode::NON_EMPTY_GROUP
    );
    bench.leave(&joined.member_id, None);
    assert_eq!(commit(&mut bench, NOBODY, 1), Ok(()));
    assert_eq!(delete(&mut bench), ErrorCode::NONE);
    assert_eq!(fetch(&bench), None);
    assert_eq!(commit(&mut bench, NOBODY, 1), Ok(()));
    bench
        .act(|coordinator, _| coordinator.delete("g"))
        .expect("it is empty");
    bench.restart();
    assert_eq!((fetch(&bench), bench.state()), (None, "Dead".to_owned()));
}
