//! What is kept of a topic, however many records it has: a uniform sample of its *distinct* keys,
//! and of each of them everything that tells where its records went.
//!
//! A key is kept when a hash of it is below a threshold. When there are too many, the threshold is
//! halved (Gibbons 2001, "Distinct sampling for highly-accurate answers to distinct values queries
//! and event reports"). A kept key is there with all its partitions, so that "seen on two
//! partitions" is never an artefact of sampling; and two topics keep the same keys, so that the
//! keys they share can be compared.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use crate::input::records::Record;

/// Limits of what is kept; the defaults come to less than 100 MiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) keys: usize,
    /// Distinct pairs of a key and a partition.
    pub(crate) places: usize,
    pub(crate) events: usize,
    /// Bytes of all keys together.
    pub(crate) bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keys: 1 << 16,
            places: 1 << 18,
            events: 1 << 19,
            bytes: 32 << 20,
        }
    }
}

/// A key on a partition.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The key's index.
    pub(crate) key: u32,
    pub(crate) partition: u32,
    pub(crate) records: u64,
    pub(crate) first: Moment,
    pub(crate) last: Moment,
}

/// Where and when a record was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The record's number in the source, from 1.
    pub(crate) record: u64,
    pub(crate) offset: Option<i64>,
    pub(crate) timestamp: Option<i64>,
}

/// A record of a kept key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) place: u32,
    /// How many records of the same place came before it.
    ordinal: u32,
    pub(crate) at: Moment,
    /// The value's index for each kind of hint, from 1; 0 is none.
    pub(crate) hints: [u8; HINTS],
}

/// Kinds of hints (headers, producer names) that are watched.
pub(crate) const HINTS: usize = 8;

/// Values of one kind that are told apart; a kind with more identifies records, not producers.
const HINT_VALUES: usize = 32;

/// Bytes of a hint's value that are kept.
const HINT_BYTES: usize = 128;

/// A kind of hint and its values.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    pub(crate) name: Vec<u8>,
    /// `None` once there were too many.
    pub(crate) values: Option<Vec<Vec<u8>>>,
}

/// Records without a key, or with an empty one, by partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keyless {
    pub(crate) records: u64,
    pub(crate) by_partition: HashMap<u32, u64>,
}

impl Keyless {
    fn add(&mut self, partition: u32) {
        self.records += 1;
        *self.by_partition.entry(partition).or_default() += 1;
    }
}

/// What was kept.
#[derive(Debug)]
pub(crate) struct Sample {
    limits: Limits,
    /// Keys whose hash is below are kept.
    below: u64,
    index: HashMap<Arc<[u8]>, u32>,
    pub(crate) keys: Vec<Arc<[u8]>>,
    bytes: usize,
    place_index: HashMap<(u32, u32), u32>,
    pub(crate) places: Vec<Place>,
    pub(crate) events: Vec<Event>,
    /// Of each place, every so many-th event is kept.
    stride: u32,
    pub(crate) hints: Vec<Hint>,
    pub(crate) records: u64,
    pub(crate) keyed: u64,
    pub(crate) empty: Keyless,
    pub(crate) null: Keyless,
    /// Records of any kind on each partition.
    pub(crate) by_partition: HashMap<u32, u64>,
    /// Timestamps and partitions of the first records, for how unkeyed records are spread.
    pub(crate) first: Vec<(i64, u32)>,
    pub(crate) max_partition: Option<u32>,
}

/// Records whose order in time is kept, for how a topic without keys is written.
const FIRST: usize = 1 << 16;

