use core::fmt;

use super::{Entry, entries, librdkafka};
use crate::Version;

/// Finds the entry that a name means.
///
/// A name is an id (`kafkajs/legacy`), a client's bare name (`kafkajs`: its newest release with
/// nothing configured), either with a release after `@` (`kafkajs@1.16.0`, `kafka-go/hash@0.2.1`),
/// or a binding of librdkafka in its place (`confluent-kafka-python/murmur2_random`).
///
/// # Errors
///
/// When no client or no partitioner of it has that name, the release has none, or the client has
/// no default.
///
/// ```
/// use copart_partitioners::catalogue::find;
///
/// assert_eq!(find("kafkajs")?.id, "kafkajs/default");
/// assert_eq!(find("kafkajs@1.16.0")?.id, "kafkajs/legacy");
/// assert_eq!(find("confluent-kafka-go")?.id, "librdkafka/consistent_random");
/// assert!(find("brod").unwrap_err().to_string().contains("brod/hash"));
/// # Ok::<(), copart_partitioners::catalogue::FindError<'static>>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry, FindError<'_>> {
    if let Some(entry) = entries().find(|entry| entry.id == name) {
        return Ok(entry);
    }
    let (base, version) = match name.split_once('@') {
        Some((base, text)) => {
            let version = Version::parse(text).ok_or(FindError::Version { name })?;
            (base, Some(version))
        }
        None => (name, None),
    };
    let (client, partitioner) = match base.split_once('/') {
        Some((client, partitioner)) => (client, Some(partitioner)),
        None => (base, None),
    };
    // A binding's releases are not librdkafka's, so no version goes with it.
    let (client, version) = if librdkafka::BINDINGS.contains(&client) {
        ("librdkafka", None)
    } else {
        (client, version)
    };
    if !entries().any(|entry| entry.client() == client) {
        return Err(FindError::Client { name });
    }
    let of_client = entries().filter(|entry| entry.client() == client);
    match partitioner {
        Some(partitioner) => {
            let mut of_name = of_client.filter(|entry| without_version(entry.id).1 == partitioner);
            of_name
                .find(|entry| {
                    version.map_or(entry.versions.is_current(), |v| entry.versions.contains(v))
                })
                .ok_or(FindError::Partitioner { name, client })
        }
        None => {
            let mut defaults = of_client.filter_map(|entry| Some((entry, entry.default_in?)));
            defaults
                .find(|(_, range)| version.map_or(range.is_current(), |v| range.contains(v)))
                .map(|(entry, _)| entry)
                .ok_or(FindError::NoDefault { name, client })
        }
    }
}

/// Every name that [`find`] takes without a version: bare clients, then ids, then the bindings.
pub fn names() -> impl Iterator<Item = &'static str> {
    let defaults = entries()
        .filter(|entry| entry.is_default())
        .map(Entry::client);
    let ids = entries().map(|entry| entry.id);
    defaults
        .chain(ids)
        .chain(librdkafka::BINDINGS.iter().copied())
}

/// Client and partitioner of an id.
fn without_version(id: &'static str) -> (&'static str, &'static str) {
    let base = id.split_once('@').map_or(id, |(base, _)| base);
    base.split_once('/').unwrap_or((base, ""))
}

/// Why a name means no entry of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindError<'a> {
    /// No such client.
    Client {
        /// What was looked for.
        name: &'a str,
    },
    /// The client has no such partitioner, or not in that release.
    Partitioner {
        /// What was looked for.
        name: &'a str,
        /// The client it names.
        client: &'a str,
    },
    /// The client has no default, or none known for that release.
    NoDefault {
        /// What was looked for.
        name: &'a str,
        /// The client it names.
        client: &'a str,
    },
    /// What follows the `@` is no version.
    Version {
        /// What was looked for.
        name: &'a str,
    },
}

