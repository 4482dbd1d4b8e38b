//! pnpm: `pnpm-lock.yaml`, versions 5 to 9.
//!
//! The keys below `packages` name package and version: `/name/1.2.3_peer` in version 5,
//! `/name@1.2.3(peer)` in 6, `name@1.2.3` in 9.

use super::yaml::{self, Visit};
use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut version = None;
    let mut keys: Vec<(String, u64)> = Vec::new();
    yaml::walk(
        text,
        &mut |visit: Visit<'_>| match (visit.path, visit.value) {
            ([member], Some(value)) if member == "lockfileVersion" => {
                version = Some(value.to_owned())
            }
            ([member, key], None) if member == "packages" => keys.push((key.clone(), visit.line)),
            _ => {}
        },
    )?;
    let Some(version) = version else {
        return Err(Malformed::new(
            1,
            "no lock file of pnpm: it has no `lockfileVersion`",
        ));
    };
    let slashes = version.starts_with("5.");
    let mut found = Vec::new();
    for (key, line) in keys {
        let key = key.strip_prefix('/').unwrap_or(&key);
        let split = if slashes {
            key.rsplit_once('/').map(|(name, version)| {
                (
                    name,
                    version
                        .split_once('_')
                        .map_or(version, |(version, _)| version),
                )
            })
        } else {
            let key = key.split_once('(').map_or(key, |(key, _)| key);
            let at = key.char_indices().skip(1).find(|(_, c)| *c == '@');
            at.map(|(at, _)| (&key[..at], &key[at + 1..]))
        };
        let Some((name, version)) = split.filter(|(name, _)| wanted(name)) else {
            continue;
        };
        let is_release = version.starts_with(|c: char| c.is_ascii_digit());
        found.push(Package {
            name: name.to_owned(),
            release: if is_release {
                Ok(version.to_owned())
            } else {
                Err(elsewhere(version))
            },
            line,
        });
    }
    Ok(found)
}
