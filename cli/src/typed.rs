//! Keys and values that a schema describes, as JSON text and as bytes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use copart_audit::Error;
use copart_serializers::{
    AvroJson, Context, Deserialize, Error as Unread, ErrorKind, Part, Payload, Serialize,
};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};

/// What keys or values are, or become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadFormat {
    Bytes,
    Avro,
    Protobuf,
    Json,
}

impl FromStr for PayloadFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "bytes" => Ok(Self::Bytes),
            "avro" => Ok(Self::Avro),
            "protobuf" => Ok(Self::Protobuf),
            "json" => Ok(Self::Json),
            _ => Err("it is bytes, avro, protobuf or json".into()),
        }
    }
}

/// What describes keys and values that name no schema themselves.
#[derive(clap::Args)]
pub(crate) struct SchemaArgs {
    /// Schema of keys: a file of Avro, or a Protobuf descriptor set
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    key_schema: Option<PathBuf>,

    /// Full name of the keys' message in the descriptor set
    #[arg(long, value_name = "NAME", help_heading = "Formats")]
    key_message: Option<String>,

    /// Schema of values: a file of Avro, or a Protobuf descriptor set
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    value_schema: Option<PathBuf>,

    /// Full name of the values' message in the descriptor set
    #[arg(long, value_name = "NAME", help_heading = "Formats")]
    value_message: Option<String>,
}

impl SchemaArgs {
    /// The file, and the message in it.
    pub(crate) fn of(&self, part: Part) -> (Option<&Path>, Option<&str>) {
        let (schema, message) = match part {
            Part::Key => (&self.key_schema, &self.key_message),
            Part::Value => (&self.value_schema, &self.value_message),
        };
        (schema.as_deref(), message.as_deref())
    }
}

/// A schema, and how text becomes bytes by it.
#[derive(Debug)]
pub(crate) enum Typed {
    /// Text in Avro's JSON encoding.
    Avro(Box<AvroJson>),
    /// Text in Protobuf's JSON mapping.
    Protobuf(MessageDescriptor),
}

impl Typed {
    /// Reads a file with an Avro schema; or, if `message` names one of its messages, with a set of
    /// Protobuf file descriptors.
    pub(crate) fn open(path: &Path, message: Option<&str>, part: Part) -> Result<Self, Error> {
        let said = |what: String| Error::usage(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| said(error.to_string()))?;
        let Some(message) = message else {
            let text = String::from_utf8(bytes).map_err(|_| {
                said(format!("it is no text, so no Avro schema; of a Protobuf descriptor set, --{part}-message names the message"))
            })?;
            let avro = AvroJson::new(&text).map_err(|error| said(error.to_string()))?;
            return Ok(Self::Avro(Box::new(avro)));
        };
        let pool = DescriptorPool::decode(bytes.as_slice()).map_err(|error| {
            said(format!(
                "it is no Protobuf descriptor set: {error}; protoc --include_imports --descriptor_set_out=FILE makes one"
            ))
        })?;
        match pool.get_message_by_name(message) {
            Some(found) => Ok(Self::Protobuf(found)),
            None => {
                let names = pool.all_messages().take(20);
                let names: Vec<_> = names.map(|found| found.full_name().to_owned()).collect();
                Err(said(format!(
                    "there is no message {message}; there are {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// Refuses what has no order of its own: a key would have other bytes each time.
    pub(crate) fn key_order(&self) -> Result<(), Error> {
        let Self::Protobuf(message) = self else {
            return Ok(());
        };
        let mut seen = HashSet::new();
        let mut wanted = vec![message.clone()];
        while let Some(message) = wanted.pop() {
            if !seen.insert(message.full_name().to_owned()) {
                continue;
            }
            for field in message.fields() {
                if field.is_map() {
                    return Err(Error::usage(format!(
                        "{} is a map: Protobuf writes its entries in any order, so the message is no key",
                        field.full_name()
                    )));
                }
                wanted.extend(field.kind().as_message().cloned());
            }
        }
        Ok(())
    }

    /// Appends the bytes that a producer's serializer makes.
    pub(crate) fn serialize(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let text = str::from_utf8(text).map_err(|_| "it is no JSON: not UTF-8".to_owned())?;
        match self {
            Self::Avro(avro) => {
                let bytes = avro.to_vec(&Context::key(""), text);
                let bytes = bytes.map_err(|error| error.to_string())?;
                out.extend_from_slice(&bytes.unwrap_or_default());
                Ok(())
            }
            Self::Protobuf(message) => {
                parse(message, text)?.encode_raw(out);
                Ok(())
            }
        }
    }

    /// The Protobuf message that the text is.
    pub(crate) fn message(&self, text: &[u8]) -> Result<DynamicMessage, String> {
        let text = str::from_utf8(text).map_err(|_| "it is no JSON: not UTF-8".to_owned())?;
        match self {
            Self::Protobuf(message) => parse(message, text),
            Self::Avro(_) => Err("the schema is Avro".to_owned()),
        }
    }

    /// The text of what a serializer made.
    pub(crate) fn deserialize(
        &self,
        context: &Context<'_>,
        payload: Payload<'_>,
    ) -> Result<String, Unread> {
        let message = match self {
            Self::Avro(avro) => return avro.deserialize(context, payload),
            Self::Protobuf(message) => message,
        };
        let malformed = |what: String| Unread::new(ErrorKind::Malformed, context, what);
        let read =
            DynamicMessage::decode(message.clone(), payload.as_slice()).map_err(|error| {
                malformed(format!("it is no message {}: {error}", message.full_name()))
            })?;
        let mut json = serde_json::Serializer::new(Vec::new());
        read.serialize_with_options(&mut json, &SerializeOptions::new())
            .map_err(|error| malformed(format!("it can't be written as JSON: {error}")))?;
        String::from_utf8(json.into_inner()).map_err(|error| malformed(error.to_string()))
    }
}

fn parse(message: &MessageDescriptor, text: &str) -> Result<DynamicMessage, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let refuse = |error: serde_json::Error| {
        format!(
            "the JSON does not fit the message {}: {error}",
            message.full_name()
        )
    };
    let read = DynamicMessage::deserialize(message.clone(), &mut json).map_err(refuse)?;
    json.end().map_err(refuse)?;
    Ok(read)
}