impl FindError<'_> {
    /// What was looked for.
    #[must_use]
    pub const fn name(&self) -> &str {
        match self {
            Self::Client { name }
            | Self::Partitioner { name, .. }
            | Self::NoDefault { name, .. }
            | Self::Version { name } => name,
        }
    }
}

impl fmt::Display for FindError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client { name } => {
                write!(f, "`{name}`: no client of that name is in the catalogue")
            }
            Self::Partitioner { name, client } => {
                write!(
                    f,
                    "`{name}`: {client} has no such partitioner, or not in that release; it has "
                )?;
                list_ids(f, client)
            }
            Self::NoDefault { name, client } => {
                write!(
                    f,
                    "`{name}`: no default is known for it, so say which partitioner: "
                )?;
                list_ids(f, client)
            }
            Self::Version { name } => {
                write!(f, "`{name}`: a release such as 2.2.4 must follow the @")
            }
        }
    }
}

fn list_ids(f: &mut fmt::Formatter<'_>, client: &str) -> fmt::Result {
    let ids = entries()
        .filter(|entry| entry.client() == client)
        .map(|entry| entry.id);
    for (i, id) in ids.enumerate() {
        write!(f, "{}{id}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for FindError<'_> {}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn bare_names_are_what_the_client_does_unconfigured() {
        for (name, id) in [
            ("java", "java/default"),
            ("ruby-kafka", "ruby-kafka/crc32"),
            ("librdkafka", "librdkafka/consistent_random"),
            ("sarama", "sarama/hash"),
            ("kafka-go", "kafka-go/round-robin"),
            ("kafka-node", "kafka-node/default"),
            ("pykafka", "pykafka/random"),
            ("rdkafka-ruby", "rdkafka-ruby/key-consistent_random"),
            ("franz-go", "franz-go/uniform-bytes"),
            ("platformatic", "platformatic/default"),
        ] {
            assert_eq!(find(name).unwrap().id, id);
        }
    }

    #[test]
    fn releases_select_what_held_in_them() {
        for (name, id) in [
            ("java@4.4.0", "java/default"),
            ("java@3.2.3", "java/default@2.4"),
            ("java@2.3", "java/default@0.10"),
            ("java/default@0.11", "java/default@0.10"),
            ("kafkajs@1.16.0", "kafkajs/legacy"),
            ("kafkajs@2.2.4", "kafkajs/default"),
            ("kafka_ex@0.10.0", "kafka_ex/legacy"),
            ("filebeat@7.12", "filebeat/hash@7.12"),
            ("kafka-go/hash@0.2.1", "kafka-go/hash@0.2"),
            ("kafka-go/hash@0.4.50", "kafka-go/hash"),
            ("librdkafka@0.9.0", "librdkafka/random"),
            ("kcat/murmur2_random", "librdkafka/murmur2_random"),
        ] {
            assert_eq!(find(name).unwrap().id, id, "{name}");
        }
    }

    #[test]
    fn errors_say_what_there_is() {
        for (name, hint) in [
            ("brod", "brod/hash"),
            ("internal", "internal/__consumer_offsets"),
            ("jva", "no client of that name"),
            ("java/murmur3", "java/round-robin"),
            ("librdkafka/fnv1a_random@0.11.6", "librdkafka/murmur2"),
            ("java@new", "must follow the @"),
            ("java@0.7", "no default is known"),
        ] {
            let error = find(name).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(hint), "{error}");
        }
    }

    #[test]
    fn ids_are_well_formed_and_unique() {
        for entry in entries() {
            assert_eq!(
                entries().filter(|other| other.id == entry.id).count(),
                1,
                "{}",
                entry.id
            );
            let (client, partitioner) = without_version(entry.id);
            assert!(
                !client.is_empty() && !partitioner.is_empty(),
                "{}",
                entry.id
            );
            assert!(
                !entry.config.is_empty() && !entry.source.is_empty(),
                "{}",
                entry.id
            );
            if let Some(id) = entry.vectors() {
                let other = find(id).unwrap();
                assert_eq!(other.id, id);
            }
        }
    }
}
