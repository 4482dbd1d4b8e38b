//! A record an object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{BadOutgoing, KeyEncoding, OutgoingHeader, OutgoingRecord, Rules, encoded};
use crate::input::json::without_line;

pub(super) fn read(
    line: u64,
    content: &[u8],
    rules: &Rules,
) -> Result<OutgoingRecord, BadOutgoing> {
    record(line, content, rules).map_err(|what| BadOutgoing { line, what })
}

fn record(line: u64, content: &[u8], rules: &Rules) -> Result<OutgoingRecord, String> {
    let members: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_slice(content).map_err(|error| without_line(&error))?;
    let get = |name: &str| members.get(name).map(|value| value.get());
    let values = ["value", "payload", "value_base64"].map(&get);
    let value = match values {
        [Some(value), None, None] | [None, Some(value), None] => {
            let value = text(value)?.map(|value| encoded(rules.value, value.as_bytes()));
            value.transpose().map_err(|what| format!("value: {what}"))?
        }
        [None, None, Some(value)] => base64("value_base64", value)?,
        [None, None, None] => return Err("it has no value; write null for a tombstone".into()),
        _ => {
            return Err(
                "it has more than one of value, payload and value_base64: which is it?".into(),
            );
        }
    };
    if let Some(key) = get("key_base64") {
        if get("key").is_some() {
            return Err("it has a key and a key_base64: which is it?".into());
        }
        return Ok(OutgoingRecord {
            key: base64("key_base64", key)?,
            ..rest(line, value, get)?
        });
    }
    let key = match get("key") {
        None => None,
        Some(key) => {
            let is_whole = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            if !(key.starts_with('"') || key == "null" || is_whole(key)) {
                return Err("key: it is a string, a whole number or null".into());
            }
            text(key)?
        }
    };
    let key = key.map(|key| encoded(rules.key, key.as_bytes()));
    let key = key.transpose().map_err(|what| format!("key: {what}"))?;
    Ok(OutgoingRecord {
        key,
        ..rest(line, value, get)?
    })
}

/// All but the key.
fn rest<'a>(
    line: u64,
    value: Option<Vec<u8>>,
    get: impl Fn(&str) -> Option<&'a str>,
) -> Result<OutgoingRecord, String> {
    Ok(OutgoingRecord {
        line,
        key: None,
        value,
        partition: number("partition", get("partition"))?,
        timestamp: number("timestamp", get("timestamp").or(get("ts")))?,
        headers: get("headers").map(headers).transpose()?.unwrap_or_default(),
    })
}

/// What `copart read` writes of bytes that are no text.
fn base64(name: &str, json: &str) -> Result<Option<Vec<u8>>, String> {
    let text: String = serde_json::from_str(json).map_err(|_| format!("{name}: it is a string"))?;
    let bytes = encoded(KeyEncoding::Base64, text.as_bytes());
    bytes.map(Some).map_err(|what| format!("{name}: {what}"))
}

/// A string's text; whatever else there is as it stands; nothing for null.
fn text(json: &str) -> Result<Option<Cow<'_, str>>, String> {
    match json {
        "null" => Ok(None),
        _ if json.starts_with('"') => {
            let text: String = serde_json::from_str(json).map_err(|error| without_line(&error))?;
            Ok(Some(Cow::Owned(text)))
        }
        _ => Ok(Some(Cow::Borrowed(json))),
    }
}

fn number<T: serde::de::DeserializeOwned>(
    name: &str,
    json: Option<&str>,
) -> Result<Option<T>, String> {
    let Some(json) = json else { return Ok(None) };
    serde_json::from_str(json).map_err(|_| format!("{name}: `{json}` is no number that it can be"))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderText {
    Text(Option<String>),
    /// What `copart read` writes of bytes that are no text.
    Base64 {
        base64: String,
    },
}

/// An object, or kcat's list of names and values in turn, in which a name may stand more than once.
fn headers(json: &str) -> Result<Vec<OutgoingHeader>, String> {
    let bytes = |value: Option<String>| value.map(String::into_bytes);
    if let Ok(object) = serde_json::from_str::<BTreeMap<String, Option<String>>>(json) {
        let headers = object.into_iter().map(|(name, value)| (name, bytes(value)));
        return Ok(headers.collect());
    }
    let wrong = || {
        "headers: they are an object of strings, or a list of names and values in turn".to_owned()
    };
    let list: Option<Vec<HeaderText>> = serde_json::from_str(json).map_err(|_| wrong())?;
    let list = list.unwrap_or_default();
    let mut headers = Vec::with_capacity(list.len() / 2);
    for pair in list.chunks(2) {
        let [HeaderText::Text(Some(name)), value] = pair else {
            return Err(wrong());
        };
        let value = match value {
            HeaderText::Text(text) => bytes(text.clone()),
            HeaderText::Base64 { base64 } => Some(
                encoded(KeyEncoding::Base64, base64.as_bytes())
                    .map_err(|what| format!("headers: {what}"))?,
            ),
        };
        headers.push((name.clone(), value));
    }
    Ok(headers)
}
