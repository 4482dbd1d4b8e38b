//! Registering schemas, and looking them up.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Store, Which};
use crate::error::{ApiError, Result};
use crate::level::Mode;
use crate::record::{Record, SchemaValue};
use crate::schema::{Definition, Reference, SchemaType};

/// A schema that somebody sent.
#[derive(Clone, Debug)]
pub(crate) struct NewSchema {
    pub(crate) schema_type: SchemaType,
    pub(crate) text: String,
    pub(crate) references: Vec<Reference>,
    /// For imports: the id that it had elsewhere.
    pub(crate) id: Option<i32>,
    /// The version that it shall be.
    pub(crate) version: Option<i32>,
    /// Whether it is brought into its normal form.
    pub(crate) normalize: bool,
}

/// A schema's place in a subject.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) version: i32,
    pub(crate) value: SchemaValue,
}

/// What a subject may not be called: Confluent's registry has other uses for them.
const NOT_NAMES: [&str; 2] = ["__GLOBAL", "__EMPTY"];

impl Store {
    pub(super) fn check_writable(&self, subject: &str) -> Result<()> {
        match self.mode(subject) {
            Mode::ReadOnly | Mode::ReadOnlyOverride => Err(ApiError::not_permitted(format!(
                "Subject {subject} is in read-only mode"
            ))),
            Mode::ReadWrite | Mode::Import => Ok(()),
        }
    }

    /// Plans to register a schema. There are no records if the subject has it.
    pub(crate) fn register(&self, subject: &str, new: NewSchema) -> Result<(Vec<Record>, Found)> {
        check_subject(subject)?;
        self.check_mode(subject, new.id)?;
        let normal = new.normalize || self.normalizes(subject);
        let (parsed, text) = self.parse(new.schema_type, &new.text, &new.references, normal)?;
        let definition = Definition {
            schema_type: new.schema_type,
            text,
            references: new.references,
        };
        let guid = definition.guid();
        let known = self.guids.get(&guid).into_iter().flatten().copied();
        let known: Vec<i32> = known
            .filter(|id| new.id.is_none_or(|wanted| wanted == *id))
            .collect();
        if new.version.is_none()
            && let Some((version, value)) = self
                .versions(subject, Which::Live)
                .filter(|(_, value)| known.contains(&value.id))
                .last()
        {
            let value = value.clone();
            return Ok((Vec::new(), Found { version, value }));
        }
        if self.mode(subject) != Mode::Import {
            let earlier: Vec<_> = self.versions(subject, Which::Live).collect();
            let misfits = self.misfits(subject, &parsed, &earlier)?;
            if !misfits.is_empty() {
                return Err(ApiError::incompatible(format!(
                    "Schema being registered is incompatible with an earlier schema for subject \
                     \"{subject}\", details: [{}]",
                    misfits.join(", ")
                )));
            }
        }
        let version = self.next_version(subject, new.version)?;
        let id = match new.id {
            Some(id) => self.importable(id, &definition)?,
            None => match known.first() {
                Some(id) => *id,
                None => self
                    .last_id
                    .checked_add(1)
                    .ok_or_else(|| ApiError::store("there are no more ids"))?,
            },
        };
        let mut records: Vec<Record> = self
            .versions(subject, Which::Deleted)
            .filter(|(old, value)| value.id == id && *old < version)
            .filter(|(old, _)| self.users(subject, *old, Which::All).is_empty())
            .map(|(old, _)| Record::Schema {
                subject: subject.to_owned(),
                version: old,
                value: None,
            })
            .collect();
        let value = SchemaValue {
            id,
            definition: Arc::new(definition),
            deleted: false,
        };
        records.push(Record::Schema {
            subject: subject.to_owned(),
            version,
            value: Some(value.clone()),
        });
        Ok((records, Found { version, value }))
    }

