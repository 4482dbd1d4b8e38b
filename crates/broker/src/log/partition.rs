//! One partition's log, and appending to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::BytesMut;
use copart_protocol::records::BatchEditor;

use super::clean_stop::CleanStop;
use super::config::{Durability, LogConfig};
use super::epochs::{EpochStart, LeaderEpochs};
use super::inspect::Damage;
use super::offsets::{Offsets, SyncedFile};
use super::producers::{ProducerState, Producers, Standing};
use super::segment::Segment;
use super::txn_index::{AbortedTransaction, TxnIndexSummary};
use super::validate::{Codecs, Origin, Validated, validate};
use crate::files::{File, Files};
use crate::{Error, ErrorKind, Result};

/// One partition's log.
///
/// Times are milliseconds since 1970, as record timestamps are, and are passed
/// in. Nothing here blocks but the file system.
#[derive(Debug)]
pub struct PartitionLog {
    pub(super) files: Arc<dyn Files>,
    pub(super) dir: PathBuf,
    pub(super) config: LogConfig,
    /// In ascending order, never empty. The last one is written.
    pub(super) segments: Vec<Segment>,
    pub(super) producers: Producers,
    pub(super) epochs: LeaderEpochs,
    pub(super) log_start: i64,
    pub(super) next_offset: i64,
    pub(super) synced: i64,
    pub(super) synced_file: SyncedFile,
    /// Full segments with batches that are not synced.
    pub(super) unsynced: Vec<Arc<dyn File>>,
    /// What [`Offsets`] has on the disk.
    pub(super) stored: Offsets,
    /// And what stands behind it.
    pub(super) stored_aborted: Vec<TxnIndexSummary>,
    /// What [`Offsets`] has on the disk of the stop before, if the log is still
    /// as it was then.
    pub(super) clean_stop: Option<CleanStop>,
    /// What is known to be damaged, if the log is quarantined.
    pub(super) damages: Vec<Damage>,
    /// Why the log takes no writes any more.
    pub(super) failed: Option<String>,
    pub(super) codecs: Codecs,
}

/// Where a batch was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of its first record.
    pub base_offset: i64,
    /// The offset behind its last record. The batch counts as stored when
    /// [`PartitionLog::stored_offset`] has reached it.
    pub next_offset: i64,
    /// The append time, if the topic has its records timed by the broker.
    pub log_append_time: Option<i64>,
    /// Was the batch in the log already, from the same producer?
    pub duplicate: bool,
}

impl PartitionLog {
    /// Appends one batch, encoded, and assigns its offsets.
    ///
    /// `bytes` is edited in place when nobody shares it.
    ///
    /// # Errors
    /// The log is as before the call, except after [`ErrorKind::Io`]: then
    /// the log takes no more writes.
    pub fn append(
        &mut self,
        bytes: BytesMut,
        origin: Origin,
        leader_epoch: i32,
        now_ms: i64,
    ) -> Result<Appended> {
        self.check_writable()?;
        self.try_append(bytes, origin, leader_epoch, now_ms)
            .map_err(|error| self.fail_on_io(error))
            .map_err(|error| error.within(self.dir.display().to_string()))
    }

    fn try_append(
        &mut self,
        bytes: BytesMut,
        origin: Origin,
        leader_epoch: i32,
        now_ms: i64,
    ) -> Result<Appended> {
        let Validated {
            mut bytes,
            header,
            marker,
        } = validate(bytes, origin, &self.config, &mut self.codecs, now_ms)?;
        if origin == Origin::Client {
            if let Standing::Duplicate(batch) = self.producers.judge(&header)? {
                return Ok(Appended {
                    base_offset: batch.first_offset(),
                    next_offset: batch.last_offset + 1,
                    log_append_time: header.log_append_time().map(|_| batch.timestamp),
                    duplicate: true,
                });
            }
        } else if let Some(marker) = marker {
            let producer = header.producer;
            self.producers
                .check_marker(producer.id, producer.epoch, marker.coordinator_epoch)?;
        }
        let base_offset = self.next_offset;
        let mut editor = BatchEditor::new(&mut bytes).map_err(unencodable)?;
        editor.set_base_offset(base_offset).map_err(unencodable)?;
        editor.set_partition_leader_epoch(leader_epoch);
        let header = editor.header().clone();

        self.begin_epoch(leader_epoch)?;
        let active = self.active();
        let old = active.age(now_ms, header.max_timestamp) > self.config.longest_segment_ms();
        if !active.has_room(header.size, header.last_offset(), &self.config)
            || old && !active.is_empty()
        {
            self.roll(now_ms)?;
        }
        self.write(&bytes)?;
        let interval = self.config.index_interval_bytes;
        self.active_mut().added(&header, interval);
        let ended = self.producers.appended(&header, marker);
        if let Some(ended) = ended.filter(|ended| !ended.commit) {
            let aborted = self.producers.aborted(ended);
            let active = self.active_mut();
            active.aborted.push(aborted);
            active.aborted_stored = false;
        }
        self.next_offset = header.next_offset();
        if self.config.durability == Durability::Memory {
            self.synced = self.next_offset;
        }
        self.producers.stored(self.stored_offset());
        Ok(Appended {
            base_offset,
            next_offset: self.next_offset,
            log_append_time: header.log_append_time(),
            duplicate: false,
        })
    }

