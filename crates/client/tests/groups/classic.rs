//! What only the classic protocol has: members that assign, and rebalances that take everything or only what moves.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::protocol::{ApiKey, ErrorCode};
use copart::{Assignor, Client, Consumer, GroupProtocol};
use copart_broker::Fault;

use crate::support::{
    TOPIC, all, broker, client, close, next, next_error, number, quick, settled, soon, take, write,
};

/// Each assignor alone, and lists of several.
const LISTS: [&[Assignor]; 6] = [
    &[Assignor::Range],
    &[Assignor::RoundRobin],
    &[Assignor::Sticky],
    &[Assignor::CooperativeSticky],
    &[Assignor::CooperativeSticky, Assignor::Range],
    &[Assignor::RoundRobin, Assignor::Sticky],
];

fn member(client: &Client, assignors: &[Assignor]) -> Consumer {
    let builder = quick(client, GroupProtocol::Classic).assignors(assignors.iter().copied());
    builder.build().expect("a consumer")
}

/// What has been revoked, and what was lost.
type Revoked = Arc<Mutex<Vec<i32>>>;

fn member_that_counts(client: &Client, assignors: &[Assignor]) -> (Consumer, Revoked, Revoked) {
    let (revoked, lost) = (Revoked::default(), Revoked::default());
    let into = |numbers: &Revoked| {
        let numbers = Arc::clone(numbers);
        move |rebalance: copart::Rebalance| {
            let partitions = rebalance.partitions().iter().map(|it| it.partition);
            numbers.lock().expect("no panic").extend(partitions);
            std::future::ready(())
        }
    };
    let builder = quick(client, GroupProtocol::Classic)
        .assignors(assignors.iter().copied())
        .on_revoked(into(&revoked))
        .on_lost(into(&lost));
    (builder.build().expect("a consumer"), revoked, lost)
}

fn numbers(consumer: &Consumer) -> BTreeSet<i32> {
    let assignment = consumer.assignment().into_iter();
    assignment.map(|it| it.partition).collect()
}

#[tokio::test]
async fn members_join_and_leave_with_each_assignor() {
    for assignors in LISTS {
        let broker = broker().topic(TOPIC, 6).start().await.expect("starts");
        let client = client(&broker).await;
        let mut one = member(&client, assignors);
        settled(&mut [&mut one], 6).await;
        let mut two = member(&client, assignors);
        settled(&mut [&mut one, &mut two], 6).await;
        let mut three = member(&client, assignors);
        settled(&mut [&mut one, &mut two, &mut three], 6).await;
        for consumer in [&one, &two, &three] {
            assert_eq!(consumer.assignment().len(), 2, "{assignors:?}");
        }
        for partition in 0..6 {
            write(&client, TOPIC, partition, 0..3).await;
        }
        let mut seen = Vec::new();
        while seen.len() < 18 {
            for consumer in [&mut one, &mut two, &mut three] {
                let batch = consumer.recv();
                if let Ok(batch) = tokio::time::timeout(Duration::from_millis(20), batch).await {
                    let batch = batch.expect("more").expect("a batch");
                    seen.extend(batch.records().map(|r| (r.partition(), number(r.value()))));
                    batch.done();
                }
            }
        }
        let distinct: BTreeSet<_> = seen.iter().copied().collect();
        assert_eq!(distinct, all(6, 0..3), "{assignors:?}");
        assert_eq!(seen.len(), 18, "nothing comes twice in a group that stands");
        close(two).await;
        settled(&mut [&mut one, &mut three], 6).await;
        // The leader leaves.
        close(one).await;
        settled(&mut [&mut three], 6).await;
        for partition in 0..6 {
            write(&client, TOPIC, partition, 3..4).await;
        }
        assert_eq!(take(&mut three, 6).await, all(6, 3..4), "{assignors:?}");
        close(three).await;
    }
}