impl Sample {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            below: u64::MAX,
            index: HashMap::new(),
            keys: Vec::new(),
            bytes: 0,
            place_index: HashMap::new(),
            places: Vec::new(),
            events: Vec::new(),
            stride: 1,
            hints: Vec::new(),
            records: 0,
            keyed: 0,
            empty: Keyless::default(),
            null: Keyless::default(),
            by_partition: HashMap::new(),
            first: Vec::new(),
            max_partition: None,
        }
    }

    /// Whether every key was kept, so that numbers of keys are exact.
    pub(crate) const fn is_whole(&self) -> bool {
        self.below == u64::MAX
    }

    /// How many distinct keys the topic has, by the sample's share.
    pub(crate) fn estimated_keys(&self) -> u64 {
        let share = self.below as f64 / u64::MAX as f64;
        (self.keys.len() as f64 / share).round() as u64
    }

    /// The index of a key that was kept.
    pub(crate) fn find(&self, key: &[u8]) -> Option<u32> {
        self.index.get(key).copied()
    }

    pub(crate) fn add(&mut self, record: &Record<'_>) {
        self.records += 1;
        *self.by_partition.entry(record.partition).or_default() += 1;
        self.max_partition = self.max_partition.max(Some(record.partition));
        if self.first.len() < FIRST
            && let Some(timestamp) = record.timestamp
        {
            self.first.push((timestamp, record.partition));
        }
        match record.key {
            None => self.null.add(record.partition),
            Some([]) => self.empty.add(record.partition),
            Some(key) => {
                self.keyed += 1;
                if hash(key) <= self.below {
                    self.keep(key, record);
                }
            }
        }
    }

    fn keep(&mut self, key: &[u8], record: &Record<'_>) {
        let at = Moment {
            record: self.records,
            offset: record.offset,
            timestamp: record.timestamp,
        };
        let key = match self.index.get(key) {
            Some(&key) => key,
            None => {
                let shared: Arc<[u8]> = key.into();
                let index = self.keys.len() as u32;
                self.bytes += shared.len();
                self.keys.push(Arc::clone(&shared));
                self.index.insert(shared, index);
                index
            }
        };
        let place = *self
            .place_index
            .entry((key, record.partition))
            .or_insert_with(|| {
                self.places.push(Place {
                    key,
                    partition: record.partition,
                    records: 0,
                    first: at,
                    last: at,
                });
                self.places.len() as u32 - 1
            });
        let hints = self.hints_of(record);
        let kept = &mut self.places[place as usize];
        let ordinal = u32::try_from(kept.records).unwrap_or(u32::MAX);
        kept.records += 1;
        kept.last = at;
        if ordinal.is_multiple_of(self.stride) {
            self.events.push(Event {
                place,
                ordinal,
                at,
                hints,
            });
        }
        self.shrink();
    }

    fn hints_of(&mut self, record: &Record<'_>) -> [u8; HINTS] {
        let mut found = [0; HINTS];
        for (name, value) in record.hints {
            let kind = match self.hints.iter().position(|hint| hint.name == *name) {
                Some(kind) => kind,
                None if self.hints.len() < HINTS => {
                    self.hints.push(Hint {
                        name: name.clone(),
                        values: Some(Vec::new()),
                    });
                    self.hints.len() - 1
                }
                None => continue,
            };
            let hint = &mut self.hints[kind];
            let Some(values) = &mut hint.values else {
                continue;
            };
            let value = &value[..value.len().min(HINT_BYTES)];
            let index = match values.iter().position(|known| known == value) {
                Some(index) => index,
                None if values.len() < HINT_VALUES => {
                    values.push(value.to_vec());
                    values.len() - 1
                }
                None => {
                    hint.values = None;
                    continue;
                }
            };
            found[kind] = index as u8 + 1;
        }
        found
    }

    /// Keeps fewer keys, or fewer events of each, when there are too many.
    fn shrink(&mut self) {
        let limits = self.limits;
        while self.events.len() > limits.events && self.places.len() <= limits.events / 2 {
            self.stride = self.stride.saturating_mul(2);
            let stride = self.stride;
            self.events
                .retain(|event| event.ordinal.is_multiple_of(stride));
        }
        while self.keys.len() > limits.keys
            || self.places.len() > limits.places
            || self.bytes > limits.bytes
            || self.events.len() > limits.events
        {
            self.below /= 2;
            self.forget_keys();
        }
    }

    /// Forgets the keys that are no longer below the threshold.
    fn forget_keys(&mut self) {
        const GONE: u32 = u32::MAX;
        let below = self.below;
        let mut kept = 0;
        let keys: Vec<u32> = self
            .keys
            .iter()
            .map(|key| {
                if hash(key) > below {
                    return GONE;
                }
                kept += 1;
                kept - 1
            })
            .collect();
        let renumbered = |old: u32, new: &[u32]| Some(new[old as usize]).filter(|&n| n != GONE);
        let mut i = 0;
        self.keys.retain(|_| {
            i += 1;
            keys[i - 1] != GONE
        });
        self.bytes = self.keys.iter().map(|key| key.len()).sum();
        self.index.retain(|_, index| {
            renumbered(*index, &keys).is_some_and(|new| {
                *index = new;
                true
            })
        });
        kept = 0;
        let places: Vec<u32> = self
            .places
            .iter()
            .map(|place| {
                if keys[place.key as usize] == GONE {
                    return GONE;
                }
                kept += 1;
                kept - 1
            })
            .collect();
        self.places.retain_mut(|place| {
            renumbered(place.key, &keys).is_some_and(|new| {
                place.key = new;
                true
            })
        });
        self.events.retain_mut(|event| {
            renumbered(event.place, &places).is_some_and(|new| {
                event.place = new;
                true
            })
        });
        self.place_index.clear();
        let entries = self.places.iter().zip(0..);
        self.place_index
            .extend(entries.map(|(place, i)| ((place.key, place.partition), i)));
    }
}

