//! Compaction: of the records with one key, the last one stays.
//!
//! Full segments are written anew, one at a time; offsets stay what they were.
//! Tombstones stay until `delete.retention.ms` after the first compaction that
//! saw them, so that readers can see them too. Transaction markers always
//! stay, and records of aborted transactions always go: they must not hide
//! committed ones. The last batch of a segment stays, without records if need
//! be, so that missing segments are noticed; so does each producer's last
//! batch, so that its sequence stays known.

use std::collections::HashMap;
use std::path::PathBuf;

use bytes::BytesMut;
use copart_protocol::records::{
    BatchBuilder, BatchHeader, Compressor, Decompressor, RecordBatch, Records, Seal,
    TransactionMarker,
};

use super::names::{CLEANED_SUFFIX, INDEX, TIME_INDEX, numbered};
use super::partition::PartitionLog;
use super::scan::{Located, Scan};
use super::segment::Segment;
use crate::files::{Mode, read_exact_at, remove_if_there, with_suffix};
use crate::{Error, ErrorKind, Result};

/// How much memory the keys of one compaction may take. The segments whose keys
/// do not fit stay as they are.
const KEY_BUDGET: usize = 64 << 20;
/// What a key takes beside its bytes.
const KEY_OVERHEAD: usize = 64;

/// What a compaction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// How many segments were written anew.
    pub segments: usize,
    /// How many records were removed.
    pub records: u64,
    /// How many bytes fewer the log has.
    pub bytes: u64,
}

/// What is known of the records before a compaction removes any.
#[derive(Debug, Default)]
struct Latest {
    /// The last offset of each key, of records that count.
    offsets: HashMap<Vec<u8>, i64>,
    /// Transactions that were aborted: producer, first offset, marker's offset.
    aborted: Vec<(i64, i64, i64)>,
    /// What was looked at: records from here on stay.
    end: i64,
    memory: usize,
}

/// Records of a transaction whose end was not seen yet.
#[derive(Debug)]
struct Open {
    first_offset: i64,
    keys: Vec<(Vec<u8>, i64)>,
}

impl Latest {
    fn add(&mut self, key: &[u8], offset: i64) {
        match self.offsets.get_mut(key) {
            Some(latest) => *latest = offset.max(*latest),
            None => {
                self.memory += key.len() + KEY_OVERHEAD;
                self.offsets.insert(key.to_vec(), offset);
            }
        }
    }

    fn is_aborted(&self, header: &BatchHeader) -> bool {
        header.attributes.is_transactional()
            && self.aborted.iter().any(|&(producer, first, marker)| {
                producer == header.producer.id && (first..marker).contains(&header.base_offset)
            })
    }
}

impl PartitionLog {
    /// Compacts the full segments, as far as they are stored, belong to no open
    /// transaction, and are older than `min.compaction.lag.ms`.
    pub fn compact(&mut self, now_ms: i64) -> Result<Compacted> {
        self.check_writable()?;
        let count = self.compactable(now_ms);
        if count == 0 {
            return Ok(Compacted::default());
        }
        self.try_compact(count, now_ms)
            .map_err(|error| self.fail_on_io(error))
            .map_err(|error| error.within(self.dir.display().to_string()))
    }

    fn compactable(&self, now_ms: i64) -> usize {
        let limit = self.last_stable_offset();
        let lag = self.config.min_compaction_lag_ms;
        (0..self.segments.len() - 1)
            .take_while(|&index| {
                let newest = self.segments[index].max_timestamp;
                self.segments[index + 1].base_offset <= limit
                    && (lag == 0 || now_ms.saturating_sub(newest) > lag)
            })
            .count()
    }

    fn try_compact(&mut self, count: usize, now_ms: i64) -> Result<Compacted> {
        let latest = self.latest_offsets(count)?;
        let count = (0..count)
            .take_while(|&index| self.segments[index + 1].base_offset <= latest.end)
            .count();
        if count == 0 {
            return Ok(Compacted::default());
        }
        let cleaned = self.segments[count].base_offset;
        if self.stored.cleaned < cleaned {
            // Before offsets go missing: otherwise that is damage.
            let before = self.stored;
            self.stored.cleaned = cleaned;
            let offsets = self.stored;
            if let Err(error) = offsets.store(&*self.files, &self.dir, None) {
                self.stored = before;
                return Err(error);
            }
            self.clean_stop = None;
        }
        let mut done = Compacted::default();
        for index in 0..count {
            self.clean_segment(index, &latest, now_ms, &mut done)?;
        }
        Ok(done)
    }

