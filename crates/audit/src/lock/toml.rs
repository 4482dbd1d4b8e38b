//! TOML lock files: tables `[[package]]` with a name and a version.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Malformed, Package, Packages, Wanted, line_at};

/// The packages, where `elsewhere` says of a package's table why it is no release.
pub(super) fn packages(
    text: &str,
    tool: &str,
    wanted: Wanted<'_>,
    elsewhere: impl Fn(&DeTable<'_>) -> Option<String>,
) -> Packages {
    let root = DeTable::parse(text).map_err(|e| {
        let line = e.span().map(|span| line_at(text, span.start));
        Malformed::new(line, format!("no TOML: {}", e.message()))
    })?;
    let root = root.get_ref();
    let Some(packages) = root.get("package") else {
        // A project without dependencies; every lock file says at least who wrote it.
        if root.contains_key("version") || root.contains_key("metadata") {
            return Ok(Vec::new());
        }
        return Err(Malformed::new(
            1,
            format!("no lock file of {tool}: it has no `package`"),
        ));
    };
    let Some(packages) = packages.get_ref().as_array() else {
        let line = line_at(text, packages.span().start);
        return Err(Malformed::new(
            line,
            format!("no lock file of {tool}: `package` is no list"),
        ));
    };
    let mut found = Vec::new();
    for package in packages.iter() {
        let Some(table) = package.get_ref().as_table() else {
            continue;
        };
        let Some(name) = table
            .get("name")
            .and_then(string)
            .filter(|name| wanted(name))
        else {
            continue;
        };
        let version = table.get("version");
        found.push(Package {
            name: name.to_owned(),
            release: match (elsewhere(table), version.and_then(string)) {
                (Some(why), _) => Err(why),
                (None, Some(version)) => Ok(version.to_owned()),
                (None, None) => Err("it has no version there".into()),
            },
            line: line_at(text, version.unwrap_or(package).span().start),
        });
    }
    Ok(found)
}

/// A value's text, if it is text.
pub(super) fn string<'v>(value: &'v Spanned<DeValue<'_>>) -> Option<&'v str> {
    value.get_ref().as_str()
}
