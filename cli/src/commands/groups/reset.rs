use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use copart::admin::{Admin, GroupDescription, OffsetSpec};
use copart::protocol::ErrorCode;
use copart::{Client, Start, TopicPartition};
use copart_audit::Error;
use serde::Serialize;

use super::offset_file;
use super::state::Ends;
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::{complain, worse};
use crate::plain::{self, RowForm, number};
use crate::start::From;

/// Set the offsets of a group: say what would change, and with --execute do it
///
/// The group must have no members: members commit over what is set.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("where").required(true))]
pub(super) struct Args {
    /// Its id; a group that there is not comes into being
    #[arg(value_name = "GROUP")]
    group: String,

    /// Where it is to go on: earliest, latest, an offset, a time, or a duration back from now
    ///
    /// A time is 2026-11-30, 2026-11-30T06:00:00Z or @ and milliseconds since 1970; a duration is a
    /// minus sign, a number and a unit: -90s, -15m, -6h, -2d.
    #[arg(
        long,
        value_name = "WHERE",
        group = "where",
        allow_hyphen_values = true
    )]
    to: Option<From>,

    /// Offsets from a file: what `copart groups describe` printed as csv, json or jsonl, or
    /// `kafka-consumer-groups --export` (- for standard input)
    #[arg(long, value_name = "FILE", group = "where")]
    file: Option<PathBuf>,

    /// Only this topic, or only these partitions of it; can be given more than once
    #[arg(long, value_name = "TOPIC[:N,…]")]
    topic: Vec<Selected>,

    /// All topics of which the group has offsets
    #[arg(long, conflicts_with = "topic")]
    all_topics: bool,

    /// Do it; without this nothing is changed
    #[arg(long)]
    execute: bool,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: RowForm,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// A topic, or some of its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Selected {
    topic: String,
    /// None of them means all.
    partitions: Vec<i32>,
}

impl FromStr for Selected {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (topic, partitions) = match text.split_once(':') {
            None => (text, Vec::new()),
            Some((topic, list)) => {
                let numbers = list.split(',').map(|number| {
                    let number = number
                        .trim()
                        .parse()
                        .ok()
                        .filter(|&number: &i32| number >= 0);
                    number.ok_or_else(|| {
                        format!("{list:?}: partitions are numbers with commas between")
                    })
                });
                (topic, numbers.collect::<Result<_, _>>()?)
            }
        };
        if topic.is_empty() {
            return Err("the topic is missing".to_owned());
        }
        Ok(Self {
            topic: topic.to_owned(),
            partitions,
        })
    }
}

impl Selected {
    fn has(&self, partition: &TopicPartition) -> bool {
        *self.topic == *partition.topic
            && (self.partitions.is_empty() || self.partitions.contains(&partition.partition))
    }
}

/// `docs/src/schema/copart.reset-1.schema.json`
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    group: &'a str,
    executed: bool,
    partitions: &'a [Change],
}

/// A partition: a row, which `--file` reads back.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Change {
    topic: String,
    partition: i32,
    /// What was committed before.
    before: Option<i64>,
    /// What is to be committed, or was.
    offset: i64,
    /// Why it is not what was asked for.
    note: Option<&'static str>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    if args.file.is_none() && args.topic.is_empty() && !args.all_topics {
        return Err(Error::usage(
            "which topics? --topic TOPIC, --topic TOPIC:0,1 or --all-topics",
        ));
    }
    args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        refuse_members(&admin, &args.group).await?;
        let changes = plan(&client, &admin, args).await?;
        let mut exit = Exit::AGREE;
        if args.execute {
            exit = execute(&admin, args, &changes).await;
        }
        // After a failure it is not known what holds: the messages say which partitions failed.
        if exit == Exit::AGREE {
            print(args, &changes)?;
        }
        Ok(exit)
    })
}

