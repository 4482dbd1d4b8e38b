//! Members come, go, and die.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::protocol::ErrorCode;
use copart::{Client, Consumer, ErrorKind, GroupProtocol};
use copart_broker::Broker;

use crate::support::{
    GROUP, PROTOCOLS, TOPIC, all, broker, client, close, committed, consumer, next, number, quick,
    settled, soon, take, write,
};

#[tokio::test]
async fn a_group_of_one_reads_everything_and_goes_on_where_it_was() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 3).start().await.expect("starts");
        let client = client(&broker).await;
        for partition in 0..3 {
            write(&client, TOPIC, partition, 0..4).await;
        }
        let mut first = consumer(&client, protocol);
        assert_eq!(take(&mut first, 12).await, all(3, 0..4), "{protocol:?}");
        assert_eq!(first.assignment().len(), 3);
        let membership = first.membership().expect("a member");
        let is_consumer_protocol = protocol == GroupProtocol::Consumer;
        assert_eq!(membership.is_consumer_protocol, is_consumer_protocol);
        assert!(membership.generation > 0);
        assert_eq!(first.lag((TOPIC, 0)), Some(0));
        close(first).await;

        for partition in 0..3 {
            write(&client, TOPIC, partition, 4..6).await;
        }
        let mut second = consumer(&client, protocol);
        assert_eq!(take(&mut second, 6).await, all(3, 4..6), "{protocol:?}");
        // Another group has the whole topic.
        let other = client.consumer("audit").topic(TOPIC).protocol(protocol);
        let mut other = other.build().expect("a consumer");
        assert_eq!(take(&mut other, 18).await, all(3, 0..6));
        close(second).await;
        close(other).await;
    }
}

async fn join_and_leave(protocol: GroupProtocol, assignor: &str) {
    let broker = broker().topic(TOPIC, 6).start().await.expect("starts");
    let client = client(&broker).await;
    let build = || {
        let builder = quick(&client, protocol).server_assignor(assignor);
        builder.build().expect("a consumer")
    };
    let mut one = build();
    settled(&mut [&mut one], 6).await;
    let mut two = build();
    settled(&mut [&mut one, &mut two], 6).await;
    let mut three = build();
    settled(&mut [&mut one, &mut two, &mut three], 6).await;
    for partition in 0..6 {
        write(&client, TOPIC, partition, 0..3).await;
    }
    let mut seen = BTreeSet::new();
    let mut count = 0;
    while seen.len() < 18 {
        for consumer in [&mut one, &mut two, &mut three] {
            let batch = consumer.recv();
            if let Ok(batch) = tokio::time::timeout(Duration::from_millis(20), batch).await {
                let batch = batch.expect("more").expect("a batch");
                seen.extend(batch.records().map(|r| (r.partition(), number(r.value()))));
                count += batch.len();
                batch.done();
            }
        }
    }
    assert_eq!(seen, all(6, 0..3));
    assert_eq!(count, 18, "nothing comes twice in a group that stands");
    close(two).await;
    settled(&mut [&mut one, &mut three], 6).await;
    for partition in 0..6 {
        let committed = committed(&one, partition).await.map(|it| it.offset);
        // What the others have is committed by them now and then.
        assert!(committed.is_none_or(|offset| offset == 3 || offset == 0));
    }
    close(one).await;
    settled(&mut [&mut three], 6).await;
    close(three).await;
}

#[tokio::test]
async fn members_join_and_leave_by_the_consumer_protocol() {
    for assignor in ["uniform", "range"] {
        join_and_leave(GroupProtocol::Consumer, assignor).await;
    }
}

/// A consumer in a runtime of its own, which can die at once.
fn doomed(broker: &Broker, protocol: GroupProtocol) -> (tokio::runtime::Runtime, Client, Consumer) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let bootstrap = broker.bootstrap();
    let built = runtime.spawn(async move {
        let client = Client::builder(bootstrap).connect().await.expect("there");
        let consumer = consumer(&client, protocol);
        (client, consumer)
    });
    let (client, consumer) = std::thread::scope(|scope| {
        let runtime = &runtime;
        let waited = scope.spawn(move || runtime.block_on(built));
        waited.join().expect("no panic").expect("no panic")
    });
    (runtime, client, consumer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_dies_is_replaced_and_nothing_is_lost() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        for partition in 0..2 {
            write(&client, TOPIC, partition, 0..5).await;
        }
        let (runtime, _client, mut dead) = doomed(&broker, protocol);
        // It has begun with everything, and has finished one.
        let mut batches = Vec::new();
        while batches.len() < 4 {
            batches.push(next(&mut dead).await);
        }
        let first = batches.remove(0);
        let done = (
            first.partition(),
            number(first.get(0).expect("one").value()),
        );
        first.commit().await.expect("committed");
        runtime.shutdown_background();
        let mut heir = consumer(&client, protocol);
        let rest = take(&mut heir, 9).await;
        let mut expected = all(2, 0..5);
        expected.remove(&done);
        assert_eq!(rest, expected, "{protocol:?}");
        close(heir).await;
    }
}

