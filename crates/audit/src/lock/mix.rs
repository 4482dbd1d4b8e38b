//! Mix: `mix.lock`, an Elixir map with a package a line:
//! `"brod": {:hex, :brod, "4.6.2", "…", …},`

use super::{Malformed, Package, Packages, Wanted, elsewhere};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    if !text.trim_start().starts_with("%{") {
        return Err(Malformed::new(
            1,
            "no lock file of Mix: it does not begin with `%{`",
        ));
    }
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some((name, rest)) = entry(line) else {
            continue;
        };
        // The package may have another name than the application.
        let words: Vec<&str> = rest
            .trim_start_matches([' ', '{'])
            .splitn(4, ',')
            .map(str::trim)
            .collect();
        let (package, release) = match words.as_slice() {
            [":hex", package, version, ..] => {
                let version = version.trim_matches('"');
                (
                    package.trim_start_matches(':').trim_matches('"'),
                    Ok(version.to_owned()),
                )
            }
            [_, from, ..] => (name, Err(elsewhere(from.trim_matches('"')))),
            _ => continue,
        };
        if wanted(package) {
            found.push(Package {
                name: package.to_owned(),
                release,
                line: number,
            });
        }
    }
    Ok(found)
}

/// `"name": {…` or `name: {…`
fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(": {")?;
    Some((
        name.trim_start().trim_start_matches("%{").trim_matches('"'),
        rest,
    ))
}
