//! Record batches, the unit that Kafka sends, stores and fetches.
//!
//! - Write: [`BatchBuilder`] takes records and is sealed to a [`RecordBatch`];
//!   [`Compression`] says how, a [`Compressor`] does it.
//! - Read: [`Batches`] splits a fetched buffer into [`Batch`]es;
//!   [`Batch::records`] decompresses one, within the limit of a
//!   [`Decompressor`]; [`Records`] yields [`RecordView`]s that borrow from the
//!   buffer, or [`Record`]s that share it.
//! - Broker: [`BatchHeader`] says all about a batch without a look at its
//!   records, and [`BatchEditor`] assigns offsets in place.
//! - [`TransactionMarker`] is the content of the control batches that end
//!   transactions.
//!
//! Messages of the formats before record batches are read and not written.

mod attributes;
mod batch;
mod builder;
mod checksum;
mod compression;
mod control;
mod decode;
mod edit;
mod encode;
mod header;
mod legacy;
mod record;
mod scan;
mod sequence;

pub use attributes::{Attributes, TimestampType};
pub use batch::RecordBatch;
pub use builder::{BatchBuilder, Seal};
pub use compression::{Codec, Compression, Compressor, Decompressor};
pub use control::{ControlType, TransactionMarker};
pub use decode::{RecordIter, Records};
pub use edit::BatchEditor;
pub use header::{BATCH_HEADER_LEN, BatchHeader, Producer};
pub use legacy::MessageBatch;
pub use record::{Header, HeaderIter, Headers, Record, RecordRange, RecordView};
pub use scan::{Batch, Batches};
pub use sequence::{NO_SEQUENCE, sequence_after};
