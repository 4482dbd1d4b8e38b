//! Power is lost at a random moment, again and again, and the disk keeps any
//! of what was not synced. What was acknowledged must be there: once, in
//! order, and whole.
//!
//! `COPART_SEEDS` says how many histories are tried.

use super::*;
use crate::files::Random;

/// What a history was, so far.
#[derive(Debug, Default)]
struct Model {
    /// The value of each record that was appended, by offset.
    values: Vec<String>,
    /// Records before this offset were acknowledged.
    acknowledged: i64,
    /// Records before this offset were deleted.
    log_start: i64,
    next_sequence: i32,
    /// The producer's last batches: sequence, offset, values.
    batches: Vec<(i32, i64, Vec<String>)>,
    epoch: i32,
    now: i64,
}

fn seeds(default: u64) -> u64 {
    match std::env::var("COPART_SEEDS") {
        Ok(seeds) => seeds.parse().expect("COPART_SEEDS is a number"),
        Err(_) => default,
    }
}

/// What ends each life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Power is lost; the log keeps to `disk`.
    PowerLoss,
    /// Power is lost, and syncs were left out.
    PowerLossWithoutSyncs,
    /// The process is killed; the log keeps to `process`.
    Kill,
}

/// Runs one history. Returns what is wrong, if something is.
fn history(seed: u64, fate: Fate) -> Result<(), String> {
    let mut random = Random::new(seed);
    let config = LogConfig {
        segment_bytes: 400 + random.below(1500),
        preallocate_bytes: random.below(2) * 500,
        retention_bytes: if random.below(4) == 0 { 4000 } else { -1 },
        durability: match fate {
            Fate::Kill => Durability::Process,
            _ => Durability::Disk,
        },
        ..small()
    };
    let mut files = disk();
    if fate == Fate::PowerLossWithoutSyncs {
        files.leave_out_syncs();
    }
    let mut model = Model {
        now: NOW,
        ..Model::default()
    };
    for life in 0..1 + random.below(4) {
        let at = |what: String| format!("seed {seed}, life {life}: {what}");
        let opened = PartitionLog::open(files.clone(), dir(), config.clone(), model.now)
            .map_err(|error| at(error.to_string()))?;
        let mut log = match opened {
            Opened::Ready(log, _) => log,
            Opened::Quarantined(q) => return Err(at(format!("quarantined {:?}", q.damages()))),
        };
        check(&log, &mut model).map_err(at)?;
        retry(&mut log, &mut model).map_err(at)?;
        let steps = random.below(60);
        if fate != Fate::Kill && random.below(2) == 0 {
            // In the middle of whatever it is.
            files.stop_after(random.below(300));
        }
        for _ in 0..steps {
            match step(&mut log, &mut model, &mut random) {
                Ok(()) => {}
                Err(error) if error.is_fatal() && fate != Fate::Kill => break,
                Err(error) => return Err(at(error.to_string())),
            }
        }
        model.acknowledged = model.acknowledged.max(log.stored_offset());
        // Sometimes the log is closed and power fails later; sometimes the
        // process is only killed.
        if random.below(8) == 0 {
            let end = log.log_end_offset();
            if log.close().is_ok() {
                model.acknowledged = end;
            }
        }
        files = Arc::new(match random.below(5) {
            0 => files.kill(),
            _ if fate == Fate::Kill => files.kill(),
            _ => files.crash(random.next()),
        });
    }
    let opened = PartitionLog::open(files.clone(), dir(), config, model.now);
    match opened.map_err(|error| format!("seed {seed}: {error}"))? {
        Opened::Ready(log, _) => check(&log, &mut model).map_err(|e| format!("seed {seed}: {e}")),
        Opened::Quarantined(q) => Err(format!("seed {seed}: quarantined {:?}", q.damages())),
    }
}