    fn latest_offsets(&self, count: usize) -> Result<Latest> {
        let mut latest = Latest {
            end: self.log_start,
            ..Latest::default()
        };
        let mut open: HashMap<i64, Open> = HashMap::new();
        let mut decompressor = Decompressor::new(self.config.max_decompressed_bytes);
        for segment in &self.segments[..count] {
            let mut scan = Scan::headers(&*segment.file, 0, segment.size);
            while let Some(located) = segment.next_of(&mut scan)? {
                let (batch, records) = load(segment, &located, &mut decompressor)?;
                let header = batch.header();
                let producer = header.producer.id;
                let transactional = header.attributes.is_transactional();
                for record in &records {
                    let record = record.map_err(|error| damaged(segment, &located, &error))?;
                    if header.attributes.is_control() {
                        let marker = TransactionMarker::decode(&record)
                            .map_err(|error| damaged(segment, &located, &error))?;
                        let (Some(marker), Some(ended)) = (marker, open.remove(&producer)) else {
                            continue;
                        };
                        if marker.commit {
                            for (key, offset) in ended.keys {
                                latest.add(&key, offset);
                            }
                        } else {
                            let aborted = (producer, ended.first_offset, record.offset);
                            latest.aborted.push(aborted);
                        }
                        continue;
                    }
                    let Some(key) = record.key.filter(|_| record.offset >= self.log_start) else {
                        continue;
                    };
                    if transactional {
                        let open = open.entry(producer).or_insert_with(|| Open {
                            first_offset: header.base_offset,
                            keys: Vec::new(),
                        });
                        latest.memory += key.len() + KEY_OVERHEAD;
                        open.keys.push((key.to_vec(), record.offset));
                    } else {
                        latest.add(key, record.offset);
                    }
                }
            }
            if latest.memory > KEY_BUDGET && latest.end > self.log_start {
                // Not with half of a segment's keys: they stay for next time.
                break;
            }
            // A transaction that is open here ends in a later segment.
            if open.is_empty() {
                latest.end = segment.end_offset()?;
            }
        }
        Ok(latest)
    }

    fn clean_segment(
        &mut self,
        index: usize,
        latest: &Latest,
        now_ms: i64,
        done: &mut Compacted,
    ) -> Result<()> {
        let segment = &self.segments[index];
        let mut decompressor = Decompressor::new(self.config.max_decompressed_bytes);
        let mut content = Vec::new();
        let mut removed = 0;
        let mut changed = false;
        let mut scan = Scan::headers(&*segment.file, 0, segment.size);
        while let Some(located) = segment.next_of(&mut scan)? {
            let (batch, records) = load(segment, &located, &mut decompressor)?;
            let last = located.end() == segment.size;
            let cleaned = self.clean_batch(&batch, &records, latest, last, now_ms);
            match cleaned.map_err(|error| damaged(segment, &located, &error))? {
                Cleaned::Same => content.extend_from_slice(batch.bytes()),
                Cleaned::Other(other) => {
                    changed = true;
                    removed += batch.header().record_count - other.header().record_count;
                    content.extend_from_slice(other.bytes());
                }
                Cleaned::Gone => {
                    changed = true;
                    removed += batch.header().record_count;
                }
            }
        }
        if !changed {
            return Ok(());
        }
        let before = segment.size;
        let cleaned = self.replace_segment(index, &content, now_ms)?;
        done.segments += 1;
        done.records += u64::from(removed);
        done.bytes += before.saturating_sub(cleaned.size);
        self.segments[index] = cleaned;
        Ok(())
    }