/// A group with members would commit over what is set; the coordinator refuses it too.
async fn refuse_members(admin: &Admin, group: &str) -> Result<(), Error> {
    let described = admin.describe_groups([group]).await.all();
    let described = match described {
        Ok(described) => described,
        Err(error) if error.code() == Some(ErrorCode::GROUP_ID_NOT_FOUND) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match described.first() {
        Some((_, description)) if !description.members.is_empty() => {
            Err(Error::usage(occupied(group, description)))
        }
        _ => Ok(()),
    }
}

fn occupied(group: &str, description: &GroupDescription) -> String {
    const NAMED: usize = 3;
    let members = &description.members;
    let mut text = format!(
        "group {group} is {} and has {} members, which would commit over what is set; stop them first:",
        description.state,
        members.len()
    );
    for (at, member) in members.iter().take(NAMED).enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma} {} ({} at {})",
            member.member_id, member.client_id, member.host
        );
    }
    if members.len() > NAMED {
        let _ = write!(text, " and {} more", members.len() - NAMED);
    }
    text
}

/// What is to change, all of it or an error.
async fn plan(client: &Client, admin: &Admin, args: &Args) -> Result<Vec<Change>, Error> {
    let committed = admin
        .list_group_offsets([args.group.as_str()])
        .await
        .all()?;
    let mut before = BTreeMap::new();
    for (partition, outcome) in committed.into_iter().flat_map(|(_, offsets)| offsets) {
        before.insert(partition, outcome?.offset);
    }
    let filed = match &args.file {
        Some(path) => Some(offset_file::read(path, &args.group)?),
        None => None,
    };
    let partitions: BTreeSet<TopicPartition> = match &filed {
        Some(offsets) => {
            let wanted = |p: &&TopicPartition| {
                args.topic.is_empty() || args.topic.iter().any(|selected| selected.has(p))
            };
            offsets.keys().filter(wanted).cloned().collect()
        }
        None if args.all_topics => before.keys().cloned().collect(),
        None => selected(admin, &args.topic).await?,
    };
    if partitions.is_empty() {
        return Err(Error::usage(match &filed {
            Some(_) => "the file has no offsets of these topics".to_owned(),
            None => format!("group {} has committed nothing", args.group),
        }));
    }
    let ends = Ends::of(client, &partitions, args.cluster.timeout()).await;
    if let Some(error) = partitions.iter().find_map(|p| ends.errors.get(p)) {
        return Err(Error::usage(format!("{error}; nothing was changed")));
    }
    let by_time = match args.to {
        Some(From(Start::Timestamp(time))) => Some(time),
        Some(From(Start::Ago(back))) => {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            Some(now.saturating_sub(back).as_millis() as i64)
        }
        _ => None,
    };
    let mut found = BTreeMap::new();
    if let Some(time) = by_time {
        let spec = OffsetSpec::Timestamp(time);
        let asked = partitions.iter().map(|p| (p.clone(), spec));
        for (partition, listed) in admin.list_offsets(asked).await.all()? {
            found.insert(partition, listed.offset);
        }
    }
    let changes = partitions.into_iter().map(|partition| {
        let (begin, end) = (ends.begin.get(&partition), ends.end.get(&partition));
        let (Some(&begin), Some(&end)) = (begin, end) else {
            return Err(Error::usage(format!(
                "{partition}: where it begins and ends is not known; nothing was changed"
            )));
        };
        let (offset, note) = match (&filed, args.to) {
            (Some(offsets), _) => within(offsets[&partition], begin, end),
            (_, Some(From(Start::Offset(offset)))) => within(offset, begin, end),
            (_, Some(From(Start::Earliest))) => (begin, None),
            (_, Some(From(Start::Latest))) | (_, None) => (end, None),
            (_, Some(From(Start::Timestamp(_) | Start::Ago(_)))) => {
                match found.get(&partition).copied().flatten() {
                    Some(offset) => (offset, None),
                    None => (end, Some("no record is so young: the end")),
                }
            }
        };
        Ok(Change {
            before: before.get(&partition).copied(),
            topic: partition.topic.to_string(),
            partition: partition.partition,
            offset,
            note,
        })
    });
    changes.collect()
}

