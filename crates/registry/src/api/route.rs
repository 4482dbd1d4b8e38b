//! From requests to answers.

use serde::Serialize;

use super::answers::{
    CompatibilityJson, ConfigEcho, ConfigJson, ContextId, ErrorJson, ModeJson, Place, Registered,
    SchemaJson,
};
use super::request::{Query, Request};
use crate::error::{ApiError, Result};
use crate::record::Record;
use crate::schema::SchemaType;
use crate::store::{Found, Store, VersionId, Which};

/// Every subject, with or without this.
const DEFAULT_CONTEXTS: [&str; 2] = [":*:", ":.:"];

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What has to be stored, and then [applied](Store::apply), before the answer may leave.
    pub records: Vec<Record>,
    /// The answer.
    pub answer: Answer,
}

/// An answer, as HTTP has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Such as 200.
    pub status: u16,
    /// JSON, or the text of a schema alone.
    pub body: String,
}

impl Answer {
    fn json(body: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_string(body).map_err(|error| {
            ApiError::new(500, format!("the answer cannot be written: {error}"))
        })?;
        Ok(Self { status: 200, body })
    }
}

impl From<&ApiError> for Answer {
    fn from(error: &ApiError) -> Self {
        let json = ErrorJson {
            error_code: error.code,
            message: &error.message,
        };
        Self {
            status: error.status(),
            // A number and a string can always be written.
            body: serde_json::to_string(&json).unwrap_or_default(),
        }
    }
}

fn only(body: &impl Serialize) -> Result<Outcome> {
    with(Vec::new(), body)
}

fn with(records: Vec<Record>, body: &impl Serialize) -> Result<Outcome> {
    let answer = Answer::json(body)?;
    Ok(Outcome { records, answer })
}

fn which(query: &Query) -> Which {
    if query.is("deletedOnly") {
        Which::Deleted
    } else if query.is("deleted") {
        Which::All
    } else {
        Which::Live
    }
}

fn live_or_all(query: &Query) -> Which {
    if query.is("deleted") {
        Which::All
    } else {
        Which::Live
    }
}

fn page<T>(items: Vec<T>, query: &Query) -> Result<Vec<T>> {
    let (offset, limit) = query.page()?;
    Ok(items.into_iter().skip(offset).take(limit).collect())
}

/// A subject's own name, where it was written with the default context.
fn named(subject: &str) -> &str {
    subject.strip_prefix(":.:").unwrap_or(subject)
}

fn id(text: &str) -> Result<i32> {
    text.parse()
        .map_err(|_| ApiError::new(404, format!("{text:?} is no id")))
}

impl Store {
    /// Works on a request: what has to be stored, and the answer.
    pub fn handle(&self, request: &Request<'_>) -> Outcome {
        self.route(request).unwrap_or_else(|error| Outcome {
            records: Vec::new(),
            answer: Answer::from(&error),
        })
    }

    fn route(&self, request: &Request<'_>) -> Result<Outcome> {
        let parts = request.parts()?;
        let query = &request.query()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match (request.method, &parts[..]) {
            ("GET", []) => only(&serde_json::Map::new()),
            ("GET", ["contexts"]) => only(&["."]),
            (_, ["subjects", rest @ ..]) => self.subject_routes(request, query, rest),
            ("GET", ["schemas", rest @ ..]) => self.schema_routes(query, rest),
            ("POST", ["compatibility", "subjects", subject, "versions", rest @ ..])
                if rest.len() < 2 =>
            {
                let version = rest
                    .first()
                    .map(|text| VersionId::parse(text))
                    .transpose()?;
                self.check(request, query, named(subject), version)
            }
            (_, ["config", rest @ ..]) if rest.len() < 2 => {
                self.config_routes(request, query, subject_of(rest))
            }
            (_, ["mode", rest @ ..]) if rest.len() < 2 => {
                self.mode_routes(request, query, subject_of(rest))
            }
            _ => Err(nothing_here(request)),
        }
    }

