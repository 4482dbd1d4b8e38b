//! The checked-in codecs are what the schema says.

use std::collections::BTreeSet;

use copart_protocol_codegen::{generate, load, output_dir};

#[test]
fn checked_in_files_are_what_the_generator_writes() {
    let files = generate(&load());
    for (name, expected) in &files {
        let path = output_dir().join(name);
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == *expected,
            "src/messages/{name} is not what the schema says: cargo run -p copart-protocol-codegen --example write-messages"
        );
    }
    let expected: BTreeSet<String> = files.into_iter().map(|(name, _)| name).collect();
    let found: BTreeSet<String> = std::fs::read_dir(output_dir())
        .expect("listed")
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    assert_eq!(
        found, expected,
        "files in src/messages/ that no schema asks for"
    );
}
