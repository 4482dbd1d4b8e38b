//! Keys and values that are shown as JSON, whatever their bytes are.

use copart::Record;
use copart_audit::Error;
use copart_serializers::schema::{Frame, IndexForm};
use copart_serializers::{Context, Error as Unread, Part, Payload};

use super::by_registry::RegistryReader;
use crate::protobuf::index_of;
use crate::registry::RegistryArgs;
use crate::typed::{PayloadFormat, SchemaArgs, Typed};

/// What keys and values are.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// What keys are: bytes, printed as they are; or avro, protobuf or json, printed as JSON
    ///
    /// avro, protobuf: by the schema that the record names, from --registry; or, with --key-schema, by
    /// that one: avro bare, protobuf with a registry's frame or without. json: by no schema; a registry's
    /// frame is passed over.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "bytes",
        help_heading = "Formats"
    )]
    key_format: PayloadFormat,

    /// What values are; see --key-format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "bytes",
        help_heading = "Formats"
    )]
    value_format: PayloadFormat,

    #[command(flatten)]
    schemas: SchemaArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

impl FormatArgs {
    /// What reads records so.
    pub(crate) fn decoder(&self) -> Result<Decoder, Error> {
        let part = |part: Part, format| {
            let (schema, message) = self.schemas.of(part);
            let usage = |what: &str| Err(Error::usage(format!("--{part}-format: {what}")));
            match (format, schema, message) {
                (PayloadFormat::Bytes, None, None) => Ok(Reading::Bytes),
                (PayloadFormat::Json, None, None) => Ok(Reading::Json),
                (PayloadFormat::Bytes | PayloadFormat::Json, ..) => usage(&format!(
                    "--{part}-schema and --{part}-message are for avro and protobuf"
                )),
                (PayloadFormat::Avro, None, None) => {
                    if !self.registry.is_given() {
                        return usage(&format!(
                            "avro is read by the schemas of --registry, or bare by --{part}-schema"
                        ));
                    }
                    let registry = self.registry.registry()?;
                    Ok(Reading::Registry(RegistryReader::avro(registry)))
                }
                (PayloadFormat::Avro, _, Some(_)) => {
                    usage(&format!("--{part}-message is for protobuf"))
                }
                (PayloadFormat::Avro, Some(schema), None) => {
                    Ok(Reading::Bare(Typed::open(schema, None, part)?))
                }
                (PayloadFormat::Protobuf, Some(schema), Some(message)) => {
                    Ok(Reading::Framed(Typed::open(schema, Some(message), part)?))
                }
                (PayloadFormat::Protobuf, None, None) if self.registry.is_given() => {
                    let registry = self.registry.registry()?;
                    Ok(Reading::Registry(RegistryReader::protobuf(registry)))
                }
                (PayloadFormat::Protobuf, ..) => usage(&format!(
                    "protobuf is read by the schemas of --registry, or by --{part}-schema, a descriptor set, and --{part}-message"
                )),
            }
        };
        Ok(Decoder {
            key: part(Part::Key, self.key_format)?,
            value: part(Part::Value, self.value_format)?,
        })
    }
}

/// Reads keys and values.
pub(crate) struct Decoder {
    key: Reading,
    value: Reading,
}

/// The text of a record's key or value, where it is not its bytes.
pub(crate) type Text = Option<String>;

impl Decoder {
    /// The key and the value as JSON; `None` where the bytes stand for themselves, and for null.
    pub(crate) async fn read(&mut self, record: &Record<'_>) -> Result<[Text; 2], Error> {
        if matches!((&self.key, &self.value), (Reading::Bytes, Reading::Bytes)) {
            return Ok([None, None]);
        }
        let headers = record.headers();
        let headers: Vec<_> = headers
            .iter()
            .filter_map(|header| Some((str::from_utf8(header.key).ok()?, header.value)))
            .collect();
        let mut texts = [None, None];
        let parts = [
            (Part::Key, &mut self.key, record.key()),
            (Part::Value, &mut self.value, record.value()),
        ];
        for (text, (part, reading, bytes)) in texts.iter_mut().zip(parts) {
            let Some(bytes) = bytes else { continue };
            let context = Context::new(record.topic(), part).with_headers(&headers);
            *text = reading
                .text(&context, Payload::new(bytes))
                .await
                .map_err(|error| unread(record, part, error))?;
        }
        Ok(texts)
    }
}

/// A registry that is not there is no fault of the record's.
fn unread(record: &Record<'_>, part: Part, error: Unread) -> Error {
    if error.is_retriable() || error.kind() == copart_serializers::ErrorKind::Settings {
        return error.into();
    }
    let advice = error
        .advice()
        .map_or(String::new(), |advice| format!(" ({advice})"));
    Error::input(format!(
        "topic {}, partition {}, offset {}: {part}: {}{advice}",
        record.topic(),
        record.partition(),
        record.offset(),
        error.reason(),
    ))
}

enum Reading {
    Bytes,
    Json,
    /// By the schemas that records name.
    Registry(RegistryReader),
    /// Avro alone.
    Bare(Typed),
    /// Protobuf, with a frame in front or without.
    Framed(Typed),
}

impl Reading {
    async fn text(
        &mut self,
        context: &Context<'_>,
        payload: Payload<'_>,
    ) -> Result<Option<String>, Unread> {
        let malformed =
            |what: String| Unread::new(copart_serializers::ErrorKind::Malformed, context, what);
        match self {
            Self::Bytes => Ok(None),
            Self::Json => {
                let payload = match frame(context, payload, None)? {
                    Some(frame) => frame.payload,
                    None => payload,
                };
                // Read to see that it is JSON, and printed as it stands.
                let text = str::from_utf8(&payload)
                    .map_err(|error| malformed(format!("it is no JSON: {error}")))?;
                let read = serde_json::from_str::<serde::de::IgnoredAny>(text);
                read.map_err(|error| malformed(format!("it is no JSON: {error}")))?;
                Ok(Some(text.to_owned()))
            }
            Self::Bare(typed) => typed.deserialize(context, payload).map(Some),
            Self::Framed(typed) => {
                let Some(frame) = frame(context, payload, Some(IndexForm::ZigZag))? else {
                    return typed.deserialize(context, payload).map(Some);
                };
                if let Typed::Protobuf(message) = typed
                    && let own = index_of(message)
                    && own != frame.index
                {
                    return Err(malformed(format!(
                        "it holds message {} of its schema, and --{}-message names message {own}",
                        frame.index,
                        context.part()
                    )));
                }
                typed.deserialize(context, frame.payload).map(Some)
            }
            Self::Registry(reader) => reader.text(context, payload).await.map(Some),
        }
    }
}

/// The frame, if there is one: neither JSON nor a Protobuf message begins with 00 or 01.
fn frame<'a>(
    context: &Context<'_>,
    payload: Payload<'a>,
    indexes: Option<IndexForm>,
) -> Result<Option<Frame<'a>>, Unread> {
    let named = context
        .header(&format!("__{}_schema_id", context.part()))
        .is_some();
    if named || matches!(payload.first(), Some(0 | 1)) {
        Frame::read(context, payload, indexes).map(Some)
    } else {
        Ok(None)
    }
}
