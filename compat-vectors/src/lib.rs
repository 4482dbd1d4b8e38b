//! The data set of `compat-vectors/` for Rust programs: which partition real Kafka clients gave
//! 601 keys at 24 partition counts. Its `README.md` says how the files are laid out.
//!
//! ```
//! let files = copart_compat_vectors::Files::unpack();
//! let keys = files.get("keys.jsonl").unwrap();
//! assert_eq!(keys.lines().count(), 601);
//! assert!(files.names().any(|name| name == "placements/java__default.jsonl"));
//! ```
#![forbid(unsafe_code)]

/// Name and length of each file, in the order in which they are packed.
const INDEX: &[(&str, usize)] = &include!(concat!(env!("OUT_DIR"), "/index.rs"));

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.zst"));

/// The files of the data set, unpacked in memory (about 10 MB).
#[derive(Debug)]
pub struct Files(String);

impl Files {
    /// Unpacks the files.
    ///
    /// # Panics
    ///
    /// Never, unless the build packed something else than it read.
    #[must_use]
    pub fn unpack() -> Self {
        let bytes = zstd::decode_all(PACKED).expect("packed by this crate's build");
        Self(String::from_utf8(bytes).expect("the data set is text"))
    }

    /// The names, with `/` between folder and file, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        INDEX.iter().map(|(name, _)| *name)
    }

    /// A file's content.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut start = 0;
        for (known, len) in INDEX {
            if *known == name {
                return self.0.get(start..start + len);
            }
            start += len;
        }
        None
    }
}
