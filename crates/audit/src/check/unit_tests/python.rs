//! Python: kafka-python and aiokafka; and librdkafka's default, which confluent-kafka has no way to
//! call, as zlib computes it.

use std::fmt::Write as _;

use super::{Call, MADE, Suite, identifier};

pub(super) const CLIENTS: &[&str] = &[
    "kafka-python",
    "aiokafka",
    "confluent-kafka-python",
    "librdkafka",
];

pub(super) fn call(client: &str, partitioner: Option<&str>) -> Option<Call> {
    let default = matches!(partitioner, None | Some("default"));
    let (import, place, what) = match client {
        "kafka-python" | "aiokafka" if default => {
            let module = if client == "aiokafka" {
                "aiokafka"
            } else {
                "kafka"
            };
            (
                format!("from {module}.partitioner import DefaultPartitioner"),
                "DefaultPartitioner()(key, list(range(count)), list(range(count)))",
                format!("{client}'s own."),
            )
        }
        "confluent-kafka-python" | "librdkafka"
            if matches!(partitioner, None | Some("consistent_random" | "consistent")) =>
        {
            (
                "import zlib".to_owned(),
                "zlib.crc32(key) % count",
                "librdkafka's `consistent_random`, which its Python client has no way to call."
                    .into(),
            )
        }
        _ => return None,
    };
    Some(Call {
        imports: vec![import],
        place: place.into(),
        what,
    })
}

pub(super) fn file(suites: &[Suite]) -> String {
    let call = &suites[0].call;
    let mut text = format!(
        "# {MADE}\nimport pytest\n\n{}\n\n\ndef place(key, count):\n    \"\"\"{}\"\"\"\n    return {}\n",
        call.imports.join("\n"),
        call.what,
        call.place
    );
    for suite in suites {
        text.push_str("\n\n@pytest.mark.parametrize(\n    (\"key_hex\", \"partition\"),\n    [\n");
        for (hex, partition) in &suite.rows {
            let _ = writeln!(text, "        (\"{hex}\", {partition}),");
        }
        let _ = write!(
            text,
            "    ],\n)\ndef test_partitions_of_{}(key_hex, partition):\n    assert place(bytes.fromhex(key_hex), {}) == partition\n",
            identifier(&suite.topic),
            suite.partitions
        );
    }
    text
}
