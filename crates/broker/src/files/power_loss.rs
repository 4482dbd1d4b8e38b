//! What a disk may hold after power was lost.
//!
//! The disk owes a program only what it synced. Of the changes since then any
//! may have arrived, in part, and without those before them. Each seed picks
//! one of these outcomes, so that a test can go through thousands of them and
//! repeat the one that failed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::SimulatedFiles;
use super::simulated::{Content, Directory, State};

/// One change to a file's bytes.
#[derive(Clone, Debug)]
pub(super) enum FileChange {
    Write {
        position: u64,
        bytes: Vec<u8>,
        /// A failed sync dropped it: no later sync brings it to the disk.
        lost: bool,
    },
    Size {
        size: u64,
        lost: bool,
    },
}

/// One change to a directory's names. A rename is one, and happens at once.
#[derive(Clone, Debug)]
pub(super) struct DirChange {
    pub(super) removed: Option<String>,
    pub(super) added: Option<(String, usize)>,
}

impl FileChange {
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write {
                position, bytes, ..
            } => {
                let start = *position as usize;
                let end = start + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[start..end].copy_from_slice(bytes);
            }
            Self::Size { size, .. } => content.resize(*size as usize, 0),
        }
    }

    pub(super) fn lose(&mut self) {
        let (Self::Write { lost, .. } | Self::Size { lost, .. }) = self;
        *lost = true;
    }

    fn is_lost(&self) -> bool {
        let (Self::Write { lost, .. } | Self::Size { lost, .. }) = self;
        *lost
    }
}

impl DirChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        if let Some(removed) = &self.removed {
            names.remove(removed);
        }
        if let Some((name, id)) = &self.added {
            names.insert(name.clone(), *id);
        }
    }
}

impl Content {
    pub(super) fn make_durable(&mut self) {
        let durable = &mut self.durable;
        self.unsynced.retain(|change| {
            if change.is_lost() {
                return true;
            }
            change.apply(durable);
            false
        });
    }
}

impl SimulatedFiles {
    /// The files as a disk might hold them had power been lost now. The same
    /// seed gives the same outcome. Nothing changes here.
    pub fn crash(&self, seed: u64) -> Self {
        let state = self.state();
        let mut random = Random::new(seed);
        // Whole classes of outcomes that independent coins would seldom give.
        let style = match random.below(6) {
            0 => Style::Nothing,
            1 => Style::Everything,
            2 | 3 => Style::Prefix,
            _ => Style::Subset,
        };
        let mut after = State {
            syncs_left_out: state.syncs_left_out,
            ..State::default()
        };
        let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
        let mut lost_directories: Vec<PathBuf> = Vec::new();
        let there = state.directories.iter();
        let there = there.map(|(path, directory)| (Some(path), directory));
        let removed = state.removed.iter().map(|directory| (None, directory));
        for (path, directory) in there.chain(removed) {
            // Created, renamed and removed ones may be so on the disk, or not.
            let before = directory.durable_as.as_ref();
            let place = match random.below(2) {
                0 => before,
                _ if before == path => before,
                _ => path,
            };
            let lost = |path: &PathBuf| lost_directories.iter().any(|lost| path.starts_with(lost));
            let Some(path) = place.filter(|place| !lost(place)) else {
                lost_directories.extend(path.cloned());
                continue;
            };
            if after.directories.contains_key(path) {
                continue;
            }
            let mut names = directory.durable.clone();
            for change in style.choose(&directory.unsynced, &mut random) {
                change.apply(&mut names);
            }
            let mut new_names = BTreeMap::new();
            for (name, id) in names {
                let new_id = *kept.entry(id).or_insert_with(|| {
                    after
                        .contents
                        .push(state.contents[id].crashed(style, &mut random));
                    after.contents.len() - 1
                });
                new_names.insert(name, new_id);
            }
            after.directories.insert(
                path.clone(),
                Directory {
                    durable: new_names.clone(),
                    names: new_names,
                    unsynced: Vec::new(),
                    durable_as: Some(path.clone()),
                },
            );
        }
        after.count_links();
        Self::with(after)
    }

    /// The same files for a program that starts after another was killed:
    /// nothing is lost, and no lock is held. Later changes do not show here.
    pub fn kill(&self) -> Self {
        let state = self.state();
        let mut after = State {
            directories: state.directories.clone(),
            contents: state.contents.clone(),
            removed: state.removed.clone(),
            syncs_left_out: state.syncs_left_out,
            ..State::default()
        };
        after.count_links();
        Self::with(after)
    }
}

impl Content {
    fn crashed(&self, style: Style, random: &mut Random) -> Self {
        let mut bytes = self.durable.clone();
        let arrived: Vec<&FileChange> = style.choose(&self.unsynced, random).collect();
        let last = arrived.len();
        for (index, change) in arrived.into_iter().enumerate() {
            if change.is_lost() {
                continue;
            }
            match change {
                FileChange::Write {
                    position,
                    bytes: written,
                    lost,
                } => {
                    // Torn writes: at the end of a prefix, anywhere in a subset.
                    let torn = match style {
                        Style::Nothing | Style::Everything => false,
                        Style::Prefix => index + 1 == last && random.below(2) == 0,
                        Style::Subset => random.below(3) == 0,
                    };
                    let (from, to) = match torn {
                        false => (0, written.len()),
                        true => {
                            let a = random.below(written.len() as u64 + 1) as usize;
                            let b = random.below(written.len() as u64 + 1) as usize;
                            match style {
                                Style::Prefix => (0, a),
                                _ => (a.min(b), a.max(b)),
                            }
                        }
                    };
                    FileChange::Write {
                        position: position + from as u64,
                        bytes: written[from..to].to_vec(),
                        lost: *lost,
                    }
                    .apply(&mut bytes);
                }
                FileChange::Size { .. } => change.apply(&mut bytes),
            }
        }
        Self::durable(bytes)
    }
}

/// How the outcome of a crash is picked.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// Only what was synced.
    Nothing,
    /// All, as after `kill -9`.
    Everything,
    /// All changes up to some point, in each file and directory.
    Prefix,
    /// Any of them.
    Subset,
}

impl Style {
    fn choose<'a, T>(self, changes: &'a [T], random: &mut Random) -> impl Iterator<Item = &'a T> {
        let prefix = random.below(changes.len() as u64 + 1) as usize;
        let chosen: Vec<bool> = (0..changes.len())
            .map(|index| match self {
                Self::Nothing => false,
                Self::Everything => true,
                Self::Prefix => index < prefix,
                Self::Subset => random.below(2) == 0,
            })
            .collect();
        changes
            .iter()
            .zip(chosen)
            .filter_map(|(change, chosen)| chosen.then_some(change))
    }
}

/// A small generator of random numbers (SplitMix64): tests must repeat, and
/// need no more than that.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
