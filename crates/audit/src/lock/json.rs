//! What the JSON lock files share.

use serde_json::Value;

use super::{Malformed, line_at};

/// Parses a whole document; serde_json bounds its depth.
pub(super) fn parse(text: &str) -> Result<Value, Malformed> {
    serde_json::from_str(text).map_err(|e| Malformed::new(e.line() as u64, format!("no JSON: {e}")))
}

/// The line of a member's name and, from there on, of a member within it. JSON parsers forget where
/// things were; the files are written by programs, one member a line.
pub(super) fn line_of(text: &str, path: &[&str]) -> u64 {
    let mut at = 0;
    for name in path {
        let quoted = Value::from(*name).to_string();
        match member(&text[at..], &quoted) {
            Some(found) => at += found,
            None => break,
        }
    }
    line_at(text, at)
}

/// Where `"name" :` begins, which a string value of the same text is not.
fn member(text: &str, quoted: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), quoted)
        .find(|&at| text[at + quoted.len()..].trim_start().starts_with(':'))
}

/// A member that must be an object.
pub(super) fn object<'v>(
    value: &'v Value,
    name: &str,
) -> Option<&'v serde_json::Map<String, Value>> {
    value.get(name)?.as_object()
}

/// A member that is a string.
pub(super) fn string<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}
