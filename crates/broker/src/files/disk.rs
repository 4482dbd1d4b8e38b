//! Files of the operating system.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

#[cfg(unix)]
use super::Space;
use super::{File, FileLock, Files, Mode};

/// The operating system's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl Files for DiskFiles {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn File>> {
        let mut options = fs::OpenOptions::new();
        options.read(true);
        match mode {
            Mode::Read => &mut options,
            Mode::Write => options.write(true),
            Mode::CreateOrWrite => options.write(true).create(true).truncate(false),
            Mode::CreateNew => options.write(true).create_new(true),
        };
        Ok(Arc::new(options.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            // A name that is not Unicode is nobody's of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        match fs::create_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
            other => other,
        }
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir(dir)
    }

    #[cfg(unix)]
    fn space(&self, dir: &Path) -> io::Result<Option<Space>> {
        let found = rustix::fs::statvfs(dir)?;
        Ok(Some(Space {
            total: found.f_blocks.saturating_mul(found.f_frsize),
            usable: found.f_bavail.saturating_mul(found.f_frsize),
        }))
    }

    #[cfg(unix)]
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        fs::File::open(dir)?.sync_all()
    }

    /// Windows has no call for it, and journals directory changes itself.
    #[cfg(not(unix))]
    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(DiskLock { _file: file }))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The lock goes with the open file.
#[derive(Debug)]
struct DiskLock {
    _file: fs::File,
}

impl FileLock for DiskLock {}

impl File for fs::File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match positional::read(self, &mut buffer[read..], position + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            match positional::write(self, &bytes[written..], position + written as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    #[cfg(target_os = "linux")]
    fn allocate(&self, size: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        let now = File::size(self)?;
        if size <= now {
            return Ok(());
        }
        match fallocate(self, FallocateFlags::empty(), now, size - now) {
            // Some file systems cannot reserve. The zeros are what counts.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.set_len(size),
            other => other.map_err(io::Error::from),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn allocate(&self, size: u64) -> io::Result<()> {
        if size > File::size(self)? {
            self.set_len(size)?;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn system_file(&self) -> Option<&fs::File> {
        Some(self)
    }
}

#[cfg(unix)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    pub(super) fn read(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        FileExt::read_at(file, buffer, position)
    }

    pub(super) fn write(file: &File, bytes: &[u8], position: u64) -> io::Result<usize> {
        FileExt::write_at(file, bytes, position)
    }
}

#[cfg(windows)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::FileExt;

    pub(super) fn read(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        file.seek_read(buffer, position)
    }

    pub(super) fn write(file: &File, bytes: &[u8], position: u64) -> io::Result<usize> {
        file.seek_write(bytes, position)
    }
}

#[cfg(test)]
mod tests {
    use super::super::replace;
    use super::*;

    #[test]
    fn files_are_written_replaced_locked_and_listed() {
        let dir = tempfile::tempdir().expect("a directory");
        let files = DiskFiles;
        let path = dir.path().join("a");
        let file = files.open(&path, Mode::CreateNew).expect("created");
        assert!(files.open(&path, Mode::CreateNew).is_err());
        file.write_at(b"hello", 0).expect("written");
        file.allocate(100).expect("allocated");
        assert_eq!(file.size().expect("size"), 100);
        file.set_size(5).expect("cut");
        file.sync().expect("synced");
        let mut buffer = [0; 10];
        assert_eq!(file.read_at(&mut buffer, 3).expect("read"), 2);
        assert_eq!(&buffer[..2], b"lo");
        replace(&files, &path, b"new").expect("replaced");
        let content = super::super::read_small(&files, &path, 10).expect("read");
        assert_eq!(content.as_deref(), Some(&b"new"[..]));
        assert_eq!(files.list(dir.path()).expect("listed"), ["a"]);

        let lock = dir.path().join(".lock");
        let held = files.lock(&lock).expect("works").expect("free");
        assert!(files.lock(&lock).expect("works").is_none());
        drop(held);
        assert!(files.lock(&lock).expect("works").is_some());
    }
}
