use clap::ValueEnum;
use copart_audit::Error;
use copart_serializers::registry::{Registered, Version};
use copart_serializers::schema::{Schema, SchemaGuid, SchemaId, SchemaKey};
use serde::Serialize;

use crate::exit::Exit;
use crate::plain;
use crate::registry::RegistryArgs;

/// A schema: a version of a subject, or by its id
#[derive(clap::Args)]
pub(super) struct Args {
    /// Subject, such as orders-value
    #[arg(value_name = "SUBJECT", required_unless_present = "id")]
    subject: Option<String>,

    /// Version of the subject: a number, or latest
    #[arg(long, value_name = "VERSION", default_value = "latest", value_parser = version)]
    version: Version,

    /// Id of the schema, as records name it, or its GUID
    #[arg(long, value_name = "ID", conflicts_with_all = ["subject", "version"], value_parser = key)]
    id: Option<SchemaKey>,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "text")]
    output: Form,

    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// The schema's text, as it was registered
    Text,
    /// For programs: one document with a version, of which members may be added
    Json,
}

pub(super) fn version(text: &str) -> Result<Version, String> {
    match text {
        "latest" => Ok(Version::Latest),
        number => number
            .parse()
            .ok()
            .filter(|&number: &i32| number > 0)
            .map(Version::Number)
            .ok_or_else(|| "it is a number from 1, or latest".into()),
    }
}

fn key(text: &str) -> Result<SchemaKey, String> {
    if let Ok(id) = text.parse() {
        return Ok(SchemaKey::Id(SchemaId(id)));
    }
    let guid = text.parse::<SchemaGuid>();
    guid.map(SchemaKey::Guid)
        .map_err(|error| format!("it is a number, or a GUID: {error}"))
}

/// `docs/src/schema/copart.schema-1.schema.json`
#[derive(Serialize)]
pub(super) struct Document {
    schema: &'static str,
    subject: Option<String>,
    version: Option<i32>,
    id: Option<u32>,
    guid: Option<String>,
    #[serde(rename = "type")]
    schema_type: &'static str,
    text: String,
    references: Vec<Reference>,
}

#[derive(Serialize)]
struct Reference {
    name: String,
    subject: String,
    version: i32,
}

impl Document {
    pub(super) fn new(schema: &Schema, subject: Option<String>) -> Self {
        let references = schema.references().iter().map(|reference| Reference {
            name: reference.name.clone(),
            subject: reference.subject.clone(),
            version: reference.version,
        });
        Self {
            schema: "copart.schema/1",
            subject,
            version: None,
            id: None,
            guid: None,
            schema_type: schema.schema_type().name(),
            text: schema.text().to_owned(),
            references: references.collect(),
        }
    }

    pub(super) fn at(mut self, place: &Registered) -> Self {
        self.version = place.version;
        self.id = Some(place.id.0);
        self.guid = place.guid.map(|guid| guid.to_string());
        self
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let document = args.registry.run(async |registry| {
        if let Some(key) = args.id {
            let mut document = Document::new(&registry.schema(key).await?, None);
            match key {
                SchemaKey::Id(id) => document.id = Some(id.0),
                SchemaKey::Guid(guid) => document.guid = Some(guid.to_string()),
            }
            return Ok(document);
        }
        let subject = args.subject.clone().unwrap_or_default();
        let (schema, place) = registry.version(&subject, args.version).await?;
        Ok(Document::new(&schema, Some(subject)).at(&place))
    })?;
    match args.output {
        Form::Text => plain::line(document.text.trim_end_matches('\n'))?,
        Form::Json => plain::json(&document)?,
    }
    Ok(Exit::AGREE)
}
