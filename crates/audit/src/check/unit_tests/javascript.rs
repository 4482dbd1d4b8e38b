//! JavaScript: KafkaJS, with Jest's `test` and `expect`.

use std::fmt::Write as _;

use super::{Call, MADE, Suite};

pub(super) const CLIENTS: &[&str] = &["kafkajs"];

pub(super) fn call(client: &str, partitioner: Option<&str>) -> Option<Call> {
    let new = match (client, partitioner) {
        ("kafkajs", None) => "Partitioners.DefaultPartitioner",
        // Release 1 has these under the older names.
        ("kafkajs", Some("legacy")) => {
            "(Partitioners.LegacyPartitioner ?? Partitioners.DefaultPartitioner)"
        }
        ("kafkajs", Some("default")) => {
            "(Partitioners.JavaCompatiblePartitioner ?? Partitioners.DefaultPartitioner)"
        }
        _ => return None,
    };
    Some(Call {
        imports: vec!["const { Partitioners } = require(\"kafkajs\");".into()],
        place: format!("{new}()({{ topic: \"topic\", partitionMetadata, message: {{ key }} }})"),
        what: match partitioner {
            None => "What a producer does with nothing configured.".into(),
            Some(name) => format!("The partitioner {name}."),
        },
    })
}

pub(super) fn file(suites: &[Suite]) -> String {
    let call = &suites[0].call;
    let mut text = format!(
        "// {MADE}\n\"use strict\";\n{}\n\n// {}\nfunction place(key, count) {{\n  const partitionMetadata = Array.from({{ length: count }}, (_, partitionId) => ({{ partitionId, leader: 1 }}));\n  return {};\n}}\n",
        call.imports.join("\n"),
        call.what,
        call.place
    );
    for suite in suites {
        let _ = write!(text, "\ntest.each([\n");
        for (hex, partition) in &suite.rows {
            let _ = writeln!(text, "  [\"{hex}\", {partition}],");
        }
        let _ = write!(
            text,
            "])(\"key %s of topic {} goes to partition %i\", (keyHex, partition) => {{\n  expect(place(Buffer.from(keyHex, \"hex\"), {})).toBe(partition);\n}});\n",
            suite.topic, suite.partitions
        );
    }
    text
}