#[tokio::test]
async fn dropping_commits_and_leaves_in_the_background() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
        let client = client(&broker).await;
        write(&client, TOPIC, 0, 0..3).await;
        // Its session would last longer than the test has patience.
        let one = quick(&client, protocol).session_timeout(Duration::from_secs(300));
        let mut one = one.build().expect("a consumer");
        take(&mut one, 3).await;
        let started = std::time::Instant::now();
        drop(one);
        assert!(started.elapsed() < Duration::from_secs(1), "at once");
        let mut two = consumer(&client, protocol);
        settled(&mut [&mut two], 2).await;
        assert_eq!(committed(&two, 0).await.map(|it| it.offset), Some(3));
        write(&client, TOPIC, 0, 3..4).await;
        assert_eq!(take(&mut two, 1).await, [(0, 3)].into());
        close(two).await;
    }
}

#[tokio::test]
async fn a_static_member_comes_back_to_what_it_had() {
    for protocol in PROTOCOLS {
        let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
        let client = client(&broker).await;
        let revoked = Arc::new(Mutex::new(0));
        let build = |name: &'static str| {
            let counter = Arc::clone(&revoked);
            quick(&client, protocol)
                .instance_id(name)
                .session_timeout(Duration::from_secs(30))
                .on_revoked(move |rebalance| {
                    let counter = Arc::clone(&counter);
                    async move {
                        if !rebalance.partitions().is_empty() {
                            *counter.lock().expect("no panic") += 1;
                        }
                    }
                })
                .build()
                .expect("a consumer")
        };
        let mut one = build("one");
        let mut two = build("two");
        settled(&mut [&mut one, &mut two], 4).await;
        let (had, other) = (two.assignment(), one.assignment());
        close(two).await;
        *revoked.lock().expect("no panic") = 0;
        let mut two = build("two");
        settled(&mut [&mut one, &mut two], 4).await;
        assert_eq!(two.assignment(), had, "{protocol:?}");
        assert_eq!(one.assignment(), other, "{protocol:?}");
        assert_eq!(*revoked.lock().expect("no panic"), 0, "nobody else noticed");
    }
}

#[tokio::test]
async fn the_coordinator_stops_and_another_takes_over() {
    for protocol in PROTOCOLS {
        let mut broker = broker()
            .nodes(3)
            .replicated_topic(TOPIC, 3, 3)
            .start()
            .await
            .expect("starts");
        let client = client(&broker).await;
        for partition in 0..3 {
            write(&client, TOPIC, partition, 0..2).await;
        }
        let mut one = consumer(&client, protocol);
        take(&mut one, 6).await;
        one.commit().await.expect("committed");
        for round in 0..3_u64 {
            let node = coordinator(&client).await;
            broker.stop_node(node).await.expect("stops");
            for partition in 0..3 {
                write(&client, TOPIC, partition, 2 + round..3 + round).await;
            }
            let expected = all(3, 2 + round..3 + round);
            assert_eq!(take(&mut one, 3).await, expected, "{protocol:?}");
            soon("committed", one.commit()).await.expect("committed");
            broker.start_node(node).await.expect("starts");
        }
        close(one).await;
    }
}

async fn coordinator(client: &Client) -> i32 {
    use copart::protocol::messages::find_coordinator::FindCoordinatorRequest;
    let request = FindCoordinatorRequest {
        coordinator_keys: vec![GROUP.to_owned()],
        ..FindCoordinatorRequest::default()
    };
    let response = client.request(request).send().await.expect("answered");
    response.coordinators[0].node_id
}

#[tokio::test]
async fn what_cannot_work_is_told() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    let error = client
        .consumer("")
        .assignors([])
        .heartbeat_interval(Duration::from_secs(60))
        .build()
        .expect_err("wrong");
    assert_eq!(error.kind(), ErrorKind::Config);
    for part in ["group:", "name topics", "assignors:", "heartbeat interval:"] {
        assert!(error.reason().contains(part), "{part}: {error}");
    }
    // An assignor that the broker has not.
    let unknown = quick(&client, GroupProtocol::Consumer).server_assignor("wishful");
    let mut one = unknown.build().expect("a consumer");
    let error = soon("told", one.recv()).await.expect("told");
    let error = error.expect_err("refused");
    assert_eq!(
        error.code(),
        Some(ErrorCode::UNSUPPORTED_ASSIGNOR),
        "{error}"
    );
    assert_eq!(error.context().group.as_deref(), Some(GROUP), "{error}");
    assert!(soon("over", one.recv()).await.is_none());
}
