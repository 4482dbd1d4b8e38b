use std::io::{self, IsTerminal, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use copart::Client;
use copart::admin::GroupKind;
use copart_audit::Error;
use serde::Serialize;

use super::state::{Group, Progress, gather};
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::{complain, worse};
use crate::plain::{self, RowForm, number};
use crate::progress;

/// How many records groups have not processed yet
///
/// The lag of a partition is the number of offsets from what the group has committed to the end. It is
/// not known where the group has committed nothing, unless the partition is empty.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Their ids [default: all groups]
    #[arg(value_name = "GROUP")]
    groups: Vec<String>,

    /// Only these topics; can be given more than once
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,

    /// Exit with 1 if a group is behind by more than so many records in all, and with 4 if that is
    /// not known
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    max_lag: Option<u64>,

    /// Look again and again, until Ctrl-C; on a terminal in place, elsewhere with a line for each
    /// group
    #[arg(short, long)]
    follow: bool,

    /// How often to look
    #[arg(long, value_name = "SECONDS", default_value = "2", requires = "follow", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Form of the answer; csv and jsonl have a row for each partition
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: RowForm,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// What was seen at one time: `docs/src/schema/copart.lag-1.schema.json`.
#[derive(Serialize)]
struct Seen {
    schema: &'static str,
    /// Milliseconds since 1970.
    time: i64,
    groups: Vec<GroupLag>,
}

#[derive(Serialize)]
struct GroupLag {
    group: String,
    state: String,
    members: usize,
    /// Of all partitions whose lag is known.
    lag: i64,
    largest: i64,
    /// Partitions whose lag is not known.
    unknown: usize,
    partitions: Vec<PartitionLag>,
}

#[derive(Serialize)]
struct PartitionLag {
    topic: String,
    partition: i32,
    offset: Option<i64>,
    end_offset: Option<i64>,
    lag: Option<i64>,
    member_id: Option<String>,
    client_id: Option<String>,
    host: Option<String>,
}

/// A partition in a row of its own.
#[derive(Serialize)]
struct Row<'a> {
    time: i64,
    group: &'a str,
    topic: &'a str,
    partition: i32,
    offset: Option<i64>,
    end_offset: Option<i64>,
    lag: Option<i64>,
    member_id: Option<&'a str>,
    client_id: Option<&'a str>,
    host: Option<&'a str>,
}

const COLUMNS: [&str; 10] = [
    "time",
    "group",
    "topic",
    "partition",
    "offset",
    "end_offset",
    "lag",
    "member_id",
    "client_id",
    "host",
];

impl GroupLag {
    fn new(group: Group, topics: &[String]) -> Self {
        let wanted = |one: &Progress| topics.is_empty() || topics.contains(&one.topic);
        let offsets = group.offsets.into_iter().filter(wanted);
        let partitions: Vec<PartitionLag> = offsets
            .map(|one| PartitionLag {
                topic: one.topic,
                partition: one.partition,
                offset: one.offset,
                end_offset: one.end_offset,
                lag: one.lag,
                member_id: one.member_id,
                client_id: one.client_id,
                host: one.host,
            })
            .collect();
        let known = || partitions.iter().filter_map(|one| one.lag);
        Self {
            group: group.group,
            state: group.state,
            members: group.members.len(),
            lag: known().sum(),
            largest: known().max().unwrap_or(0),
            unknown: partitions.len() - known().count(),
            partitions,
        }
    }
}

impl Seen {
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.groups.iter().flat_map(|group| {
            let partitions = group.partitions.iter();
            partitions.map(|one| Row {
                time: self.time,
                group: &group.group,
                topic: &one.topic,
                partition: one.partition,
                offset: one.offset,
                end_offset: one.end_offset,
                lag: one.lag,
                member_id: one.member_id.as_deref(),
                client_id: one.client_id.as_deref(),
                host: one.host.as_deref(),
            })
        })
    }

    /// A row for each group and topic, as people want it first.
    fn table(&self) -> Vec<[String; 8]> {
        let mut rows = Vec::new();
        for group in &self.groups {
            // They are in the order of their topics.
            for of_topic in group.partitions.chunk_by(|a, b| a.topic == b.topic) {
                let known = || of_topic.iter().filter_map(|one| one.lag);
                rows.push([
                    group.group.clone(),
                    group.state.clone(),
                    group.members.to_string(),
                    of_topic[0].topic.clone(),
                    of_topic.len().to_string(),
                    known().sum::<i64>().to_string(),
                    number(known().max()),
                    (of_topic.len() - known().count()).to_string(),
                ]);
            }
        }
        rows
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    if args.follow && args.output == RowForm::Json {
        return Err(Error::usage(
            "--follow prints no single document: --output jsonl has an object a line",
        ));
    }
    args.cluster.run(async |client| match args.follow {
        true => follow(&client, args).await,
        false => once(&client, args).await,
    })
}

async fn once(client: &Client, args: &Args) -> Result<Exit, Error> {
    let (seen, mut exit) = look(client, args).await?;
    match args.output {
        RowForm::Json => plain::json(&seen)?,
        RowForm::Jsonl => plain::lines(seen.rows())?,
        RowForm::Csv => plain::csv(seen.rows(), &COLUMNS, true)?,
        RowForm::Table => table(&seen)?,
    }
    if let Some(limit) = args.max_lag
        && exit == Exit::AGREE
    {
        exit = judge(&seen.groups, limit);
    }
    Ok(exit)
}

