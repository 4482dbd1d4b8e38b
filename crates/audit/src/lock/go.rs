//! Go: `go.mod`. Since Go 1.17 it names the release of every module that is built.

use super::{Malformed, Package, Packages, Wanted, elsewhere};

/// A `replace` of a module that is looked for.
struct Replaced {
    path: String,
    /// The release that is replaced; every one without it.
    of: Option<String>,
    release: Result<String, String>,
    line: u64,
}

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let mut found: Vec<Package> = Vec::new();
    let mut replaced: Vec<Replaced> = Vec::new();
    let mut block: Option<String> = None;
    let (mut is_module, mut prunes) = (false, false);
    for (line, number) in text.lines().zip(1..) {
        let line = line.split("//").next().unwrap_or_default().trim();
        let mut words: Vec<&str> = line.split_whitespace().map(unquoted).collect();
        if words.is_empty() {
            continue;
        }
        let verb = match &block {
            Some(_) if words[0] == ")" => {
                block = None;
                continue;
            }
            Some(verb) => verb.clone(),
            None => {
                let verb = words.remove(0).trim_end_matches('(').to_owned();
                if line.ends_with('(') {
                    block = Some(verb);
                    continue;
                }
                verb
            }
        };
        match (verb.as_str(), words.as_slice()) {
            ("module", _) => is_module = true,
            ("go", [version]) => prunes = prunes_graph(version),
            ("require", [path, version]) if wanted(path) => found.push(Package {
                name: (*path).to_owned(),
                release: Ok((*version).to_owned()),
                line: number,
            }),
            ("require", [_, _]) => {}
            ("require", _) => {
                return Err(Malformed::new(
                    number,
                    "require takes a module and a version",
                ));
            }
            ("replace", [path, rest @ ..]) if wanted(path) => {
                let (of, to) = match rest {
                    ["=>", to @ ..] => (None, to),
                    [of, "=>", to @ ..] => (Some((*of).to_owned()), to),
                    _ => {
                        return Err(Malformed::new(
                            number,
                            "replace takes a module, => and another",
                        ));
                    }
                };
                let release = match to {
                    [same, version] if same == path => Ok((*version).to_owned()),
                    to => Err(elsewhere(&to.join(" "))),
                };
                replaced.push(Replaced {
                    path: (*path).to_owned(),
                    of,
                    release,
                    line: number,
                });
            }
            _ => {}
        }
    }
    if !is_module {
        return Err(Malformed::new(1, "no go.mod: it has no line `module`"));
    }
    for package in &mut found {
        let by = replaced.iter().find(|by| {
            let of = by.of.as_ref();
            by.path == package.name && of.is_none_or(|of| package.release.as_ref() == Ok(of))
        });
        if let Some(by) = by {
            package.release.clone_from(&by.release);
            package.line = by.line;
        } else if !prunes {
            // What another module asks for may be newer, and is not written here.
            package.release = Err(
                "go.mod says only the least release before `go 1.17`: run `go mod tidy -go=1.17`"
                    .into(),
            );
        }
    }
    Ok(found)
}

fn prunes_graph(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (1u32, 17u32)
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '`'])
}
