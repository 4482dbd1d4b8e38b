//! Records as a topic holds them, with the partition that each is on: what `infer` needs and a
//! list of keys lacks.
//!
//! A [`RecordSource`] hands out [`Record`]s one by one. [`Dump`] reads them from what other tools
//! print of a topic. A source that reads a live topic gives the same records.

mod console;
mod dump;
mod kcat;
mod layout;
mod rows;
mod text;

pub use dump::Dump;
pub use kcat::KcatFormat;
pub use layout::{DumpFormat, DumpOptions};

use copart_partitioners::PartitionCount;

use crate::Error;

/// A record of a topic, as far as its source knows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'r> {
    /// The partition it is on.
    pub partition: u32,
    /// Its offset in that partition.
    pub offset: Option<i64>,
    /// Its timestamp in milliseconds since 1970, of either type.
    pub timestamp: Option<i64>,
    /// Its key; `None` is the null key, which is not the empty one.
    pub key: Option<&'r [u8]>,
    /// What may tell producers apart: headers by name, and a client or producer id where the
    /// source knows one. Values are bytes.
    pub hints: &'r [(Vec<u8>, Vec<u8>)],
    /// Where in the source it is, for messages: a line, a row, a record counted from 1.
    pub at: u64,
}

/// Where records come from: a dump, or a topic.
///
/// Within a partition, records come in the order of their offsets; partitions may be mixed in any
/// way. A source may be a sample of the topic.
pub trait RecordSource {
    /// What to call it in reports: a file's name, a topic's.
    fn name(&self) -> &str;

    /// The topic's partition count, where the source knows it better than by the records it saw.
    fn partition_count(&self) -> Option<PartitionCount>;

    /// The next record; `None` after the last.
    ///
    /// # Errors
    ///
    /// When the source can't be read, or holds something that is no record.
    fn next_record(&mut self) -> Result<Option<Record<'_>>, Error>;

    /// What may make its records worth less than they seem; complete after the last record.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether an empty key may have been a null one, because the source can't tell them apart.
    fn empty_may_be_null(&self) -> bool {
        false
    }
}
