//! What becomes of records that can't be read.

use std::fmt;

use crate::{Error, ErrorKind, Part};

/// What a consumer does with a record whose key or value can't be read, and
/// never will be. The client's typed consumers apply it; errors that may pass
/// ([`Error::is_retriable`]) are none of its business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Poison {
    /// Hand the error to the program, and stay at the record: nothing is lost
    /// without a decision.
    #[default]
    Fail,
    /// Leave the record out, and go on. It is logged and counted.
    Skip,
    /// Write the record, as it came, to this topic, with headers that say where
    /// it came from and why, and go on.
    DeadLetter {
        /// The topic.
        topic: String,
    },
}

impl Poison {
    /// Sets aside in this topic.
    pub fn dead_letter(topic: impl Into<String>) -> Self {
        Self::DeadLetter {
            topic: topic.into(),
        }
    }

    /// Whether this error is for the policy to decide: it will come again with
    /// the same bytes.
    pub fn decides(error: &Error) -> bool {
        matches!(
            error.kind(),
            ErrorKind::Malformed | ErrorKind::Null | ErrorKind::Schema
        )
    }
}

/// Where a record that is set aside came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The record's topic.
    pub topic: &'a str,
    /// The record's partition.
    pub partition: i32,
    /// The record's offset.
    pub offset: i64,
    /// The record's timestamp, in milliseconds since 1970.
    pub timestamp: i64,
}

/// The headers of a record in the dead-letter topic, beside its own. Numbers
/// are text, so that every tool shows them.
///
/// Their names begin with `__dlq.`; the rest are the words of Kafka Streams'
/// dead letters (KIP-1034), where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetterHeaders([(&'static str, String); 7]);

impl DeadLetterHeaders {
    /// For this record and error.
    pub fn new(origin: &Origin<'_>, error: &Error) -> Self {
        let part = match error.part() {
            Part::Key => "key",
            Part::Value => "value",
        };
        Self([
            ("__dlq.topic", origin.topic.to_owned()),
            ("__dlq.partition", origin.partition.to_string()),
            ("__dlq.offset", origin.offset.to_string()),
            ("__dlq.timestamp", origin.timestamp.to_string()),
            ("__dlq.part", part.to_owned()),
            ("__dlq.kind", error.kind().to_string()),
            ("__dlq.message", shortened(error)),
        ])
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.0.iter().map(|(name, value)| (*name, value.as_bytes()))
    }
}

/// A reason may quote the data; it should not make a record too large.
const MAX_MESSAGE: usize = 1024;

fn shortened(error: &impl fmt::Display) -> String {
    let mut text = error.to_string();
    if text.len() > MAX_MESSAGE {
        let mut end = MAX_MESSAGE;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    #[test]
    fn a_dead_letter_says_where_from_and_why() {
        let error = Error::new(
            ErrorKind::Malformed,
            &Context::value("orders"),
            "é".repeat(600),
        );
        let origin = Origin {
            topic: "orders",
            partition: 3,
            offset: 1 << 40,
            timestamp: -1,
        };
        let headers = DeadLetterHeaders::new(&origin, &error);
        let text = |name: &str| {
            let (_, value) = headers.iter().find(|(known, _)| *known == name)?;
            String::from_utf8(value.to_vec()).ok()
        };
        assert_eq!(text("__dlq.topic").as_deref(), Some("orders"));
        assert_eq!(text("__dlq.partition").as_deref(), Some("3"));
        assert_eq!(text("__dlq.offset").as_deref(), Some("1099511627776"));
        assert_eq!(text("__dlq.part").as_deref(), Some("value"));
        let message = text("__dlq.message").expect("a message that is UTF-8");
        assert!(message.len() <= MAX_MESSAGE + '…'.len_utf8());
        assert!(message.starts_with("topic \"orders\", value: é"));
    }

    #[test]
    fn what_may_pass_is_no_poison() {
        let context = Context::key("orders");
        for (kind, decided) in [
            (ErrorKind::Malformed, true),
            (ErrorKind::Null, true),
            (ErrorKind::Schema, true),
            (ErrorKind::Unavailable, false),
            (ErrorKind::Unprepared, false),
        ] {
            let error = Error::new(kind, &context, "why");
            assert_eq!(Poison::decides(&error), decided);
            assert!(!(decided && error.is_retriable()));
        }
    }
}
