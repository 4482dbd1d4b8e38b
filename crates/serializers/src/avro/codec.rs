//! What the formats of serde types and of generic values have in common.

use std::sync::atomic::{AtomicBool, Ordering};

use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::schema::{NamesRef, ResolvedSchema};
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use self_cell::self_cell;
use serde_core::de::DeserializeOwned;

use crate::error::OTHER_SERIALIZER;
use crate::schema::{Schema, SchemaType};
use crate::{Context, Error, ErrorKind, Payload, Result};

use super::{aliases, scan};

/// A schema that is ready for use, and refers to no other.
pub(super) struct Parsed {
    ready: Ready,
    /// Whether a named type comes twice, or within itself.
    refers: bool,
}

self_cell!(
    /// The schema, and what apache-avro makes of it to write and to read, which borrows it.
    struct Ready {
        owner: apache_avro::Schema,
        #[covariant]
        dependent: Coders,
    }
);

struct Coders<'s> {
    /// Where names lead.
    names: ResolvedSchema<'s>,
    writer: GenericDatumWriter<'s>,
    reader: GenericDatumReader<'s>,
}

impl<'s> Coders<'s> {
    fn new(schema: &'s apache_avro::Schema) -> Result<Self, apache_avro::Error> {
        Ok(Self {
            // Names what the schema refers to and has not.
            names: ResolvedSchema::new(schema)?,
            writer: GenericDatumWriter::builder(schema).build()?,
            reader: GenericDatumReader::builder(schema).build()?,
        })
    }
}

impl Parsed {
    pub(super) fn new(schema: &Schema, references: &[Schema]) -> Result<Self> {
        Self::changed(schema, references, |_| ())
    }

    /// As it is after a change.
    fn changed(
        schema: &Schema,
        references: &[Schema],
        change: impl FnOnce(&mut apache_avro::Schema),
    ) -> Result<Self> {
        if schema.schema_type() != SchemaType::Avro {
            return Err(Error::of_schema(
                ErrorKind::Schema,
                format!("the schema is one of {}, not of Avro", schema.schema_type()),
            )
            .advise(OTHER_SERIALIZER));
        }
        let parse = || {
            let texts = references.iter().map(Schema::text);
            let (mut parsed, known) =
                apache_avro::Schema::parse_str_with_list(schema.text(), texts)?;
            if !known.is_empty() {
                parsed.denormalize(&known)?;
            }
            change(&mut parsed);
            Ready::try_new(parsed, |schema| Coders::new(schema))
        };
        let ready = parse().map_err(|error: apache_avro::Error| {
            Error::of_schema(
                ErrorKind::Schema,
                format!("the Avro schema can't be used: {error}"),
            )
            .caused_by(error)
        })?;
        let parsed = ready.borrow_owner();
        if matches!(parsed, apache_avro::Schema::Bytes) {
            return Err(Error::of_schema(
                ErrorKind::Schema,
                "clients disagree about the schema \"bytes\": Java's writes no length, others do",
            )
            .advise("make it a field of a record, or use Raw"));
        }
        Ok(Self {
            refers: aliases::refers(parsed),
            ready,
        })
    }

    pub(super) fn schema(&self) -> &apache_avro::Schema {
        self.ready.borrow_owner()
    }

    /// Where names lead.
    pub(super) fn names(&self) -> &NamesRef<'_> {
        self.ready.borrow_dependent().names.get_names()
    }

    pub(super) fn writer(&self) -> &GenericDatumWriter<'_> {
        &self.ready.borrow_dependent().writer
    }

    fn reader(&self) -> &GenericDatumReader<'_> {
        &self.ready.borrow_dependent().reader
    }

    /// Where names lead, for what wants to have it. Empty unless a name is used
    /// twice, because it is made for each record.
    fn own_names(&self) -> Result<ResolvedSchema<'_>, apache_avro::Error> {
        let used = if self.refers {
            vec![self.schema()]
        } else {
            vec![]
        };
        ResolvedSchema::new_with_schemata(used)
    }

    /// The full name of what has one.
    pub(super) fn record_name(&self) -> Option<String> {
        self.schema().name().map(|name| name.fullname(None))
    }
}

/// The schema of a writer, compared with the reader's.
pub struct AvroWriter {
    written: Parsed,
    /// Values are resolved, field by field.
    differs: bool,
}