    fn subject_routes(
        &self,
        request: &Request<'_>,
        query: &Query,
        parts: &[&str],
    ) -> Result<Outcome> {
        let permanent = query.is("permanent");
        match (request.method, parts) {
            ("GET", []) => {
                let subjects = self.subjects(prefix(query), which(query));
                only(&page(subjects, query)?)
            }
            ("POST", [subject]) => {
                let (subject, new) = (named(subject), request.schema(query)?);
                let found = self.look_up(subject, &new, live_or_all(query))?;
                only(&self.described(subject, &found, query)?)
            }
            ("DELETE", [subject]) => {
                let (records, versions) = self.delete_subject(named(subject), permanent)?;
                with(records, &versions)
            }
            ("GET", [subject, "versions"]) => {
                let versions = self.version_numbers(named(subject), which(query))?;
                only(&page(versions, query)?)
            }
            ("POST", [subject, "versions"]) => {
                let (subject, new) = (named(subject), request.schema(query)?);
                let (records, found) = self.register(subject, new)?;
                // Without the text: clients keep what they sent, and some read no other form of it.
                let guid = found.value.definition.guid().to_string();
                let json = Registered {
                    id: found.value.id,
                    version: found.version,
                    guid,
                };
                with(records, &json)
            }
            ("GET", [subject, "versions", version]) => {
                let (subject, version) = (named(subject), VersionId::parse(version)?);
                let found = self.version(subject, version, live_or_all(query))?;
                only(&self.described(subject, &found, query)?)
            }
            ("GET", [subject, "versions", version, "schema"]) => {
                let (subject, version) = (named(subject), VersionId::parse(version)?);
                let found = self.version(subject, version, live_or_all(query))?;
                let format = query.text("format").unwrap_or_default();
                bare(self.formatted(&found.value.definition, format)?)
            }
            ("GET", [subject, "versions", version, "referencedby"]) => {
                let (subject, version) = (named(subject), VersionId::parse(version)?);
                let users = self.referenced_by(subject, version, live_or_all(query))?;
                only(&page(users, query)?)
            }
            ("DELETE", [subject, "versions", version]) => {
                let (subject, version) = (named(subject), VersionId::parse(version)?);
                let (records, version) = self.delete_version(subject, version, permanent)?;
                with(records, &version)
            }
            _ => Err(nothing_here(request)),
        }
    }

