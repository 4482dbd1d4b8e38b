//! From a client's release to what it does, by the catalogue; never by a guess.

use copart_partitioners::catalogue::{self, Entry};
use copart_partitioners::{Version, VersionRange};

/// What a release does.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) entry: &'static Entry,
    /// What the answer rests on, if that is more than the release.
    pub(super) note: Option<String>,
}

/// Looks a release up: what it does with nothing configured, or with a partitioner configured.
pub(super) fn resolve(
    client: &str,
    partitioner: Option<&str>,
    release: &str,
) -> Result<Resolved, String> {
    let base = match partitioner {
        Some(partitioner) => format!("{client}/{partitioner}"),
        None => client.to_owned(),
    };
    let unversioned = catalogue::find(&base);
    if let Ok(entry) = unversioned
        && entry.client() != client
    {
        // A binding: which release of librdkafka is inside, its own release does not say.
        let since = entry
            .default_in
            .filter(|_| partitioner.is_none())
            .unwrap_or(entry.versions);
        return Ok(Resolved {
            entry,
            note: Some(format!(
                "{client} {release} is a binding of librdkafka, of which {since} does this"
            )),
        });
    }
    let kafka = (client == "java").then(|| confluent(release)).flatten();
    let (text, note) = match &kafka {
        Some(Some(kafka)) => (
            kafka.as_str(),
            Some(format!("{release} is Confluent's build of Kafka {kafka}")),
        ),
        Some(None) => {
            return Err(format!(
                "which release of Kafka `{release}` is built of is not known here"
            ));
        }
        None => (release, None),
    };
    // What package managers write; anything else would only be an escape of some terminal.
    let usual = |c: char| c.is_ascii_alphanumeric() || ".+-_~!".contains(c);
    let Some(version) = Version::parse(text).filter(|_| text.chars().all(usual)) else {
        return Err(format!("`{}` is no release number", release.escape_debug()));
    };
    if let Some(why) = undecided(client, partitioner, text, version) {
        return Err(why);
    }
    // What is after the numbers may be anything; the catalogue needs the numbers alone.
    let numbers = numbers(text);
    match catalogue::find(&format!("{base}@{numbers}")) {
        Ok(entry) => Ok(Resolved { entry, note }),
        Err(error) => Err(error.to_string()),
    }
}

/// The numbers that a release begins with.
fn numbers(release: &str) -> &str {
    let release = release.strip_prefix('v').unwrap_or(release);
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.');
    release[..end.unwrap_or(release.len())].trim_end_matches('.')
}

/// Why a release is on neither side of a change of the client.
fn undecided(
    client: &str,
    partitioner: Option<&str>,
    release: &str,
    version: Version,
) -> Option<String> {
    let rest = release.strip_prefix('v').unwrap_or(release);
    let rest = &rest[numbers(release).len()..];
    // Build metadata, and Python's post-releases, come after a release and are what it is.
    if rest.is_empty() || rest.starts_with('+') || rest.starts_with(".post") {
        return None;
    }
    // What holds for which releases, of what is asked for.
    let ranges = || {
        let entries = catalogue::entries().filter(|entry| entry.client() == client);
        entries.filter_map(|entry| match partitioner {
            None => entry.default_in,
            Some(partitioner) => {
                let own = entry.id.split_once('/')?.1;
                let own = own.split_once('@').map_or(own, |(own, _)| own);
                (own == partitioner).then_some(entry.versions)
            }
        })
    };
    // Go calls what has no tag before it v0.0.0-DATE-COMMIT.
    if numbers(release) == "0.0.0" {
        let changes = ranges().any(|range| range != VersionRange::ALL);
        return changes.then(|| {
            format!(
                "`{release}` is a commit, and which releases of {client} it is between is not known"
            )
        });
    }
    ranges().any(|range| range.has_bound(version)).then(|| {
        format!("`{release}` comes before the release in which {client}'s partitioners changed, and may have either")
    })
}

/// For a version of Confluent's builds (`7.5.0-ccs`, `7.5.0-ce`): the release of Kafka, if known.
/// Confluent Platform 4.x to 8.x are Kafka 1.x, 2.x (5 and 6), 3.x and 4.x.
fn confluent(release: &str) -> Option<Option<String>> {
    let base = release
        .strip_suffix("-ccs")
        .or(release.strip_suffix("-ce"))?;
    let mut parts = base.split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (parts.next().flatten(), parts.next().flatten());
    Some(match (major, minor) {
        (Some(4), Some(minor @ 0..=1)) => Some(format!("1.{minor}")),
        (Some(5), Some(minor @ 0..=5)) => Some(format!("2.{minor}")),
        (Some(6), Some(minor @ 0..=2)) => Some(format!("2.{}", minor + 6)),
        (Some(7), Some(minor)) => Some(format!("3.{minor}")),
        (Some(8), Some(minor)) => Some(format!("4.{minor}")),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_the_profiles_of_the_catalogue() {
        for (client, partitioner, release, id) in [
            ("kafkajs", None, "1.16.0", "kafkajs/legacy"),
            ("kafkajs", None, "2.2.4", "kafkajs/default"),
            ("kafkajs", Some("legacy"), "2.2.4", "kafkajs/legacy"),
            ("kafkajs", None, "2.1.0-beta.0", "kafkajs/default"),
            ("kafka-go", Some("hash"), "v0.2.1", "kafka-go/hash@0.2"),
            (
                "kafka-go",
                Some("hash"),
                "v0.4.48-0.20240101000000-abcdef012345",
                "kafka-go/hash",
            ),
            (
                "sarama",
                None,
                "v0.0.0-20240101000000-abcdef012345",
                "sarama/hash",
            ),
            ("java", None, "3.9.0", "java/default"),
            ("java", None, "7.5.0-ccs", "java/default"),
            ("java", None, "5.3.1-ccs", "java/default@0.10"),
            ("java", None, "3.9.0.redhat-00001", "java/default"),
            ("kafka-python", None, "2.0.2.post1", "kafka-python/default"),
            (
                "rust-rdkafka",
                None,
                "0.37.0",
                "librdkafka/consistent_random",
            ),
            (
                "confluent-kafka-python",
                Some("murmur2_random"),
                "2.8.0",
                "librdkafka/murmur2_random",
            ),
        ] {
            let resolved = resolve(client, partitioner, release).unwrap();
            assert_eq!(resolved.entry.id, id, "{client} {partitioner:?} {release}");
        }
        let note = resolve("rust-rdkafka", None, "0.37.0")
            .unwrap()
            .note
            .unwrap();
        assert!(note.contains("0.9.1 and later"), "{note}");
    }

    #[test]
    fn what_the_catalogue_cannot_tell_is_said() {
        for (client, partitioner, release, hint) in [
            ("kafkajs", None, "2.0.0-rc.1", "may have either"),
            ("kafkajs", None, "latest", "no release number"),
            ("kafkajs", None, "1.16.0\u{1b}[31m", "no release number"),
            (
                "kafka-go",
                Some("hash"),
                "v0.0.0-20190101000000-abcdef012345",
                "is a commit",
            ),
            ("kafka_ex", None, "0.11.0-rc1", "may have either"),
            ("java", None, "3.1.0-ccs", "not known here"),
            ("java", None, "0.8.2", "no default is known"),
            ("brod", None, "4.6.2", "brod/hash"),
            ("sarama", Some("murmur2"), "v1.40.0", "not in that release"),
        ] {
            let why = resolve(client, partitioner, release).unwrap_err();
            assert!(why.contains(hint), "{client} {release}: {why}");
        }
    }
}