const HEADINGS: [&str; 8] = [
    "GROUP",
    "STATE",
    "MEMBERS",
    "TOPIC",
    "PARTITIONS",
    "LAG",
    "LARGEST",
    "UNKNOWN",
];

fn table(seen: &Seen) -> Result<(), Error> {
    plain::columns(HEADINGS, &seen.table())
}

/// More than the limit is worse than not known, and nothing at all is no success.
fn judge(groups: &[GroupLag], limit: u64) -> Exit {
    let mut exit = Exit::AGREE;
    for group in groups {
        if group.lag.unsigned_abs() > limit {
            errorln!(
                "copart: group {}: behind by {} records, more than {limit}",
                group.group,
                group.lag
            );
            exit = Exit::DISAGREE;
        } else if group.unknown > 0 || group.partitions.is_empty() {
            errorln!(
                "copart: group {}: the lag of {} partitions is not known: nothing was committed there",
                group.group,
                group.unknown
            );
            if exit == Exit::AGREE {
                exit = Exit::INCONCLUSIVE;
            }
        }
    }
    if groups.is_empty() {
        errorln!("copart: there are no groups");
        return Exit::INCONCLUSIVE;
    }
    exit
}

async fn look(client: &Client, args: &Args) -> Result<(Seen, Exit), Error> {
    let mut exit = Exit::AGREE;
    let groups = if args.groups.is_empty() {
        let admin = client.admin().timeout(args.cluster.timeout());
        let listed = admin.list_groups().await?;
        for (_, error) in listed.failures {
            exit = worse(exit, complain(error));
        }
        let with_offsets = listed.groups.into_iter().filter(|group| {
            let kind = group.kind.as_ref();
            kind.is_none_or(|kind| matches!(kind, GroupKind::Classic | GroupKind::Consumer))
        });
        with_offsets.map(|group| group.group).collect()
    } else {
        args.groups.clone()
    };
    let mut found = Vec::new();
    for (_, outcome) in gather(client, &groups, args.cluster.timeout()).await {
        match outcome {
            Ok(group) => found.push(GroupLag::new(group, &args.topic)),
            Err(error) => exit = worse(exit, complain(error)),
        }
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seen = Seen {
        schema: "copart.lag/1",
        time: now.as_millis() as i64,
        groups: found,
    };
    Ok((seen, exit))
}

async fn follow(client: &Client, args: &Args) -> Result<Exit, Error> {
    let stop = progress::stopped();
    tokio::pin!(stop);
    let in_place = args.output == RowForm::Table && io::stdout().is_terminal();
    let mut first = true;
    let mut ticks = tokio::time::interval(Duration::from_secs(args.every.into()));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = &mut stop => return Ok(Exit::AGREE),
        }
        let seen = tokio::select! {
            seen = look(client, args) => seen,
            () = &mut stop => return Ok(Exit::AGREE),
        };
        let seen = match seen {
            Ok((seen, _)) => seen,
            // A cluster that is away for a while does not end it, unless it never was there.
            Err(error) if !first => {
                errorln!("copart: {error}");
                continue;
            }
            Err(error) => return Err(error),
        };
        match args.output {
            RowForm::Json | RowForm::Jsonl => plain::lines(seen.rows())?,
            RowForm::Csv => plain::csv(seen.rows(), &COLUMNS, first)?,
            RowForm::Table if in_place => {
                // To the top left, and away with what was there.
                let mut out = io::stdout().lock();
                write!(out, "\x1b[H\x1b[2J\x1b[3J")?;
                out.flush()?;
                drop(out);
                table(&seen)?;
            }
            RowForm::Table => {
                for group in &seen.groups {
                    plain::line(format_args!(
                        "time={} group={} lag={} largest={} partitions={} unknown={}",
                        seen.time,
                        group.group,
                        group.lag,
                        group.largest,
                        group.partitions.len(),
                        group.unknown
                    ))?;
                }
            }
        }
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(lags: &[Option<i64>]) -> GroupLag {
        let partitions = lags.iter().enumerate().map(|(at, &lag)| PartitionLag {
            topic: "t".to_owned(),
            partition: at as i32,
            offset: None,
            end_offset: None,
            lag,
            member_id: None,
            client_id: None,
            host: None,
        });
        GroupLag {
            group: "g".to_owned(),
            state: "Empty".to_owned(),
            members: 0,
            lag: lags.iter().flatten().sum(),
            largest: 0,
            unknown: lags.iter().filter(|lag| lag.is_none()).count(),
            partitions: partitions.collect(),
        }
    }

    #[test]
    fn a_limit_is_of_all_partitions_together_and_nothing_is_no_success() {
        let judged = |groups: &[GroupLag]| judge(groups, 10);
        assert_eq!(judged(&[group(&[Some(5), Some(5)])]), Exit::AGREE);
        assert_eq!(judged(&[group(&[Some(5), Some(6)])]), Exit::DISAGREE);
        assert_eq!(judged(&[group(&[Some(5), None])]), Exit::INCONCLUSIVE);
        let mixed = [group(&[None]), group(&[Some(11)]), group(&[None])];
        assert_eq!(judged(&mixed), Exit::DISAGREE);
        assert_eq!(judged(&[group(&[])]), Exit::INCONCLUSIVE);
        assert_eq!(judged(&[]), Exit::INCONCLUSIVE);
    }
}
