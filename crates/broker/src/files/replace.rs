//! Replacing a small file's content, all of it or nothing.

use std::io;
use std::path::{Path, PathBuf};

use super::{Files, Mode, remove_if_there};

/// What a file is called while it is written. Such a file is a leftover of a
/// crash, and is removed.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Gives the file at `path` this content. After a crash it has the old content
/// or the new one; when this returns, the new one.
pub fn replace(files: &dyn Files, path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = with_suffix(path, TEMPORARY_SUFFIX);
    remove_if_there(files, &temporary)?;
    let written = (|| {
        let file = files.open(&temporary, Mode::CreateNew)?;
        file.write_at(content, 0)?;
        // Before the rename: the name must never lead to content that is not
        // on the disk.
        file.sync()?;
        files.rename(&temporary, path)
    })();
    if let Err(error) = written {
        // Frees the space of a half-written file on a full disk. If that
        // fails too, the next attempt removes it.
        let _ = remove_if_there(files, &temporary);
        return Err(error);
    }
    match path.parent() {
        Some(parent) => files.sync_dir(parent),
        None => Ok(()),
    }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
