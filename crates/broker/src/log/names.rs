//! The names of a log's files, which are Kafka's.

use std::path::{Path, PathBuf};

use crate::files::TEMPORARY_SUFFIX;

pub(super) const LOG: &str = "log";
pub(super) const INDEX: &str = "index";
pub(super) const TIME_INDEX: &str = "timeindex";
pub(super) const TXN_INDEX: &str = "txnindex";
pub(super) const SNAPSHOT: &str = "snapshot";

/// Where each leader epoch begins.
pub(super) const LEADER_EPOCHS: &str = "leader-epoch-checkpoint";
/// The topic's id.
pub(super) const PARTITION_METADATA: &str = "partition.metadata";
/// Our own: log start offset and synced offset, replaced as a whole. Kafka
/// keeps both for all partitions together, one directory up; it ignores names
/// that it does not know.
pub(super) const OFFSETS: &str = "copart-offsets";
/// Our own: the synced offset, overwritten in place after each sync.
pub(super) const SYNCED: &str = "copart-synced";

/// A rewritten segment before it takes the place of the old one.
pub(super) const CLEANED_SUFFIX: &str = ".cleaned";
/// A rewritten segment that takes the place of old ones: see `swap.rs`.
pub(super) const SWAP_SUFFIX: &str = ".swap";
/// Kafka's: a segment that is about to be removed.
pub(super) const DELETED_SUFFIX: &str = ".deleted";
/// All of a change that may be dropped: what it was to replace is still there.
const LEFTOVER_SUFFIXES: [&str; 3] = [TEMPORARY_SUFFIX, CLEANED_SUFFIX, DELETED_SUFFIX];
/// A segment as it was before it was repaired.
pub(super) const DAMAGED_SUFFIX: &str = ".damaged";

/// Is this what a crash left of a change that was not finished?
pub(super) fn is_leftover(name: &str) -> bool {
    LEFTOVER_SUFFIXES
        .iter()
        .any(|suffix| name.ends_with(suffix))
}

/// The path of a file that belongs to the segment, or snapshot, at `offset`.
pub(super) fn numbered(dir: &Path, offset: i64, extension: &str) -> PathBuf {
    dir.join(format!("{offset:020}.{extension}"))
}

/// The offset in a file name with this extension.
pub(super) fn offset_of(name: &str, extension: &str) -> Option<i64> {
    let digits = name.strip_suffix(extension)?.strip_suffix('.')?;
    if digits.len() != 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kafkas() {
        let path = numbered(Path::new("t-0"), 1234, LOG);
        assert_eq!(path, Path::new("t-0/00000000000000001234.log"));
        assert_eq!(offset_of("00000000000000001234.log", LOG), Some(1234));
        for other in [
            "1234.log",
            "00000000000000001234.index",
            "-0000000000000000001.log",
        ] {
            assert_eq!(offset_of(other, LOG), None, "{other}");
        }
        assert_eq!(offset_of("99999999999999999999.log", LOG), None);
    }
}
