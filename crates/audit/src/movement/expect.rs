//! Which share of keys should move, by arithmetic alone.

use copart_partitioners::{Hash, KeyedRule, PartitionCount, Profile, Reduction};
use serde::Serialize;

use crate::clients::same_for_keyed;
use crate::verify::Reason;
use crate::verify::explain::keyed_reason;

/// The share of keys that should move, if hashes are uniform.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// The share, from 0 to 1; null where it depends on the keys.
    pub share: Option<f64>,
    /// How it was found.
    pub basis: Basis,
}

/// What the expectation rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// One hash value, reduced modulo the one count and the other.
    SameRule,
    /// One hash value, with its sign bit treated differently.
    SameHash,
    /// Two hash functions that have nothing to do with each other.
    OtherHash,
    /// The functions differ on some keys only, and which depends on the keys.
    DependsOnKeys,
    /// One side hashes no keys.
    NotHashed,
}

impl Basis {
    /// The formula in the counts before (n) and after (m).
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::SameRule => "1 - gcd(n, m) / max(n, m)",
            Self::SameHash => "half of the keys as with one rule, half by the sign rules",
            Self::OtherHash => "1 - 1 / max(n, m)",
            Self::DependsOnKeys => "none: the hashes differ on some keys only",
            Self::NotHashed => "none: one side hashes no keys",
        }
    }
}

/// The share of keys that move when a hash is reduced modulo `m` and no longer modulo `n`.
///
/// A key stays when its hash has the same remainder for both, which is so for `min(n, m)` of the
/// `lcm(n, m)` residues: `min / lcm` = `gcd / max`.
#[must_use]
pub fn share_for_counts(n: u32, m: u32) -> f64 {
    1.0 - f64::from(gcd(n, m)) / f64::from(n.max(m))
}

/// The share of keys that should move between two profiles.
#[must_use]
pub fn expected(from: &Profile, n: PartitionCount, to: &Profile, m: PartitionCount) -> Expected {
    let (n, m) = (n.get(), m.get());
    let unknown = |basis| Expected { share: None, basis };
    let known = |basis, share| Expected {
        share: Some(share),
        basis,
    };
    let (
        KeyedRule::Hashed {
            reduction, hash, ..
        },
        KeyedRule::Hashed {
            reduction: other, ..
        },
    ) = (from.keyed, to.keyed)
    else {
        return unknown(Basis::NotHashed);
    };
    if same_for_keyed(from, to) {
        return known(Basis::SameRule, share_for_counts(n, m));
    }
    match keyed_reason(from, to) {
        // A wide hash is one unsigned number, whatever the reduction.
        Reason::SignHandling if hash.is_wide() => known(Basis::SameRule, share_for_counts(n, m)),
        Reason::SignHandling => {
            let top = staying_with_the_sign_bit(reduction, n, other, m);
            let share = (share_for_counts(n, m) + 1.0 - top) / 2.0;
            known(Basis::SameHash, share)
        }
        Reason::OtherHash if related(from, to) => unknown(Basis::DependsOnKeys),
        Reason::OtherHash | Reason::FloatArithmetic => {
            known(Basis::OtherHash, 1.0 - 1.0 / f64::from(n.max(m)))
        }
        _ => unknown(Basis::DependsOnKeys),
    }
}

/// Two hashes that agree on many keys, though neither is the other's plain form.
fn related(from: &Profile, to: &Profile) -> bool {
    let tail = |profile: &Profile| {
        matches!(
            profile.keyed,
            KeyedRule::Hashed {
                hash: Hash::Murmur2SignedTail | Hash::Murmur2,
                ..
            }
        )
    };
    tail(from) && tail(to)
}

/// Of the hashes with the sign bit set, the share that stays.
///
/// For them, each reduction is the remainder of `±h + c`. With the same sign, two of them agree on
/// a residue when the constants do modulo `gcd(n, m)`. With opposite signs, `x` is on both sides
/// the same when `2x` is the sum of the constants modulo the gcd: one residue in an odd gcd, two
/// in an even one, since all the constants are even. Every such `x` below `min(n, m)` stands for
/// one of `lcm(n, m)` residues of the hash.
fn staying_with_the_sign_bit(from: Reduction, n: u32, to: Reduction, m: u32) -> f64 {
    const SIGN: u64 = 1 << 31;
    let form = |reduction| match reduction {
        Reduction::MaskSign => (true, SIGN),
        Reduction::Unsigned => (true, 0),
        _ => (false, 2 * SIGN),
    };
    let ((positive, constant), (other_positive, other_constant)) = (form(from), form(to));
    let gcd = u64::from(gcd(n, m));
    let max = f64::from(n.max(m));
    if positive == other_positive {
        let agree = constant.abs_diff(other_constant).is_multiple_of(gcd);
        return if agree { gcd as f64 / max } else { 0.0 };
    }
    if gcd % 2 == 1 { 1.0 / max } else { 2.0 / max }
}

const fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_shares() {
        // docs: doubling moves half of the keys, one more partition nearly all.
        for (n, m, share) in [
            (6, 12, 0.5),
            (6, 8, 0.75),
            (12, 13, 12.0 / 13.0),
            (12, 18, 2.0 / 3.0),
            (50, 64, 1.0 - 2.0 / 64.0),
            (7, 7, 0.0),
            (8, 4, 0.5),
            (1, 5, 0.8),
        ] {
            assert!((share_for_counts(n, m) - share).abs() < 1e-12, "{n} {m}");
        }
    }

    /// Every residue of the hash counted one by one.
    #[test]
    fn shares_are_those_of_all_residues() {
        let reductions = [
            Reduction::MaskSign,
            Reduction::Unsigned,
            Reduction::SignedRemainderAbs,
        ];
        for n in 1..=24 {
            for m in [1, 2, 3, 6, 7, 12, 16, 18, 24, 25] {
                let lcm = n / gcd(n, m) * m;
                let (pn, pm) = (
                    PartitionCount::new(n).unwrap(),
                    PartitionCount::new(m).unwrap(),
                );
                for from in reductions {
                    for to in reductions {
                        // A whole number of periods on either side of the sign bit.
                        let periods = (0..lcm).chain((0..lcm).map(|r| (1 << 31) + r));
                        let moved = periods
                            .filter(|&h| from.index(h, pn) != to.index(h, pm))
                            .count();
                        let share = moved as f64 / f64::from(2 * lcm);
                        let top = staying_with_the_sign_bit(from, n, to, m);
                        let expected = (share_for_counts(n, m) + 1.0 - top) / 2.0;
                        assert!(
                            (share - expected).abs() < 1e-12,
                            "{from} {n} {to} {m}: {share} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_said_is_not() {
        let basis = |from: &str, to: &str| {
            let profile = |name: &str| *crate::Client::parse(name).unwrap().profile();
            let n = PartitionCount::new(12).unwrap();
            expected(&profile(from), n, &profile(to), n)
        };
        assert_eq!(basis("java", "kafkajs").share, Some(0.0));
        assert_eq!(basis("java", "librdkafka").basis, Basis::OtherHash);
        assert_eq!(basis("java", "kafkajs@1.16").basis, Basis::OtherHash);
        assert_eq!(
            basis("java", "ruby-kafka/murmur2").basis,
            Basis::DependsOnKeys
        );
        assert_eq!(basis("java", "kafka-go").basis, Basis::NotHashed);
        assert_eq!(
            basis("sarama", "sarama/reference-hash").basis,
            Basis::SameHash
        );
        let views = basis("ruby-kafka", "rdkafka-ruby/partition_key-consistent_random");
        assert_eq!(views.basis, Basis::DependsOnKeys);
    }
}
