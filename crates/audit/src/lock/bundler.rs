//! Bundler: `Gemfile.lock`.
//!
//! ```text
//! GEM
//!   remote: https://rubygems.org/
//!   specs:
//!     ruby-kafka (1.5.0)
//!       digest-crc
//! ```

use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut found = Vec::new();
    let (mut section, mut remote) = ("", "");
    let mut known = false;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim_end();
        if !line.starts_with(' ') {
            section = line;
            known |= matches!(section, "GEM" | "GIT" | "PATH" | "DEPENDENCIES");
            continue;
        }
        if let Some(from) = line.strip_prefix("  remote: ") {
            remote = from;
        }
        // Four spaces: what was chosen. Six: what that depends on.
        let Some(spec) = line
            .strip_prefix("    ")
            .filter(|spec| !spec.starts_with(' '))
        else {
            continue;
        };
        let Some((name, version)) = spec.split_once(" (") else {
            continue;
        };
        if !wanted(name) || !matches!(section, "GEM" | "GIT" | "PATH") {
            continue;
        }
        // A gem for one platform has its name: 1.16.0-x86_64-linux. Gems have no other hyphen.
        let version = version
            .trim_end_matches(')')
            .split('-')
            .next()
            .unwrap_or_default();
        found.push(Package {
            name: name.to_owned(),
            release: if section == "GEM" {
                Ok(version.to_owned())
            } else {
                Err(elsewhere(remote))
            },
            line: number,
        });
    }
    if !known {
        return Err(Malformed::new(
            1,
            "no lock file of Bundler: it has no section GEM",
        ));
    }
    Ok(found)
}