    fn check_mode(&self, subject: &str, id: Option<i32>) -> Result<()> {
        self.check_writable(subject)?;
        match (self.mode(subject), id) {
            (Mode::Import, None) => Err(ApiError::not_permitted(format!(
                "Subject {subject} is not in read-write mode: in import mode a schema comes with its id"
            ))),
            (Mode::ReadWrite, Some(_)) => Err(ApiError::not_permitted(format!(
                "Subject {subject} is not in import mode: only then a schema comes with its id"
            ))),
            _ => Ok(()),
        }
    }

    fn next_version(&self, subject: &str, wanted: Option<i32>) -> Result<i32> {
        let last = self.versions(subject, Which::All).last();
        let next = match last {
            Some((last, _)) => last
                .checked_add(1)
                .ok_or_else(|| ApiError::store("there are no more versions"))?,
            None => 1,
        };
        match wanted {
            None => Ok(next),
            Some(version) if version == next || self.mode(subject) == Mode::Import => Ok(version),
            Some(version) => Err(ApiError::invalid_schema(format!(
                "Version {version} is not one more than the previous version: that is {next}"
            ))),
        }
    }

    /// An id never stands for two schemas.
    fn importable(&self, id: i32, definition: &Definition) -> Result<i32> {
        match self.ids.get(&id) {
            Some(placed) if *placed.definition != *definition => Err(ApiError::not_permitted(
                format!("Overwrite new schema with id {id} is not permitted."),
            )),
            _ => Ok(id),
        }
    }

    /// Looks a schema up in a subject.
    pub(crate) fn look_up(&self, subject: &str, new: &NewSchema, which: Which) -> Result<Found> {
        if !self.has(subject, which) {
            return Err(ApiError::subject_not_found(subject));
        }
        let normal = new.normalize || self.normalizes(subject);
        let (_, text) = self.parse(new.schema_type, &new.text, &new.references, normal)?;
        let definition = Definition {
            schema_type: new.schema_type,
            text,
            references: new.references.clone(),
        };
        let ids: HashSet<i32> = self
            .guids
            .get(&definition.guid())
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let found = self
            .versions(subject, which)
            .filter(|(_, value)| ids.contains(&value.id))
            .last();
        let (version, value) = found.ok_or_else(ApiError::schema_not_found)?;
        Ok(Found {
            version,
            value: value.clone(),
        })
    }

    /// What keeps a schema from being registered: nothing, if it may. Against one version, or all that there are.
    pub(crate) fn compatibility(
        &self,
        subject: &str,
        version: Option<super::VersionId>,
        new: &NewSchema,
    ) -> Result<Vec<String>> {
        let earlier: Vec<_> = match version {
            None => self.versions(subject, Which::Live).collect(),
            Some(super::VersionId::Latest) => self
                .versions(subject, Which::Live)
                .last()
                .into_iter()
                .collect(),
            Some(super::VersionId::Number(number)) => {
                let mut versions = self.versions(subject, Which::Live);
                let found = versions.find(|(version, _)| *version == number);
                vec![found.ok_or_else(|| ApiError::version_not_found(number))?]
            }
        };
        let normal = new.normalize || self.normalizes(subject);
        let (parsed, _) = self.parse(new.schema_type, &new.text, &new.references, normal)?;
        self.misfits(subject, &parsed, &earlier)
    }
}

/// May a subject be called that?
pub(super) fn check_subject(subject: &str) -> Result<()> {
    let reason = if subject.is_empty() {
        "it is empty"
    } else if subject.chars().any(char::is_control) {
        "it has control characters"
    } else if NOT_NAMES.contains(&subject) {
        "it stands for something else"
    } else if subject.starts_with(":.") || subject.starts_with(":*") {
        "it names a context, and this registry has none but the default one"
    } else if subject.len() > 10_000 {
        "it is longer than 10000 bytes"
    } else {
        return Ok(());
    };
    Err(ApiError::new(
        42208,
        format!("The subject {subject:?} is not valid: {reason}"),
    ))
}
