//! NuGet: `packages.lock.json`, which has the packages of each target framework.

use super::json::{line_of, object, parse, string};
use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let lock = parse(text)?;
    let Some(frameworks) = object(&lock, "dependencies") else {
        return Err(Malformed::new(
            1,
            "no lock file of NuGet: it has no `dependencies`",
        ));
    };
    let mut found = Vec::new();
    for (framework, packages) in frameworks {
        for (name, entry) in packages.as_object().into_iter().flatten() {
            if !wanted(name) {
                continue;
            }
            let release = match (string(entry, "resolved"), string(entry, "type")) {
                (Some(version), _) => Ok(version.to_owned()),
                (None, Some("Project")) => Err(elsewhere("a project")),
                (None, _) => Err("it has no `resolved` there".into()),
            };
            found.push(Package {
                name: name.clone(),
                release,
                line: line_of(text, &["dependencies", framework, name, "resolved"]),
            });
        }
    }
    Ok(found)
}