    fn described<'s>(
        &self,
        subject: &'s str,
        found: &'s Found,
        query: &Query,
    ) -> Result<SchemaJson<'s>> {
        let format = query.text("format").unwrap_or_default();
        let text = self.formatted(&found.value.definition, format)?;
        Ok(SchemaJson::found(subject, found, text))
    }

    fn schema_routes(&self, query: &Query, parts: &[&str]) -> Result<Outcome> {
        let format = query.text("format").unwrap_or_default();
        let subject = query.text("subject").map(named).filter(|it| !it.is_empty());
        match parts {
            [] => {
                let latest = query.is("latestOnly");
                let all = self.all(prefix(query), live_or_all(query), latest);
                let all = page(all, query)?;
                let described = all.iter().map(|(subject, found)| {
                    let text = found.value.definition.text.clone();
                    SchemaJson::found(subject, found, text)
                });
                only(&described.collect::<Vec<_>>())
            }
            ["types"] => only(&SchemaType::ALL.map(SchemaType::name)),
            ["ids", wanted] => {
                let (definition, guid, at) = self.by_id(id(wanted)?, subject)?;
                let text = self.formatted(definition, format)?;
                only(&SchemaJson {
                    subject: at.map(|(subject, _)| subject),
                    version: at.map(|(_, version)| version),
                    ..SchemaJson::new(definition, guid, text)
                })
            }
            ["ids", wanted, "schema"] => {
                let (definition, _, _) = self.by_id(id(wanted)?, subject)?;
                bare(self.formatted(definition, format)?)
            }
            ["ids", wanted, "subjects"] => {
                let places = self.places(id(wanted)?, live_or_all(query))?;
                let mut subjects: Vec<&str> = places
                    .into_iter()
                    .map(|(subject, _)| subject)
                    .filter(|found| subject.is_none_or(|wanted| wanted == *found))
                    .collect();
                subjects.dedup();
                only(&page(subjects, query)?)
            }
            ["ids", wanted, "versions"] => {
                let places = self.places(id(wanted)?, live_or_all(query))?;
                let places = places
                    .into_iter()
                    .filter(|(found, _)| subject.is_none_or(|wanted| wanted == *found))
                    .map(|(subject, version)| Place { subject, version });
                only(&page(places.collect(), query)?)
            }
            ["guids", guid] => {
                let (definition, guid, _) = self.by_guid(guid)?;
                let text = self.formatted(definition, format)?;
                only(&SchemaJson::new(definition, guid, text))
            }
            ["guids", guid, "ids"] => {
                let (_, _, ids) = self.by_guid(guid)?;
                let ids = ids.into_iter().map(|id| ContextId { context: ".", id });
                only(&ids.collect::<Vec<_>>())
            }
            _ => Err(ApiError::new(404, "HTTP 404 Not Found")),
        }
    }

    fn check(
        &self,
        request: &Request<'_>,
        query: &Query,
        subject: &str,
        version: Option<VersionId>,
    ) -> Result<Outcome> {
        let (new, verbose) = (request.schema(query)?, query.is("verbose"));
        let messages = match self.compatibility(subject, version, &new) {
            // As in Confluent's, whoever wants to know why is told this, too.
            Err(error) if error.code == 42201 && verbose => vec![error.message],
            other => other?,
        };
        only(&CompatibilityJson {
            is_compatible: messages.is_empty(),
            messages: verbose.then_some(messages),
        })
    }

    fn config_routes(
        &self,
        request: &Request<'_>,
        query: &Query,
        subject: Option<&str>,
    ) -> Result<Outcome> {
        match request.method {
            "GET" => {
                let config = self.config_of(subject, query.is("defaultToGlobal"))?;
                only(&ConfigJson::from(config))
            }
            "PUT" => {
                let (records, config) = self.set_config(subject, request.config()?)?;
                with(records, &ConfigEcho::from(config))
            }
            "DELETE" => {
                let (records, config) = self.delete_config(subject)?;
                with(records, &ConfigJson::from(config))
            }
            _ => Err(nothing_here(request)),
        }
    }

    fn mode_routes(
        &self,
        request: &Request<'_>,
        query: &Query,
        subject: Option<&str>,
    ) -> Result<Outcome> {
        let json = |mode: crate::level::Mode| ModeJson {
            mode: Some(mode.name()),
        };
        match request.method {
            "GET" => only(&json(self.mode_of(subject, query.is("defaultToGlobal"))?)),
            "PUT" => {
                let mode = request.mode()?;
                let records = self.set_mode(subject, mode, query.is("force"))?;
                let mode = mode.map(|mode| mode.name());
                with(records, &ModeJson { mode })
            }
            "DELETE" => {
                let (records, mode) = self.delete_mode(subject)?;
                with(records, &json(mode))
            }
            _ => Err(nothing_here(request)),
        }
    }
}

fn subject_of<'p>(rest: &[&'p str]) -> Option<&'p str> {
    rest.first()
        .map(|subject| named(subject))
        .filter(|it| !it.is_empty())
}

fn prefix(query: &Query) -> &str {
    let prefix = query.text("subjectPrefix").unwrap_or_default();
    let mut contexts = DEFAULT_CONTEXTS.into_iter();
    contexts
        .find_map(|context| prefix.strip_prefix(context))
        .unwrap_or(prefix)
}

/// The text of a schema, and nothing around it.
fn bare(body: String) -> Result<Outcome> {
    Ok(Outcome {
        records: Vec::new(),
        answer: Answer { status: 200, body },
    })
}

fn nothing_here(request: &Request<'_>) -> ApiError {
    match request.method {
        "GET" | "POST" | "PUT" | "DELETE" => ApiError::new(404, "HTTP 404 Not Found"),
        _ => ApiError::new(405, "HTTP 405 Method Not Allowed"),
    }
}