    fn clean_batch(
        &self,
        batch: &RecordBatch,
        records: &Records,
        latest: &Latest,
        last_of_segment: bool,
        now_ms: i64,
    ) -> copart_protocol::Result<Cleaned> {
        let header = batch.header();
        if header.attributes.is_control() || header.record_count == 0 {
            let needed = last_of_segment
                || header.attributes.is_control()
                || self.is_last_of_producer(header);
            return Ok(if needed { Cleaned::Same } else { Cleaned::Gone });
        }
        let aborted = latest.is_aborted(header);
        let expired = header
            .delete_horizon()
            .is_some_and(|horizon| horizon <= now_ms);
        let (mut kept, mut tombstones) = (0, false);
        let mut stays = Vec::with_capacity(records.len());
        for record in records {
            let record = record?;
            let newest = record.key.is_some_and(|key| {
                latest
                    .offsets
                    .get(key)
                    .is_none_or(|&at| at <= record.offset)
            });
            let tombstone = record.value.is_none();
            let stay = !aborted && newest && !(tombstone && expired);
            tombstones |= stay && tombstone;
            kept += usize::from(stay);
            stays.push(stay);
        }
        if kept == 0 {
            if last_of_segment || self.is_last_of_producer(header) {
                return RecordBatch::emptied(header).map(Cleaned::Other);
            }
            return Ok(Cleaned::Gone);
        }
        let begin_horizon = tombstones && header.delete_horizon().is_none();
        if kept == stays.len() && !begin_horizon {
            return Ok(Cleaned::Same);
        }
        let mut builder = BatchBuilder::new();
        if begin_horizon {
            let horizon = now_ms.saturating_add(self.config.delete_retention_ms);
            builder = builder.with_delete_horizon(horizon);
        } else if let Some(horizon) = header.delete_horizon() {
            builder = builder.with_delete_horizon(horizon);
        }
        for (record, _) in records.iter().zip(&stays).filter(|(_, stays)| **stays) {
            builder.append_view(header.base_offset, &record?)?;
        }
        let seal = Seal {
            compression: header.attributes.codec().unwrap_or_default().into(),
            producer: header.producer,
            transactional: header.attributes.is_transactional(),
            control: false,
            base_offset: header.base_offset,
            partition_leader_epoch: header.partition_leader_epoch,
            last_offset_delta: Some(header.last_offset_delta),
            log_append_time: header.log_append_time(),
        };
        builder
            .seal(&seal, &mut Compressor::new())
            .map(Cleaned::Other)
    }

    /// A batch that says up to where its producer's sequence has come.
    fn is_last_of_producer(&self, header: &BatchHeader) -> bool {
        self.producers.iter().any(|state| {
            let last = state.batches.back();
            state.id == header.producer.id
                && last.is_some_and(|last| last.last_offset == header.last_offset())
        })
    }

    /// Puts other content in a segment's place. Whenever a crash comes, there
    /// is one of the two, whole, and no index that belongs to the other.
    fn replace_segment(&self, index: usize, content: &[u8], now_ms: i64) -> Result<Segment> {
        let (files, dir) = (&*self.files, &*self.dir);
        let old = &self.segments[index];
        let cleaned: PathBuf = with_suffix(&old.path, CLEANED_SUFFIX);
        let doing = |error| Error::io(format!("writing {}", cleaned.display()), error);
        remove_if_there(files, &cleaned).map_err(doing)?;
        let written = (|| {
            let file = files.open(&cleaned, Mode::CreateNew)?;
            file.write_at(content, 0)?;
            file.sync()
        })();
        if let Err(error) = written {
            // Gives a full disk its space back.
            let _ = remove_if_there(files, &cleaned);
            return Err(doing(error));
        }
        for extension in [INDEX, TIME_INDEX] {
            remove_if_there(files, &numbered(dir, old.base_offset, extension)).map_err(doing)?;
        }
        files.sync_dir(dir).map_err(doing)?;
        files.rename(&cleaned, &old.path).map_err(doing)?;
        files.sync_dir(dir).map_err(doing)?;
        let mut segment = Segment::open(files, dir, old.base_offset, now_ms)?;
        if let Some(reason) = segment.rebuild(self.config.index_interval_bytes, |_| Ok(()))? {
            return Err(segment.damaged(segment.size, &reason));
        }
        // On a full disk the indexes stay in memory, and are made anew when
        // the log is opened.
        if segment.seal(files, dir).is_ok() {
            let _ = segment.leave_memory(files, dir);
        }
        Ok(segment)
    }
}

/// What becomes of a batch.
enum Cleaned {
    Same,
    Other(RecordBatch),
    Gone,
}

fn load(
    segment: &Segment,
    located: &Located,
    decompressor: &mut Decompressor,
) -> Result<(RecordBatch, Records)> {
    let mut bytes = BytesMut::zeroed(located.header.size);
    read_exact_at(&*segment.file, &mut bytes, located.position)
        .map_err(|error| Error::io(format!("reading {}", segment.path.display()), error))?;
    let batch = RecordBatch::decode(bytes.freeze());
    let batch = batch.map_err(|error| damaged(segment, located, &error))?;
    batch
        .verify_crc()
        .map_err(|error| damaged(segment, located, &error))?;
    let records = batch.records(decompressor);
    let records = records.map_err(|error| damaged(segment, located, &error))?;
    Ok((batch, records))
}

#[cold]
fn damaged(segment: &Segment, located: &Located, error: &copart_protocol::Error) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("position {}: {error}", located.position),
    )
    .within(segment.path.display().to_string())
}
