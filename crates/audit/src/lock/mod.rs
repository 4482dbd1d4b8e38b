//! Which release of a client a repository is built with: what its lock files say.
//!
//! One file for each family of package managers. Each reads one text and returns the packages that
//! were asked for, with the line that names the release. None of them resolves anything: a file
//! that leaves the release open is answered with the reason.

mod bundler;
mod cargo;
mod composer;
mod go;
mod gradle;
mod json;
mod maven;
mod mix;
mod npm;
mod nuget;
mod pnpm;
mod python;
mod toml;
mod yaml;
mod yarn;

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest lock file that is read. Those of large monorepos have a few MiB.
const MAX_BYTES: u64 = 64 << 20;

/// A package as a lock file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The release, or why the file does not say it.
    pub(crate) release: Result<String, String>,
    /// The line that says so, from 1.
    pub(crate) line: u64,
}

/// A file that is not what its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: Option<u64>,
    pub(crate) what: String,
}

impl Malformed {
    fn new(line: impl Into<Option<u64>>, what: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            what: what.into(),
        }
    }
}

/// Packages as a parser returns them: those that `wanted` names.
type Packages = Result<Vec<Package>, Malformed>;

/// Whether a package of this name is looked for.
type Wanted<'w> = &'w dyn Fn(&str) -> bool;

/// Where packages come from; their names mean something within one of these only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ecosystem {
    Npm,
    RubyGems,
    Go,
    PyPi,
    Maven,
    CratesIo,
    Hex,
    Packagist,
    NuGet,
}

impl Ecosystem {
    /// Whether two names are one package.
    pub(crate) fn same(self, a: &str, b: &str) -> bool {
        match self {
            // PEP 503: case does not count, and runs of -, _ and . are one.
            Self::PyPi => python::normal(a) == python::normal(b),
            Self::NuGet | Self::Packagist => a.eq_ignore_ascii_case(b),
            _ => a == b,
        }
    }
}

/// The families of lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    Npm,
    Yarn,
    Pnpm,
    Bundler,
    GoMod,
    Requirements,
    Pipfile,
    /// poetry.lock and uv.lock have the same tables.
    Poetry,
    Maven,
    Gradle,
    Cargo,
    Mix,
    Composer,
    NuGet,
}

impl LockKind {
    /// Every kind with the file names that it usually has.
    pub(crate) const ALL: &[(Self, &[&str])] = &[
        (Self::Npm, &["package-lock.json", "npm-shrinkwrap.json"]),
        (Self::Yarn, &["yarn.lock"]),
        (Self::Pnpm, &["pnpm-lock.yaml"]),
        (Self::Bundler, &["Gemfile.lock", "gems.locked"]),
        (Self::GoMod, &["go.mod"]),
        (Self::Requirements, &["requirements.txt"]),
        (Self::Pipfile, &["Pipfile.lock"]),
        (Self::Poetry, &["poetry.lock", "uv.lock"]),
        (Self::Maven, &["pom.xml"]),
        (Self::Gradle, &["gradle.lockfile"]),
        (Self::Cargo, &["Cargo.lock"]),
        (Self::Mix, &["mix.lock"]),
        (Self::Composer, &["composer.lock"]),
        (Self::NuGet, &["packages.lock.json"]),
    ];

    /// By a file's name; the error says what to name instead.
    pub(crate) fn of_path(path: &Path) -> Result<Self, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let known = Self::ALL.iter().find(|(_, names)| names.contains(&&*name));
        if let Some((kind, _)) = known {
            return Ok(*kind);
        }
        if name.ends_with(".txt") && name.contains("requirements") {
            return Ok(Self::Requirements);
        }
        if name.ends_with(".lockfile") {
            return Ok(Self::Gradle);
        }
        let instead = match &*name {
            "go.sum" => "go.sum lists every release that was looked at; name go.mod",
            "package.json" => "it has ranges; name package-lock.json, yarn.lock or pnpm-lock.yaml",
            "Gemfile" => "it has ranges; name Gemfile.lock",
            "Pipfile" => "it has ranges; name Pipfile.lock",
            "pyproject.toml" => "it has ranges; name poetry.lock or uv.lock",
            "Cargo.toml" => "it has ranges; name Cargo.lock",
            "mix.exs" => "it has ranges; name mix.lock",
            "composer.json" => "it has ranges; name composer.lock",
            "build.gradle" | "build.gradle.kts" => {
                "it is a program; lock its dependencies and name gradle.lockfile"
            }
            _ if name.ends_with(".csproj") => {
                "set RestorePackagesWithLockFile and name packages.lock.json"
            }
            _ => {
                let names: Vec<_> = Self::ALL
                    .iter()
                    .map(|(_, names)| names.join(", "))
                    .collect();
                return Err(format!(
                    "`{name}` is no lock file that is known here; there are {}",
                    names.join(", ")
                ));
            }
        };
        Err(format!(
            "`{name}` does not say which release is built: {instead}"
        ))
    }

    pub(crate) const fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Npm | Self::Yarn | Self::Pnpm => Ecosystem::Npm,
            Self::Bundler => Ecosystem::RubyGems,
            Self::GoMod => Ecosystem::Go,
            Self::Requirements | Self::Pipfile | Self::Poetry => Ecosystem::PyPi,
            Self::Maven | Self::Gradle => Ecosystem::Maven,
            Self::Cargo => Ecosystem::CratesIo,
            Self::Mix => Ecosystem::Hex,
            Self::Composer => Ecosystem::Packagist,
            Self::NuGet => Ecosystem::NuGet,
        }
    }

    /// The packages of these names, each release once.
    pub(crate) fn packages(self, text: &str, names: &[&str]) -> Packages {
        let ecosystem = self.ecosystem();
        let wanted = |name: &str| names.iter().any(|wanted| ecosystem.same(name, wanted));
        // Windows' editors write one, and no parser here expects it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let packages = match self {
            Self::Npm => npm::packages(text, &wanted),
            Self::Yarn => yarn::packages(text, &wanted),
            Self::Pnpm => pnpm::packages(text, &wanted),
            Self::Bundler => bundler::packages(text, &wanted),
            Self::GoMod => go::packages(text, &wanted),
            Self::Requirements => python::requirements(text, &wanted),
            Self::Pipfile => python::pipfile(text, &wanted),
            Self::Poetry => python::poetry(text, &wanted),
            Self::Maven => maven::packages(text, &wanted),
            Self::Gradle => gradle::packages(text, &wanted),
            Self::Cargo => cargo::packages(text, &wanted),
            Self::Mix => mix::packages(text, &wanted),
            Self::Composer => composer::packages(text, &wanted),
            Self::NuGet => nuget::packages(text, &wanted),
        }?;
        let mut distinct: Vec<Package> = Vec::new();
        for package in packages {
            let known = |p: &Package| p.name == package.name && p.release == package.release;
            if !distinct.iter().any(known) {
                distinct.push(package);
            }
        }
        Ok(distinct)
    }
}

/// The text of a file, if it is one and not too large.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {} MiB", MAX_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        format!("it is no text: byte {} is not UTF-8", at + 1)
    })
}

/// The line that a byte of the text is on, from 1.
pub(crate) fn line_at(text: &str, byte: usize) -> u64 {
    let before = &text.as_bytes()[..byte.min(text.len())];
    memchr::memchr_iter(b'\n', before).count() as u64 + 1
}

/// Why a package that is not from a registry has no release that says what it does.
fn elsewhere(from: &str) -> String {
    let shown: String = from.chars().take(200).collect();
    format!("it is taken from {shown}, which may differ from any release")
}

#[cfg(test)]
mod tests;