/// An offset that the partition has, as Kafka's tool does it.
fn within(offset: i64, begin: i64, end: i64) -> (i64, Option<&'static str>) {
    if offset < begin {
        (begin, Some("older records are gone: the beginning"))
    } else if offset > end {
        (end, Some("beyond the end: the end"))
    } else {
        (offset, None)
    }
}

async fn selected(admin: &Admin, topics: &[Selected]) -> Result<BTreeSet<TopicPartition>, Error> {
    let names: BTreeSet<&str> = topics.iter().map(|selected| &*selected.topic).collect();
    let described = admin.describe_topics(names).await.all()?;
    let mut partitions = BTreeSet::new();
    for selected in topics {
        let found = described.iter().find(|(name, _)| *name == selected.topic);
        let count = found.map_or(0, |(_, topic)| topic.partitions.len());
        let all: Vec<i32> = (0..count as i32).collect();
        let wanted = match selected.partitions.as_slice() {
            [] => &all,
            some => some,
        };
        for &partition in wanted {
            if !all.contains(&partition) {
                return Err(Error::usage(format!(
                    "topic {} has no partition {partition}: it has {count} partitions",
                    selected.topic
                )));
            }
            partitions.insert(TopicPartition::new(selected.topic.as_str(), partition));
        }
    }
    Ok(partitions)
}

async fn execute(admin: &Admin, args: &Args, changes: &[Change]) -> Exit {
    let offsets = changes.iter().map(|change| {
        let partition = TopicPartition::new(change.topic.as_str(), change.partition);
        (partition, change.offset)
    });
    let results = admin.alter_group_offsets(&args.group, offsets).await;
    let failures = results.into_iter().filter_map(|(_, outcome)| outcome.err());
    failures.fold(Exit::AGREE, |exit, error| worse(exit, complain(error)))
}

fn print(args: &Args, changes: &[Change]) -> Result<(), Error> {
    match args.output {
        RowForm::Json => plain::json(&Document {
            schema: "copart.reset/1",
            group: &args.group,
            executed: args.execute,
            partitions: changes,
        })?,
        RowForm::Jsonl => plain::lines(changes)?,
        RowForm::Csv => {
            let names = ["topic", "partition", "before", "offset", "note"];
            plain::csv(changes, &names, true)?;
        }
        RowForm::Table => {
            let rows = changes.iter().map(|change| {
                let by = change
                    .before
                    .map(|before| format!("{:+}", change.offset - before));
                [
                    change.topic.clone(),
                    change.partition.to_string(),
                    number(change.before),
                    change.offset.to_string(),
                    number(by),
                    change.note.unwrap_or_default().to_owned(),
                ]
            });
            let headings = ["TOPIC", "PARTITION", "BEFORE", "AFTER", "BY", ""];
            plain::columns(headings, &rows.collect::<Vec<_>>())?;
        }
    }
    if !args.execute {
        errorln!("copart: nothing was changed; --execute does it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_partitions_are_selected() {
        let selected: Selected = "t:0,2".parse().expect("valid");
        assert_eq!(
            (selected.topic.as_str(), &selected.partitions[..]),
            ("t", &[0, 2][..])
        );
        assert!(selected.has(&TopicPartition::new("t", 2)));
        assert!(!selected.has(&TopicPartition::new("t", 1)));
        assert!(!selected.has(&TopicPartition::new("u", 0)));
        let all: Selected = "t".parse().expect("valid");
        assert!(all.has(&TopicPartition::new("t", 9)));
        for wrong in ["", ":1", "t:", "t:x", "t:-1", "t:1,"] {
            wrong.parse::<Selected>().expect_err(wrong);
        }
    }

    #[test]
    fn offsets_stay_within_the_log() {
        assert_eq!(within(5, 2, 9), (5, None));
        assert_eq!(within(9, 2, 9), (9, None));
        assert_eq!((within(1, 2, 9).0, within(10, 2, 9).0), (2, 9));
    }
}
