use copart_audit::Error;
use copart_serializers::registry::Version;
use serde::Serialize;

use super::get::version;
use super::source::SchemaArgs;
use crate::exit::Exit;
use crate::plain::{self, Form};
use crate::registry::RegistryArgs;

/// May this schema be registered? Nothing is changed
///
/// The registry compares it with the versions of the subject that its compatibility level names: the
/// newest, or with the transitive levels all. With --version it compares with that one only.
///
/// Exits with 0 when it may, with 1 when it may not.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Subject, such as orders-value
    #[arg(value_name = "SUBJECT")]
    subject: String,

    #[command(flatten)]
    source: SchemaArgs,

    /// Version of the subject to compare with: a number, or latest [default: as for registering]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    version: Option<Version>,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// `docs/src/schema/copart.schema-check-1.schema.json`
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    subject: &'a str,
    version: Option<String>,
    compatible: bool,
    messages: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let schema = args.source.read()?;
    let subject = args.subject.as_str();
    let answer = args.registry.run(async |registry| {
        Ok(match args.version {
            Some(version) => registry.check(subject, version, &schema).await?,
            None => registry.check_registrable(subject, &schema).await?,
        })
    })?;
    match args.output {
        Form::Table if answer.compatible => plain::line(format!("{subject}: compatible"))?,
        Form::Table => {
            plain::line(format!("{subject}: not compatible"))?;
            for message in &answer.messages {
                plain::line(format!("  {message}"))?;
            }
        }
        Form::Json => plain::json(&Document {
            schema: "copart.schema-check/1",
            subject,
            version: args.version.map(|version| version.to_string()),
            compatible: answer.compatible,
            messages: answer.messages,
        })?,
    }
    Ok(if answer.compatible {
        Exit::AGREE
    } else {
        Exit::DISAGREE
    })
}
