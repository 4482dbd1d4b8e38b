//! A producer and a reader against a cluster that fails in every way that a seed can think of, on a network in memory and
//! a clock that does not wait.
//!
//! `COPART_SEEDS=FROM..TO` runs other seeds than the usual ones; `COPART_LOG=trace` shows what happens.

#![allow(unreachable_pub, reason = "modules of one test")]

mod cancel;
mod cluster;
mod faults;
mod fetch;
mod interceptors;
mod metadata;
mod network;
#[path = "../common/poll.rs"]
mod poll;
mod reading;
mod typed;
mod workload;

use std::ops::Range;

use workload::Scenario;

fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("COPART_SEEDS") else {
        return usual;
    };
    let parse = |part: &str| part.parse().expect("COPART_SEEDS is FROM..TO");
    let (from, to) = text.split_once("..").expect("COPART_SEEDS is FROM..TO");
    parse(from)..parse(to)
}

fn log() {
    if let Ok(level) = std::env::var("COPART_LOG") {
        let level: tracing_subscriber::filter::LevelFilter =
            level.parse().expect("COPART_LOG is a level, such as debug");
        let _ = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(std::io::stderr)
            .try_init();
    }
}

fn check(usual: Range<u64>, scenario: impl Fn(u64) -> Scenario) {
    log();
    for seed in seeds(usual) {
        workload::run(seed, scenario(seed));
    }
}

#[test]
fn a_healthy_cluster_delivers_everything() {
    check(0..100, |_| Scenario::healthy());
}

#[test]
fn faults_lose_and_double_nothing() {
    check(0..1000, Scenario::faulty);
}

#[test]
fn time_runs_out_and_the_rest_is_still_in_order() {
    check(0..500, Scenario::short_of_time);
}

#[test]
fn closing_reports_what_is_left() {
    check(0..400, Scenario::closed_early);
}

#[test]
fn batches_that_brokers_refuse_are_split_in_order() {
    check(0..600, Scenario::small_brokers);
}

#[test]
fn without_idempotence_nothing_acknowledged_is_lost() {
    check(0..300, Scenario::not_idempotent);
}

#[test]
fn readers_see_everything_once_and_in_order() {
    log();
    for seed in seeds(0..200) {
        reading::run(seed);
    }
}
