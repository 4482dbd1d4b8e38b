//! What subjects are called.

use std::borrow::Cow;

use crate::{Context, Error, ErrorKind, Result};

/// Which subject the schemas of a topic's keys or values belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectName {
    /// `TOPIC-key` or `TOPIC-value`: one type for each topic. Java's
    /// `TopicNameStrategy`, and the default of all clients.
    #[default]
    Topic,
    /// The full name of the record or message. Java's `RecordNameStrategy`.
    Record,
    /// `TOPIC-` and the full name. Java's `TopicRecordNameStrategy`.
    TopicRecord,
    /// This one, for every topic.
    Fixed(String),
}

impl SubjectName {
    /// The subject. `record` is the full name of the record or message.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if it is named after a record, and the
    /// schema is not that of one.
    pub fn of<'a>(
        &'a self,
        context: &Context<'_>,
        record: Option<&'a str>,
    ) -> Result<Cow<'a, str>> {
        let topic = context.topic();
        let record = || {
            record.ok_or_else(|| {
                Error::new(
                    ErrorKind::Schema,
                    context,
                    "the subject is named after the record, and the schema has no name",
                )
                .advise("use SubjectName::Topic")
            })
        };
        Ok(match self {
            Self::Topic => format!("{topic}-{}", context.part()).into(),
            Self::Record => record()?.into(),
            Self::TopicRecord => format!("{topic}-{}", record()?).into(),
            Self::Fixed(subject) => subject.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_javas_strategies() {
        let key = Context::key("orders");
        let name = |strategy: SubjectName, record| {
            strategy
                .of(&key, record)
                .map(Cow::into_owned)
                .map_err(|error| error.kind())
        };
        assert_eq!(name(SubjectName::Topic, None).as_deref(), Ok("orders-key"));
        assert_eq!(name(SubjectName::Record, Some("a.B")).as_deref(), Ok("a.B"));
        assert_eq!(
            name(SubjectName::TopicRecord, Some("a.B")).as_deref(),
            Ok("orders-a.B")
        );
        assert_eq!(
            name(SubjectName::Fixed("s".into()), None).as_deref(),
            Ok("s")
        );
        assert_eq!(name(SubjectName::Record, None), Err(ErrorKind::Schema));
    }
}
