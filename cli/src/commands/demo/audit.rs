//! Step 5: why, by the audit.

use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use copart::Client as Connected;
use copart_audit::infer::{ComponentReport, InferOptions, InferReport, InferVerdict, infer_from};
use copart_audit::input::Source;
use copart_audit::live::{LiveOptions, LiveTopic};
use copart_audit::movement::{Endpoint, MovementOptions, MovementReport, movement};
use copart_audit::verify::{UnpinnedPolicy, Verdict, VerifyOptions, VerifyReport};
use copart_audit::{EXACT_KEYS, Error, Run, verify};
use copart_partitioners::PartitionCount;
use serde_json::json;

use super::opening::TOPIC;
use super::services::{MOBILE, Service, WEB};
use super::stage::{PARTITIONS, PARTITIONS_AFTER, PATIENCE, Stage};
use super::story::{Step, number, of};

/// The audit is over before anybody could want it to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn running() -> Run<'static> {
    Run {
        threads: available_parallelism().map_or(1, |n| n.get()),
        interrupted: &INTERRUPTED,
    }
}

fn keys(stage: &Stage) -> Source {
    let lines = stage.views.users.iter().map(|user| format!("{user}\n"));
    Source::of_lines("the users", lines.collect::<String>())
}

fn count(partitions: u32) -> PartitionCount {
    PartitionCount::new(partitions).unwrap_or(PartitionCount::ONE)
}

/// As `copart infer --topic` does it.
fn inferred(stage: &Stage) -> Result<InferReport, Error> {
    let options = LiveOptions {
        records: 100_000,
        timeout: PATIENCE,
        ..LiveOptions::default()
    };
    let cluster = Connected::builder(stage.bootstrap()).client_id("copart-demo");
    let mut topic = LiveTopic::open(cluster, TOPIC, &options)?;
    infer_from(&mut topic, &InferOptions::default(), &running())
}

/// As `copart verify` does it.
fn verified(stage: &Stage) -> Result<VerifyReport, Error> {
    let options = VerifyOptions {
        clients: vec![MOBILE.client()?, WEB.client()?],
        counts: vec![count(PARTITIONS)],
        probes: vec![count(PARTITIONS_AFTER)],
        unpinned: UnpinnedPolicy::Report,
        show: 0,
    };
    verify(&keys(stage), &options, &running())
}

/// What a larger topic moves, as `copart movement` says it.
pub(super) fn foretold(stage: &Stage, client: &str) -> Result<MovementReport, Error> {
    let from = Endpoint::parse(&format!("{client}:{PARTITIONS}"), None)?;
    let to = Endpoint::parse(&PARTITIONS_AFTER.to_string(), Some(&from.client))?;
    let options = MovementOptions {
        from,
        to,
        unpinned: UnpinnedPolicy::Report,
        max_moved: None,
        show: 0,
        exact_keys: EXACT_KEYS,
    };
    movement(&keys(stage), &options, &running())
}

/// The clients that have a rule: those of the story first, and what older releases had last.
fn clients_of(component: &ComponentReport) -> Vec<&'static str> {
    let clients = component.clients.iter();
    let mut clients: Vec<_> = clients
        .filter(|client| client.ruled_out.is_none())
        .map(|client| client.id)
        .collect();
    clients.sort_by_key(|id| (id.contains('@'), !is_of(id, WEB) && !is_of(id, MOBILE)));
    clients
}

/// Whether a partitioner of the catalogue is one of the client that a service has.
fn is_of(id: &str, service: Service) -> bool {
    id.split('/').next() == Some(service.like)
}

pub(super) fn why(stage: &Stage, step: &mut Step) -> Result<(), Error> {
    let (inferred, verified) = (inferred(stage)?, verified(stage)?);
    step.say(format!(
        "`copart infer --topic {TOPIC}` looks at records and their partitions alone, and finds who wrote them:"
    ));
    step.table(
        ["share", "rule", "keys", "clients that have it"],
        inferred.components.iter().map(|component| {
            let clients = clients_of(component);
            let shown = clients
                .iter()
                .take(2)
                .copied()
                .collect::<Vec<_>>()
                .join(", ");
            let more = match clients.len().saturating_sub(2) {
                0 => String::new(),
                more => format!(", {more} more"),
            };
            [
                format!("{:.1} %", 100.0 * component.share),
                component.profile.clone(),
                number(component.places),
                shown + &more,
            ]
        }),
    );
    step.check(
        inferred.verdict == InferVerdict::Mixed,
        "the verdict",
        inferred.verdict.name(),
    );
    let named: Vec<_> = [WEB, MOBILE]
        .into_iter()
        .filter(|service| {
            let mut components = inferred.components.iter();
            components.any(|it| clients_of(it).iter().any(|id| is_of(id, *service)))
        })
        .map(|service| service.like)
        .collect();
    step.check(
        named.len() == 2 && inferred.components.len() == 2,
        "both clients are named, and no third",
        named.join(" and "),
    );
    step.check(
        inferred.unexplained.places == 0 && inferred.moved.keys > 0,
        "keys on two partitions that the two rules explain",
        number(inferred.moved.keys),
    );
    let Some(at) = verified.counts.first() else {
        return Err(Error::input("the comparison has no partition count"));
    };
    step.say(format!(
        "`copart verify` says it beforehand, from the keys alone: at {PARTITIONS} partitions {} of {} users \
         are where both put them. And it names the setting that makes them agree:",
        number(at.keyed.agree),
        number(verified.input.keyed)
    ));
    let fixes = verified.findings.iter().flat_map(|finding| &finding.fixes);
    let setting = fixes
        .filter(|fix| fix.client == WEB.like)
        .find_map(|fix| fix.setting.as_ref());
    if let Some(setting) = setting {
        step.lines(&format!("   {}", setting.config));
    }
    step.check(
        verified.verdict == Verdict::Disagree && setting.is_some(),
        "keys on which the clients disagree",
        of(at.keyed.disagree, verified.input.keyed),
    );
    step.facts(json!({
        "infer": {
            "verdict": inferred.verdict.name(),
            "records": inferred.input.records,
            "keys": inferred.input.distinct_keys,
            "keys_on_several_partitions": inferred.moved.keys,
            "components": inferred.components.iter().map(|component| json!({
                "profile": component.profile,
                "share": component.share,
                "keys": component.places,
                "clients": clients_of(component),
            })).collect::<Vec<_>>(),
        },
        "verify": {
            "verdict": verified.verdict.name(),
            "partitions": at.partitions,
            "keys": verified.input.keyed,
            "agree": at.keyed.agree,
            "disagree": at.keyed.disagree,
            "setting": setting.map(|setting| json!({
                "client": WEB.like,
                "as": MOBILE.like,
                "config": setting.config,
            })),
        },
    }));
    Ok(())
}
