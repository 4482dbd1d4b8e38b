//! Keys and values that are given as JSON, and written as what a serializer makes of them.

use copart_audit::Error;
use copart_audit::input::outgoing::OutgoingRecord;
use copart_serializers::registry::{FramedSerializer, Registry, Version};
use copart_serializers::schema::{SchemaKey, SchemaType};
use copart_serializers::{
    AvroJson, Context, Error as Unwritten, Format, Part, ProtobufDynamic, Serialize,
};

use crate::protobuf::compile;
use crate::registry::RegistryArgs;
use crate::typed::{PayloadFormat, SchemaArgs, Typed};

/// What keys and values become.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// What keys become: bytes, by --key-encoding; or avro, protobuf or json, from text that is JSON
    ///
    /// avro, protobuf: bare, by --key-schema. The schema's id is put in front only with
    /// --allow-schema-id-in-keys. json: written as it stands, if it is JSON.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "bytes",
        help_heading = "Formats"
    )]
    key_format: PayloadFormat,

    /// What values become: bytes, by --value-encoding; or avro, protobuf or json, from text that is JSON
    ///
    /// With --registry avro and protobuf have the registry's frame in front, and their schema has to be
    /// there under TOPIC-value: that of --value-schema, or without one the newest; of protobuf its first
    /// message, or --value-message. Without --registry they are bare.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "bytes",
        help_heading = "Formats"
    )]
    value_format: PayloadFormat,

    #[command(flatten)]
    schemas: SchemaArgs,

    /// Put the schema's id in front of keys too; it is hashed with them, so that keys move to other
    /// partitions when it changes
    #[arg(long, help_heading = "Formats")]
    allow_schema_id_in_keys: bool,

    #[command(flatten)]
    registry: RegistryArgs,
}

impl FormatArgs {
    /// What is not bytes.
    pub(super) fn is_text(&self, part: Part) -> bool {
        self.format(part) != PayloadFormat::Bytes
    }

    fn format(&self, part: Part) -> PayloadFormat {
        match part {
            Part::Key => self.key_format,
            Part::Value => self.value_format,
        }
    }

    /// What writes the keys and values of `topic` so. Files are read; the registry is not asked yet.
    pub(super) fn encoder(&self, topic: &str) -> Result<Encoder, Error> {
        if self.allow_schema_id_in_keys && !self.registry.is_given() {
            return Err(Error::usage(
                "--allow-schema-id-in-keys: the id comes from --registry",
            ));
        }
        Ok(Encoder {
            topic: topic.to_owned(),
            key: self.writing(Part::Key, self.allow_schema_id_in_keys)?,
            value: self.writing(Part::Value, self.registry.is_given())?,
        })
    }

    fn writing(&self, part: Part, is_framed: bool) -> Result<Writing, Error> {
        let usage = |what: String| Error::usage(format!("--{part}-format: {what}"));
        let (schema, message) = self.schemas.of(part);
        let typed = match (self.format(part), schema, message) {
            (PayloadFormat::Bytes, None, None) => return Ok(Writing::Bytes),
            (PayloadFormat::Json, None, None) => return Ok(Writing::Json),
            (PayloadFormat::Bytes | PayloadFormat::Json, ..) => {
                return Err(usage(format!(
                    "--{part}-schema and --{part}-message are for avro and protobuf"
                )));
            }
            (PayloadFormat::Avro, None, None) if is_framed => {
                return Ok(Writing::Newest(self.registry.registry()?, Language::Avro));
            }
            (PayloadFormat::Protobuf, None, message) if is_framed => {
                let language = Language::Protobuf(message.map(str::to_owned));
                return Ok(Writing::Newest(self.registry.registry()?, language));
            }
            (PayloadFormat::Avro, None, None) => {
                let what = match part {
                    Part::Key => {
                        "avro is written by --key-schema, or in the frame of --registry with --allow-schema-id-in-keys"
                    }
                    Part::Value => {
                        "avro is written by --value-schema, or by a schema of --registry"
                    }
                };
                return Err(usage(what.to_owned()));
            }
            (PayloadFormat::Avro, _, Some(_)) => {
                return Err(usage(format!("--{part}-message is for protobuf")));
            }
            (PayloadFormat::Avro, Some(schema), None) => Typed::open(schema, None, part)?,
            (PayloadFormat::Protobuf, Some(schema), Some(message)) => {
                Typed::open(schema, Some(message), part)?
            }
            (PayloadFormat::Protobuf, ..) => {
                return Err(usage(format!(
                    "protobuf is written by --{part}-schema, a descriptor set, and --{part}-message, or by a schema of --registry"
                )));
            }
        };
        if part == Part::Key {
            typed.key_order()?;
        }
        if !is_framed {
            return Ok(Writing::Bare(typed));
        }
        let registry = self.registry.registry()?;
        Ok(match typed {
            Typed::Avro(avro) => Writing::Avro(framed(&registry, *avro)),
            Typed::Protobuf(message) => {
                let protobuf = framed(&registry, ProtobufDynamic::new(message.clone()));
                Writing::Protobuf(protobuf, Typed::Protobuf(message))
            }
        })
    }
}

