//! Writing what names its schema.

use crate::schema::{Described, Frame, Framing, SchemaKey};
use crate::{Context, Error, ErrorKind, Format, Payload, Preparation, Result, Serialize, Sink};

use super::known::KnownSchemas;
use super::{Registry, SubjectName};

/// Writes another format's payload, and names its schema in front of it or in a
/// header.
///
/// The schema is looked up, not registered, unless
/// [`register_schemas`](Self::register_schemas) says so: a program in production
/// should find its schema there.
///
/// **Keys are refused** with [`Framing::Prefix`], because partitioners hash the
/// id with the rest: see [`allow_schema_id_in_keys`](Self::allow_schema_id_in_keys).
#[derive(Debug)]
pub struct FramedSerializer<F> {
    registry: Registry,
    format: F,
    framing: Framing,
    subject: SubjectName,
    register: bool,
    id_in_keys: bool,
    schemas: KnownSchemas,
}

impl<F> FramedSerializer<F> {
    pub(super) fn new(registry: Registry, format: F) -> Self {
        Self {
            registry,
            format,
            framing: Framing::default(),
            subject: SubjectName::default(),
            register: false,
            id_in_keys: false,
            schemas: KnownSchemas::default(),
        }
    }

    /// Where the schema is named; in front by default.
    #[must_use]
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Which subject it belongs to; after the topic by default.
    #[must_use]
    pub fn subject(mut self, subject: SubjectName) -> Self {
        self.subject = subject;
        self
    }

    /// Registers the schema if the subject does not have it yet: Java's
    /// `auto.register.schemas`.
    #[must_use]
    pub fn register_schemas(mut self) -> Self {
        self.register = true;
        self
    }

    /// Writes keys that begin with their schema's id.
    ///
    /// The id is part of what is hashed. When it changes, every key moves to
    /// another partition, and the order of records with one key is lost: with a
    /// new version of the schema (a changed comment is one), under another
    /// subject, in another registry. Two topics are not co-partitioned either.
    /// It is right only where other producers of the topic do the same.
    /// [`Framing::Header`] and the format alone have none of that.
    #[must_use]
    pub fn allow_schema_id_in_keys(mut self) -> Self {
        self.id_in_keys = true;
        self
    }

    fn key_safety(&self, context: &Context<'_>) -> Result<()> {
        if !context.is_key() || self.framing != Framing::Prefix || self.id_in_keys {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::UnstableKey,
            context,
            "the key would begin with its schema's id, which is hashed with the rest: a new version \
             of the schema, even of a comment, moves every key to another partition",
        )
        .advise(
            "use Framing::Header, or the format without a registry; or, if the topic's other \
             producers do the same, allow_schema_id_in_keys",
        ))
    }
}

impl<F: Described> FramedSerializer<F> {
    async fn find(&self, context: &Context<'_>) -> Result<()> {
        self.key_safety(context)?;
        if self.schemas.get(context).is_some() {
            return Ok(());
        }
        let schema = self.format.schema().ok_or_else(|| {
            Error::new(
                ErrorKind::Schema,
                context,
                "the format was made without a schema, and there is nothing to look up",
            )
        })?;
        let subject = self.subject.of(context, self.format.record_name())?;
        let asked = async {
            let registered = if self.register {
                self.registry.register(&subject, schema).await?
            } else {
                self.registry.look_up(&subject, schema).await.map_err(|error| {
                    match error.kind() {
                        ErrorKind::Schema => error.advise(format!(
                            "is the schema registered under the subject {subject:?}? register_schemas does it"
                        )),
                        _ => error,
                    }
                })?
            };
            match self.framing {
                Framing::Prefix => Ok(SchemaKey::Id(registered.id)),
                Framing::Header => {
                    let guid = match registered.guid {
                        Some(guid) => Some(guid),
                        None => self.registry.guid(registered.id).await?,
                    };
                    guid.map(SchemaKey::Guid).ok_or_else(|| {
                        Error::of_schema(
                            ErrorKind::Schema,
                            "the schema registry tells no GUIDs, which headers need",
                        )
                        .advise("Confluent's does since 8.0; with others, Framing::Prefix")
                    })
                }
            }
        };
        let key = asked
            .await
            .map_err(|error: Error| error.in_context(context))?;
        self.schemas.insert(context, key);
        Ok(())
    }
}

impl<F: Described> Format for FramedSerializer<F> {
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        _: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        // Not asked for again, unless it is to be refused.
        let ready = self.schemas.get(context).is_some();
        (!ready).then(|| Box::pin(self.find(context)) as Preparation<'a>)
    }
}

impl<F, T: ?Sized> Serialize<T> for FramedSerializer<F>
where
    F: Described + Serialize<T>,
{
    fn serialize(&self, context: &Context<'_>, value: &T, out: &mut Sink<'_>) -> Result<()> {
        let Some(schema) = self.schemas.get(context) else {
            self.key_safety(context)?;
            return Err(unprepared(context));
        };
        Frame::write(schema, self.format.message_index(), context, out)?;
        self.format.serialize(context, value, &mut out.nested())
    }

    fn is_null(&self, value: &T) -> bool {
        self.format.is_null(value)
    }
}

#[cold]
fn unprepared(context: &Context<'_>) -> Error {
    Error::new(
        ErrorKind::Unprepared,
        context,
        "the schema was not looked up yet",
    )
}
