//! Gradle: `gradle.lockfile`, lines `group:name:version=configuration,…`.

use super::{Malformed, Package, Packages, Wanted};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut found = Vec::new();
    let mut known = false;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((module, _)) = line.split_once('=') else {
            return Err(Malformed::new(
                number,
                "no lock file of Gradle: a line without `=`",
            ));
        };
        known = true;
        // `empty=` lists configurations that lock nothing.
        if let Some((name, version)) = module.rsplit_once(':')
            && wanted(name)
        {
            found.push(Package {
                name: name.to_owned(),
                release: Ok(version.to_owned()),
                line: number,
            });
        }
    }
    if !known {
        return Err(Malformed::new(
            1,
            "no lock file of Gradle: it has no line with `=`",
        ));
    }
    Ok(found)
}
