//! What a registry knows: a state machine without a disk or a clock.
//!
//! Whoever drives it has a change planned ([`Store::handle`](crate::Store::handle)), writes its records, and applies
//! them when they are stored ([`Store::apply`]). Reading the records again makes the same state.

mod check;
mod delete;
mod read;
mod register;
mod settings;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::level::{Level, Mode};
use crate::record::{ConfigValue, Record, SchemaValue};
use crate::schema::{Definition, Guid};

pub(crate) use read::VersionId;
pub(crate) use register::{Found, NewSchema};

/// All that is registered.
#[derive(Clone, Debug, Default)]
pub struct Store {
    subjects: BTreeMap<String, BTreeMap<i32, SchemaValue>>,
    /// Where an id is registered.
    ids: BTreeMap<i32, Placed>,
    guids: HashMap<Guid, BTreeSet<i32>>,
    /// By subject; `None` is for all.
    configs: HashMap<Option<String>, ConfigValue>,
    modes: HashMap<Option<String>, Mode>,
    /// The largest id that was ever given out.
    last_id: i32,
}

/// A schema that has an id.
#[derive(Clone, Debug)]
struct Placed {
    definition: Arc<Definition>,
    guid: Guid,
    at: BTreeSet<(String, i32)>,
}

/// The versions of subjects that a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those that are not deleted.
    Live,
    /// Those that are deleted softly, too.
    All,
    /// Only those that are deleted softly.
    Deleted,
}

impl Which {
    fn includes(self, deleted: bool) -> bool {
        match self {
            Self::Live => !deleted,
            Self::All => true,
            Self::Deleted => deleted,
        }
    }
}

impl Store {
    /// Takes over a record that is stored.
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Schema {
                subject,
                version,
                value,
            } => {
                self.remove(&subject, version);
                if let Some(value) = value {
                    self.insert(subject, version, value);
                }
            }
            Record::DeleteSubject { subject, value } => {
                let versions = self.subjects.get_mut(&subject);
                if let (Some(versions), Some(last)) = (versions, value) {
                    for (_, value) in versions.range_mut(..=last) {
                        value.deleted = true;
                    }
                }
            }
            Record::Config { subject, value } => {
                match value {
                    Some(config) => self.configs.insert(subject, config),
                    None => self.configs.remove(&subject),
                };
            }
            Record::Mode { subject, value } => {
                match value {
                    Some(mode) => self.modes.insert(subject, mode),
                    None => self.modes.remove(&subject),
                };
            }
        }
    }

    fn remove(&mut self, subject: &str, version: i32) {
        let Some(versions) = self.subjects.get_mut(subject) else {
            return;
        };
        let Some(value) = versions.remove(&version) else {
            return;
        };
        if versions.is_empty() {
            self.subjects.remove(subject);
        }
        let Some(placed) = self.ids.get_mut(&value.id) else {
            return;
        };
        placed.at.remove(&(subject.to_owned(), version));
        if placed.at.is_empty() {
            let guid = placed.guid;
            self.ids.remove(&value.id);
            if let Some(ids) = self.guids.get_mut(&guid) {
                ids.remove(&value.id);
                if ids.is_empty() {
                    self.guids.remove(&guid);
                }
            }
        }
    }

    fn insert(&mut self, subject: String, version: i32, mut value: SchemaValue) {
        let id = value.id;
        self.last_id = self.last_id.max(id);
        let placed = self.ids.entry(id).or_insert_with(|| Placed {
            definition: value.definition.clone(),
            guid: value.definition.guid(),
            at: BTreeSet::new(),
        });
        if placed.definition == value.definition {
            // One text for all its places.
            value.definition = placed.definition.clone();
        }
        placed.at.insert((subject.clone(), version));
        let guid = placed.guid;
        self.guids.entry(guid).or_default().insert(id);
        let versions = self.subjects.entry(subject).or_default();
        versions.insert(version, value);
    }

    /// What is asked of a subject's new versions.
    fn level(&self, subject: &str) -> Level {
        let own = self.config(Some(subject)).and_then(|config| config.level);
        let level = own.or_else(|| self.config(None).and_then(|config| config.level));
        level.unwrap_or(Level::Backward)
    }

    /// Whether a subject's schemas are brought into their normal form.
    fn normalizes(&self, subject: &str) -> bool {
        let own = self.config(Some(subject)).and_then(|it| it.normalize);
        let normalize = own.or_else(|| self.config(None).and_then(|config| config.normalize));
        normalize.unwrap_or(false)
    }

    fn config(&self, subject: Option<&str>) -> Option<&ConfigValue> {
        self.configs.get(&subject.map(str::to_owned))
    }

    /// What may be done with a subject.
    fn mode(&self, subject: &str) -> Mode {
        let all = self.modes.get(&None).copied();
        if all == Some(Mode::ReadOnlyOverride) {
            return Mode::ReadOnlyOverride;
        }
        let own = self.modes.get(&Some(subject.to_owned())).copied();
        own.or(all).unwrap_or(Mode::ReadWrite)
    }

    /// Versions of a subject, ascending.
    fn versions(&self, subject: &str, which: Which) -> impl Iterator<Item = (i32, &SchemaValue)> {
        let versions = self.subjects.get(subject).into_iter().flatten();
        versions
            .filter(move |(_, value)| which.includes(value.deleted))
            .map(|(version, value)| (*version, value))
    }

    fn has(&self, subject: &str, which: Which) -> bool {
        self.versions(subject, which).next().is_some()
    }

    /// The versions that use a version, by id.
    fn users(&self, subject: &str, version: i32, which: Which) -> BTreeSet<i32> {
        let uses = |definition: &Definition| {
            let mut references = definition.references.iter();
            references.any(|it| it.subject == subject && it.version == version)
        };
        let users = self
            .ids
            .iter()
            .filter(|(_, placed)| uses(&placed.definition));
        let users = users.filter(|(_, placed)| {
            let mut at = placed.at.iter();
            at.any(|(subject, version)| {
                let value = self.subjects.get(subject).and_then(|it| it.get(version));
                value.is_some_and(|value| which.includes(value.deleted))
            })
        });
        users.map(|(id, _)| *id).collect()
    }
}
