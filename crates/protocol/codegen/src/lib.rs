//! The message schema of `copart-protocol`, and the program that turns it into Rust.
//!
//! `cargo run -p copart-protocol-codegen --example write-messages` rewrites `crates/protocol/src/messages/`; a test in
//! `copart-protocol` fails when what is checked in is not what this would write.

mod emit;
mod parse;
pub mod sample;
pub mod schema;

use std::path::{Path, PathBuf};

pub use emit::module_name;
pub use parse::{ParseError, parse};

/// Directory of the schema files.
pub fn schema_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema")
}

/// Directory that the generated files go to.
pub fn output_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/messages")
}

/// Reads every schema file; APIs come out in order of their keys.
pub fn load() -> schema::Schema {
    let dir = schema_dir();
    let mut paths: Vec<_> = std::fs::read_dir(&dir)
        .unwrap_or_else(|e| panic!("cannot list {}: {e}", dir.display()))
        .map(|entry| entry.expect("directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    let mut schema = schema::Schema::default();
    for path in paths {
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
        let part = parse(&text).unwrap_or_else(|e| panic!("{}:{e}", path.display()));
        schema.apis.extend(part.apis);
        schema.messages.extend(part.messages);
    }
    schema.apis.sort_by_key(|api| api.key);
    schema
}

/// The generated files: name and content.
pub fn generate(schema: &schema::Schema) -> Vec<(String, String)> {
    emit::files(schema)
        .into_iter()
        .map(|(name, source)| (name, rustfmt(&source)))
        .collect()
}

/// Formats a source text as `cargo fmt` would, so that the two never disagree.
fn rustfmt(source: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is needed: rustup component add rustfmt");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(source.as_bytes())
        .expect("rustfmt reads its input");
    let output = child.wait_with_output().expect("rustfmt ends");
    assert!(output.status.success(), "rustfmt refused:\n{source}");
    String::from_utf8(output.stdout).expect("rustfmt writes UTF-8")
}