fn step(log: &mut PartitionLog, model: &mut Model, random: &mut Random) -> Result<()> {
    model.now += random.below(1000) as i64;
    match random.below(20) {
        0..12 => {
            let offset = log.log_end_offset();
            let values: Vec<String> = (0..1 + random.below(4))
                .map(|n| format!("{}-{}", offset + n as i64, random.below(1 << 40)))
                .collect();
            let draft = batch(&values, model.next_sequence, model.now);
            let appended = log.append(draft.bytes(), Origin::Client, model.epoch, model.now);
            // Also when it fails: it may have been written.
            let sequence = model.next_sequence;
            model.next_sequence += values.len() as i32;
            model.values.extend(values.iter().cloned());
            model.batches.push((sequence, offset, values));
            assert_eq!(appended?.base_offset, offset);
        }
        12..16 => model.acknowledged = model.acknowledged.max(log.sync()?),
        16 => log.roll(model.now)?,
        17 => model.epoch += 1,
        18 => {
            let stored = log.stored_offset();
            let offset = log.log_start_offset() + random.below(3) as i64;
            if offset <= stored {
                model.log_start = log.delete_records(offset)?;
            }
        }
        _ => {
            log.apply_retention(model.now)?;
            model.log_start = log.log_start_offset();
        }
    }
    model.acknowledged = model.acknowledged.max(log.stored_offset());
    Ok(())
}

fn batch(values: &[String], sequence: i32, now: i64) -> Draft {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    Draft::of(&values).at(now).by(77, 0, sequence)
}

/// Compares the log with the history, and forgets what was lost.
fn check(log: &PartitionLog, model: &mut Model) -> Result<(), String> {
    let end = log.log_end_offset();
    if end < model.acknowledged {
        return Err(format!(
            "ends at {end}, {} was acknowledged",
            model.acknowledged
        ));
    }
    if end > model.values.len() as i64 {
        return Err(format!("ends at {end}, beyond what was appended"));
    }
    if log.log_start_offset() < model.log_start {
        return Err("deleted records are back".into());
    }
    model.log_start = log.log_start_offset();
    model.values.truncate(end as usize);
    let found = records(log).map_err(|error| error.to_string())?;
    let expected: Vec<(i64, String)> = (log.log_start_offset()..end)
        .map(|offset| (offset, model.values[offset as usize].clone()))
        .collect();
    if found != expected {
        return Err(format!("found {found:?}, expected {expected:?}"));
    }
    let state = log.producers().next();
    let kept = model.batches.iter().filter(|batch| batch.1 < end).count();
    model.batches.truncate(kept);
    model.next_sequence = match model.batches.last() {
        Some((sequence, _, values)) => sequence + values.len() as i32,
        None => 0,
    };
    if let Some(state) = state
        && state.last_sequence() != model.next_sequence - 1
    {
        return Err(format!("{state:?}, next is {}", model.next_sequence));
    }
    if state.is_none() && end > log.log_start_offset() {
        return Err("the producer is forgotten".into());
    }
    Ok(())
}

/// A producer that got no answer sends its last batches again. None may be in
/// the log twice.
fn retry(log: &mut PartitionLog, model: &mut Model) -> Result<(), String> {
    let known = model.batches.len().saturating_sub(5);
    for (sequence, offset, values) in &model.batches[known..] {
        if *offset < log.log_start_offset() {
            continue;
        }
        let draft = batch(values, *sequence, model.now);
        let again = log
            .append(draft.bytes(), Origin::Client, model.epoch, model.now)
            .map_err(|error| format!("sent again: {error}"))?;
        if !again.duplicate || again.base_offset != *offset {
            return Err(format!("{again:?}, the batch is at {offset}"));
        }
    }
    Ok(())
}

#[test]
fn acknowledged_records_survive_power_loss() {
    for seed in 0..seeds(400) {
        if let Err(error) = history(seed, Fate::PowerLoss) {
            panic!("{error}");
        }
    }
}

#[test]
fn appended_records_survive_a_kill() {
    for seed in 0..seeds(200) {
        if let Err(error) = history(seed, Fate::Kill) {
            panic!("{error}");
        }
    }
}

/// The proof that the test above tests something.
#[test]
fn a_log_that_forgets_to_sync_is_caught() {
    let caught = (0..100)
        .filter(|&seed| history(seed, Fate::PowerLossWithoutSyncs).is_err())
        .count();
    assert!(caught > 30, "caught {caught} of 100");
}
