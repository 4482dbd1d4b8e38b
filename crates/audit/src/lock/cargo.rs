//! Cargo: `Cargo.lock`.

use super::toml::string;
use super::{Packages, Wanted, elsewhere, toml};

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    toml::packages(text, "Cargo", wanted, |package| {
        match package.get("source").and_then(string) {
            None => Some(elsewhere("the workspace")),
            Some(source) if source.starts_with("git+") => Some(elsewhere(source)),
            Some(_) => None,
        }
    })
}
