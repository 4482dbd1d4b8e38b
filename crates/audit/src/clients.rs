//! The clients that take part in an audit, as the user names them.

use copart_partitioners::catalogue::{self, Entry, Evidence};
use copart_partitioners::{KeyedRule, PartitionCount, Profile};

use crate::Error;

/// A client's partitioner under the name the user gave it.
#[derive(Clone, Debug)]
pub struct Client {
    name: String,
    profile: Profile,
    entry: Option<&'static Entry>,
}

impl Client {
    /// Looks a name up in the catalogue, or reads a user-defined profile (`hash=…,reduce=…`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the nearest known names.
    pub fn parse(name: &str) -> Result<Self, Error> {
        if name.contains('=') {
            let profile = Profile::parse(name).map_err(|e| Error::usage(e.to_string()))?;
            return Ok(Self {
                name: name.to_owned(),
                profile,
                entry: None,
            });
        }
        match catalogue::find(name) {
            Ok(entry) => Ok(Self {
                name: name.to_owned(),
                profile: entry.profile,
                entry: Some(entry),
            }),
            Err(error) => Err(Error::usage(format!("{error}{}", suggestion(name, &error)))),
        }
    }

    /// Reads a list separated by commas. The parts of a user-defined profile have commas too: one
    /// begins with `hash=` and takes the parts with `=` that follow.
    ///
    /// # Errors
    ///
    /// When a name is unknown, appears twice, or there is none.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, Error> {
        let mut names: Vec<String> = Vec::new();
        for part in list
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            match names.last_mut() {
                Some(last)
                    if part.contains('=') && !part.starts_with("hash=") && last.contains('=') =>
                {
                    last.push(',');
                    last.push_str(part);
                }
                _ => names.push(part.to_owned()),
            }
        }
        if names.is_empty() {
            return Err(Error::usage(
                "no client is named; `copart clients` lists them",
            ));
        }
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                return Err(Error::usage(format!("`{name}` is named twice")));
            }
        }
        names.iter().map(|name| Self::parse(name)).collect()
    }

    /// An entry of the catalogue under its id.
    pub(crate) fn of_entry(entry: &'static Entry) -> Self {
        Self {
            name: entry.id.to_owned(),
            profile: entry.profile,
            entry: Some(entry),
        }
    }

    /// The name as the user typed it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Its place in the catalogue; a user-defined profile has none.
    #[must_use]
    pub const fn entry(&self) -> Option<&'static Entry> {
        self.entry
    }

    /// Why its placements have not been checked against the real client, if they have not.
    #[must_use]
    pub fn unverified(&self) -> Option<&'static str> {
        match self.entry?.evidence {
            Evidence::Unverified(why) => Some(why),
            Evidence::Vectors | Evidence::VectorsOf(_) => None,
        }
    }
}

fn suggestion(name: &str, error: &catalogue::FindError<'_>) -> String {
    if !matches!(error, catalogue::FindError::Client { .. }) {
        return String::new();
    }
    let mut near: Vec<_> = catalogue::names()
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, known)| *distance <= 2.max(known.len() / 3))
        .collect();
    near.sort_unstable();
    near.dedup();
    match near.as_slice() {
        [] => "; `copart clients` lists them".into(),
        [(_, first), ..] => format!("; did you mean `{first}`? `copart clients` lists them"),
    }
}

/// Counts at which two rules for a special key would show that they differ.
const TELLING_COUNTS: [u32; 6] = [1, 2, 3, 7, 12, 65_536];

/// Whether two profiles place every key that has bytes alike, at every count.
#[must_use]
pub(crate) fn same_for_keyed(a: &Profile, b: &Profile) -> bool {
    match (a.keyed, b.keyed) {
        // How records are spread is no placement.
        (KeyedRule::Unpinned(_), KeyedRule::Unpinned(_)) => true,
        (a, b) => a == b,
    }
}

/// Whether two profiles place this one key alike, at every count.
#[must_use]
pub(crate) fn same_for_key(a: &Profile, b: &Profile, key: Option<&[u8]>) -> bool {
    TELLING_COUNTS
        .iter()
        .filter_map(|&n| PartitionCount::new(n))
        .all(|n| a.place(key, n) == b.place(key, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_hold_user_defined_profiles() {
        let names = |list| -> Vec<String> {
            Client::parse_list(list)
                .unwrap()
                .iter()
                .map(|c| c.name().to_owned())
                .collect()
        };
        assert_eq!(
            names("java, librdkafka/murmur2"),
            ["java", "librdkafka/murmur2"]
        );
        assert_eq!(
            names("java,hash=crc32,reduce=mask,null=0,hash=fnv1a,reduce=unsigned,kafkajs@1.16"),
            [
                "java",
                "hash=crc32,reduce=mask,null=0",
                "hash=fnv1a,reduce=unsigned",
                "kafkajs@1.16"
            ]
        );
    }

    #[test]
    fn wrong_names_are_answered_with_near_ones() {
        for (list, hint) in [
            ("jva", "did you mean `java`?"),
            (
                "librdkafka/murmur2_randm",
                "librdkafka has no such partitioner",
            ),
            ("ruby_kafka", "did you mean `ruby-kafka`?"),
            ("brod", "brod/hash"),
            ("java,java", "named twice"),
            (" , ", "no client is named"),
            ("something-else-entirely", "`copart clients` lists them"),
        ] {
            let error = Client::parse_list(list).unwrap_err().to_string();
            assert!(error.contains(hint), "{error}");
        }
    }
}
