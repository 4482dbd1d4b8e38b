//! Chance: from the system, or from a seed for tests.

use copart_protocol::Uuid;

use crate::files::Random;

/// Where ids and placements begin.
#[derive(Debug)]
pub(crate) struct Chance {
    random: Random,
    seeded: bool,
}

impl Chance {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let (state, seeded) = match seed {
            Some(seed) => (seed, true),
            None => (getrandom::u64().unwrap_or_else(|_| fallback()), false),
        };
        Self {
            random: Random::new(state),
            seeded,
        }
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit as u64) as usize
    }

    /// Brings the elements into any order.
    pub(super) fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.below(last + 1));
        }
    }

    /// An id as Kafka makes them: version 4, and none that begins with `-`,
    /// which a command line would take for an option.
    pub(crate) fn uuid(&mut self) -> Uuid {
        loop {
            let mut bytes = [0; 16];
            if self.seeded || getrandom::fill(&mut bytes).is_err() {
                bytes[..8].copy_from_slice(&self.random.next().to_be_bytes());
                bytes[8..].copy_from_slice(&self.random.next().to_be_bytes());
            }
            bytes[6] = bytes[6] & 0x0f | 0x40;
            bytes[8] = bytes[8] & 0x3f | 0x80;
            let id = Uuid(bytes);
            if !id.to_string().starts_with('-') {
                return id;
            }
        }
    }
}

/// Without the system's randomness: the keys of a hash map, which std finds
/// somehow.
fn fallback() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}
