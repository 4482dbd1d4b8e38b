use copart_partitioners::{
    Hash, KeyView, KeyedRule, PartitionCount, Placement, Profile, Reduction,
};

use crate::clients::{Client, same_for_keyed};

/// What has to be computed for each key, each thing once: clients share rules, rules share hashes.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The hashes of 32 bits.
    lanes: Vec<(KeyView, Hash)>,
    /// The distinct rules for keys that have bytes.
    pub(crate) rules: Vec<Rule>,
    /// The rule of each client.
    pub(crate) rule_of: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// Reduces a hash that is computed for many keys at a time.
    Reduced { lane: usize, reduction: Reduction },
    /// Anything else, key by key.
    Other(Profile),
}

/// Stands for [`Placement::Unpinned`] among partition indexes, which end at `i32::MAX`.
pub(crate) const UNPINNED: u32 = u32::MAX;
/// Stands for [`Placement::Rejected`].
pub(crate) const REJECTED: u32 = u32::MAX - 1;

pub(crate) fn code(placement: Placement) -> u32 {
    match placement {
        Placement::Pinned(partition) => partition as u32,
        Placement::Unpinned => UNPINNED,
        Placement::Rejected => REJECTED,
    }
}

impl Plan {
    pub(crate) fn new(clients: &[Client]) -> Self {
        let mut plan = Self {
            lanes: Vec::new(),
            rules: Vec::new(),
            rule_of: Vec::new(),
        };
        let mut profiles: Vec<&Profile> = Vec::new();
        for client in clients {
            let profile = client.profile();
            let known = profiles
                .iter()
                .position(|known| same_for_keyed(known, profile));
            let rule = known.unwrap_or_else(|| {
                profiles.push(profile);
                let rule = plan.rule(profile);
                plan.rules.push(rule);
                profiles.len() - 1
            });
            plan.rule_of.push(rule);
        }
        plan
    }

    fn rule(&mut self, profile: &Profile) -> Rule {
        match profile.keyed {
            KeyedRule::Hashed {
                view,
                hash,
                reduction,
            } if !hash.is_wide() => {
                let known = self.lanes.iter().position(|lane| *lane == (view, hash));
                let lane = known.unwrap_or_else(|| {
                    self.lanes.push((view, hash));
                    self.lanes.len() - 1
                });
                Rule::Reduced { lane, reduction }
            }
            _ => Rule::Other(*profile),
        }
    }

    /// Hashes `keys`, none of them empty, with every lane.
    pub(crate) fn hash(&self, keys: &[&[u8]], hashes: &mut Vec<Vec<u32>>) {
        hashes.resize_with(self.lanes.len(), Vec::new);
        for ((view, hash), out) in self.lanes.iter().zip(hashes) {
            out.resize(keys.len(), 0);
            match view {
                KeyView::AllBytes => hash.of_each(keys, out),
                view => {
                    let viewed: Vec<_> = keys.iter().map(|key| view.of(key)).collect();
                    hash.of_each(&viewed, out);
                }
            }
        }
    }

    /// Places hashed keys by one rule.
    pub(crate) fn place(
        &self,
        rule: Rule,
        keys: &[&[u8]],
        hashes: &[Vec<u32>],
        count: PartitionCount,
        out: &mut Vec<u32>,
    ) {
        out.clear();
        match rule {
            Rule::Reduced { lane, reduction } => {
                let hashes = hashes[lane].iter();
                // A loop for each reduction: the choice is made once, not for every key.
                macro_rules! each {
                    ($($reduction:path),+) => {
                        match reduction {
                            $($reduction => out.extend(
                                hashes.map(|&hash| $reduction.index(hash, count).unwrap_or(REJECTED)),
                            ),)+
                            other => out.extend(
                                hashes.map(|&hash| other.index(hash, count).unwrap_or(REJECTED)),
                            ),
                        }
                    };
                }
                each!(
                    Reduction::MaskSign,
                    Reduction::Unsigned,
                    Reduction::SignedRemainderAbs
                );
            }
            Rule::Other(profile) => {
                out.extend(keys.iter().map(|key| code(profile.place(Some(key), count))));
            }
        }
    }
}
