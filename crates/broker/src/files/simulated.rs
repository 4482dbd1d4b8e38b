//! Files for tests that take the power away, fill the disk, or let it fail.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::power_loss::{DirChange, FileChange};
use super::{File, FileLock, Files, Mode};

/// Files in memory that remember what was synced. Clones share them.
#[derive(Clone, Debug)]
pub struct SimulatedFiles {
    pub(super) state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) directories: BTreeMap<PathBuf, Directory>,
    pub(super) contents: Vec<Content>,
    /// Directories that were removed, and that the disk still has.
    pub(super) removed: Vec<Directory>,
    pub(super) locked: BTreeSet<PathBuf>,
    /// Data syncs do nothing: what a program that forgets them does.
    pub(super) syncs_left_out: bool,
    pub(super) capacity: Option<u64>,
    pub(super) used: u64,
    pub(super) failing_syncs: u32,
    /// How many more changes and syncs succeed.
    pub(super) changes_left: Option<u64>,
}

/// A directory: the names as programs see them, and as the disk has them.
#[derive(Debug, Default, Clone)]
pub(super) struct Directory {
    pub(super) names: BTreeMap<String, usize>,
    pub(super) durable: BTreeMap<String, usize>,
    pub(super) unsynced: Vec<DirChange>,
    /// Where the disk has it, since its parent was synced.
    pub(super) durable_as: Option<PathBuf>,
}

/// A file: the bytes as programs see them, and as the disk has them.
#[derive(Debug, Default, Clone)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) durable: Vec<u8>,
    pub(super) unsynced: Vec<FileChange>,
    links: u32,
}

impl Default for SimulatedFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl SimulatedFiles {
    /// No files yet, and the root directory `/`.
    pub fn new() -> Self {
        Self::with(State::default())
    }

