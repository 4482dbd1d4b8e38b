use copart::admin::GroupListing;
use copart_audit::Error;
use serde::Serialize;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::{complain, worse};
use crate::plain::{self, RowForm};

/// The groups, with their states and coordinators
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only groups in this state, in Kafka's words: Stable, Empty …; can be given more than once
    #[arg(long, value_name = "STATE")]
    state: Vec<String>,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: RowForm,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// A group in a list: part of `docs/src/schema/copart.groups-1.schema.json`.
#[derive(Serialize)]
struct Row {
    group: String,
    kind: Option<String>,
    state: Option<String>,
    protocol_type: String,
    coordinator: i32,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    groups: Vec<Row>,
}

impl From<GroupListing> for Row {
    fn from(group: GroupListing) -> Self {
        Self {
            group: group.group,
            kind: group.kind.map(|kind| kind.to_string()),
            state: group.state,
            protocol_type: group.protocol_type,
            coordinator: group.coordinator,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let listed = args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        Ok(admin.list_groups().await?)
    })?;
    let wanted = |group: &GroupListing| {
        let state = group.state.as_deref().unwrap_or_default();
        args.state.is_empty() || args.state.iter().any(|s| s.eq_ignore_ascii_case(state))
    };
    let groups = listed.groups.into_iter().filter(wanted);
    let groups: Vec<Row> = groups.map(Row::from).collect();
    match args.output {
        RowForm::Json => plain::json(&Document {
            schema: "copart.groups/1",
            groups,
        })?,
        RowForm::Jsonl => plain::lines(groups)?,
        RowForm::Csv => {
            let names = ["group", "kind", "state", "protocol_type", "coordinator"];
            plain::csv(groups, &names, true)?;
        }
        RowForm::Table => {
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let rows = groups.into_iter().map(|group| {
                let protocol = Some(group.protocol_type).filter(|p| !p.is_empty());
                [
                    group.group,
                    or_dash(group.state),
                    or_dash(group.kind),
                    or_dash(protocol),
                    group.coordinator.to_string(),
                ]
            });
            let headings = ["GROUP", "STATE", "KIND", "PROTOCOL", "COORDINATOR"];
            plain::columns(headings, &rows.collect::<Vec<_>>())?;
        }
    }
    // The groups of brokers that did not tell are missing: that is no full answer.
    let failures = listed.failures.into_iter();
    Ok(failures.fold(Exit::AGREE, |exit, (_, error)| worse(exit, complain(error))))
}
