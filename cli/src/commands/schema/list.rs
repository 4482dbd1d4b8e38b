use copart_audit::Error;
use copart_serializers::registry::{Registry, Version};
use serde::Serialize;
use tokio::task::JoinSet;

use crate::exit::Exit;
use crate::plain::{self, RowForm};
use crate::registry::RegistryArgs;

/// The subjects, with their versions, and the newest one's language and id
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only subjects that begin with this
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    prefix: String,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: RowForm,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// `docs/src/schema/copart.subjects-1.schema.json`
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    subjects: Vec<Subject>,
}

#[derive(Serialize)]
struct Subject {
    subject: String,
    versions: Vec<i32>,
    #[serde(rename = "type")]
    schema_type: &'static str,
    /// Of the newest version.
    id: u32,
}

/// A subject in a table.
#[derive(Serialize)]
struct Row {
    subject: String,
    version: i32,
    #[serde(rename = "type")]
    schema_type: &'static str,
    id: u32,
}

/// Subjects that are asked about at a time.
const AT_ONCE: usize = 8;

async fn described(registry: Registry, subject: String) -> Result<Subject, Error> {
    let mut versions = registry.versions(&subject).await?;
    versions.sort_unstable();
    let (schema, place) = registry.version(&subject, Version::Latest).await?;
    Ok(Subject {
        versions,
        schema_type: schema.schema_type().name(),
        id: place.id.0,
        subject,
    })
}

async fn all(registry: Registry, prefix: &str) -> Result<Vec<Subject>, Error> {
    let mut names = registry.subjects().await?;
    names.retain(|name| name.starts_with(prefix));
    let mut names = names.into_iter();
    let (mut asked, mut subjects) = (JoinSet::new(), Vec::new());
    loop {
        while asked.len() < AT_ONCE
            && let Some(name) = names.next()
        {
            asked.spawn(described(registry.clone(), name));
        }
        match asked.join_next().await {
            None => break,
            Some(Ok(subject)) => subjects.push(subject?),
            Some(Err(error)) => return Err(std::io::Error::other(error).into()),
        }
    }
    subjects.sort_by(|a, b| a.subject.cmp(&b.subject));
    Ok(subjects)
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let subjects = args
        .registry
        .run(async |registry| all(registry, &args.prefix).await)?;
    let rows = || {
        subjects.iter().map(|subject| Row {
            subject: subject.subject.clone(),
            version: subject.versions.last().copied().unwrap_or_default(),
            schema_type: subject.schema_type,
            id: subject.id,
        })
    };
    match args.output {
        RowForm::Jsonl => plain::lines(subjects)?,
        RowForm::Csv => plain::csv(rows(), &["subject", "version", "type", "id"], true)?,
        RowForm::Table => {
            let rows: Vec<_> = subjects
                .into_iter()
                .map(|subject| {
                    let versions = plain::list(&subject.versions);
                    let id = subject.id.to_string();
                    [
                        subject.subject,
                        versions,
                        subject.schema_type.to_owned(),
                        id,
                    ]
                })
                .collect();
            plain::columns(["SUBJECT", "VERSIONS", "TYPE", "ID"], &rows)?;
        }
        RowForm::Json => plain::json(&Document {
            schema: "copart.subjects/1",
            subjects,
        })?,
    }
    Ok(Exit::AGREE)
}