    pub(super) fn with(mut state: State) -> Self {
        state
            .directories
            .entry(PathBuf::from("/"))
            .or_insert_with(|| Directory {
                durable_as: Some(PathBuf::from("/")),
                ..Directory::default()
            });
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// From now on a sync of a file does nothing and reports success, as if a
    /// program had forgotten to call it. Tests must notice.
    pub fn leave_out_syncs(&self) {
        self.state().syncs_left_out = true;
    }

    /// From now on the files can hold this many bytes more; `None` lifts the
    /// limit.
    pub fn set_free_space(&self, bytes: Option<u64>) {
        let mut state = self.state();
        state.capacity = bytes.map(|bytes| state.used + bytes);
    }

    /// Lets the next `count` syncs of files fail. As on Linux, what they
    /// should have made durable counts as clean afterwards: a later sync
    /// reports success without writing it.
    pub fn fail_syncs(&self, count: u32) {
        self.state().failing_syncs = count;
    }

    /// Lets `changes` more changes and syncs succeed, and then none: a program
    /// that is in the middle of something gets no further.
    /// [`crash`](Self::crash) comes next.
    pub fn stop_after(&self, changes: u64) {
        self.state().changes_left = Some(changes);
    }

    /// How many bytes all files hold.
    pub fn used(&self) -> u64 {
        self.state().used
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the state whole: each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    /// A file that holds these bytes, on the disk too.
    pub(super) fn durable(bytes: Vec<u8>) -> Self {
        Self {
            durable: bytes.clone(),
            bytes,
            ..Self::default()
        }
    }
}

impl State {
    /// Counts names and bytes anew, after directories were put together.
    pub(super) fn count_links(&mut self) {
        for content in &mut self.contents {
            content.links = 0;
        }
        for id in self.directories.values().flat_map(|dir| dir.names.values()) {
            self.contents[*id].links += 1;
        }
        let linked = self.contents.iter().filter(|content| content.links > 0);
        self.used = linked.map(|content| content.bytes.len() as u64).sum();
    }

    /// Counts one change or sync.
    fn count_change(&mut self) -> io::Result<()> {
        match &mut self.changes_left {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the power is gone")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }

    fn directory(&mut self, path: &Path) -> io::Result<&mut Directory> {
        self.directories
            .get_mut(path)
            .ok_or_else(|| not_found("directory", path))
    }

    fn place<'a>(&mut self, path: &'a Path) -> io::Result<(&mut Directory, &'a str)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(not_found("directory of", path));
        };
        let name = name
            .to_str()
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok((self.directory(parent)?, name))
    }

    fn has_directory_in(&self, dir: &Path) -> bool {
        let mut paths = self.directories.keys();
        paths.any(|path| path != dir && path.starts_with(dir))
    }

    /// Those that hold directories stay: no program here moves one.
    fn rename_dir(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (parent, name) = self.place(to)?;
        if parent.names.contains_key(name) || self.directories.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if self.has_directory_in(from) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        if let Some(directory) = self.directories.remove(from) {
            self.directories.insert(to.to_owned(), directory);
        }
        Ok(())
    }

    fn unlink(&mut self, id: usize) {
        let content = &mut self.contents[id];
        content.links -= 1;
        if content.links == 0 {
            self.used -= content.bytes.len() as u64;
        }
    }

    /// Grows a file as far as there is room, and says how far.
    fn grow(&mut self, id: usize, size: u64) -> u64 {
        let now = self.contents[id].bytes.len() as u64;
        let room = match self.capacity {
            Some(capacity) => capacity.saturating_sub(self.used),
            None => u64::MAX,
        };
        let size = size.min(now.saturating_add(room)).max(now);
        if self.contents[id].links > 0 {
            self.used += size - now;
        }
        size
    }
}

impl Files for SimulatedFiles {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn File>> {
        let mut state = self.state();
        if mode != Mode::Read {
            state.count_change()?;
        }
        let new_id = state.contents.len();
        let (directory, name) = state.place(path)?;
        let id = match (directory.names.get(name), mode) {
            (Some(_), Mode::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(&id), _) => id,
            (None, Mode::Read | Mode::Write) => return Err(not_found("file", path)),
            (None, Mode::CreateNew | Mode::CreateOrWrite) => {
                directory.names.insert(name.to_owned(), new_id);
                directory.unsynced.push(DirChange {
                    removed: None,
                    added: Some((name.to_owned(), new_id)),
                });
                state.contents.push(Content {
                    links: 1,
                    ..Content::default()
                });
                new_id
            }
        };
        Ok(Arc::new(SimulatedFile {
            files: self.clone(),
            id,
            writable: mode != Mode::Read,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if from.parent() != to.parent() {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let mut state = self.state();
        state.count_change()?;
        if state.directories.contains_key(from) {
            return state.rename_dir(from, to);
        }
        let (_, to) = state.place(to)?;
        let (directory, name) = state.place(from)?;
        let id = directory
            .names
            .remove(name)
            .ok_or_else(|| not_found("file", from))?;
        let replaced = directory.names.insert(to.to_owned(), id);
        directory.unsynced.push(DirChange {
            removed: Some(name.to_owned()),
            added: Some((to.to_owned(), id)),
        });
        if let Some(replaced) = replaced {
            state.unlink(replaced);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.count_change()?;
        let (directory, name) = state.place(path)?;
        let id = directory
            .names
            .remove(name)
            .ok_or_else(|| not_found("file", path))?;
        directory.unsynced.push(DirChange {
            removed: Some(name.to_owned()),
            added: None,
        });
        state.unlink(id);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state();
        let mut names: Vec<String> = state.directory(dir)?.names.keys().cloned().collect();
        names.extend(
            state
                .directories
                .keys()
                .filter(|path| path.parent() == Some(dir))
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())),
        );
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        if state.directories.contains_key(dir) {
            return Ok(());
        }
        state.place(dir)?;
        state
            .directories
            .insert(dir.to_owned(), Directory::default());
        Ok(())
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.count_change()?;
        if !state.directory(dir)?.names.is_empty() || state.has_directory_in(dir) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if let Some(removed) = state.directories.remove(dir)
            && removed.durable_as.is_some()
        {
            state.removed.push(removed);
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.count_change()?;
        let directory = state.directory(dir)?;
        directory.durable = directory.names.clone();
        directory.unsynced.clear();
        for (path, child) in &mut state.directories {
            if path.parent() == Some(dir) {
                child.durable_as = Some(path.clone());
            }
        }
        state.removed.retain(|removed| {
            let was_in = removed.durable_as.as_deref().and_then(Path::parent);
            was_in != Some(dir)
        });
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        self.open(path, Mode::CreateOrWrite)?;
        if !self.state().locked.insert(path.to_owned()) {
            return Ok(None);
        }
        Ok(Some(Box::new(SimulatedLock {
            files: self.clone(),
            path: path.to_owned(),
        })))
    }
}

#[derive(Debug)]
struct SimulatedLock {
    files: SimulatedFiles,
    path: PathBuf,
}

impl FileLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.files.state().locked.remove(&self.path);
    }
}

#[derive(Debug)]
struct SimulatedFile {
    files: SimulatedFiles,
    id: usize,
    writable: bool,
}

impl SimulatedFile {
    fn change(&self, end: Option<u64>, make: impl FnOnce(u64) -> FileChange) -> io::Result<()> {
        if !self.writable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut state = self.files.state();
        state.count_change()?;
        let (wanted, possible) = match end {
            Some(end) => (end, state.grow(self.id, end)),
            None => (0, u64::MAX),
        };
        let change = make(possible);
        let content = &mut state.contents[self.id];
        let before = content.bytes.len() as u64;
        change.apply(&mut content.bytes);
        let after = content.bytes.len() as u64;
        let linked = content.links > 0;
        content.unsynced.push(change);
        if linked && after < before {
            state.used -= before - after;
        }
        if possible < wanted {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

impl File for SimulatedFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.files.state().contents[self.id].bytes.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let state = self.files.state();
        let bytes = &state.contents[self.id].bytes;
        let start = (position as usize).min(bytes.len());
        let len = buffer.len().min(bytes.len() - start);
        buffer[..len].copy_from_slice(&bytes[start..start + len]);
        Ok(len)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.change(Some(position + bytes.len() as u64), |possible| {
            // A full disk takes what fits.
            let len = possible.saturating_sub(position).min(bytes.len() as u64);
            FileChange::Write {
                position,
                bytes: bytes[..len as usize].to_vec(),
                lost: false,
            }
        })
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        let grows = size > self.size()?;
        self.change(grows.then_some(size), |possible| FileChange::Size {
            size: size.min(possible),
            lost: false,
        })
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        if size > self.size()? {
            return self.set_size(size);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.files.state();
        state.count_change()?;
        if state.failing_syncs > 0 {
            state.failing_syncs -= 1;
            for change in &mut state.contents[self.id].unsynced {
                change.lose();
            }
            return Err(io::Error::other("the disk reports an I/O error"));
        }
        if state.syncs_left_out {
            return Ok(());
        }
        state.contents[self.id].make_durable();
        Ok(())
    }
}

fn not_found(what: &str, path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("no {what} {}", path.display()),
    )
}
