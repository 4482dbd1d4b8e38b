//! Deleting: softly, so that ids can still be read, and then for good.

use super::read::VersionId;
use super::{Store, Which};
use crate::error::{ApiError, Result};
use crate::record::Record;

impl Store {
    /// Plans to delete a version.
    pub(crate) fn delete_version(
        &self,
        subject: &str,
        id: VersionId,
        permanent: bool,
    ) -> Result<(Vec<Record>, i32)> {
        if !self.has(subject, Which::All) {
            return Err(ApiError::subject_not_found(subject));
        }
        let found = self.version(subject, id, Which::All)?;
        let version = found.version;
        self.check_writable(subject)?;
        let code = match (found.value.deleted, permanent) {
            (true, false) => Some((
                40406,
                "was soft deleted. Set permanent=true to delete permanently",
            )),
            (false, true) => Some((
                40407,
                "was not deleted first before being permanently deleted",
            )),
            _ => None,
        };
        if let Some((code, reason)) = code {
            let message = format!("Subject '{subject}' Version {version} {reason}");
            return Err(ApiError::new(code, message));
        }
        let which = if permanent { Which::All } else { Which::Live };
        if !self.users(subject, version, which).is_empty() {
            return Err(referenced(subject, version));
        }
        let mut value = found.value;
        value.deleted = true;
        let mut records = vec![Record::Schema {
            subject: subject.to_owned(),
            version,
            value: (!permanent).then_some(value),
        }];
        if permanent && self.versions(subject, Which::All).count() == 1 {
            self.forget_settings(subject, &mut records);
        }
        Ok((records, version))
    }

    /// Plans to delete a subject. Returns its versions.
    pub(crate) fn delete_subject(
        &self,
        subject: &str,
        permanent: bool,
    ) -> Result<(Vec<Record>, Vec<i32>)> {
        if !self.has(subject, Which::All) {
            return Err(ApiError::subject_not_found(subject));
        }
        self.check_writable(subject)?;
        if !permanent && !self.has(subject, Which::Live) {
            return Err(ApiError::new(
                40404,
                format!(
                    "Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
                ),
            ));
        }
        if permanent && self.has(subject, Which::Live) {
            return Err(ApiError::new(
                40405,
                format!(
                    "Subject '{subject}' was not deleted first before being permanently deleted"
                ),
            ));
        }
        let which = if permanent { Which::All } else { Which::Live };
        let versions: Vec<i32> = self.versions(subject, which).map(|(it, _)| it).collect();
        for version in &versions {
            let users = self.users(subject, *version, which);
            let elsewhere = users.iter().any(|id| {
                let places = self.places(*id, which).unwrap_or_default();
                places.iter().any(|(other, _)| *other != subject)
            });
            if elsewhere {
                return Err(referenced(subject, *version));
            }
        }
        let mut records = Vec::new();
        if permanent {
            records.extend(versions.iter().rev().map(|version| Record::Schema {
                subject: subject.to_owned(),
                version: *version,
                value: None,
            }));
            self.forget_settings(subject, &mut records);
        } else {
            records.push(Record::DeleteSubject {
                subject: subject.to_owned(),
                value: versions.last().copied(),
            });
        }
        Ok((records, versions))
    }

    fn forget_settings(&self, subject: &str, records: &mut Vec<Record>) {
        let subject = Some(subject.to_owned());
        if self.modes.contains_key(&subject) {
            records.push(Record::Mode {
                subject: subject.clone(),
                value: None,
            });
        }
        if self.configs.contains_key(&subject) {
            records.push(Record::Config {
                subject,
                value: None,
            });
        }
    }
}

fn referenced(subject: &str, version: i32) -> ApiError {
    ApiError::new(
        42206,
        format!(
            "One or more references exist to the schema of subject '{subject}', version {version}"
        ),
    )
}