#[tokio::test]
async fn cooperative_members_let_go_only_of_what_moves() {
    let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
    let client = client(&broker).await;
    let cooperative = [Assignor::CooperativeSticky];
    let (mut one, revoked, lost) = member_that_counts(&client, &cooperative);
    settled(&mut [&mut one], 4).await;
    let before = numbers(&one);
    let mut two = member(&client, &cooperative);
    settled(&mut [&mut one, &mut two], 4).await;
    let moved: BTreeSet<i32> = before.difference(&numbers(&one)).copied().collect();
    assert_eq!(moved.len(), 2);
    assert_eq!(numbers(&two), moved);
    let gone: BTreeSet<i32> = revoked.lock().expect("no panic").iter().copied().collect();
    assert_eq!(gone, moved, "what stays was not touched");
    assert_eq!(revoked.lock().expect("no panic").len(), 2);
    // A batch of one that stays is not disturbed by yet another member.
    let mut three = member(&client, &cooperative);
    settled(&mut [&mut one, &mut two, &mut three], 4).await;
    close(three).await;
    settled(&mut [&mut one, &mut two], 4).await;
    assert!(lost.lock().expect("no panic").is_empty());
    close(one).await;
    close(two).await;
}

#[tokio::test]
async fn a_cooperative_group_goes_on_while_batches_are_out() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    let cooperative = [Assignor::CooperativeSticky];
    let mut one = member(&client, &cooperative);
    settled(&mut [&mut one], 2).await;
    for partition in 0..2 {
        write(&client, TOPIC, partition, 0..1).await;
    }
    let batches = [next(&mut one).await, next(&mut one).await];
    let mut two = member(&client, &cooperative);
    // The next generation does not wait for them, but nobody is given what is out.
    soon("the next generation", async {
        while one.membership().is_none_or(|it| it.generation < 2) {
            let early = tokio::time::timeout(Duration::from_millis(20), two.recv()).await;
            assert!(early.is_err(), "{early:?}");
        }
    })
    .await;
    assert!(batches.iter().all(|batch| batch.is_valid()));
    assert!(two.assignment().is_empty());
    for batch in batches {
        batch.done();
    }
    settled(&mut [&mut one, &mut two], 2).await;
    close(one).await;
    close(two).await;
}

#[tokio::test]
async fn eager_members_let_go_of_everything() {
    let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
    let client = client(&broker).await;
    for assignors in [
        &[Assignor::Range][..],
        &[Assignor::CooperativeSticky, Assignor::Range],
    ] {
        let (mut one, revoked, lost) = member_that_counts(&client, assignors);
        settled(&mut [&mut one], 4).await;
        let mut two = member(&client, assignors);
        settled(&mut [&mut one, &mut two], 4).await;
        let gone: BTreeSet<i32> = revoked.lock().expect("no panic").iter().copied().collect();
        assert_eq!(gone, (0..4).collect(), "{assignors:?}");
        assert!(lost.lock().expect("no panic").is_empty());
        close(one).await;
        close(two).await;
    }
}

