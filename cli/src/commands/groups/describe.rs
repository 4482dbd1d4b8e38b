use copart_audit::Error;
use serde::Serialize;

use super::state::{Group, Progress, gather};
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::{complain, worse};
use crate::plain::{self, RowForm, number};

/// Groups with their members, and how far they have come
///
/// csv and jsonl have a row for each partition. `copart groups reset-offsets --file` reads json, jsonl and
/// csv back.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Their ids
    #[arg(value_name = "GROUP", required = true)]
    groups: Vec<String>,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: RowForm,

    #[command(flatten)]
    cluster: ClusterArgs,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    groups: &'a [Group],
}

/// A partition in a row of its own.
#[derive(Serialize)]
struct Row<'a> {
    group: &'a str,
    topic: &'a str,
    partition: i32,
    offset: Option<i64>,
    begin_offset: Option<i64>,
    end_offset: Option<i64>,
    lag: Option<i64>,
    member_id: Option<&'a str>,
    client_id: Option<&'a str>,
    host: Option<&'a str>,
}

const COLUMNS: [&str; 10] = [
    "group",
    "topic",
    "partition",
    "offset",
    "begin_offset",
    "end_offset",
    "lag",
    "member_id",
    "client_id",
    "host",
];

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let gathered = args
        .cluster
        .run(async |client| Ok(gather(&client, &args.groups, args.cluster.timeout()).await))?;
    let mut exit = Exit::AGREE;
    let mut groups = Vec::new();
    for (_, outcome) in gathered {
        match outcome {
            Ok(group) => groups.push(group),
            Err(error) => exit = worse(exit, complain(error)),
        }
    }
    let rows = groups.iter().flat_map(|group| {
        let offsets = group.offsets.iter();
        offsets.map(|progress| row(group, progress))
    });
    match args.output {
        RowForm::Json => plain::json(&Document {
            schema: "copart.groups/1",
            groups: &groups,
        })?,
        RowForm::Jsonl => plain::lines(rows)?,
        RowForm::Csv => plain::csv(rows, &COLUMNS, true)?,
        RowForm::Table => groups.iter().try_for_each(print)?,
    }
    Ok(exit)
}

fn row<'a>(group: &'a Group, progress: &'a Progress) -> Row<'a> {
    Row {
        group: &group.group,
        topic: &progress.topic,
        partition: progress.partition,
        offset: progress.offset,
        begin_offset: progress.begin_offset,
        end_offset: progress.end_offset,
        lag: progress.lag,
        member_id: progress.member_id.as_deref(),
        client_id: progress.client_id.as_deref(),
        host: progress.host.as_deref(),
    }
}

fn print(group: &Group) -> Result<(), Error> {
    plain::line(format_args!("group {}", group.group))?;
    plain::line(format_args!("  state     {}", group.state))?;
    plain::line(format_args!("  kind      {}", group.kind))?;
    if !group.assignor.is_empty() {
        plain::line(format_args!("  assignor  {}", group.assignor))?;
    }
    plain::line(format_args!("  members   {}", group.members.len()))?;
    if !group.offsets.is_empty() {
        let rows = group.offsets.iter().map(|one| {
            [
                one.topic.clone(),
                one.partition.to_string(),
                number(one.offset),
                number(one.begin_offset),
                number(one.end_offset),
                number(one.lag),
                one.member_id.clone().unwrap_or_else(|| "-".to_owned()),
            ]
        });
        let headings = [
            "TOPIC",
            "PARTITION",
            "OFFSET",
            "BEGIN",
            "END",
            "LAG",
            "MEMBER",
        ];
        plain::columns(headings, &rows.collect::<Vec<_>>())?;
    }
    for error in group.offsets.iter().filter_map(|one| one.error.as_ref()) {
        errorln!("copart: {error}");
    }
    if !group.members.is_empty() {
        let rows = group.members.iter().map(|member| {
            let partitions = member.partitions.as_ref().map(Vec::len);
            [
                member.member_id.clone(),
                member.instance_id.clone().unwrap_or_else(|| "-".to_owned()),
                member.client_id.clone(),
                member.host.clone(),
                number(partitions),
            ]
        });
        let headings = ["MEMBER", "INSTANCE", "CLIENT", "HOST", "PARTITIONS"];
        plain::columns(headings, &rows.collect::<Vec<_>>())?;
    }
    Ok(())
}