/// Keys come here only if they are allowed to.
fn framed<F>(registry: &Registry, format: F) -> FramedSerializer<F> {
    registry.serializer(format).allow_schema_id_in_keys()
}

/// Writes keys and values.
pub(super) struct Encoder {
    topic: String,
    key: Writing,
    value: Writing,
}

impl Encoder {
    /// Asks the registry for what it is needed for.
    pub(super) async fn prepare(&mut self) -> Result<(), Error> {
        self.key.prepare(&Context::key(&self.topic)).await?;
        self.value.prepare(&Context::value(&self.topic)).await
    }

    /// Puts bytes in the place of text. Null stays null.
    pub(super) fn encode(&self, record: &mut OutgoingRecord) -> Result<(), String> {
        let parts = [
            (Context::key(&self.topic), &self.key, &mut record.key),
            (Context::value(&self.topic), &self.value, &mut record.value),
        ];
        for (context, writing, payload) in parts {
            if let Some(text) = payload {
                let written = writing.bytes(&context, text);
                if let Some(bytes) =
                    written.map_err(|what| format!("{}: {what}", context.part()))?
                {
                    *payload = Some(bytes);
                }
            }
        }
        Ok(())
    }
}

enum Writing {
    Bytes,
    Json,
    /// Without a frame.
    Bare(Typed),
    /// By the newest schema of the registry, which was not asked yet.
    Newest(Registry, Language),
    Avro(FramedSerializer<AvroJson>),
    Protobuf(FramedSerializer<ProtobufDynamic>, Typed),
}

/// What the newest schema has to be.
enum Language {
    Avro,
    /// And the message, if not the first one.
    Protobuf(Option<String>),
}

impl Writing {
    async fn prepare(&mut self, context: &Context<'_>) -> Result<(), Error> {
        if let Self::Newest(registry, language) = self {
            *self = newest(registry, language, context).await?;
        }
        let preparation = match self {
            Self::Avro(serializer) => serializer.prepare(context, None),
            Self::Protobuf(serializer, _) => serializer.prepare(context, None),
            Self::Bytes | Self::Json | Self::Bare(_) | Self::Newest(..) => None,
        };
        match preparation {
            Some(preparation) => Ok(preparation.await?),
            None => Ok(()),
        }
    }

    /// `None` if they are what they are to be.
    fn bytes(&self, context: &Context<'_>, text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let no_json = |error: &dyn std::fmt::Display| format!("it is no JSON: {error}");
        let said = |error: Unwritten| error.reason().to_owned();
        match self {
            Self::Bytes => Ok(None),
            Self::Json => {
                let read = serde_json::from_slice::<serde::de::IgnoredAny>(text);
                read.map_err(|error| no_json(&error))?;
                Ok(None)
            }
            Self::Bare(typed) => {
                let mut bytes = Vec::new();
                typed.serialize(text, &mut bytes)?;
                Ok(Some(bytes))
            }
            Self::Newest(..) => Err("the registry was not asked for the schema".to_owned()),
            Self::Avro(serializer) => {
                let text = str::from_utf8(text).map_err(|error| no_json(&error))?;
                serializer.to_vec(context, text).map_err(said)
            }
            Self::Protobuf(serializer, typed) => {
                let message = typed.message(text)?;
                serializer.to_vec(context, &message).map_err(said)
            }
        }
    }
}

/// What writes by the newest schema of the topic's subject.
async fn newest(
    registry: &Registry,
    language: &Language,
    context: &Context<'_>,
) -> Result<Writing, Error> {
    let (topic, part) = (context.topic(), context.part());
    let subject = format!("{topic}-{part}");
    let refuse = |what: String| {
        Error::usage(format!(
            "--{part}-format: the newest schema of {subject}: {what}"
        ))
    };
    let (schema, registered) = registry.version(&subject, Version::Latest).await?;
    let wanted = match language {
        Language::Avro => SchemaType::Avro,
        Language::Protobuf(_) => SchemaType::Protobuf,
    };
    if schema.schema_type() != wanted {
        let found = schema.schema_type();
        return Err(refuse(format!("it is {found}, not {wanted}")));
    }
    let Language::Protobuf(name) = language else {
        let (schema, references) = registry.described(SchemaKey::Id(registered.id)).await?;
        let avro = AvroJson::with_references(schema, &references)?;
        return Ok(Writing::Avro(framed(registry, avro)));
    };
    let file = compile(registry, &schema).await?.map_err(refuse)?;
    let message = match name {
        None => file.messages().next(),
        Some(name) => {
            let found = file.parent_pool().get_message_by_name(name);
            found.filter(|message| message.parent_file() == file)
        }
    };
    let message = message.ok_or_else(|| {
        let what = name.as_deref().unwrap_or("at all");
        refuse(format!("it has no message {what}"))
    })?;
    let typed = Typed::Protobuf(message.clone());
    if part == Part::Key {
        typed.key_order()?;
    }
    let protobuf = ProtobufDynamic::new(message).with_schema(schema);
    Ok(Writing::Protobuf(framed(registry, protobuf), typed))
}
