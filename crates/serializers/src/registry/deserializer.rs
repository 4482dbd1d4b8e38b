//! Reading what names its schema.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::schema::{Frame, IndexForm, ReadEvolved, SchemaKey};
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Preparation, Result};

use super::Registry;

/// Reads what [`FramedSerializer`](super::FramedSerializer) and the serializers
/// of Confluent's clients write: the schema is named in a header, or in front.
pub struct FramedDeserializer<F: ReadEvolved> {
    registry: Registry,
    format: F,
    indexes: IndexForm,
    writers: RwLock<HashMap<SchemaKey, Arc<F::Writer>>>,
}

impl<F: ReadEvolved> FramedDeserializer<F> {
    pub(super) fn new(registry: Registry, format: F) -> Self {
        Self {
            registry,
            format,
            indexes: IndexForm::default(),
            writers: RwLock::default(),
        }
    }

    /// How the records' writers wrote Protobuf message indexes: as Java by
    /// default. The forms can't be told apart by the bytes.
    #[must_use]
    pub fn message_indexes(mut self, form: IndexForm) -> Self {
        self.indexes = form;
        self
    }

    fn frame<'a>(&self, context: &Context<'_>, payload: Payload<'a>) -> Result<Frame<'a>> {
        let indexes = self.format.message_index().map(|_| self.indexes);
        Frame::read(context, payload, indexes)
    }

    fn writer(&self, schema: SchemaKey) -> Option<Arc<F::Writer>> {
        let writers = self.writers.read();
        let writers = writers.unwrap_or_else(PoisonError::into_inner);
        writers.get(&schema).cloned()
    }

    async fn fetch(&self, context: &Context<'_>, key: SchemaKey) -> Result<()> {
        let asked = async {
            let fetched = self.registry.fetch(key).await?;
            self.format.writer(&fetched.schema, &fetched.references)
        };
        let writer = asked.await.map_err(|error| error.in_context(context))?;
        let writers = self.writers.write();
        let mut writers = writers.unwrap_or_else(PoisonError::into_inner);
        writers.insert(key, Arc::new(writer));
        Ok(())
    }
}

impl<F: ReadEvolved> Format for FramedDeserializer<F> {
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        payload: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        // What is no frame fails when it is read.
        let frame = self.frame(context, payload?).ok()?;
        if self.writer(frame.schema).is_some() {
            return None;
        }
        Some(Box::pin(self.fetch(context, frame.schema)))
    }
}

impl<F: ReadEvolved> Deserialize for FramedDeserializer<F> {
    type Value = F::Value;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<F::Value> {
        let frame = self.frame(context, payload)?;
        let Some(writer) = self.writer(frame.schema) else {
            return Err(Error::new(
                ErrorKind::Unprepared,
                context,
                format!("{} was not fetched yet", frame.schema),
            ));
        };
        self.format
            .read_evolved(context, &writer, &frame.index, frame.payload)
    }
}

impl<F: ReadEvolved + fmt::Debug> fmt::Debug for FramedDeserializer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramedDeserializer")
            .field("registry", &self.registry)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
