//! The catalogue: every client's partitioners as data.
//!
//! Adding a client is one [`Entry`] in the list of its family, plus vectors made by running it.
//!
//! Ids are `client/partitioner`, with `@version` where a partitioner changed over releases and the
//! older behaviour is meant. A client's bare name is what it does with nothing configured;
//! `client@version` is what that release does.

mod go;
mod java;
mod librdkafka;
mod lookup;
mod node;
mod other;
mod python;
mod ruby;

use crate::{Hash, KeyView, KeyedRule, KeylessRule, Profile, Reduction, Spread, VersionRange};

pub use lookup::{FindError, find, names};

/// One partitioner of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `client/partitioner[@version]`.
    pub id: &'static str,
    /// The releases of the client that have this partitioner.
    pub versions: VersionRange,
    /// The releases in which it is what the client does with nothing configured.
    pub default_in: Option<VersionRange>,
    /// The configuration that selects it, in the client's own syntax.
    pub config: &'static str,
    /// What it does.
    pub profile: Profile,
    /// Where that is written: the upstream file or KIP.
    pub source: &'static str,
    /// What proves it.
    pub evidence: Evidence,
    /// What a user of this partitioner should know besides; may be empty.
    pub note: &'static str,
}

/// What a catalogue entry's behaviour was checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Placements by the real client, in `compat-vectors/placements/` under the entry's own id.
    Vectors,
    /// Placements of another entry: this client runs that very code.
    VectorsOf(&'static str),
    /// None yet: read in source only, for the reason given.
    Unverified(&'static str),
}

impl Entry {
    /// The client's name: the id up to the slash.
    #[must_use]
    pub fn client(&self) -> &'static str {
        self.id
            .split_once('/')
            .map_or(self.id, |(client, _)| client)
    }

    /// Whether this is what the newest release known here does with nothing configured.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.default_in.is_some_and(|range| range.is_current())
    }

    /// The id whose vectors prove this entry, if any do.
    #[must_use]
    pub const fn vectors(&self) -> Option<&'static str> {
        match self.evidence {
            Evidence::Vectors => Some(self.id),
            Evidence::VectorsOf(id) => Some(id),
            Evidence::Unverified(_) => None,
        }
    }
}

/// Every entry, family by family.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().copied().flatten()
}

const FAMILIES: [&[Entry]; 7] = [
    java::ENTRIES,
    librdkafka::ENTRIES,
    ruby::ENTRIES,
    go::ENTRIES,
    node::ENTRIES,
    python::ENTRIES,
    other::ENTRIES,
];

const RANDOM: KeylessRule = KeylessRule::Unpinned(Spread::Random);
const ROUND_ROBIN: KeylessRule = KeylessRule::Unpinned(Spread::RoundRobin);
const STICKY: KeylessRule = KeylessRule::Unpinned(Spread::Sticky);
const UNIFORM_STICKY: KeylessRule = KeylessRule::Unpinned(Spread::UniformSticky);

/// Hashes all bytes, the empty key's none included.
const fn hashed(hash: Hash, reduction: Reduction, null: KeylessRule) -> Profile {
    Profile {
        keyed: KeyedRule::Hashed {
            view: KeyView::AllBytes,
            hash,
            reduction,
        },
        empty: KeylessRule::Hashed,
        null,
    }
}

/// Java's rule, which most clients follow for keys that have bytes.
const fn murmur2(null: KeylessRule) -> Profile {
    hashed(Hash::Murmur2, Reduction::MaskSign, null)
}

/// Ignores keys.
const fn unpinned(spread: Spread) -> Profile {
    Profile {
        keyed: KeyedRule::Unpinned(spread),
        empty: KeylessRule::Unpinned(spread),
        null: KeylessRule::Unpinned(spread),
    }
}
