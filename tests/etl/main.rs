//! Records through three groups in a row whose members come, leave, die and lose their connections: nothing is missing,
//! and every key is in order. `program.rs` has the long form, for any broker.

#![allow(unreachable_pub, reason = "modules of a test and of a program")]

mod pipeline;

use std::time::Duration;

use copart::{Assignor, GroupProtocol};
use copart_broker::Broker;
use pipeline::{Membership, Plan, STAGES};

async fn comes_through(name: &str, membership: Membership) {
    let broker = Broker::builder()
        .seed(7)
        .config("group.consumer.min.heartbeat.interval.ms", "100")
        .config("group.consumer.heartbeat.interval.ms", "200")
        .config("group.consumer.min.session.timeout.ms", "1000")
        .config("group.consumer.session.timeout.ms", "2000")
        .config("group.min.session.timeout.ms", "1000");
    let broker = broker.start().await.expect("starts");
    let plan = Plan {
        bootstrap: broker.bootstrap(),
        name: name.to_owned(),
        records: 20_000,
        keys: 97,
        filled_in: Duration::from_secs(6),
        membership,
        peace: Duration::from_millis(200)..Duration::from_millis(900),
        patience: Duration::from_secs(60),
        seed: 1,
    };
    let report = pipeline::run(plan)
        .await
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    println!("{name}: {report}");
    assert_eq!(report.stages.len(), STAGES);
}

fn by_consumer_protocol(assignor: &str, is_static: bool) -> Membership {
    Membership {
        protocol: GroupProtocol::Consumer,
        assignors: Vec::new(),
        server_assignor: Some(assignor.to_owned()),
        is_static,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumer_protocol_uniform() {
    comes_through("uniform", by_consumer_protocol("uniform", false)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumer_protocol_range() {
    comes_through("range", by_consumer_protocol("range", false)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumer_protocol_static_members() {
    comes_through("static", by_consumer_protocol("uniform", true)).await;
}

fn by_classic_protocol(assignor: Assignor, is_static: bool) -> Membership {
    Membership {
        protocol: GroupProtocol::Classic,
        assignors: vec![assignor],
        server_assignor: None,
        is_static,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn classic_protocol_range() {
    comes_through("range", by_classic_protocol(Assignor::Range, false)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn classic_protocol_round_robin() {
    comes_through(
        "roundrobin",
        by_classic_protocol(Assignor::RoundRobin, false),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn classic_protocol_sticky() {
    comes_through("sticky", by_classic_protocol(Assignor::Sticky, false)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn classic_protocol_cooperative_sticky() {
    let membership = by_classic_protocol(Assignor::CooperativeSticky, false);
    comes_through("cooperative-sticky", membership).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn classic_protocol_static_members() {
    let membership = by_classic_protocol(Assignor::CooperativeSticky, true);
    comes_through("static", membership).await;
}