impl std::fmt::Debug for AvroWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AvroWriter")
            .field("differs", &self.differs)
            .finish_non_exhaustive()
    }
}

impl AvroWriter {
    pub(super) fn new(reader: &Parsed, schema: &Schema, references: &[Schema]) -> Result<Self> {
        // Texts, because apache-avro's equality is that of the canonical form,
        // which leaves logical types out.
        let text = |schema: &apache_avro::Schema| serde_json::to_value(schema).ok();
        let mut differs = false;
        let written = Parsed::changed(schema, references, |written| {
            differs = text(written) != text(reader.schema());
            if differs {
                aliases::apply(written, reader.schema());
            }
        })?;
        Ok(Self { written, differs })
    }
}

/// How deep values may be that are read where the caller stands. apache-avro
/// takes up to 100 KiB of stack for a level, in debug builds; threads have 2 MiB.
const SHALLOW: usize = 8;

/// What 100 levels take, twice.
const DEEP_STACK: usize = 20 << 20;

/// How deep values may be that become another schema's: apache-avro tries the
/// types of a union out, which takes twice as long for each level.
const MAX_EVOLVED_DEPTH: usize = 12;

/// Reads a generic value of `reader`'s schema.
pub(super) fn read_value(
    reader: &Parsed,
    writer: Option<&AvroWriter>,
    context: &Context<'_>,
    payload: Payload<'_>,
) -> Result<Value> {
    let (written, differs) = match writer {
        Some(writer) => (&writer.written, writer.differs),
        None => (reader, false),
    };
    let depth = scan::check(written, context, &payload)?;
    if differs && depth > MAX_EVOLVED_DEPTH {
        return Err(Error::new(
            ErrorKind::Malformed,
            context,
            format!(
                "Avro of another version of the schema, nested deeper than {MAX_EVOLVED_DEPTH} levels"
            ),
        ));
    }
    let read = || {
        let mut bytes = payload.as_slice();
        if !differs {
            return written.reader().read_value(&mut bytes);
        }
        GenericDatumReader::builder(written.schema())
            .resolved_writer_schemata(written.own_names()?)
            .reader_schema(reader.schema())
            .resolved_reader_schemata(reader.own_names()?)
            .build()?
            .read_value(&mut bytes)
    };
    let value = if depth <= SHALLOW {
        read()
    } else {
        let read = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(DEEP_STACK);
            Some(thread.spawn_scoped(scope, read).ok()?.join())
        });
        match read {
            Some(Ok(value)) => value,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {
                return Err(Error::new(
                    ErrorKind::Malformed,
                    context,
                    format!(
                        "Avro that is nested {depth} levels deep, for which there is no thread"
                    ),
                ));
            }
        }
    };
    value.map_err(|error| not_a_value(context, error))
}

/// Reads a type of serde's.
///
/// apache-avro reads records straight into structs if those are named as the
/// schema's records; it writes them whatever their names. Where they are not,
/// values are read first, and structs made of them: `by_value` remembers.
pub(super) fn read<T: DeserializeOwned>(
    reader: &Parsed,
    writer: Option<&AvroWriter>,
    by_value: &AtomicBool,
    context: &Context<'_>,
    payload: Payload<'_>,
) -> Result<T> {
    let differs = writer.is_some_and(|writer| writer.differs);
    if differs || by_value.load(Ordering::Relaxed) {
        let value = read_value(reader, writer, context, payload)?;
        return apache_avro::from_value(&value).map_err(|error| not_a_value(context, error));
    }
    scan::check(reader, context, &payload)?;
    let straight = || reader.reader().read_deser(&mut payload.as_slice());
    straight().or_else(|error| {
        let value = read_value(reader, writer, context, payload)?;
        let value = apache_avro::from_value(&value).map_err(|_| not_a_value(context, error))?;
        by_value.store(true, Ordering::Relaxed);
        Ok(value)
    })
}

#[cold]
fn not_a_value(context: &Context<'_>, error: apache_avro::Error) -> Error {
    Error::new(
        ErrorKind::Malformed,
        context,
        format!("Avro, but not of the expected type: {error}"),
    )
    .caused_by(error)
}

#[cold]
pub(super) fn not_written(context: &Context<'_>, error: apache_avro::Error) -> Error {
    Error::new(
        ErrorKind::Unserializable,
        context,
        format!("the value does not fit the Avro schema: {error}"),
    )
    .caused_by(error)
}
