//! What can be asked of a registry.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::schema::{Schema, SchemaGuid, SchemaId, SchemaKey};
use crate::{Error, ErrorKind, Result};

use super::http::Http;
use super::wire::{
    CompatibilityResponse, ConfigRequest, ConfigResponse, SchemaRequest, SchemaResponse,
};
use super::{FramedDeserializer, FramedSerializer, RegistryBuilder};

/// More schemas than one refers to.
const MAX_REFERENCES: usize = 1000;

/// A Confluent Schema Registry, or one that speaks as it does.
///
/// Schemas never change, so what was fetched by id or GUID is kept for as long
/// as this lives. Clones share it.
///
/// # Cancel safety
/// All futures may be dropped. A request that changes something may have been
/// carried out then; sending it again does no harm.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    http: Http,
    known: RwLock<HashMap<SchemaKey, Arc<Fetched>>>,
}

/// A schema and all that it refers to, each before those that refer to it.
pub(super) struct Fetched {
    pub(super) schema: Schema,
    pub(super) references: Vec<Schema>,
}

/// A schema's place in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Its id.
    pub id: SchemaId,
    /// Its GUID, of registries that know it.
    pub guid: Option<SchemaGuid>,
    /// Its version of the subject, if the registry says it.
    pub version: Option<i32>,
}

/// Which version of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The newest.
    Latest,
    /// This one; they count from 1.
    Number(i32),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// Whether a schema may follow those of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// Whether it may.
    pub compatible: bool,
    /// Why not, in the registry's words.
    pub messages: Vec<String>,
}

impl Registry {
    /// At these addresses: one, or several with commas between them, as
    /// `schema.registry.url` has them.
    pub fn builder(urls: &str) -> RegistryBuilder {
        RegistryBuilder::new(urls)
    }

    pub(super) fn new(http: Http) -> Self {
        let known = RwLock::default();
        Self {
            shared: Arc::new(Shared { http, known }),
        }
    }

    /// A serializer that names the schema in what it writes.
    pub fn serializer<F>(&self, format: F) -> FramedSerializer<F> {
        FramedSerializer::new(self.clone(), format)
    }

    /// A deserializer that fetches the schemas which records name.
    pub fn deserializer<F>(&self, format: F) -> FramedDeserializer<F>
    where
        F: crate::schema::ReadEvolved,
    {
        FramedDeserializer::new(self.clone(), format)
    }

    /// Registers a schema, unless the subject has it already.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if it is not compatible, or none; those of
    /// every request: [`Unavailable`](ErrorKind::Unavailable), and
    /// [`Settings`](ErrorKind::Settings) if it is not allowed.
    pub async fn register(&self, subject: &str, schema: &Schema) -> Result<Registered> {
        let path = format!("/subjects/{}/versions", escaped(subject));
        let answer: SchemaResponse = self.post(&path, &SchemaRequest::new(schema)).await?;
        registered(&answer, &path)
    }

    /// Registers a schema in the registry's normal form, so that one that means the
    /// same as a version of the subject does not become another: `normalize=true`,
    /// which registries before Confluent's 7.0 pass over.
    ///
    /// # Errors
    /// Those of [`register`](Self::register).
    pub async fn register_normalized(&self, subject: &str, schema: &Schema) -> Result<Registered> {
        let path = format!("/subjects/{}/versions?normalize=true", escaped(subject));
        let answer: SchemaResponse = self.post(&path, &SchemaRequest::new(schema)).await?;
        registered(&answer, &path)
    }

    /// Looks a schema up in a subject, and changes nothing.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if the subject does not have it.
    pub async fn look_up(&self, subject: &str, schema: &Schema) -> Result<Registered> {
        let path = format!("/subjects/{}", escaped(subject));
        let answer: SchemaResponse = self.post(&path, &SchemaRequest::new(schema)).await?;
        registered(&answer, &path)
    }

    /// The schema of this id or GUID. Asked once.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if the registry does not have it.
    pub async fn schema(&self, key: SchemaKey) -> Result<Schema> {
        Ok(self.fetch(key).await?.schema.clone())
    }

