//! Reading schemas with what they use, and whether one may follow others.

use std::collections::HashSet;

use super::{Store, Which};
use crate::error::{ApiError, Result};
use crate::level::Level;
use crate::protobuf::Import;
use crate::record::SchemaValue;
use crate::schema::{Definition, Parsed, Reference, SchemaType, Unchecked};

/// More schemas than one uses.
const MAX_REFERENCES: usize = 500;
/// The most bytes of text of all that a schema uses.
const MAX_TEXT: usize = 8 << 20;

impl Store {
    /// The texts that references lead to, each after those that it uses itself.
    pub(super) fn imports<'s>(&'s self, references: &'s [Reference]) -> Result<Vec<Import<'s>>> {
        let (mut found, mut seen, mut bytes) = (Vec::new(), HashSet::new(), 0);
        // What is still to do, the next at the end: a reference is looked at, and later its text is taken.
        let mut tasks: Vec<(&Reference, Option<&str>)> =
            references.iter().rev().map(|it| (it, None)).collect();
        while let Some((reference, text)) = tasks.pop() {
            if let Some(text) = text {
                found.push(Import {
                    name: &reference.name,
                    text,
                });
                continue;
            }
            let place = (&reference.name, &reference.subject, reference.version);
            if !seen.insert(place) {
                continue;
            }
            let definition = self.referenced(reference)?;
            bytes += definition.text.len();
            if seen.len() > MAX_REFERENCES || bytes > MAX_TEXT {
                return Err(ApiError::invalid_schema(format!(
                    "it uses more than {MAX_REFERENCES} other schemas, or more than {MAX_TEXT} bytes of them"
                )));
            }
            tasks.push((reference, Some(&definition.text)));
            tasks.extend(definition.references.iter().rev().map(|it| (it, None)));
        }
        Ok(found)
    }

    fn referenced(&self, reference: &Reference) -> Result<&Definition> {
        let Reference {
            name,
            subject,
            version,
        } = reference;
        let versions = self.subjects.get(subject);
        let value = match *version {
            -1 => self.versions(subject, Which::Live).last().map(|(_, it)| it),
            version => versions.and_then(|versions| versions.get(&version)),
        };
        let value = value.ok_or_else(|| {
            ApiError::invalid_schema(format!(
                "No schema reference found for subject \"{subject}\" and version {version}, which \"{name}\" refers to"
            ))
        })?;
        Ok(&value.definition)
    }

    /// Reads a schema that somebody sent. Returns the text to keep, too.
    pub(super) fn parse(
        &self,
        schema_type: SchemaType,
        text: &str,
        references: &[Reference],
        normal: bool,
    ) -> Result<(Parsed, String)> {
        let imports = self.imports(references)?;
        let read = || {
            let parsed = Parsed::new(schema_type, text, &imports)?;
            let text = parsed.text(text, &imports, normal)?;
            Ok((parsed, text))
        };
        read().map_err(|reason: String| {
            ApiError::invalid_schema(format!(
                "Invalid schema of type {}: {reason}",
                schema_type.name()
            ))
        })
    }

    /// Reads a schema that is registered.
    pub(super) fn parsed(&self, definition: &Definition) -> Result<Parsed> {
        let imports = self.imports(&definition.references)?;
        let parsed = Parsed::new(definition.schema_type, &definition.text, &imports);
        parsed.map_err(ApiError::invalid_schema)
    }

    /// What keeps a schema from following these versions, which ascend: nothing, if it may.
    pub(super) fn misfits(
        &self,
        subject: &str,
        schema: &Parsed,
        earlier: &[(i32, &SchemaValue)],
    ) -> Result<Vec<String>> {
        let level = self.level(subject);
        if level == Level::None {
            return Ok(Vec::new());
        }
        let many = if level.is_transitive() { usize::MAX } else { 1 };
        for (version, value) in earlier.iter().rev().take(many) {
            let old = self.parsed(&value.definition)?;
            let mut messages = Vec::new();
            let directions = [
                (
                    level.is_backward(),
                    schema,
                    &old,
                    "the new schema reads data of the old one",
                ),
                (
                    level.is_forward(),
                    &old,
                    schema,
                    "the old schema reads data of the new one",
                ),
            ];
            for (wanted, reader, writer, direction) in directions {
                if !wanted {
                    continue;
                }
                let reasons = reader.reads(writer).map_err(|why| unchecked(why, level))?;
                messages.extend(reasons.iter().map(ToString::to_string));
                if !reasons.is_empty() {
                    messages.push(format!("{{not so: '{direction}'}}"));
                }
            }
            if !messages.is_empty() {
                messages.push(format!("{{oldSchemaVersion: {version}}}"));
                messages.push(format!("{{oldSchema: '{}'}}", value.definition.text));
                messages.push(format!("{{compatibility: '{level}'}}"));
                return Ok(messages);
            }
        }
        Ok(Vec::new())
    }
}

fn unchecked(why: Unchecked, level: Level) -> ApiError {
    match why {
        Unchecked::TooLarge(reason) => ApiError::invalid_schema(reason),
        Unchecked::JsonSchema(what) => ApiError::not_implemented(format!(
            "this registry cannot tell whether the JSON Schema is {level} compatible: it does not compare {what}; set \
             the compatibility of the subject to NONE if any schema may follow"
        )),
    }
}
