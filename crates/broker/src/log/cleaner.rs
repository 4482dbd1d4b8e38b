//! Compaction: of the records with one key, the last one stays.
//!
//! Full segments are written anew, and small neighbours become one; offsets
//! stay what they were.
//! Tombstones stay until `delete.retention.ms` after the first compaction that
//! saw them, so that readers can see them too. Transaction markers always
//! stay, and records of aborted transactions always go: they must not hide
//! committed ones. The last batch of a segment stays, without records if need
//! be, so that missing segments are noticed; so does each producer's last
//! batch, so that its sequence stays known.

use std::collections::HashMap;
use std::ops::Range;

use bytes::BytesMut;
use copart_protocol::records::{
    BatchBuilder, BatchHeader, Compressor, Decompressor, RecordBatch, Records, Seal,
    TransactionMarker,
};

use super::offsets::Offsets;
use super::partition::PartitionLog;
use super::scan::{Located, Scan};
use super::segment::Segment;
use super::swap::Cleaned;
use crate::files::read_exact_at;
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

    pub(super) fn compactable(&self, now_ms: i64) -> usize {
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
            self.store_offsets_as(Offsets {
                cleaned,
                ..self.stored
            })?;
        }
        let mut done = Compacted::default();
        // From the end, so that the places of those before stay what they are.
        for group in self.groups(count).into_iter().rev() {
            self.clean_group(group, &latest, now_ms, &mut done)?;
        }
        Ok(done)
    }

    /// Neighbours that fit into one segment, by Kafka's rule: with the sizes
    /// that they have now.
    fn groups(&self, count: usize) -> Vec<Range<usize>> {
        let config = &self.config;
        let mut groups = Vec::new();
        let mut start = 0;
        while start < count {
            let base = self.segments[start].base_offset;
            let (mut size, mut offsets, mut times) = (0, 0, 0);
            let fits = (start..count).take_while(|&index| {
                let segment = &self.segments[index];
                size += segment.size;
                offsets += segment.offsets.size();
                times += segment.times.size();
                let end = self.segments[index + 1].base_offset;
                size <= config.segment_bytes.min(i32::MAX as u64)
                    && offsets.max(times) <= config.segment_index_bytes
                    && end - base <= i64::from(i32::MAX)
            });
            let end = start + fits.count().max(1);
            groups.push(start..end);
            start = end;
        }
        groups
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

    fn clean_group(
        &mut self,
        group: Range<usize>,
        latest: &Latest,
        now_ms: i64,
        done: &mut Compacted,
    ) -> Result<()> {
        let mut decompressor = Decompressor::new(self.config.max_decompressed_bytes);
        let first = &self.segments[group.start];
        let files = self.files.clone();
        let mut output = Cleaned::create(&*files, &first.path)?;
        let mut removed = 0;
        let mut changed = group.len() > 1;
        for index in group.clone() {
            let segment = &self.segments[index];
            let mut scan = Scan::headers(&*segment.file, 0, segment.size);
            while let Some(located) = segment.next_of(&mut scan)? {
                let (batch, records) = load(segment, &located, &mut decompressor)?;
                let last = index + 1 == group.end && located.end() == segment.size;
                let fate = self.clean_batch(&batch, &records, latest, last, now_ms);
                match fate.map_err(|error| damaged(segment, &located, &error))? {
                    Fate::Same => output.write(batch.bytes())?,
                    Fate::Other(other) => {
                        changed = true;
                        removed += batch.header().record_count - other.header().record_count;
                        output.write(other.bytes())?;
                    }
                    Fate::Gone => {
                        changed = true;
                        removed += batch.header().record_count;
                    }
                }
            }
        }
        if !changed {
            // Dropped, and so removed.
            return Ok(());
        }
        let path = output.finish()?;
        let before: u64 = group.clone().map(|index| self.segments[index].size).sum();
        let count = group.len();
        let cleaned = self.replace_segments(group, &path, now_ms)?;
        done.segments += count;
        done.records += u64::from(removed);
        done.bytes += before.saturating_sub(cleaned);
        Ok(())
    }

    fn clean_batch(
        &self,
        batch: &RecordBatch,
        records: &Records,
        latest: &Latest,
        last_of_segment: bool,
        now_ms: i64,
    ) -> copart_protocol::Result<Fate> {
        let header = batch.header();
        if header.attributes.is_control() || header.record_count == 0 {
            let needed = last_of_segment
                || header.attributes.is_control()
                || self.is_last_of_producer(header);
            return Ok(if needed { Fate::Same } else { Fate::Gone });
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
                return RecordBatch::emptied(header).map(Fate::Other);
            }
            return Ok(Fate::Gone);
        }
        let begin_horizon = tombstones && header.delete_horizon().is_none();
        if kept == stays.len() && !begin_horizon {
            return Ok(Fate::Same);
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
        builder.seal(&seal, &mut Compressor::new()).map(Fate::Other)
    }

    /// A batch that says up to where its producer's sequence has come.
    fn is_last_of_producer(&self, header: &BatchHeader) -> bool {
        self.producers.last_offset(header.producer.id) == Some(header.last_offset())
    }
}

/// What becomes of a batch.
enum Fate {
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
