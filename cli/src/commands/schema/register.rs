use copart_audit::Error;
use copart_serializers::ErrorKind;

use super::get::Document;
use super::source::SchemaArgs;
use crate::exit::Exit;
use crate::plain::{self, Form};
use crate::registry::RegistryArgs;

/// Register a schema as the next version of a subject, unless the subject has it
#[derive(clap::Args)]
pub(super) struct Args {
    /// Subject, such as orders-value
    #[arg(value_name = "SUBJECT")]
    subject: String,

    #[command(flatten)]
    source: SchemaArgs,

    /// Let the registry bring the schema into its normal form, so that other white space or another
    /// order is no new version
    #[arg(long)]
    normalize: bool,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let schema = args.source.read()?;
    let subject = &args.subject;
    let place = args.registry.run(async |registry| {
        let mut place = if args.normalize {
            registry.register_normalized(subject, &schema).await?
        } else {
            registry.register(subject, &schema).await?
        };
        if place.version.is_none() {
            // Registries before Confluent's 7.4 tell the id alone. One that keeps another form of the
            // schema may not find it by this one.
            match registry.look_up(subject, &schema).await {
                Ok(found) => place.version = found.version,
                Err(error) if error.kind() == ErrorKind::Schema => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(place)
    })?;
    match args.output {
        Form::Table => match place.version {
            Some(version) => plain::line(format!("{subject}: version {version}, id {}", place.id))?,
            None => plain::line(format!("{subject}: id {}", place.id))?,
        },
        Form::Json => plain::json(&Document::new(&schema, Some(subject.clone())).at(&place))?,
    }
    Ok(Exit::AGREE)
}
