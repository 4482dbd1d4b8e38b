//! Every row that Avro for Java made: see `oracle/README.md`.

use std::collections::BTreeSet;

use super::{Avro, incompatibilities};

fn compare(reader: &str, writer: &str) -> String {
    let parse = |text| Avro::parse(text, []).expect("Java reads it");
    let Ok(reasons) = incompatibilities(&parse(reader), &parse(writer)) else {
        return "!".to_owned();
    };
    let reasons: BTreeSet<String> = reasons
        .iter()
        .map(|reason| format!("{}={}", reason.error_type, reason.message))
        .collect();
    match reasons.is_empty() {
        true => "compatible".to_owned(),
        false => Vec::from_iter(reasons).join("; "),
    }
}

#[test]
fn schemas_are_printed_and_compared_as_java_does() {
    let mut different = Vec::new();
    let mut rows = 0;
    for row in include_str!("../../oracle/avro.tsv").lines() {
        rows += 1;
        let columns: Vec<&str> = row.split('\t').collect();
        let (ours, javas) = match columns[..] {
            ["text", text, printed] => {
                let ours = Avro::parse(text, []).and_then(|avro| avro.text(false));
                (ours.unwrap_or_else(|_| "!".to_owned()), printed)
            }
            ["reads", reader, writer, result] => (compare(reader, writer), result),
            _ => panic!("not a row: {row}"),
        };
        if ours != javas {
            different.push(format!("{row}\n  ours: {ours}"));
        }
    }
    assert!(rows > 1000, "{rows} rows");
    assert!(
        different.is_empty(),
        "{} rows:\n{}",
        different.len(),
        different.join("\n")
    );
}
