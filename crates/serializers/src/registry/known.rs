//! Schemas that were looked up.

use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::schema::SchemaKey;
use crate::{Context, Part};

/// How the records of each topic name their schemas.
///
/// Most serializers write to one topic, and ask for each record: the first
/// topic is found without a lock and a hash.
#[derive(Debug, Default)]
pub(super) struct KnownSchemas {
    first: OnceLock<(String, OfTopic)>,
    others: RwLock<HashMap<String, OfTopic>>,
}

impl KnownSchemas {
    pub(super) fn get(&self, context: &Context<'_>) -> Option<SchemaKey> {
        let (topic, schemas) = self.first.get()?;
        if topic == context.topic() {
            return schemas.of(context.part()).get().copied();
        }
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        let schemas = others.get(context.topic())?;
        schemas.of(context.part()).get().copied()
    }

    /// What is known already stays.
    pub(super) fn insert(&self, context: &Context<'_>, schema: SchemaKey) {
        let new = || (context.topic().to_owned(), OfTopic::default());
        let (topic, schemas) = self.first.get_or_init(new);
        if topic == context.topic() {
            schemas.of(context.part()).get_or_init(|| schema);
            return;
        }
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        let schemas = others.entry(context.topic().to_owned()).or_default();
        schemas.of(context.part()).get_or_init(|| schema);
    }
}

#[derive(Debug, Default)]
struct OfTopic {
    key: OnceLock<SchemaKey>,
    value: OnceLock<SchemaKey>,
}

impl OfTopic {
    fn of(&self, part: Part) -> &OnceLock<SchemaKey> {
        match part {
            Part::Key => &self.key,
            Part::Value => &self.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::SchemaId;

    #[test]
    fn each_topic_has_its_own_for_keys_and_values() {
        let known = KnownSchemas::default();
        let id = |id| SchemaKey::Id(SchemaId(id));
        assert_eq!(known.get(&Context::key("a")), None);
        for (number, topic) in (0..).step_by(2).zip(["a", "b", "c"]) {
            known.insert(&Context::value(topic), id(number));
            assert_eq!(known.get(&Context::key(topic)), None);
            known.insert(&Context::key(topic), id(number + 1));
        }
        for (number, topic) in (0..).step_by(2).zip(["a", "b", "c"]) {
            assert_eq!(known.get(&Context::value(topic)), Some(id(number)));
            assert_eq!(known.get(&Context::key(topic)), Some(id(number + 1)));
        }
        assert_eq!(known.get(&Context::key("d")), None);
    }
}
