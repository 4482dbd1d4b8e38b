//! Files in memory, for brokers that keep nothing.
//!
//! Content is in chunks, so that a file grows without being copied, and zeros
//! that nobody wrote take no memory. Each file has a lock of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::{File, FileLock, Files, Mode};

/// How much of a file is in one piece.
const CHUNK: usize = 64 << 10;

/// Files in memory. Clones share them. Syncs do nothing.
#[derive(Clone, Debug)]
pub struct MemoryFiles {
    tree: Arc<Mutex<Tree>>,
}

#[derive(Debug)]
struct Tree {
    directories: BTreeMap<PathBuf, BTreeMap<String, Arc<Content>>>,
    locked: BTreeSet<PathBuf>,
}

/// A file's bytes. They are freed when its name and all who have it open are
/// gone.
#[derive(Debug, Default)]
struct Content(RwLock<Chunks>);

#[derive(Debug, Default)]
struct Chunks {
    /// As many as the size has. What one is shorter than its part is zeros.
    chunks: Vec<Vec<u8>>,
    size: u64,
}

impl Default for MemoryFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryFiles {
    /// No files yet, and the root directory `/`.
    pub fn new() -> Self {
        let tree = Tree {
            directories: BTreeMap::from([(PathBuf::from("/"), BTreeMap::new())]),
            locked: BTreeSet::new(),
        };
        Self {
            tree: Arc::new(Mutex::new(tree)),
        }
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        // A panic elsewhere leaves the tree whole: each change is one step.
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tree {
    fn directory(&mut self, path: &Path) -> io::Result<&mut BTreeMap<String, Arc<Content>>> {
        self.directories
            .get_mut(path)
            .ok_or_else(|| not_found("directory", path))
    }

    fn place<'a>(
        &mut self,
        path: &'a Path,
    ) -> io::Result<(&mut BTreeMap<String, Arc<Content>>, &'a str)> {
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
}

impl Files for MemoryFiles {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn File>> {
        let mut tree = self.tree();
        let (directory, name) = tree.place(path)?;
        let content = match (directory.get(name), mode) {
            (Some(_), Mode::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(content), _) => content.clone(),
            (None, Mode::Read | Mode::Write) => return Err(not_found("file", path)),
            (None, Mode::CreateNew | Mode::CreateOrWrite) => {
                let content = Arc::new(Content::default());
                directory.insert(name.to_owned(), content.clone());
                content
            }
        };
        Ok(Arc::new(MemoryFile {
            content,
            writable: mode != Mode::Read,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if from.parent() != to.parent() {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let mut tree = self.tree();
        if tree.directories.contains_key(from) {
            let (parent, name) = tree.place(to)?;
            if parent.contains_key(name) || tree.directories.contains_key(to) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            if tree.has_directory_in(from) {
                // No program here moves a directory that holds others.
                return Err(io::ErrorKind::Unsupported.into());
            }
            if let Some(directory) = tree.directories.remove(from) {
                tree.directories.insert(to.to_owned(), directory);
            }
            return Ok(());
        }
        let (_, to) = tree.place(to)?;
        let (directory, name) = tree.place(from)?;
        let content = directory
            .remove(name)
            .ok_or_else(|| not_found("file", from))?;
        directory.insert(to.to_owned(), content);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (directory, name) = tree.place(path)?;
        match directory.remove(name) {
            Some(_) => Ok(()),
            None => Err(not_found("file", path)),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut tree = self.tree();
        let mut names: Vec<String> = tree.directory(dir)?.keys().cloned().collect();
        let children = tree.directories.keys();
        let children = children.filter(|path| path.parent() == Some(dir));
        names.extend(children.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        if !tree.directories.contains_key(dir) {
            tree.place(dir)?;
            tree.directories.insert(dir.to_owned(), BTreeMap::new());
        }
        Ok(())
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        if !tree.directory(dir)?.is_empty() || tree.has_directory_in(dir) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        tree.directories.remove(dir);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.tree().directory(dir).map(|_| ())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        self.open(path, Mode::CreateOrWrite)?;
        if !self.tree().locked.insert(path.to_owned()) {
            return Ok(None);
        }
        Ok(Some(Box::new(MemoryLock {
            files: self.clone(),
            path: path.to_owned(),
        })))
    }
}

#[derive(Debug)]
struct MemoryLock {
    files: MemoryFiles,
    path: PathBuf,
}

impl FileLock for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.files.tree().locked.remove(&self.path);
    }
}

#[derive(Debug)]
struct MemoryFile {
    content: Arc<Content>,
    writable: bool,
}

impl MemoryFile {
    fn change<T>(&self, make: impl FnOnce(&mut Chunks) -> io::Result<T>) -> io::Result<T> {
        if !self.writable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let chunks = self.content.0.write();
        make(&mut chunks.unwrap_or_else(PoisonError::into_inner))
    }

    fn look<T>(&self, at: impl FnOnce(&Chunks) -> T) -> T {
        let chunks = self.content.0.read();
        at(&chunks.unwrap_or_else(PoisonError::into_inner))
    }
}

impl File for MemoryFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.look(|chunks| chunks.size))
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        Ok(self.look(|chunks| chunks.read(buffer, position)))
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.change(|chunks| chunks.write(bytes, position))
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.change(|chunks| chunks.set_size(size))
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        self.change(|chunks| match size > chunks.size {
            true => chunks.set_size(size),
            false => Ok(()),
        })
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Chunks {
    fn read(&self, buffer: &mut [u8], position: u64) -> usize {
        let available = self.size.saturating_sub(position).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..available];
        let mut done = 0;
        while done < available {
            let (index, at) = place(position + done as u64);
            let part = &mut buffer[done..available.min(done + CHUNK - at)];
            let chunk = self.chunks[index].get(at..).unwrap_or_default();
            let there = chunk.len().min(part.len());
            part[..there].copy_from_slice(&chunk[..there]);
            part[there..].fill(0);
            done += part.len();
        }
        available
    }

    fn write(&mut self, bytes: &[u8], position: u64) -> io::Result<()> {
        let end = position
            .checked_add(bytes.len() as u64)
            .ok_or(io::ErrorKind::FileTooLarge)?;
        if end > self.size && !bytes.is_empty() {
            self.set_size(end)?;
        }
        let mut done = 0;
        while done < bytes.len() {
            let (index, at) = place(position + done as u64);
            let part = &bytes[done..bytes.len().min(done + CHUNK - at)];
            let chunk = &mut self.chunks[index];
            let needed = at + part.len();
            if chunk.len() < needed {
                if chunk.capacity() < needed {
                    // Twice as much, so that appending is cheap, but never more
                    // than a chunk.
                    let capacity = needed.max(2 * chunk.capacity()).min(CHUNK);
                    chunk.reserve_exact(capacity - chunk.len());
                }
                chunk.resize(needed, 0);
            }
            chunk[at..needed].copy_from_slice(part);
            done += part.len();
        }
        Ok(())
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        let count = usize::try_from(size.div_ceil(CHUNK as u64))
            .map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.chunks.resize_with(count, Vec::new);
        let (index, at) = place(size);
        if let Some(last) = self.chunks.get_mut(index) {
            last.truncate(at);
        }
        self.size = size;
        Ok(())
    }
}

/// The chunk that a position is in, and where.
fn place(position: u64) -> (usize, usize) {
    let chunk = CHUNK as u64;
    ((position / chunk) as usize, (position % chunk) as usize)
}

fn not_found(what: &str, path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("no {what} {}", path.display()),
    )
}
