//! Python: requirements files with pinned releases, `Pipfile.lock`, `poetry.lock` and `uv.lock`.

use ::toml::de::DeTable;
use serde_json::Value;

use super::json::{line_of, object, parse, string};
use super::{Malformed, Package, Packages, Wanted, elsewhere, toml};

/// A name as PEP 503 compares it.
pub(super) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.push(c.to_ascii_lowercase()),
        }
    }
    normal
}

/// `name[extra]==1.2.3 ; marker --hash=…`, with `\` at a line's end going on.
pub(super) fn requirements(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut found = Vec::new();
    let mut included = None;
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let mut whole = line.to_owned();
        while let Some(more) = whole.strip_suffix('\\') {
            whole = more.to_owned() + lines.next().map_or("", |(line, _)| line);
        }
        // A comment begins the line or follows a space: URLs have fragments.
        let requirement = match whole.find(" #") {
            _ if whole.trim_start().starts_with('#') => "",
            Some(at) => &whole[..at],
            None => &whole,
        };
        let requirement = requirement.trim();
        if requirement.starts_with('-') {
            let mut words = requirement
                .split([' ', '='])
                .filter(|word| !word.is_empty());
            if matches!(
                words.next(),
                Some("-r" | "--requirement" | "-c" | "--constraint")
            ) {
                included = included.or(words.next().map(|file| (file.to_owned(), number)));
            }
            continue;
        }
        let end = requirement.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        let (name, rest) = requirement.split_at(end.unwrap_or(requirement.len()));
        if !wanted(name) {
            continue;
        }
        let rest = rest.split(';').next().unwrap_or_default();
        let rest = rest.split(" --").next().unwrap_or_default().trim();
        let rest = match rest
            .strip_prefix('[')
            .and_then(|extras| extras.split_once(']'))
        {
            Some((_, rest)) => rest.trim(),
            None => rest,
        };
        found.push(Package {
            name: name.to_owned(),
            release: pinned(rest),
            line: number,
        });
    }
    if found.is_empty()
        && let Some((file, number)) = included
    {
        return Err(Malformed::new(
            number,
            format!("the package is not in this file itself; if it is in `{file}`, name that one"),
        ));
    }
    Ok(found)
}

fn pinned(specifier: &str) -> Result<String, String> {
    if let Some(from) = specifier.strip_prefix('@') {
        return Err(elsewhere(from.trim()));
    }
    let version = specifier
        .strip_prefix("===")
        .or(specifier.strip_prefix("=="));
    match version.map(str::trim) {
        Some(version) if !version.contains([',', '*', ' ']) && !version.is_empty() => {
            Ok(version.to_owned())
        }
        _ => Err(format!(
            "`{specifier}` is no release: pin one with ==, as `pip freeze` and `pip-compile` write it"
        )),
    }
}

pub(super) fn pipfile(text: &str, wanted: Wanted<'_>) -> Packages {
    let lock = parse(text)?;
    if lock.get("_meta").is_none() {
        return Err(Malformed::new(
            1,
            "no lock file of Pipenv: it has no `_meta`",
        ));
    }
    let mut found = Vec::new();
    for section in ["default", "develop"] {
        for (name, entry) in object(&lock, section).into_iter().flatten() {
            if !wanted(name) {
                continue;
            }
            let release = match (string(entry, "version"), source(entry)) {
                (_, Some(from)) => Err(elsewhere(from)),
                (Some(version), None) => pinned(version),
                (None, None) => Err("it has no version there".into()),
            };
            found.push(Package {
                name: name.clone(),
                release,
                line: line_of(text, &[section, name, "version"]),
            });
        }
    }
    Ok(found)
}

fn source(entry: &Value) -> Option<&str> {
    ["git", "path", "file"]
        .iter()
        .find_map(|from| string(entry, from))
}

/// Both have `[[package]]`; what is from elsewhere has a table `source` that says so.
pub(super) fn poetry(text: &str, wanted: Wanted<'_>) -> Packages {
    toml::packages(text, "Poetry or uv", wanted, |package: &DeTable<'_>| {
        let source = package.get("source")?.get_ref().as_table()?;
        let of = |name: &str| source.get(name).and_then(toml::string);
        // Poetry names the kind of source; a registry of one's own is one of them.
        match of("type") {
            Some("legacy") | Some("pypi") => None,
            Some(_) => Some(elsewhere(of("url").unwrap_or("a source"))),
            // uv names the source by its kind.
            None if of("registry").is_some() => None,
            None => {
                let kinds = ["git", "url", "path", "directory", "editable", "virtual"];
                Some(elsewhere(
                    kinds.iter().find_map(|kind| of(kind)).unwrap_or("a source"),
                ))
            }
        }
    })
}
