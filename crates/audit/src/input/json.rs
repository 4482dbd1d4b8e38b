//! One value out of a line of JSON, without building the rest of it.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// Where the key stands in each line's value (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    /// `None`: the value itself, or an object's member `key`.
    tokens: Option<Vec<String>>,
}

/// What a pointer pointed at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    Missing,
    Null,
    /// A string, or the decimal digits of a whole number.
    Text(&'a str),
}

impl Pointer {
    pub(super) fn parse(field: Option<&str>) -> Result<Self, String> {
        let tokens = match field {
            None => None,
            Some("") => Some(Vec::new()),
            Some(text) => {
                let text = text.strip_prefix('/').ok_or_else(|| {
                    format!("`{text}` is no JSON pointer: it starts with a slash, as in /{text}")
                })?;
                let unescape = |token: &str| token.replace("~1", "/").replace("~0", "~");
                Some(text.split('/').map(unescape).collect())
            }
        };
        Ok(Self { tokens })
    }

    /// Reads `line` to its end and puts what the pointer names into `text`.
    pub(super) fn find<'t>(&self, line: &[u8], text: &'t mut String) -> Result<Found<'t>, String> {
        text.clear();
        let default = self.tokens.is_none();
        let seed = Seed {
            tokens: self.tokens.as_deref().unwrap_or_default(),
            default,
            text,
        };
        let mut json = serde_json::Deserializer::from_slice(line);
        let state = seed
            .deserialize(&mut json)
            .and_then(|state| json.end().map(|()| state));
        match state.map_err(|e| without_line(&e))? {
            State::Missing => Ok(Found::Missing),
            State::Null => Ok(Found::Null),
            State::Text => Ok(Found::Text(text)),
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tokens {
            None => f.write_str("/key"),
            Some(tokens) => tokens.iter().try_for_each(|token| write!(f, "/{token}")),
        }
    }
}

/// serde_json counts lines from the one it was given; ours is said by the caller.
pub(super) fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let at = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&at) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

enum State {
    Missing,
    Null,
    Text,
}

struct Seed<'s> {
    tokens: &'s [String],
    default: bool,
    text: &'s mut String,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = State;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<State, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Seed<'_> {
    /// A scalar: what is looked for if the pointer ends here, else nothing lies below it.
    fn scalar(self, write: impl FnOnce(&mut String)) -> State {
        if !self.tokens.is_empty() {
            return State::Missing;
        }
        self.text.clear();
        write(self.text);
        State::Text
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = State;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a whole number or null as key")
    }

    fn visit_str<E>(self, value: &str) -> Result<State, E> {
        Ok(self.scalar(|text| text.push_str(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<State, E> {
        Ok(self.scalar(|text| text.push_str(&value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<State, E> {
        Ok(self.scalar(|text| text.push_str(&value.to_string())))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<State, E> {
        if !self.tokens.is_empty() {
            return Ok(State::Missing);
        }
        let what = serde::de::Unexpected::Float(value);
        Err(E::invalid_value(
            what,
            &"a string, a whole number of at most 64 bits or null as key",
        ))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<State, E> {
        if !self.tokens.is_empty() {
            return Ok(State::Missing);
        }
        Err(E::invalid_type(serde::de::Unexpected::Bool(value), &self))
    }

    fn visit_unit<E>(self) -> Result<State, E> {
        Ok(if self.tokens.is_empty() {
            State::Null
        } else {
            State::Missing
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<State, A::Error> {
        let (token, below) = match (self.tokens.split_first(), self.default) {
            (Some((token, below)), _) => (token.as_str(), below),
            (None, true) => ("key", &[][..]),
            (None, false) => return Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self)),
        };
        let mut state = State::Missing;
        while let Some(wanted) = map.next_key_seed(IsToken(token))? {
            if wanted {
                // As other parsers do, the last of two members with one name counts.
                state = map.next_value_seed(Seed {
                    tokens: below,
                    default: false,
                    text: self.text,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(state)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<State, A::Error> {
        let Some((token, below)) = self.tokens.split_first() else {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        };
        if let Ok(wanted) = token.parse::<usize>() {
            for _ in 0..wanted {
                if seq.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(State::Missing);
                }
            }
            let seed = Seed {
                tokens: below,
                default: false,
                text: self.text,
            };
            let state = seq.next_element_seed(seed)?.unwrap_or(State::Missing);
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(state);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(State::Missing)
    }
}

/// Compares an object's member name without keeping it.
struct IsToken<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for IsToken<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsToken<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(field: Option<&str>, line: &str) -> Result<Option<String>, String> {
        let mut text = String::new();
        match Pointer::parse(field)?.find(line.as_bytes(), &mut text)? {
            Found::Missing => Ok(Some("<missing>".into())),
            Found::Null => Ok(None),
            Found::Text(text) => Ok(Some(text.to_owned())),
        }
    }

    #[test]
    fn pointers() {
        let line = r#"{"a":{"b":[1,{"c":"x"}],"n":null},"key":"k","t/~":"s","key2":3}"#;
        for (field, want) in [
            (Some("/a/b/1/c"), Some("x")),
            (Some("/a/b/0"), Some("1")),
            (Some("/a/b/2"), Some("<missing>")),
            (Some("/a/n"), None),
            (Some("/t~1~0"), Some("s")),
            (Some("/key2"), Some("3")),
            (Some("/key/deeper"), Some("<missing>")),
            (Some("/none"), Some("<missing>")),
            (None, Some("k")),
        ] {
            assert_eq!(find(field, line).unwrap().as_deref(), want, "{field:?}");
        }
    }

    #[test]
    fn without_a_pointer_a_scalar_is_the_key() {
        for (line, want) in [
            ("\"k\\u00e9\"", Some("ké")),
            ("null", None),
            ("-7", Some("-7")),
            ("\"\"", Some("")),
        ] {
            assert_eq!(find(None, line).unwrap().as_deref(), want, "{line}");
        }
        assert_eq!(
            find(None, r#"{"a":1,"key":"x","key":"y"}"#)
                .unwrap()
                .as_deref(),
            Some("y")
        );
    }

    #[test]
    fn errors_say_what_and_where() {
        for (field, line, hint) in [
            (None, "1.5", "whole number"),
            (None, "true", "boolean"),
            (Some("/a"), r#"{"a":{}}"#, "map"),
            (Some("/a"), r#"{"a":[]}"#, "sequence"),
            (None, r#""open"#, "at column"),
            (None, r#""a" "b""#, "trailing characters at column 5"),
            (Some("a"), "{}", "starts with a slash"),
        ] {
            let error = find(field, line).unwrap_err();
            assert!(error.contains(hint) && !error.contains("line"), "{error}");
        }
    }
}
