//! Composer: `composer.lock`.

use super::json::{line_of, parse, string};
use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let lock = parse(text)?;
    if lock
        .get("packages")
        .is_none_or(|packages| !packages.is_array())
    {
        return Err(Malformed::new(
            1,
            "no lock file of Composer: it has no list `packages`",
        ));
    }
    let mut found = Vec::new();
    for section in ["packages", "packages-dev"] {
        for package in lock
            .get(section)
            .and_then(|list| list.as_array())
            .into_iter()
            .flatten()
        {
            let Some(name) = string(package, "name").filter(|name| wanted(name)) else {
                continue;
            };
            let release = match string(package, "version") {
                // A branch.
                Some(version) if version.starts_with("dev-") || version.ends_with("-dev") => {
                    Err(elsewhere(version))
                }
                Some(version) => Ok(version.to_owned()),
                None => Err("it has no version there".into()),
            };
            found.push(Package {
                name: name.to_owned(),
                release,
                line: value_line(text, name),
            });
        }
    }
    Ok(found)
}

/// The line of `"version"` after `"name": "…"`.
fn value_line(text: &str, name: &str) -> u64 {
    let quoted = serde_json::Value::from(name).to_string();
    let named = memchr::memmem::find_iter(text.as_bytes(), &quoted)
        .find(|&at| text[..at].trim_end().ends_with(':'));
    let Some(at) = named else {
        return line_of(text, &["packages"]);
    };
    super::line_at(text, at) + line_of(&text[at..], &["version"]) - 1
}
