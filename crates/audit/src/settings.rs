//! The setting that makes one client place keys as another does.

use copart_partitioners::catalogue::{self, Entry};
use copart_partitioners::{KeyedRule, Profile};
use serde::Serialize;

use crate::clients::{same_for_key, same_for_keyed};

/// A client's partitioner that places keys as wanted.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// The catalogue's id of the partitioner.
    pub id: &'static str,
    /// The configuration that selects it, in the client's own syntax.
    pub config: &'static str,
    /// The client's releases that have it.
    pub versions: String,
    /// What still differs; empty when nothing does.
    pub differences: Vec<String>,
    /// What to know besides; may be empty.
    pub note: &'static str,
}

/// Finds, among the partitioners of `client`, the one that places keys most like `wanted`.
///
/// `None` when no current release of it has one that agrees on keys that have bytes.
#[must_use]
pub fn setting(client: &str, wanted: &Profile) -> Option<Setting> {
    catalogue::entries()
        .filter(|entry| entry.client() == client && entry.versions.is_current())
        .filter(|entry| same_for_keyed(&entry.profile, wanted))
        .map(|entry| Setting {
            id: entry.id,
            config: entry.config,
            versions: entry.versions.to_string(),
            differences: differences(entry, wanted),
            note: entry.note,
        })
        // The first of the best: the catalogue lists the usual one first.
        .min_by_key(|setting| setting.differences.len())
}

fn differences(entry: &Entry, wanted: &Profile) -> Vec<String> {
    let own = &entry.profile;
    let kinds = [
        ("empty", own.empty, wanted.empty, Some(&[][..])),
        ("null", own.null, wanted.null, None),
    ];
    kinds
        .into_iter()
        .filter(|(_, _, _, key)| !same_for_key(own, wanted, *key))
        .map(|(kind, own, wanted, _)| format!("{kind} keys: {own} here, {wanted} there"))
        .collect()
}

/// What a producer must do by hand where no setting does it.
#[must_use]
pub fn by_hand(wanted: &Profile) -> String {
    match wanted.keyed {
        KeyedRule::Hashed { .. } => format!(
            "compute the partition in the application ({}) and name it in each record, or register a custom partitioner that does",
            wanted.keyed
        ),
        _ => "name the partition in each record, or register a custom partitioner".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(client: &str, wanted: &str) -> Option<Setting> {
        setting(client, &catalogue::find(wanted).unwrap().profile)
    }

    #[test]
    fn the_setting_that_agrees_most_is_found() {
        for (client, wanted, id) in [
            ("librdkafka", "java", "librdkafka/murmur2_random"),
            ("librdkafka", "sarama", "librdkafka/fnv1a_random"),
            ("librdkafka", "ruby-kafka", "librdkafka/consistent_random"),
            ("kafka-go", "librdkafka", "kafka-go/crc32"),
            ("sarama", "java", "sarama/murmur2"),
            ("franz-go", "ruby-kafka", "franz-go/sarama-hasher-crc32"),
            ("kafkajs", "kafkajs@1.16", "kafkajs/legacy"),
            ("ruby-kafka", "java", "ruby-kafka/murmur2-unsigned-char"),
        ] {
            assert_eq!(
                to(client, wanted).map(|s| s.id),
                Some(id),
                "{client} as {wanted}"
            );
        }
        assert!(to("java", "librdkafka").is_none());
        assert!(to("librdkafka", "java").unwrap().differences.is_empty());
    }

    #[test]
    fn what_still_differs_is_said() {
        let setting = to("platformatic", "java").unwrap();
        assert_eq!(setting.id, "platformatic/compatibility");
        assert_eq!(
            setting.differences,
            ["null keys: partition 0 here, uniform sticky there"]
        );
        let setting = to("librdkafka", "ruby-kafka").unwrap();
        assert_eq!(
            setting.differences,
            ["empty keys: random here, hashed there"]
        );
    }
}
