//! The sample keys of a topic: where they belong, and whether they could tell.

use copart_partitioners::{PartitionCount, Placement, Profile};

use super::{Check, CheckRule, SampleKey, Spot, Subject, Topic, keys};
use crate::input::KeyEncoding;
use crate::text::{key as shown, number};

/// Characters of a key in a message.
pub(super) const KEY_WIDTH: usize = 40;

/// By chance, fewer than one contract in so many is kept by a rule that has nothing to do with it.
const CHANCE: f64 = 1000.0;

/// A sample key and the file that has it.
pub(super) struct Sampled {
    pub(super) key: SampleKey,
    pub(super) at: Spot,
}

impl Sampled {
    /// Where it belongs: as the contract says, or as its profile places it.
    pub(super) fn belongs(&self, topic: &Topic) -> Option<Placement> {
        match (self.key.partition, &topic.profile) {
            (Some(partition), _) => Some(Placement::Pinned(i32::try_from(partition).ok()?)),
            (None, Some(profile)) => {
                let key = self.key.key.as_deref();
                Some(profile.value.profile().place(key, topic.partitions))
            }
            (None, None) => None,
        }
    }

    pub(super) fn shown(&self) -> String {
        shown(self.key.key.as_deref(), KEY_WIDTH)
    }
}

impl Check<'_> {
    /// All sample keys of a topic.
    pub(super) fn keys(&mut self, topic: &Topic) -> Vec<Sampled> {
        let mut all: Vec<Sampled> = topic
            .keys
            .iter()
            .map(|key| Sampled {
                at: Spot::new(&self.contract.path, key.line),
                key: key.clone(),
            })
            .collect();
        if let Some(file) = &topic.keys_file {
            match keys::read(&file.value, topic.encoding, topic.partitions) {
                Ok(keys) => all.extend(keys.into_iter().map(|key| Sampled {
                    at: Spot::new(&file.value, key.line),
                    key,
                })),
                Err((Some(line), what)) => {
                    let at = Spot::new(&file.value, line);
                    self.find(CheckRule::UnreadableFile, at, &Subject::topic(topic), what);
                }
                Err((None, what)) => {
                    let at = Spot::new(&self.contract.path, file.line);
                    let what = format!("{}: {what}", file.value.display());
                    self.find(CheckRule::UnreadableFile, at, &Subject::topic(topic), what);
                }
            }
        }
        all
    }

    /// Keys that the contract's own profile puts elsewhere than the contract says.
    pub(super) fn contradictions(&mut self, topic: &Topic, keys: &[Sampled]) {
        let Some(profile) = &topic.profile else {
            return;
        };
        let place = |sampled: &Sampled| {
            let key = sampled.key.key.as_deref();
            profile.value.profile().place(key, topic.partitions)
        };
        let wrong: Vec<_> = keys
            .iter()
            .filter(|sampled| sampled.key.partition.is_some())
            .filter(|sampled| sampled.belongs(topic) != Some(place(sampled)))
            .collect();
        let Some(first) = wrong.first() else {
            return;
        };
        let message = format!(
            "topic {}: the contract has {} on {}, where {} puts it on {} at {} partitions; {} of {} keys contradict",
            topic.name,
            first.shown(),
            first
                .key
                .partition
                .map_or(String::new(), |partition| format!("partition {partition}")),
            profile.value.name(),
            place_name(place(first)),
            topic.partitions,
            number(wrong.len() as u64),
            number(keys.len() as u64),
        );
        let at = first.at.clone();
        self.find(
            CheckRule::ContractContradicts,
            at,
            &Subject::topic(topic),
            message,
        );
    }

    /// Whether there are sample keys that could tell one rule from another.
    pub(super) fn evidence(&mut self, topic: &Topic, keys: &[Sampled]) {
        let pinned: Vec<_> = keys
            .iter()
            .filter(|sampled| matches!(sampled.belongs(topic), Some(Placement::Pinned(_))))
            .map(|sampled| &sampled.key.key)
            .collect();
        let mut distinct = pinned.clone();
        distinct.sort();
        distinct.dedup();
        let partitions = f64::from(topic.partitions.get());
        let why = if distinct.is_empty() {
            format!(
                "topic {}: no sample key belongs on a partition of its own",
                topic.name
            )
        } else if topic.profile.is_none()
            && topic.partitions.get() > 1
            && distinct.len() as f64 * partitions.ln() < CHANCE.ln()
        {
            let needed = (CHANCE.ln() / partitions.ln()).ceil();
            format!(
                "topic {}: without a profile, {} sample keys at {} partitions may be right by chance; it takes {needed}",
                topic.name,
                distinct.len(),
                topic.partitions,
            )
        } else {
            return;
        };
        let at = Spot::new(&self.contract.path, topic.line);
        self.find(CheckRule::NoEvidence, at, &Subject::topic(topic), why);
    }
}

pub(super) fn place_name(place: Placement) -> String {
    match place {
        Placement::Pinned(partition) => format!("partition {partition}"),
        Placement::Unpinned => "no partition in particular".into(),
        Placement::Rejected => "none: it refuses the key".into(),
    }
}

/// Keys made up to tell two rules apart.
const PROBES: u32 = 1000;

/// Of keys that are made up, of the form that this encoding has, how many two rules place apart.
pub(super) fn apart(
    a: &Profile,
    b: &Profile,
    encoding: KeyEncoding,
    count: PartitionCount,
) -> (u32, u32) {
    let mut apart = 0;
    for probe in 0..PROBES {
        let key = match encoding {
            KeyEncoding::Utf8 => format!("key-{probe}").into_bytes(),
            KeyEncoding::Int32 => probe.to_be_bytes().into(),
            KeyEncoding::Int32Le => probe.to_le_bytes().into(),
            KeyEncoding::Int64 => u64::from(probe).to_be_bytes().into(),
            KeyEncoding::Int64Le => u64::from(probe).to_le_bytes().into(),
            // Bytes of all kinds: a multiple of the golden ratio, twice.
            _ => {
                let word = u64::from(probe + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let bytes = [word.to_be_bytes(), word.rotate_left(29).to_be_bytes()].concat();
                match encoding {
                    KeyEncoding::UuidText | KeyEncoding::UuidUpper | KeyEncoding::UuidPlain => {
                        data_encoding::HEXLOWER.encode(&bytes).into_bytes()
                    }
                    _ => bytes,
                }
            }
        };
        apart += u32::from(a.place(Some(&key), count) != b.place(Some(&key), count));
    }
    (apart, PROBES)
}
