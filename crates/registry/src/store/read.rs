//! Asking for what is registered.

use super::register::Found;
use super::{Placed, Store, Which};
use crate::error::{ApiError, Result};
use crate::schema::{Definition, Guid, Parsed};

/// A subject and a version of it.
pub(crate) type Place<'s> = (&'s str, i32);

/// A version as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionId {
    /// The newest.
    Latest,
    /// This one.
    Number(i32),
}

impl VersionId {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text {
            "latest" | "-1" => Ok(Self::Latest),
            text => match text.parse() {
                Ok(number) if number > 0 => Ok(Self::Number(number)),
                _ => Err(ApiError::new(
                    42202,
                    format!(
                        "The specified version '{text}' is not a valid version id. Allowed values are between \
                         [1, 2^31-1] and the string \"latest\""
                    ),
                )),
            },
        }
    }
}

impl Store {
    pub(crate) fn subjects(&self, prefix: &str, which: Which) -> Vec<&str> {
        let subjects = self.subjects.keys().filter(|it| it.starts_with(prefix));
        subjects
            .filter(|subject| match which {
                // As in Confluent's: a subject is deleted if all its versions are.
                Which::Deleted => !self.has(subject, Which::Live),
                which => self.has(subject, which),
            })
            .map(String::as_str)
            .collect()
    }

    pub(crate) fn version_numbers(&self, subject: &str, which: Which) -> Result<Vec<i32>> {
        let any = match which {
            Which::Live => Which::Live,
            Which::All | Which::Deleted => Which::All,
        };
        if !self.has(subject, any) {
            return Err(ApiError::subject_not_found(subject));
        }
        let versions = self.versions(subject, which);
        Ok(versions.map(|(version, _)| version).collect())
    }

    pub(crate) fn version(&self, subject: &str, id: VersionId, which: Which) -> Result<Found> {
        if !self.has(subject, which) {
            return Err(ApiError::subject_not_found(subject));
        }
        let mut versions = self.versions(subject, which);
        let found = match id {
            VersionId::Latest => versions.last(),
            VersionId::Number(number) => versions.find(|(version, _)| *version == number),
        };
        let (version, value) = found.ok_or_else(|| match id {
            VersionId::Latest => ApiError::version_not_found("latest"),
            VersionId::Number(number) => ApiError::version_not_found(number),
        })?;
        Ok(Found {
            version,
            value: value.clone(),
        })
    }

    /// All versions of all subjects that begin so.
    pub(crate) fn all(&self, prefix: &str, which: Which, latest: bool) -> Vec<(&str, Found)> {
        let subjects = self.subjects.keys().filter(|it| it.starts_with(prefix));
        subjects
            .flat_map(|subject| {
                let versions: Vec<_> = self.versions(subject, which).collect();
                let skip = if latest {
                    versions.len().saturating_sub(1)
                } else {
                    0
                };
                versions
                    .into_iter()
                    .skip(skip)
                    .map(move |(version, value)| {
                        let value = value.clone();
                        (subject.as_str(), Found { version, value })
                    })
            })
            .collect()
    }

    /// The schema with an id; where it is, if it is asked for by a subject that has it.
    pub(crate) fn by_id(
        &self,
        id: i32,
        subject: Option<&str>,
    ) -> Result<(&Definition, Guid, Option<Place<'_>>)> {
        let placed = self.placed(id)?;
        let at = subject.and_then(|subject| {
            let mut at = placed.at.iter();
            at.find(|(other, _)| other == subject)
        });
        let at = at.map(|(subject, version)| (subject.as_str(), *version));
        Ok((&placed.definition, placed.guid, at))
    }

    fn placed(&self, id: i32) -> Result<&Placed> {
        let placed = self.ids.get(&id);
        placed.ok_or_else(|| ApiError::new(40403, format!("Schema {id} not found")))
    }

    /// Where an id is registered.
    pub(crate) fn places(&self, id: i32, which: Which) -> Result<Vec<Place<'_>>> {
        let at = self.placed(id)?.at.iter().filter(|(subject, version)| {
            let value = self.subjects.get(subject).and_then(|it| it.get(version));
            value.is_some_and(|value| which.includes(value.deleted))
        });
        Ok(at
            .map(|(subject, version)| (subject.as_str(), *version))
            .collect())
    }

    pub(crate) fn by_guid(&self, text: &str) -> Result<(&Definition, Guid, Vec<i32>)> {
        let missing = || ApiError::new(40403, format!("Schema {text} not found"));
        let guid = Guid::parse(text).ok_or_else(missing)?;
        let ids: Vec<i32> = self
            .guids
            .get(&guid)
            .ok_or_else(missing)?
            .iter()
            .copied()
            .collect();
        let placed = ids
            .first()
            .and_then(|id| self.ids.get(id))
            .ok_or_else(missing)?;
        Ok((&placed.definition, guid, ids))
    }

    pub(crate) fn referenced_by(
        &self,
        subject: &str,
        id: VersionId,
        which: Which,
    ) -> Result<Vec<i32>> {
        let found = self.version(subject, id, which)?;
        Ok(self
            .users(subject, found.version, which)
            .into_iter()
            .collect())
    }

    /// The text in the form that a client asks for by name; an unknown form is the usual one, as in Confluent's.
    pub(crate) fn formatted(&self, definition: &Definition, format: &str) -> Result<String> {
        if !matches!(format, "serialized" | "resolved") {
            return Ok(definition.text.clone());
        }
        Ok(match (self.parsed(definition)?, format) {
            (Parsed::Protobuf(protobuf), "serialized") => protobuf.serialized(),
            (Parsed::Avro(avro), "resolved") => {
                avro.whole_text().map_err(ApiError::invalid_schema)?
            }
            _ => definition.text.clone(),
        })
    }
}
