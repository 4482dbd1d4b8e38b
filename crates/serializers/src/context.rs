//! What a serializer is told beside the value.

use std::fmt;

/// Key or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The record's key.
    Key,
    /// The record's value.
    Value,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::Value => "value",
        })
    }
}

/// The headers of a record, as far as a serializer asks for them.
pub trait Headers {
    /// The value of the last header of this name. `None` if there is none, or
    /// if its value is null.
    fn last(&self, name: &str) -> Option<&[u8]>;
}

/// Names and values in the record's order.
impl<const N: usize> Headers for [(&str, Option<&[u8]>); N] {
    fn last(&self, name: &str) -> Option<&[u8]> {
        last_of(self, name)
    }
}

/// Names and values in the record's order.
impl Headers for Vec<(&str, Option<&[u8]>)> {
    fn last(&self, name: &str) -> Option<&[u8]> {
        last_of(self, name)
    }
}

fn last_of<'a>(headers: &'a [(&str, Option<&[u8]>)], name: &str) -> Option<&'a [u8]> {
    let (_, value) = headers.iter().rfind(|(known, _)| *known == name)?;
    *value
}

/// Which record's key or value it is.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    topic: &'a str,
    part: Part,
    headers: Option<&'a (dyn Headers + Sync)>,
}

impl<'a> Context<'a> {
    /// A key or value of a record of this topic.
    pub fn new(topic: &'a str, part: Part) -> Self {
        Self {
            topic,
            part,
            headers: None,
        }
    }

    /// The key of a record of this topic.
    pub fn key(topic: &'a str) -> Self {
        Self::new(topic, Part::Key)
    }

    /// The value of a record of this topic.
    pub fn value(topic: &'a str) -> Self {
        Self::new(topic, Part::Value)
    }

    /// The same with the record's headers.
    #[must_use]
    pub fn with_headers(mut self, headers: &'a (dyn Headers + Sync)) -> Self {
        self.headers = Some(headers);
        self
    }

    /// The topic.
    pub fn topic(&self) -> &'a str {
        self.topic
    }

    /// Key or value.
    pub fn part(&self) -> Part {
        self.part
    }

    /// Whether it is a key.
    pub fn is_key(&self) -> bool {
        self.part == Part::Key
    }

    /// The value of the record's last header of this name. `None` if there is
    /// none, if its value is null, or if the caller gave no headers.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers?.last(name)
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("topic", &self.topic)
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_header_of_a_name_counts() {
        let headers = [
            ("id", Some(&b"1"[..])),
            ("id", Some(b"2")),
            ("null", Some(b"3")),
            ("null", None),
        ];
        let context = Context::key("orders").with_headers(&headers);
        assert_eq!(context.header("id"), Some(&b"2"[..]));
        assert_eq!(context.header("null"), None);
        assert_eq!(context.header("ID"), None);
        assert_eq!(Context::key("orders").header("id"), None);
    }
}