    /// Before the epoch's first batch: recovery compares the batches with the
    /// file, since a batch's checksum does not cover its leader epoch.
    fn begin_epoch(&mut self, epoch: i32) -> Result<()> {
        let mut epochs = self.epochs.clone();
        if epochs.begin(epoch, self.next_offset) {
            epochs.store(&*self.files, &self.dir)?;
            self.epochs = epochs;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let ahead = self.config.preallocate_bytes;
        let limit = self.config.segment_bytes;
        let active = self.active_mut();
        let end = active.size + bytes.len() as u64;
        if ahead > 0 && end > active.allocated {
            let size = (end + ahead).min(limit.max(end));
            // Reserving is a favour. On a nearly full disk the batch itself
            // may still fit.
            if active.file.allocate(size).is_ok() {
                active.allocated = size;
            }
        }
        if let Err(error) = active.file.write_at(bytes, active.size) {
            // The next batch is written over what came of this one; cutting it
            // off gives a full disk its space back.
            if active.file.set_size(active.size).is_ok() {
                active.allocated = active.size;
            }
            let doing = format!(
                "writing {} at position {}",
                active.path.display(),
                active.size
            );
            return Err(Error::io(doing, error));
        }
        active.allocated = active.allocated.max(end);
        Ok(())
    }

    pub(super) fn active(&self) -> &Segment {
        self.segments.last().expect("a log has a segment")
    }

    pub(super) fn active_mut(&mut self) -> &mut Segment {
        self.segments.last_mut().expect("a log has a segment")
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        match &self.failed {
            None => Ok(()),
            Some(reason) => Err(Error::new(
                ErrorKind::ReadOnly,
                format!("no writes since an earlier error: {reason}; restart to recover"),
            )
            .within(self.dir.display().to_string())),
        }
    }

    /// After an error of the file system nobody knows what is on the disk, so
    /// no more is acknowledged. A full disk is no such error.
    pub(super) fn fail_on_io(&mut self, error: Error) -> Error {
        if error.kind() == ErrorKind::Io {
            self.failed.get_or_insert_with(|| error.to_string());
        }
        error
    }

    /// The directory of the log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The settings.
    pub fn config(&self) -> &LogConfig {
        &self.config
    }

    /// Changes the settings. Durability stays what it was when the log was
    /// opened.
    pub fn set_config(&mut self, config: LogConfig) {
        let durability = self.config.durability;
        let limit = config.max_decompressed_bytes;
        self.codecs.decompressor.set_limit(limit);
        self.config = LogConfig {
            durability,
            ..config
        };
    }

    /// The offset of the first record.
    pub fn log_start_offset(&self) -> i64 {
        self.log_start
    }

    /// The offset that the next record gets.
    pub fn log_end_offset(&self) -> i64 {
        self.next_offset
    }

    /// Records before this offset survive a power loss.
    pub fn synced_offset(&self) -> i64 {
        self.synced
    }

    /// Records before this offset are stored as the durability demands: those
    /// that may be acknowledged with acks=all, and the most that the high
    /// watermark may be.
    pub fn stored_offset(&self) -> i64 {
        match self.config.durability {
            Durability::Disk => self.synced,
            Durability::Process | Durability::Memory => self.next_offset,
        }
    }

    /// The first offset of the oldest transaction that is open or whose end is
    /// not stored, or the stored offset: what a read_committed consumer may read
    /// up to.
    pub fn last_stable_offset(&self) -> i64 {
        let stored = self.stored_offset();
        match self.producers.first_undecided(stored) {
            Some(offset) => offset.min(stored),
            None => stored,
        }
    }

    /// The aborted transactions with records from `from` to before `to`, which is
    /// not behind the [last stable offset](Self::last_stable_offset): what a
    /// read_committed consumer has to skip.
    pub fn aborted_transactions(&self, from: i64, to: i64) -> Vec<AbortedTransaction> {
        let mut found: Vec<AbortedTransaction> = Vec::new();
        let segments = &self.segments[self.segment_of(from)..];
        for entry in segments.iter().flat_map(|segment| &segment.aborted) {
            // A segment that is about to be merged may repeat what the next has.
            let seen = found
                .last()
                .is_some_and(|last| last.last_offset >= entry.last_offset);
            if entry.last_offset >= from && entry.first_offset < to && !seen {
                found.push(*entry);
            }
            if entry.last_stable_offset >= to {
                break;
            }
        }
        found
    }

    /// Batches before this offset were compacted, at least once.
    pub fn cleaned_offset(&self) -> i64 {
        self.stored.cleaned
    }

    /// How many bytes the log's batches take.
    pub fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }

    /// Why the log takes no writes any more, if so.
    pub fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// The latest leader epoch that has records.
    pub fn latest_epoch(&self) -> Option<i32> {
        self.epochs.latest()
    }

    /// Where each leader epoch begins.
    pub fn leader_epochs(&self) -> &[EpochStart] {
        self.epochs.entries()
    }

    /// The leader epoch of the record at `offset`.
    pub fn epoch_of(&self, offset: i64) -> Option<i32> {
        self.epochs.of(offset)
    }

    /// The largest leader epoch that is not larger than `epoch`, and the
    /// offset behind its last record. `None` if the epoch is not known.
    pub fn end_offset_for_epoch(&self, epoch: i32) -> Option<(i32, i64)> {
        self.epochs.end_offset(epoch, self.next_offset)
    }

    /// The producers that the log knows.
    pub fn producers(&self) -> impl Iterator<Item = &ProducerState> {
        self.producers.iter()
    }

    /// Forgets producers that were silent for `producer.id.expiration.ms`.
    pub fn expire_producers(&mut self, now_ms: i64) {
        let after = self.config.producer_id_expiration_ms;
        self.producers.expire(now_ms, after);
    }
}

#[cold]
fn unencodable(error: copart_protocol::Error) -> Error {
    Error::new(ErrorKind::InvalidRecord, error.to_string()).caused_by(error)
}
