//! Yarn: `yarn.lock`, of Yarn 1 (a format of its own) and of Yarn 2 and later (YAML).

use super::yaml::{self, Visit};
use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    if text.lines().any(|line| line.starts_with("__metadata:")) {
        berry(text, wanted)
    } else {
        classic(text, wanted)
    }
}

/// ```text
/// "@scope/name@^1.0.0", "@scope/name@^1.2.0":
///   version "1.2.3"
///   resolved "https://registry.yarnpkg.com/…"
/// ```
fn classic(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut found: Vec<Package> = Vec::new();
    let mut begun = false;
    // The package that the lines below belong to.
    let mut current = None;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            let Some(patterns) = line.strip_suffix(':') else {
                return Err(Malformed::new(
                    number,
                    "no lock file of Yarn: a line should end in `:`",
                ));
            };
            begun = true;
            let pattern = patterns
                .split(", ")
                .next()
                .unwrap_or_default()
                .trim_matches('"');
            current = of_pattern(pattern).filter(|(name, _)| wanted(name));
            continue;
        }
        if !begun {
            return Err(Malformed::new(
                number,
                "no lock file of Yarn: a member of nothing",
            ));
        }
        let Some((name, from)) = &current else {
            continue;
        };
        let value = |member: &str| {
            let rest = line
                .strip_prefix("  ")?
                .strip_prefix(member)?
                .strip_prefix(' ')?;
            Some(rest.trim_matches('"'))
        };
        if let Some(version) = value("version") {
            found.push(Package {
                name: (*name).to_owned(),
                release: from.map_or_else(|| Ok(version.to_owned()), |from| Err(elsewhere(from))),
                line: number,
            });
        }
    }
    Ok(found)
}

/// The name in `name@range`, and where it is from if that is no registry.
fn of_pattern(pattern: &str) -> Option<(&str, Option<&str>)> {
    let (name, range) = split(pattern)?;
    if let Some(alias) = range.strip_prefix("npm:") {
        return Some((split(alias).map_or(alias, |(name, _)| name), None));
    }
    // A range has no colon; `git+ssh://…`, `file:…` and `https://…` do.
    Some((name, range.contains(':').then_some(range)))
}

/// At the first `@` that does not begin a scope.
fn split(pattern: &str) -> Option<(&str, &str)> {
    let at = pattern.char_indices().skip(1).find(|(_, c)| *c == '@')?.0;
    Some((&pattern[..at], &pattern[at + 1..]))
}

/// `resolution: "name@npm:1.2.3"` in each entry.
fn berry(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut found = Vec::new();
    yaml::walk(text, &mut |visit: Visit<'_>| {
        let ([_, member], Some(resolution)) = (visit.path, visit.value) else {
            return;
        };
        if member != "resolution" {
            return;
        }
        let Some((name, from)) = split(resolution).filter(|(name, _)| wanted(name)) else {
            return;
        };
        // Peer dependencies are bound in `::`, and change nothing of the package.
        let from = from.split("::").next().unwrap_or(from);
        found.push(Package {
            name: name.to_owned(),
            release: match from.strip_prefix("npm:") {
                Some(version) => Ok(version.to_owned()),
                None if from.starts_with("patch:") => {
                    Err("it is patched, so that it may differ from its release".into())
                }
                None => Err(elsewhere(from)),
            },
            line: visit.line,
        });
    })?;
    Ok(found)
}