/// A hash that no partitioner uses: with one of theirs, the keys that are kept would have
/// something in common with their partitions.
fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(limits: Limits, keys: u32, records_each: u32) -> Sample {
        let mut sample = Sample::new(limits);
        for round in 0..records_each {
            for i in 0..keys {
                let key = format!("key-{i}");
                sample.add(&Record {
                    partition: (i + round % 2) % 12,
                    offset: Some(i64::from(round * keys + i)),
                    key: Some(key.as_bytes()),
                    ..Record::default()
                });
            }
        }
        sample
    }

    #[test]
    fn a_small_topic_is_kept_whole() {
        let sample = sampled(Limits::default(), 1000, 4);
        assert!(sample.is_whole());
        assert_eq!(
            (sample.keys.len(), sample.places.len(), sample.events.len()),
            (1000, 2000, 4000)
        );
        assert_eq!(sample.estimated_keys(), 1000);
        assert!(sample.places.iter().all(|place| place.records == 2));
    }

    #[test]
    fn a_large_one_within_the_limits_and_each_key_with_all_its_places() {
        let limits = Limits {
            keys: 500,
            places: 10_000,
            events: 10_000,
            bytes: 1 << 20,
        };
        let sample = sampled(limits, 20_000, 4);
        assert!(!sample.is_whole() && sample.keys.len() <= 500 && sample.keys.len() > 100);
        assert_eq!(sample.places.len(), 2 * sample.keys.len());
        assert_eq!(sample.keyed, 80_000);
        let estimated = sample.estimated_keys() as f64;
        assert!((0.8..1.2).contains(&(estimated / 20_000.0)), "{estimated}");
        for (key, &index) in &sample.index {
            assert_eq!(sample.keys[index as usize], *key);
        }
        for event in &sample.events {
            let place = &sample.places[event.place as usize];
            let key = str::from_utf8(&sample.keys[place.key as usize]).unwrap();
            let i: i64 = key["key-".len()..].parse().unwrap();
            assert_eq!(event.at.offset.unwrap() % 20_000, i);
        }
    }

    #[test]
    fn events_are_thinned_before_keys_are_given_up() {
        let limits = Limits {
            events: 1000,
            ..Limits::default()
        };
        let sample = sampled(limits, 100, 200);
        assert!(sample.is_whole() && sample.events.len() <= 1000);
        assert_eq!(sample.places.len(), 200);
        assert!(sample.places.iter().all(|place| place.records == 100));
        assert!(sample.stride > 1);
    }

    #[test]
    fn two_samples_keep_the_same_keys() {
        let limits = Limits {
            keys: 300,
            ..Limits::default()
        };
        let (a, b) = (sampled(limits, 5000, 1), sampled(limits, 5000, 2));
        assert_eq!(a.below, b.below);
        assert_eq!(a.keys.len(), b.keys.len());
        assert!(a.keys.iter().all(|key| b.index.contains_key(key)));
    }

    #[test]
    fn a_header_that_identifies_records_is_dropped() {
        let mut sample = Sample::new(Limits::default());
        for i in 0..100u32 {
            let hints = [
                (b"app".to_vec(), format!("v{}", i % 2).into_bytes()),
                (b"trace".to_vec(), i.to_string().into_bytes()),
            ];
            sample.add(&Record {
                key: Some(b"k"),
                hints: &hints,
                ..Record::default()
            });
        }
        let values = |i: usize| sample.hints[i].values.as_ref().map(Vec::len);
        assert_eq!((values(0), values(1)), (Some(2), None));
    }
}
