//! Every key of Java's clients and of librdkafka: whether it is taken, and if not, why.
//!
//! `docs/src/properties.md` shows this table; a test compares the two.

mod client;
mod producer;
mod reader;
mod security;

/// A key of other clients' configuration, and what becomes of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PropertyKey {
    /// Its name.
    pub name: &'static str,
    /// Whose it is.
    pub clients: PropertyClients,
    /// What becomes of it.
    pub treatment: Treatment,
    /// What it sets, or why it is not taken and what to do instead.
    pub note: &'static str,
    /// Whether its value is a secret, which is never printed.
    pub is_secret: bool,
}

/// Whose configuration a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyClients {
    /// Java's clients.
    Java,
    /// librdkafka, and all clients that wrap it.
    Librdkafka,
    /// Both.
    Both,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It sets something.
    Taken,
    /// It is known, and means nothing here; nothing goes wrong because of that.
    WithoutEffect,
    /// It means something that cannot be had here: a file that has it is refused.
    Refused,
}

impl PropertyKey {
    const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

const fn key(
    name: &'static str,
    clients: PropertyClients,
    treatment: Treatment,
    note: &'static str,
) -> PropertyKey {
    PropertyKey {
        name,
        clients,
        treatment,
        note,
        is_secret: false,
    }
}

const fn taken(name: &'static str, clients: PropertyClients, note: &'static str) -> PropertyKey {
    key(name, clients, Treatment::Taken, note)
}

const fn without_effect(
    name: &'static str,
    clients: PropertyClients,
    note: &'static str,
) -> PropertyKey {
    key(name, clients, Treatment::WithoutEffect, note)
}

const fn refused(name: &'static str, clients: PropertyClients, note: &'static str) -> PropertyKey {
    key(name, clients, Treatment::Refused, note)
}

/// The table, in parts with headings.
pub(super) const PARTS: [(&str, &[PropertyKey]); 4] = [
    ("Connections and metadata", client::KEYS),
    ("TLS and SASL", security::KEYS),
    ("Producers", producer::KEYS),
    ("Readers and consumers", reader::KEYS),
];

pub(super) fn all() -> impl Iterator<Item = &'static PropertyKey> {
    PARTS.iter().flat_map(|(_, keys)| keys.iter())
}

pub(super) fn find(name: &str) -> Option<&'static PropertyKey> {
    all().find(|key| key.name == name)
}

pub(super) fn is_secret(name: &str) -> bool {
    // What is not known may be a secret that was misspelt.
    find(name).is_none_or(|key| key.is_secret)
}

/// The known key that a misspelt one most likely stands for.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let wanted = name.to_ascii_lowercase().replace(['_', '-'], ".");
    let near = all().map(|key| (strsim::damerau_levenshtein(&wanted, key.name), key.name));
    near.min()
        .filter(|(distance, _)| *distance <= 2 + wanted.len() / 6)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_key_stands_once_and_says_why() {
        let mut seen = HashSet::new();
        for key in all() {
            assert!(seen.insert(key.name), "{}", key.name);
            assert!(
                !key.note.is_empty() && !key.note.ends_with('.'),
                "{}",
                key.name
            );
            let secret = key.name.contains("password") || key.name.ends_with("secret");
            assert!(!secret || key.is_secret, "{}", key.name);
        }
        assert!(
            PARTS
                .iter()
                .all(|(_, keys)| keys.is_sorted_by_key(|key| key.name))
        );
    }

    #[test]
    fn misspelt_keys_have_a_nearest_one() {
        assert_eq!(nearest("bootstrap.server"), Some("bootstrap.servers"));
        assert_eq!(nearest("LINGER_MS"), Some("linger.ms"));
        assert_eq!(nearest("sasl.pasword"), Some("sasl.password"));
        assert_eq!(nearest("completely.different.thing.here"), None);
    }
}
