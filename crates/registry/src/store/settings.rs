//! Settings of all subjects, and of single ones.

use super::register::check_subject;
use super::{Store, Which};
use crate::error::{ApiError, Result};
use crate::level::{Level, Mode};
use crate::record::{ConfigValue, Record};

impl Store {
    /// What is set; for all subjects there is always something.
    pub(crate) fn config_of(&self, subject: Option<&str>, or_global: bool) -> Result<ConfigValue> {
        let own = self.config(subject).copied();
        let Some(subject) = subject else {
            return Ok(ConfigValue {
                level: own.and_then(|own| own.level).or(Some(Level::Backward)),
                normalize: own.and_then(|own| own.normalize),
            });
        };
        if or_global {
            let global = self.config_of(None, false)?;
            return Ok(ConfigValue {
                level: Some(self.level(subject)),
                normalize: own.and_then(|own| own.normalize).or(global.normalize),
            });
        }
        own.ok_or_else(|| {
            ApiError::new(
                40408,
                format!("Subject '{subject}' does not have subject-level compatibility configured"),
            )
        })
    }

    /// Plans to change what is set. What is not given stays.
    pub(crate) fn set_config(
        &self,
        subject: Option<&str>,
        change: ConfigValue,
    ) -> Result<(Vec<Record>, ConfigValue)> {
        if let Some(subject) = subject {
            check_subject(subject)?;
        }
        self.check_settings_writable(subject)?;
        let old = self.config(subject).copied().unwrap_or_default();
        let new = ConfigValue {
            level: change.level.or(old.level),
            normalize: change.normalize.or(old.normalize),
        };
        let record = Record::Config {
            subject: subject.map(str::to_owned),
            value: Some(new),
        };
        Ok((vec![record], new))
    }

    /// Plans to take back what is set. Returns what that was.
    pub(crate) fn delete_config(
        &self,
        subject: Option<&str>,
    ) -> Result<(Vec<Record>, ConfigValue)> {
        let old = match subject {
            Some(subject) => *self
                .config(Some(subject))
                .ok_or_else(|| ApiError::subject_not_found(subject))?,
            None => self.config_of(None, false)?,
        };
        self.check_settings_writable(subject)?;
        let record = Record::Config {
            subject: subject.map(str::to_owned),
            value: None,
        };
        Ok((vec![record], old))
    }

    fn check_settings_writable(&self, subject: Option<&str>) -> Result<()> {
        if let Some(subject) = subject {
            return self.check_writable(subject);
        }
        match self.modes.get(&None) {
            Some(Mode::ReadOnly | Mode::ReadOnlyOverride) => Err(ApiError::not_permitted(
                "The registry is in read-only mode".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    pub(crate) fn mode_of(&self, subject: Option<&str>, or_global: bool) -> Result<Mode> {
        let Some(subject) = subject else {
            return Ok(self.modes.get(&None).copied().unwrap_or(Mode::ReadWrite));
        };
        if or_global {
            return Ok(self.mode(subject));
        }
        let own = self.modes.get(&Some(subject.to_owned())).copied();
        own.ok_or_else(|| {
            ApiError::new(
                40409,
                format!("Subject '{subject}' does not have subject-level mode configured"),
            )
        })
    }

    /// Plans to change what may be done.
    pub(crate) fn set_mode(
        &self,
        subject: Option<&str>,
        mode: Option<Mode>,
        force: bool,
    ) -> Result<Vec<Record>> {
        if let Some(subject) = subject {
            check_subject(subject)?;
        }
        let now = match subject {
            Some(subject) => self.mode(subject),
            None => self.mode_of(None, false)?,
        };
        let mut records = Vec::new();
        if mode == Some(Mode::Import) && now != Mode::Import && !force {
            let subjects = match subject {
                Some(subject) => vec![subject],
                None => self.subjects("", Which::All),
            };
            if subjects
                .iter()
                .any(|subject| self.has(subject, Which::Live))
            {
                return Err(ApiError::not_permitted(
                    "Cannot import since found existing subjects".to_owned(),
                ));
            }
            // What is deleted softly has ids that an import may bring.
            for subject in subjects {
                records.extend(self.versions(subject, Which::All).map(|(version, _)| {
                    Record::Schema {
                        subject: subject.to_owned(),
                        version,
                        value: None,
                    }
                }));
            }
        }
        records.push(Record::Mode {
            subject: subject.map(str::to_owned),
            value: mode,
        });
        Ok(records)
    }

    /// Plans to take a mode back. Returns what it was.
    pub(crate) fn delete_mode(&self, subject: Option<&str>) -> Result<(Vec<Record>, Mode)> {
        let old = match subject {
            Some(subject) => *self
                .modes
                .get(&Some(subject.to_owned()))
                .ok_or_else(|| ApiError::subject_not_found(subject))?,
            None => self.mode_of(None, false)?,
        };
        let record = Record::Mode {
            subject: subject.map(str::to_owned),
            value: None,
        };
        Ok((vec![record], old))
    }
}