    /// The schema of this id or GUID, and all that it refers to, each before those that
    /// refer to it. Asked once.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if the registry does not have one of them.
    pub async fn described(&self, key: SchemaKey) -> Result<(Schema, Vec<Schema>)> {
        let fetched = self.fetch(key).await?;
        Ok((fetched.schema.clone(), fetched.references.clone()))
    }

    /// A version of a subject, and its place.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if the subject has no such version.
    pub async fn version(&self, subject: &str, version: Version) -> Result<(Schema, Registered)> {
        let path = format!("/subjects/{}/versions/{version}", escaped(subject));
        let answer: SchemaResponse = self.get(&path).await?;
        Ok((schema(&answer, &path)?, registered(&answer, &path)?))
    }

    /// The versions that a subject has.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if there is no such subject.
    pub async fn versions(&self, subject: &str) -> Result<Vec<i32>> {
        self.get(&format!("/subjects/{}/versions", escaped(subject)))
            .await
    }

    /// All subjects.
    ///
    /// # Errors
    /// Those of every request.
    pub async fn subjects(&self) -> Result<Vec<String>> {
        self.get("/subjects").await
    }

    /// Whether a schema may be registered after this version.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if it is none, or if there is no such
    /// version.
    pub async fn check(
        &self,
        subject: &str,
        version: Version,
        schema: &Schema,
    ) -> Result<Compatibility> {
        let subject = escaped(subject);
        let path = format!("/compatibility/subjects/{subject}/versions/{version}?verbose=true");
        self.compare(&path, schema).await
    }

    /// Whether a schema may be registered in a subject: compared with as many of its
    /// versions as the subject's rule says, the newest or all of them. A subject
    /// without versions takes any schema.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if it is none. Registries before Confluent's 6.1 do
    /// not know this question.
    pub async fn check_registrable(&self, subject: &str, schema: &Schema) -> Result<Compatibility> {
        let subject = escaped(subject);
        let path = format!("/compatibility/subjects/{subject}/versions?verbose=true");
        self.compare(&path, schema).await
    }

    async fn compare(&self, path: &str, schema: &Schema) -> Result<Compatibility> {
        let answer: CompatibilityResponse = self.post(path, &SchemaRequest::new(schema)).await?;
        Ok(Compatibility {
            compatible: answer.is_compatible,
            messages: answer.messages,
        })
    }

    /// What the registry asks of new versions, in its words, such as
    /// `BACKWARD`: of this subject, or of all that have no rule of their own.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if the subject has no rule of its own.
    pub async fn compatibility(&self, subject: Option<&str>) -> Result<String> {
        let answer: ConfigResponse = self.get(&config(subject)).await?;
        Ok(answer.compatibility_level)
    }

    /// Sets what the registry asks of new versions.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if there is no such level.
    pub async fn set_compatibility(&self, subject: Option<&str>, level: &str) -> Result<()> {
        let request = ConfigRequest {
            compatibility: level,
        };
        let path = config(subject);
        let body = to_json(&request)?;
        self.shared
            .http
            .send(Method::PUT, &path, Some(body))
            .await?;
        Ok(())
    }

    /// The GUID of a schema of which only the id is known.
    pub(super) async fn guid(&self, id: SchemaId) -> Result<Option<SchemaGuid>> {
        let path = by_key(SchemaKey::Id(id));
        let answer: SchemaResponse = self.get(&path).await?;
        guid(&answer, &path)
    }

    /// What was fetched already.
    pub(super) fn known(&self, key: SchemaKey) -> Option<Arc<Fetched>> {
        // Nothing panics while it is held; and what is in it is whole.
        let known = self.shared.known.read();
        known
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned()
    }

