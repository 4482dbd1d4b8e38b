//! Java: Kafka's own client, with JUnit 5.

use std::fmt::Write as _;

use super::{Call, MADE, Suite, identifier};

pub(super) const CLIENTS: &[&str] = &["java"];

pub(super) fn call(client: &str, partitioner: Option<&str>) -> Option<Call> {
    if client != "java" || !matches!(partitioner, None | Some("default")) {
        return None;
    }
    Some(Call {
        imports: vec!["org.apache.kafka.common.utils.Utils".into()],
        // What every release since 0.8.2 does with a key; BuiltInPartitioner has it since 3.3 only.
        place: "Utils.toPositive(Utils.murmur2(key)) % count".into(),
        what: "What the producer does with a key and nothing configured.".into(),
    })
}

pub(super) fn file(suites: &[Suite]) -> String {
    let call = &suites[0].call;
    let mut text = format!(
        "// {MADE}\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport java.math.BigInteger;\nimport java.util.Arrays;\nimport {};\nimport org.junit.jupiter.api.Test;\n\nclass PartitionContractTest {{\n    /** {} */\n    private static int place(byte[] key, int count) {{\n        return {};\n    }}\n\n    private static void check(String keyHex, int count, int partition) {{\n        // With a byte in front that keeps zeros; it is cut off again.\n        byte[] bytes = new BigInteger(\"01\" + keyHex, 16).toByteArray();\n        byte[] key = Arrays.copyOfRange(bytes, 1, bytes.length);\n        assertEquals(partition, place(key, count), \"key \" + keyHex);\n    }}\n",
        call.imports.join(";\nimport "),
        call.what,
        call.place
    );
    for suite in suites {
        let _ = write!(
            text,
            "\n    @Test\n    void partitionsOf_{}() {{\n",
            identifier(&suite.topic)
        );
        for (hex, partition) in &suite.rows {
            let _ = writeln!(
                text,
                "        check(\"{hex}\", {}, {partition});",
                suite.partitions
            );
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}
