//! The files under a log, behind two small traits, so that tests can take the
//! power away.
//!
//! - [`Files`] and [`File`]: what a log needs of a file system, and no more.
//! - [`DiskFiles`]: the real thing.
//! - [`MemoryFiles`]: files in memory, for brokers without a data directory.
//! - [`SimulatedFiles`]: a disk for tests. It remembers what was synced, and
//!   [`SimulatedFiles::crash`] shows what it might hold after power was lost.
//! - [`replace()`]: a file's new content, all of it or nothing.

mod disk;
mod memory;
mod power_loss;
mod replace;
mod simulated;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use disk::DiskFiles;
pub use memory::MemoryFiles;
pub(crate) use power_loss::Random;
pub(crate) use replace::with_suffix;
pub use replace::{TEMPORARY_SUFFIX, replace};
pub use simulated::SimulatedFiles;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It must be there, and is only read.
    Read,
    /// It must be there.
    Write,
    /// It is created if it is not there.
    CreateOrWrite,
    /// It must not be there yet.
    CreateNew,
}

/// A file system, as far as a log needs one.
pub trait Files: Debug + Send + Sync {
    /// Opens or creates a file. A created file outlives a crash only after
    /// [`sync_dir`](Self::sync_dir) of its directory.
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn File>>;
    /// Gives a file another name in the same directory, in the place of a file
    /// that has it, at once. Or a directory, if nothing has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file. Those who have it open can still read it.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Creates a directory if it is not there. Its parent must be there.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Removes a directory, which must be empty.
    fn remove_dir(&self, dir: &Path) -> io::Result<()>;
    /// How much room the file system of a directory has, if it has a limit that is known.
    fn space(&self, _dir: &Path) -> io::Result<Option<Space>> {
        Ok(None)
    }
    /// Makes creations, renames and removals in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Locks a file, created if it is not there, until the guard is dropped or
    /// the process ends. `None` if somebody else has it locked.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>>;
}

/// The room in a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// In bytes, used or not.
    pub total: u64,
    /// What this process may still use, in bytes.
    pub usable: u64,
}

/// An open file, read and written at positions: there is no cursor to share.
pub trait File: Debug + Send + Sync {
    /// How many bytes it holds.
    fn size(&self) -> io::Result<u64>;
    /// Reads at most `buffer.len()` bytes; fewer only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    /// Writes all bytes. After an error any part of them may be written.
    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// Cuts the file, or extends it with zeros.
    fn set_size(&self, size: u64) -> io::Result<()>;
    /// Extends the file to `size` with zeros whose place on the disk is
    /// reserved, so that a sync behind a write need not record a new size.
    fn allocate(&self, size: u64) -> io::Result<()>;
    /// Makes the content and the size durable. After an error nobody knows
    /// what is durable, and a second call does not find out.
    fn sync(&self) -> io::Result<()>;
    /// The operating system's file that this is, if it is one: the kernel can
    /// send parts of it without a copy.
    fn system_file(&self) -> Option<&std::fs::File> {
        None
    }
}

/// Holds a lock until it is dropped.
pub trait FileLock: Debug + Send + Sync {}

/// Reads exactly `buffer.len()` bytes.
pub fn read_exact_at(file: &dyn File, buffer: &mut [u8], position: u64) -> io::Result<()> {
    match file.read_at(buffer, position)? {
        read if read == buffer.len() => Ok(()),
        read => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!(
                "{} bytes wanted at position {position}, {read} are there",
                buffer.len()
            ),
        )),
    }
}

/// Reads a whole file, or `None` if it is not there. A file larger than
/// `limit` is an error: small files are read this way.
pub fn read_small(files: &dyn Files, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match files.open(path, Mode::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let size = file.size()?;
    if size > limit {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{size} bytes, expected at most {limit}"),
        ));
    }
    let mut content = vec![0; size as usize];
    read_exact_at(&*file, &mut content, 0)?;
    Ok(Some(content))
}

/// Removes a file that may be gone already.
pub fn remove_if_there(files: &dyn Files, path: &Path) -> io::Result<()> {
    match files.remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
