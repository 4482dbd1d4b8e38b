//! Reading requests.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ApiError, Result};
use crate::level::{Level, Mode};
use crate::record::ConfigValue;
use crate::schema::{Reference, SchemaType};
use crate::store::NewSchema;

/// A request, as HTTP has it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// Such as `GET`.
    pub method: &'r str,
    /// From the first slash to the question mark, escaped as it came.
    pub path: &'r str,
    /// Behind the question mark, escaped as it came.
    pub query: &'r str,
    /// The body.
    pub body: &'r [u8],
}

/// What is behind the question mark.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// Whether a flag is set; as in Java, everything but `true` is not.
    pub(super) fn is(&self, name: &str) -> bool {
        self.text(name)
            .is_some_and(|it| it.eq_ignore_ascii_case("true"))
    }

    /// What a page leaves out and has at most.
    pub(super) fn page(&self) -> Result<(usize, usize)> {
        let number = |name: &str| match self.text(name) {
            None => Ok(None),
            Some(text) => text
                .parse::<i64>()
                .map(|number| usize::try_from(number).ok())
                .map_err(|_| ApiError::new(404, format!("{name}={text} is no number"))),
        };
        let offset = number("offset")?.unwrap_or(0);
        // As in Confluent's, a limit that is none is all.
        let limit = number("limit")?.filter(|limit| *limit > 0);
        Ok((offset, limit.unwrap_or(usize::MAX)))
    }
}

impl Request<'_> {
    /// Whether anything may be stored for it: such requests are to be planned and applied one after the other.
    pub fn may_change(&self) -> bool {
        match self.method {
            "GET" => false,
            // The other ones only ask.
            "POST" => {
                self.path.trim_start_matches('/').starts_with("subjects/")
                    && self.path.trim_end_matches('/').ends_with("/versions")
            }
            _ => true,
        }
    }

    /// The parts of the path.
    pub(super) fn parts(&self) -> Result<Vec<String>> {
        let path = self.path.trim_matches('/');
        if path.is_empty() {
            return Ok(Vec::new());
        }
        path.split('/').map(|part| unescaped(part, false)).collect()
    }

    pub(super) fn query(&self) -> Result<Query> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((unescaped(name, true)?, unescaped(value, true)?))
        });
        Ok(Query(pairs.collect::<Result<_>>()?))
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(self.body)
            .map_err(|error| ApiError::new(400, format!("the body is not what is wanted: {error}")))
    }

    pub(super) fn schema(&self, query: &Query) -> Result<NewSchema> {
        let json: SchemaJson = self.json()?;
        let schema_type = match json.schema_type.as_deref() {
            None | Some("") => SchemaType::Avro,
            Some(name) => SchemaType::from_name(name).ok_or_else(|| {
                ApiError::invalid_schema(format!(
                    "Invalid schema type {name:?}: AVRO, PROTOBUF or JSON is wanted"
                ))
            })?,
        };
        let text = json.schema.filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| ApiError::invalid_schema("Empty schema"))?;
        let others = [
            ("metadata", json.metadata),
            ("ruleSet", json.rule_set),
            ("schemaTagsToAdd", json.schema_tags_to_add),
            ("schemaTagsToRemove", json.schema_tags_to_remove),
        ];
        refuse(others)?;
        Ok(NewSchema {
            schema_type,
            text,
            references: json.references.unwrap_or_default(),
            id: json.id.filter(|id| *id >= 0),
            version: json.version.filter(|version| *version > 0),
            normalize: query.is("normalize"),
        })
    }

    pub(super) fn config(&self) -> Result<ConfigValue> {
        let json: ConfigJson = self.json()?;
        refuse([
            ("alias", json.alias),
            ("validateFields", json.validate_fields),
            ("validateNewSchemas", json.validate_new_schemas),
            ("validateRules", json.validate_rules),
            ("compatibilityPolicy", json.compatibility_policy),
            ("compatibilityGroup", json.compatibility_group),
            ("defaultMetadata", json.default_metadata),
            ("overrideMetadata", json.override_metadata),
            ("defaultRuleSet", json.default_rule_set),
            ("overrideRuleSet", json.override_rule_set),
        ])?;
        let level = match json.compatibility {
            None => None,
            Some(name) => Some(Level::from_name(&name).ok_or_else(|| {
                ApiError::new(
                    42203,
                    format!(
                        "Invalid compatibility level {name:?}. Valid values are none, backward, forward, full, \
                         backward_transitive, forward_transitive, and full_transitive"
                    ),
                )
            })?),
        };
        Ok(ConfigValue {
            level,
            normalize: json.normalize,
        })
    }

    pub(super) fn mode(&self) -> Result<Option<Mode>> {
        let json: ModeJson = self.json()?;
        let Some(name) = json.mode else {
            return Ok(None);
        };
        match Mode::from_name(&name) {
            Some(mode) => Ok(Some(mode)),
            None => Err(ApiError::new(
                42204,
                format!(
                    "Invalid mode {name:?}. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, and IMPORT"
                ),
            )),
        }
    }
}

