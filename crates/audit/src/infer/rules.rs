//! The rules that may have placed a topic's keys: each that some client of the catalogue has, once.

use copart_partitioners::catalogue::{self, Entry};
use copart_partitioners::{
    Hash, HashValue, KeyView, KeyedRule, PartitionCount, Profile, Reduction,
};

use crate::clients::Client;

/// A way to place keys that have bytes, and who has it.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) view: KeyView,
    pub(crate) hash: Hash,
    pub(crate) reduction: Reduction,
    pub(crate) profile: Profile,
    /// The clients, the best known name first; none if only the user has it.
    pub(crate) entries: Vec<&'static Entry>,
    /// What to call it.
    pub(crate) name: String,
}

impl Rule {
    fn of(profile: &Profile) -> Option<Self> {
        let KeyedRule::Hashed {
            view,
            hash,
            reduction,
        } = profile.keyed
        else {
            return None;
        };
        Some(Self {
            view,
            hash,
            reduction,
            profile: *profile,
            entries: Vec::new(),
            name: String::new(),
        })
    }

    pub(crate) fn is_of(&self, profile: &Profile) -> bool {
        self.profile.keyed == profile.keyed
    }

    /// The partition of a hash; `None` where the client's arithmetic gives none.
    pub(crate) fn place(&self, hash: HashValue, count: PartitionCount) -> Option<u32> {
        match hash {
            HashValue::Bits32(bits) => self.reduction.index(bits, count),
            wide => self
                .reduction
                .place(wide, count)
                .partition()
                .and_then(|partition| u32::try_from(partition).ok()),
        }
    }

    /// Whether both place every hash alike at this count, so that no key can tell them apart.
    pub(crate) fn is_twin_at(&self, other: &Self, count: PartitionCount) -> bool {
        (self.view, self.hash) == (other.view, other.hash)
            && alike(self.reduction, other.reduction, count)
    }
}

/// Whether two reductions agree on every 32-bit hash at a count.
fn alike(a: Reduction, b: Reduction, count: PartitionCount) -> bool {
    // The sign bit and what is around it decide; hashes below it are treated alike by all.
    let n = u64::from(count.get());
    let telling = |hash: u64| {
        let hash = hash as u32;
        a.index(hash, count) == b.index(hash, count)
    };
    // Remainders repeat after n, and signs change at 2^31: a period on each side of it is enough.
    let period = n.min(1 << 16);
    (0..period).all(|i| telling((1 << 31) + i)) && (1..=period).all(|i| telling((1 << 32) - i))
}

/// Every rule of the catalogue, and that of `also`, if it is another.
pub(crate) fn rules(also: Option<&Client>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for entry in catalogue::entries() {
        match rules.iter_mut().find(|rule| rule.is_of(&entry.profile)) {
            Some(rule) => rule.entries.push(entry),
            None => {
                if let Some(mut rule) = Rule::of(&entry.profile) {
                    rule.entries.push(entry);
                    rules.push(rule);
                }
            }
        }
    }
    if let Some(client) = also
        && !rules.iter().any(|rule| rule.is_of(client.profile()))
        && let Some(rule) = Rule::of(client.profile())
    {
        rules.push(Rule {
            name: client.name().to_owned(),
            ..rule
        });
    }
    for rule in &mut rules {
        // What a client does unconfigured comes first, under the client's bare name.
        rule.entries.sort_by_key(|entry| !entry.is_default());
        if let Some(entry) = rule.entries.first() {
            let bare = entry.is_default() && catalogue::find(entry.client()).is_ok();
            rule.name = if bare { entry.client() } else { entry.id }.to_owned();
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> Rule {
        let client = Client::parse(name).unwrap();
        rules(Some(&client))
            .into_iter()
            .find(|rule| rule.is_of(client.profile()))
            .unwrap()
    }

    #[test]
    fn rules_have_the_names_people_know() {
        for (client, name) in [
            ("kafkajs", "java"),
            ("ruby-kafka", "librdkafka"),
            ("kafka-go/hash", "sarama"),
            ("kafka_ex/legacy", "platformatic"),
            ("kafkajs@1.16", "kafkajs/legacy"),
            ("franz-go/kafka-hasher-fnv1a", "filebeat"),
        ] {
            assert_eq!(rule(client).name, name);
        }
        let own = "hash=xxh32,reduce=mask";
        assert_eq!(rule(own).name, own);
        let all = rules(None);
        assert!(all.len() > 15, "{}", all.len());
        assert!(all.iter().all(|rule| !rule.entries.is_empty()));
    }

    #[test]
    fn twins_are_so_at_powers_of_two_only() {
        let (java, platformatic) = (rule("java"), rule("platformatic"));
        let (sarama, reference) = (rule("sarama"), rule("sarama/reference-hash"));
        for n in [1, 2, 3, 4, 6, 7, 8, 12, 16, 31, 50, 64, 65_536] {
            let n = PartitionCount::new(n).unwrap();
            let twins = java.is_twin_at(&platformatic, n);
            assert_eq!(twins, n.is_power_of_two(), "{n}");
            assert_eq!(sarama.is_twin_at(&reference, n), n.get() <= 2, "{n}");
            assert!(!java.is_twin_at(&sarama, n));
            // Beside i32::MIN they never differ; there they do.
            let old = rule("filebeat/hash@7.12");
            assert_eq!(sarama.is_twin_at(&old, n), n.is_power_of_two(), "{n}");
        }
    }
}
