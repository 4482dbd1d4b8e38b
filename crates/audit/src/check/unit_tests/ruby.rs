//! Ruby: ruby-kafka; and librdkafka's default, which is what rdkafka-ruby's `key:` is placed by, as
//! Zlib computes it.

use std::fmt::Write as _;

use super::{Call, MADE, Suite};

pub(super) const CLIENTS: &[&str] = &["ruby-kafka", "rdkafka-ruby", "librdkafka"];

pub(super) fn call(client: &str, partitioner: Option<&str>) -> Option<Call> {
    let (import, place, what) = match (client, partitioner) {
        ("ruby-kafka", None | Some("crc32")) => (
            "require \"kafka\"",
            "Kafka::Partitioner.new.call(count, Struct.new(:key, :partition_key).new(key, nil))",
            "ruby-kafka's own, with nothing configured.",
        ),
        ("ruby-kafka", Some("murmur2")) => (
            "require \"kafka\"",
            "Kafka::Partitioner.new(hash_function: :murmur2).call(count, Struct.new(:key, :partition_key).new(key, nil))",
            "ruby-kafka's own, with murmur2.",
        ),
        ("rdkafka-ruby", None | Some("key-consistent_random"))
        | ("librdkafka", None | Some("consistent_random" | "consistent")) => (
            "require \"zlib\"",
            "Zlib.crc32(key) % count",
            "librdkafka's `consistent_random`, which the gem hands `key:` to.",
        ),
        _ => return None,
    };
    Some(Call {
        imports: vec![import.into()],
        place: place.into(),
        what: what.into(),
    })
}

pub(super) fn file(suites: &[Suite]) -> String {
    let call = &suites[0].call;
    let mut text = format!(
        "# {MADE}\n{}\n\nRSpec.describe \"the partition contract\" do\n  # {}\n  def place(key, count)\n    {}\n  end\n",
        call.imports.join("\n"),
        call.what,
        call.place
    );
    for suite in suites {
        text.push_str("\n  [\n");
        for (hex, partition) in &suite.rows {
            let _ = writeln!(text, "    [\"{hex}\", {partition}],");
        }
        let _ = write!(
            text,
            "  ].each do |key_hex, partition|\n    it \"puts key #{{key_hex}} of topic {} on partition #{{partition}}\" do\n      expect(place([key_hex].pack(\"H*\"), {})).to eq(partition)\n    end\n  end\n",
            suite.topic, suite.partitions
        );
    }
    text.push_str("end\n");
    text
}