#[tokio::test]
async fn members_with_different_lists_share_what_they_have_in_common() {
    let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
    let client = client(&broker).await;
    let mut one = member(&client, &[Assignor::CooperativeSticky, Assignor::Range]);
    settled(&mut [&mut one], 4).await;
    let mut two = member(&client, &[Assignor::Range]);
    settled(&mut [&mut one, &mut two], 4).await;
    // Range deals out neighbours.
    let (first, second) = (numbers(&one), numbers(&two));
    assert!([first.clone(), second].contains(&BTreeSet::from([0, 1])));
    let mut three = member(&client, &[Assignor::RoundRobin]);
    let error = next_error(&mut three).await;
    let code = Some(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    assert_eq!(error.code(), code, "{error}");
    assert!(error.reason().contains("roundrobin"), "{error}");
    assert!(soon("over", three.recv()).await.is_none());
    close(one).await;
    close(two).await;
}

#[tokio::test]
async fn a_group_moves_to_the_consumer_protocol_and_back() {
    for assignors in [&[Assignor::Range][..], &[Assignor::CooperativeSticky]] {
        let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
        let client = client(&broker).await;
        let mut one = member(&client, assignors);
        let mut two = member(&client, assignors);
        settled(&mut [&mut one, &mut two], 4).await;
        for partition in 0..4 {
            write(&client, TOPIC, partition, 0..1).await;
        }
        // One after the other is restarted with the other protocol.
        let mut seen = BTreeSet::new();
        close(two).await;
        let consumer = |protocol| quick(&client, protocol).assignors(assignors.iter().copied());
        let build = |protocol| consumer(protocol).build().expect("a consumer");
        let mut two = build(GroupProtocol::Consumer);
        settled(&mut [&mut one, &mut two], 4).await;
        assert!(two.membership().expect("in").is_consumer_protocol);
        assert!(!one.membership().expect("in").is_consumer_protocol);
        close(one).await;
        let mut one = build(GroupProtocol::Consumer);
        settled(&mut [&mut one, &mut two], 4).await;
        for partition in 0..4 {
            write(&client, TOPIC, partition, 1..2).await;
        }
        while seen.len() < 4 {
            for consumer in [&mut one, &mut two] {
                let batch = consumer.recv();
                if let Ok(batch) = tokio::time::timeout(Duration::from_millis(20), batch).await {
                    let batch = batch.expect("more").expect("a batch");
                    let records = batch.records().map(|r| (r.partition(), number(r.value())));
                    seen.extend(records.filter(|(_, number)| *number == 1));
                    batch.done();
                }
            }
        }
        assert_eq!(seen, all(4, 1..2), "{assignors:?}");
        // And back.
        close(two).await;
        let mut two = build(GroupProtocol::Classic);
        settled(&mut [&mut one, &mut two], 4).await;
        close(one).await;
        settled(&mut [&mut two], 4).await;
        assert!(!two.membership().expect("in").is_consumer_protocol);
        let mut one = build(GroupProtocol::Classic);
        settled(&mut [&mut one, &mut two], 4).await;
        close(one).await;
        close(two).await;
    }
}

#[tokio::test]
async fn without_a_choice_the_consumer_protocol_is_taken_where_it_is() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    let mut one = quick(&client, GroupProtocol::Auto).build().expect("good");
    settled(&mut [&mut one], 2).await;
    assert!(one.membership().expect("in").is_consumer_protocol);
    close(one).await;
    // As a broker answers that does not have it, or that keeps a group a classic one.
    for code in [
        ErrorCode::UNSUPPORTED_VERSION,
        ErrorCode::GROUP_ID_NOT_FOUND,
    ] {
        broker.inject(
            ApiKey::ConsumerGroupHeartbeat,
            None,
            100,
            Fault::Error(code),
        );
        let mut one = quick(&client, GroupProtocol::Auto).build().expect("good");
        let mut two = quick(&client, GroupProtocol::Auto).build().expect("good");
        settled(&mut [&mut one, &mut two], 2).await;
        assert!(
            !one.membership().expect("in").is_consumer_protocol,
            "{code}"
        );
        close(two).await;
        settled(&mut [&mut one], 2).await;
        close(one).await;
        broker.clear_faults();
    }
}

#[tokio::test]
async fn a_group_gets_over_whatever_the_coordinator_answers() {
    let mut all = tokio::task::JoinSet::new();
    for assignor in [Assignor::Sticky, Assignor::CooperativeSticky] {
        for api in [ApiKey::JoinGroup, ApiKey::SyncGroup, ApiKey::Heartbeat] {
            all.spawn(gets_over(assignor, api));
        }
    }
    while let Some(done) = all.join_next().await {
        done.expect("no panic");
    }
}

async fn gets_over(assignor: Assignor, api: ApiKey) {
    for fault in [
        Fault::Disconnect,
        Fault::ApplyThenDisconnect,
        Fault::Error(ErrorCode::NOT_COORDINATOR),
        Fault::Error(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
        Fault::Error(ErrorCode::REBALANCE_IN_PROGRESS),
        Fault::Error(ErrorCode::UNKNOWN_MEMBER_ID),
        Fault::Error(ErrorCode::ILLEGAL_GENERATION),
    ] {
        let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
        let client = client(&broker).await;
        let mut one = member(&client, &[assignor]);
        settled(&mut [&mut one], 4).await;
        broker.inject(api, None, 3, fault);
        let mut two = member(&client, &[assignor]);
        settled(&mut [&mut one, &mut two], 4).await;
        close(two).await;
        settled(&mut [&mut one], 4).await;
        write(&client, TOPIC, 0, 0..1).await;
        let expected = [(0, 0)].into();
        assert_eq!(take(&mut one, 1).await, expected, "{api:?} {fault:?}");
        one.commit().await.expect("committed");
        close(one).await;
    }
}

#[tokio::test]
async fn two_members_with_the_same_instance_id_do_not_share() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    let build = || {
        let builder = quick(&client, GroupProtocol::Classic).instance_id("one");
        builder.build().expect("a consumer")
    };
    let mut first = build();
    settled(&mut [&mut first], 2).await;
    let mut second = build();
    let error = next_error(&mut first).await;
    assert_eq!(error.code(), Some(ErrorCode::FENCED_INSTANCE_ID), "{error}");
    assert!(soon("over", first.recv()).await.is_none());
    settled(&mut [&mut second], 2).await;
    close(second).await;
}