// Names that nobody knows are left alone, as in Confluent's; those below are known, and would be missed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaJson {
    schema: Option<String>,
    schema_type: Option<String>,
    references: Option<Vec<Reference>>,
    id: Option<i32>,
    version: Option<i32>,
    metadata: Option<Value>,
    rule_set: Option<Value>,
    schema_tags_to_add: Option<Value>,
    schema_tags_to_remove: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigJson {
    compatibility: Option<String>,
    normalize: Option<bool>,
    alias: Option<Value>,
    validate_fields: Option<Value>,
    validate_new_schemas: Option<Value>,
    validate_rules: Option<Value>,
    compatibility_policy: Option<Value>,
    compatibility_group: Option<Value>,
    default_metadata: Option<Value>,
    override_metadata: Option<Value>,
    default_rule_set: Option<Value>,
    override_rule_set: Option<Value>,
}

#[derive(Deserialize)]
struct ModeJson {
    mode: Option<String>,
}

/// What is understood and not done is refused, unless it asks for nothing.
fn refuse<const N: usize>(members: [(&str, Option<Value>); N]) -> Result<()> {
    for (name, value) in members {
        let nothing = match &value {
            None | Some(Value::Null | Value::Bool(false)) => true,
            Some(Value::Array(elements)) => elements.is_empty(),
            Some(Value::Object(members)) => members.is_empty(),
            Some(Value::String(text)) => text.is_empty(),
            Some(_) => false,
        };
        if !nothing {
            return Err(ApiError::not_implemented(format!(
                "this registry does not have {name:?}; leave it out"
            )));
        }
    }
    Ok(())
}

fn unescaped(text: &str, is_query: bool) -> Result<String> {
    let wrong = || ApiError::new(400, format!("{text:?} is not escaped as a URI has to be"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || {
                    let digit = rest.next().and_then(|digit| char::from(digit).to_digit(16));
                    digit.ok_or_else(wrong)
                };
                (digit()? * 16 + digit()?) as u8
            }
            b'+' if is_query => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries() {
        let request = Request {
            method: "GET",
            path: "/subjects/a%2Fb%20%C3%A9+/versions/",
            query: "deleted=TRUE&x&limit=-1&offset=3&subjectPrefix=a+b",
            body: b"",
        };
        let parts = request.parts().expect("escaped");
        assert_eq!(parts, ["subjects", "a/b \u{e9}+", "versions"]);
        let query = request.query().expect("escaped");
        assert!(query.is("deleted"));
        assert!(!query.is("x"));
        assert_eq!(query.text("subjectPrefix"), Some("a b"));
        assert_eq!(query.page(), Ok((3, usize::MAX)));
        for wrong in ["%", "%4", "%zz", "%ff"] {
            unescaped(wrong, false).expect_err(wrong);
        }
    }
}
