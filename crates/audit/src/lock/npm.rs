//! npm: `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3.
//!
//! Of a package that is there several times, the one that the project itself gets is at the top of
//! `node_modules`; the others belong to dependencies and matter only where there is none.

use serde_json::Value;

use super::json::{line_of, object, parse, string};
use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let lock = parse(text)?;
    if let Some(packages) = object(&lock, "packages") {
        return Ok(of_packages(text, packages, wanted));
    }
    let Some(dependencies) = object(&lock, "dependencies") else {
        if lock.get("lockfileVersion").is_some() {
            return Ok(Vec::new());
        }
        return Err(Malformed::new(
            1,
            "no lock file of npm: it has neither `packages` nor `dependencies`",
        ));
    };
    let mut found = Vec::new();
    of_dependencies(text, dependencies, wanted, &mut found);
    Ok(found)
}

/// Versions 2 and 3: paths below `node_modules`.
fn of_packages(
    text: &str,
    packages: &serde_json::Map<String, Value>,
    wanted: Wanted<'_>,
) -> Vec<Package> {
    let (mut top, mut deeper) = (Vec::new(), Vec::new());
    for (path, entry) in packages {
        let Some((above, folder)) = path.rsplit_once("node_modules/") else {
            continue;
        };
        // An alias is installed under another name than its own.
        let name = string(entry, "name").unwrap_or(folder);
        if !wanted(name) {
            continue;
        }
        let package = Package {
            name: name.to_owned(),
            release: release(entry),
            line: line_of(text, &["packages", path, "version"]),
        };
        if above.is_empty() {
            &mut top
        } else {
            &mut deeper
        }
        .push(package);
    }
    if top.is_empty() { deeper } else { top }
}

/// Version 1: dependencies within dependencies.
fn of_dependencies(
    text: &str,
    dependencies: &serde_json::Map<String, Value>,
    wanted: Wanted<'_>,
    found: &mut Vec<Package>,
) {
    for (name, entry) in dependencies {
        let alias = string(entry, "version").and_then(|version| version.strip_prefix("npm:"));
        let own = alias
            .and_then(|alias| alias.rsplit_once('@'))
            .map_or(name.as_str(), |(own, _)| own);
        if wanted(own) {
            found.push(Package {
                name: own.to_owned(),
                release: match alias.and_then(|alias| alias.rsplit_once('@')) {
                    Some((_, version)) => Ok(version.to_owned()),
                    None => release(entry),
                },
                line: line_of(text, &["dependencies", name, "version"]),
            });
        }
    }
    if !found.is_empty() {
        return;
    }
    for entry in dependencies.values() {
        if let Some(dependencies) = object(entry, "dependencies") {
            of_dependencies(text, dependencies, wanted, found);
        }
    }
}

fn release(entry: &Value) -> Result<String, String> {
    if entry.get("link").and_then(Value::as_bool) == Some(true) {
        return Err(elsewhere(string(entry, "resolved").unwrap_or("a folder")));
    }
    let version = string(entry, "version").ok_or("it has no version there")?;
    let begins = |prefix: &str| version.starts_with(prefix);
    if ["git", "file:", "http:", "https:", "github:"]
        .iter()
        .any(|prefix| begins(prefix))
    {
        return Err(elsewhere(version));
    }
    match string(entry, "resolved") {
        Some(from) if from.starts_with("git") || from.starts_with("file:") => Err(elsewhere(from)),
        _ => Ok(version.to_owned()),
    }
}