    /// A schema with all that it refers to.
    pub(super) async fn fetch(&self, key: SchemaKey) -> Result<Arc<Fetched>> {
        if let Some(known) = self.known(key) {
            return Ok(known);
        }
        let path = by_key(key);
        let answer: SchemaResponse = self.get(&path).await?;
        let schema = schema(&answer, &path)?;
        let references = self.references(&schema).await?;
        let fetched = Arc::new(Fetched { schema, references });
        let known = self.shared.known.write();
        known
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, Arc::clone(&fetched));
        Ok(fetched)
    }

    /// All that a schema refers to, each before those that refer to it.
    async fn references(&self, schema: &Schema) -> Result<Vec<Schema>> {
        enum Task {
            Fetch(String, i32),
            Add(Schema),
        }
        let wanted = |schema: &Schema| {
            let references = schema.references().iter().rev();
            let tasks = references.map(|it| Task::Fetch(it.subject.clone(), it.version));
            tasks.collect::<Vec<_>>()
        };
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut tasks = wanted(schema);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Add(schema) => found.push(schema),
                Task::Fetch(subject, version) => {
                    if !seen.insert((subject.clone(), version)) {
                        continue;
                    }
                    if seen.len() > MAX_REFERENCES {
                        return Err(Error::of_schema(
                            ErrorKind::Schema,
                            format!("a schema refers to more than {MAX_REFERENCES} others"),
                        ));
                    }
                    let (schema, _) = self.version(&subject, Version::Number(version)).await?;
                    let more = wanted(&schema);
                    tasks.push(Task::Add(schema));
                    tasks.extend(more);
                }
            }
        }
        Ok(found)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let body = self.shared.http.send(Method::GET, path, None).await?;
        from_json(&body, path)
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        let body = to_json(body)?;
        let body = self
            .shared
            .http
            .send(Method::POST, path, Some(body))
            .await?;
        from_json(&body, path)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.shared.http).finish()
    }
}

fn by_key(key: SchemaKey) -> String {
    match key {
        SchemaKey::Id(id) => format!("/schemas/ids/{id}"),
        SchemaKey::Guid(guid) => format!("/schemas/guids/{guid}"),
    }
}

fn config(subject: Option<&str>) -> String {
    match subject {
        Some(subject) => format!("/config/{}", escaped(subject)),
        None => "/config".to_owned(),
    }
}

/// All but RFC 3986's unreserved characters.
fn escaped(subject: &str) -> String {
    let mut path = String::with_capacity(subject.len());
    for byte in subject.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                path.push(byte.into());
            }
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

fn to_json(body: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(body)
        .map_err(|error| Error::of_schema(ErrorKind::Schema, error.to_string()).caused_by(error))
}

/// Not what a registry says; a proxy's page, perhaps.
#[cold]
fn unexpected(path: &str, what: impl fmt::Display) -> Error {
    Error::of_schema(
        ErrorKind::Unavailable,
        format!("the schema registry's answer to {path} is not to be understood: {what}"),
    )
    .advise("is it a schema registry's address?")
}

fn from_json<T: DeserializeOwned>(body: &[u8], path: &str) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| unexpected(path, &error).caused_by(error))
}

fn registered(answer: &SchemaResponse, path: &str) -> Result<Registered> {
    Ok(Registered {
        id: SchemaId(answer.id.ok_or_else(|| unexpected(path, "it has no id"))?),
        guid: guid(answer, path)?,
        version: answer.version,
    })
}

fn guid(answer: &SchemaResponse, path: &str) -> Result<Option<SchemaGuid>> {
    let parsed = answer.guid.as_deref().map(str::parse).transpose();
    parsed.map_err(|error| unexpected(path, error))
}

fn schema(answer: &SchemaResponse, path: &str) -> Result<Schema> {
    match answer.schema() {
        Ok(Some(schema)) => Ok(schema),
        Ok(None) => Err(unexpected(path, "it has no schema")),
        Err(word) => Err(Error::of_schema(
            ErrorKind::Schema,
            format!("the schema registry has a schema of the unknown type {word:?}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_one_part_of_a_path() {
        assert_eq!(escaped("a.B-value_1~"), "a.B-value_1~");
        assert_eq!(escaped("a/b é:.ctx"), "a%2Fb%20%C3%A9%3A.ctx");
    }
}
