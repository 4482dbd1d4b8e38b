//! Power is lost at a random moment, again and again. What was answered must
//! be there, whole; what was not may be there as a whole or not at all.
//!
//! `COPART_SEEDS` says how many histories are tried.

use std::collections::BTreeMap;

use super::*;
use crate::configs::ConfigOp;
use crate::files::Random;
use crate::log::Durability;

fn seeds(default: u64) -> u64 {
    match std::env::var("COPART_SEEDS") {
        Ok(seeds) => seeds.parse().expect("COPART_SEEDS is a number"),
        Err(_) => default,
    }
}

/// What ends each life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    PowerLoss,
    PowerLossWithoutSyncs,
    /// The process is killed; the log keeps to `process`.
    Kill,
}

/// Topics as they were last answered, and what one unanswered change would
/// make of them.
#[derive(Debug, Default)]
struct Model {
    topics: BTreeMap<String, String>,
    pending: Option<BTreeMap<String, String>>,
    producer_id: i64,
    /// Was a producer id given out twice?
    twice: bool,
}

fn topics(controller: &Controller) -> BTreeMap<String, String> {
    let topics = controller.topics();
    topics
        .map(|it| {
            let text = format!("{} {:?} {:?}", it.id, it.overrides, it.partitions);
            (it.name.clone(), text)
        })
        .collect()
}

fn history(seed: u64, fate: Fate) -> std::result::Result<(), String> {
    let mut random = Random::new(seed);
    let mut files = disk();
    if fate == Fate::PowerLossWithoutSyncs {
        files.leave_out_syncs();
    }
    let mut options = options(2);
    options.seed = Some(seed);
    if fate == Fate::Kill {
        options.durability = Durability::Process;
    }
    let mut model = Model::default();
    for life in 0..2 + random.below(4) {
        let at = |what: String| format!("seed {seed}, life {life}: {what}");
        options.seed = Some(random.next());
        let mut controller = open(&files, options.clone()).map_err(|e| at(e.to_string()))?;
        check(&controller, &mut model).map_err(at)?;
        controller.set_worth_a_snapshot(500 + random.below(3000));
        if fate != Fate::Kill && random.below(2) == 0 {
            // In the middle of whatever it is.
            files.stop_after(random.below(120));
        }
        for _ in 0..random.below(30) {
            if let Err(error) = step(&mut controller, &mut model, &mut random) {
                match fate {
                    Fate::Kill => return Err(at(error.to_string())),
                    _ => break,
                }
            }
        }
        files = Arc::new(match (fate, random.below(5)) {
            (Fate::Kill, _) | (_, 0) => files.kill(),
            _ => files.crash(random.next()),
        });
    }
    let controller = open(&files, options).map_err(|e| format!("seed {seed}: {e}"))?;
    check(&controller, &mut model).map_err(|e| format!("seed {seed}: {e}"))
}

fn check(controller: &Controller, model: &mut Model) -> std::result::Result<(), String> {
    let found = topics(controller);
    let answered = found == model.topics;
    if !answered
        && model
            .pending
            .as_ref()
            .is_none_or(|keys| !fits(&found, keys))
    {
        return Err(format!("found {found:#?}, expected {model:#?}"));
    }
    if model.twice {
        return Err(format!(
            "a producer id below {} came twice",
            model.producer_id
        ));
    }
    model.topics = found;
    model.pending = None;
    Ok(())
}

/// Is it what an unanswered change would have made? Ids of topics are not
/// known then.
fn fits(found: &BTreeMap<String, String>, pending: &BTreeMap<String, String>) -> bool {
    found.len() == pending.len()
        && found
            .iter()
            .zip(pending)
            .all(|(a, b)| a.0 == b.0 && (a.1 == b.1 || b.1 == "?"))
}

fn step(controller: &mut Controller, model: &mut Model, random: &mut Random) -> ApiResult<()> {
    let name = format!("t{}", random.below(6));
    let mut pending = topics(controller);
    pending.insert(name.clone(), "?".into());
    let known = controller.topic(&name).map(|topic| topic.id);
    let result = match (random.below(6), known) {
        (0, _) => {
            let id = controller.next_producer_id()?;
            model.twice |= id < model.producer_id;
            model.producer_id = id + 1;
            return Ok(());
        }
        (_, None) => {
            model.pending = Some(pending);
            let new = with_config(
                topic(&name, 1 + random.below(30) as i32, 2),
                "retention.ms",
                &random.below(1000).to_string(),
            );
            controller.create_topic(&new, false).map(|_| ())
        }
        (1, Some(id)) => {
            pending.remove(&name);
            model.pending = Some(pending);
            controller.delete_topic(id).map(|_| ())
        }
        (2, Some(_)) => {
            model.pending = Some(pending);
            let ops = [(
                "segment.ms".to_owned(),
                ConfigOp::Set((1 + random.below(99)).to_string()),
            )];
            let resource = ConfigResource::Topic(name);
            let altered = controller.incremental_alter_configs(&resource, &ops, false);
            altered.map(|_| ())
        }
        (3, Some(_)) => {
            model.pending = Some(pending);
            let isr = [1 + random.below(2) as i32];
            controller.set_isr(&name, 0, &isr).map(|_| ())
        }
        (_, Some(_)) => {
            model.pending = Some(pending);
            let replicas = match random.below(2) {
                0 => vec![1, 2],
                _ => vec![2, 1],
            };
            let wish = Reassignment {
                topic: name,
                partition: 0,
                replicas: Some(replicas),
            };
            controller.reassign(&[wish], true).map(|_| ())
        }
    };
    result?;
    model.topics = topics(controller);
    model.pending = None;
    Ok(())
}

#[test]
fn what_was_answered_survives_power_loss() {
    for seed in 0..seeds(150) {
        if let Err(error) = history(seed, Fate::PowerLoss) {
            panic!("{error}");
        }
    }
}

#[test]
fn what_was_answered_survives_a_kill() {
    for seed in 0..seeds(50) {
        if let Err(error) = history(seed, Fate::Kill) {
            panic!("{error}");
        }
    }
}

/// The proof that the first test above tests something.
#[test]
fn a_log_that_forgets_to_sync_is_caught() {
    let caught = (0..100)
        .filter(|&seed| history(seed, Fate::PowerLossWithoutSyncs).is_err())
        .count();
    assert!(caught > 30, "caught {caught} of 100");
}
