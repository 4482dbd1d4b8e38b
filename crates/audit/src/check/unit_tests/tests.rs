use std::path::Path;

use super::*;

fn contract(client: &str, more: &str) -> Contract {
    let text = format!(
        "contract = 1\n[[topic]]\nname = \"orders.v1\"\npartitions = 12\nprofile = \"{client}\"\nkeys = [{{ key = \"user-1\" }}, {{ hex = \"00ff22\" }}, {{ null = true }}]\n{more}"
    );
    Contract::parse(&text, Path::new("copart.toml"))
}

#[test]
fn each_framework_calls_its_clients() {
    for (framework, client, part) in [
        (
            Framework::Rspec,
            "ruby-kafka",
            "Kafka::Partitioner.new.call(count",
        ),
        (Framework::Rspec, "rdkafka-ruby", "Zlib.crc32(key) % count"),
        (
            Framework::Junit,
            "java",
            "Utils.toPositive(Utils.murmur2(key)) % count",
        ),
        (
            Framework::Pytest,
            "aiokafka",
            "from aiokafka.partitioner import DefaultPartitioner",
        ),
        (Framework::Pytest, "librdkafka", "zlib.crc32(key) % count"),
        (
            Framework::Go,
            "sarama/murmur2",
            "sarama.NewMurmur2Partitioner",
        ),
        (Framework::Go, "kafka-go/hash", "&kafka.Hash{}"),
        (Framework::Go, "franz-go", "kgo.UniformBytesPartitioner"),
        (
            Framework::Jest,
            "kafkajs@1.16",
            "LegacyPartitioner ?? Partitioners.DefaultPartitioner",
        ),
        (
            Framework::Rust,
            "sarama",
            "catalogue::find(\"sarama/hash\")",
        ),
    ] {
        let text = unit_tests(&contract(client, ""), framework).unwrap();
        assert!(text.contains(part), "{part}\n{text}");
        let key = if framework == Framework::Rust {
            "\\x00\\xff\\x22"
        } else {
            "\"00ff22\""
        };
        assert!(text.contains(key) && text.contains(MADE), "{text}");
    }
}

#[test]
fn a_default_is_called_as_the_default() {
    let producer = "[[topic.producer]]\nclient = \"kafkajs\"\nlock = \"yarn.lock\"\n";
    let text = unit_tests(&contract("kafkajs/legacy", producer), Framework::Jest).unwrap();
    assert!(
        text.contains("return Partitioners.DefaultPartitioner()("),
        "{text}"
    );
    let configured = format!("{producer}partitioner = \"default\"\n");
    let text = unit_tests(&contract("kafkajs", &configured), Framework::Jest).unwrap();
    assert!(text.contains("JavaCompatiblePartitioner"), "{text}");
}

#[test]
fn what_cannot_be_called_is_said() {
    let error = |client: &str, framework| {
        unit_tests(&contract(client, ""), framework)
            .unwrap_err()
            .to_string()
    };
    assert!(error("kafkajs", Framework::Go).contains("can call sarama, kafka-go, franz-go"));
    assert!(error("kafka-go", Framework::Go).contains("belongs on a partition of its own"));
    let name = Contract::parse(
        "contract = 1\n[[topic]]\nname = \"a\\\"b\"\npartitions = 2\nprofile = \"java\"\nkeys = [{ key = \"x\" }]\n",
        Path::new("c"),
    );
    assert!(
        unit_tests(&name, Framework::Go)
            .unwrap_err()
            .to_string()
            .contains("such a name")
    );
    let invalid = Contract::parse("contract = 1\n", Path::new("c"));
    assert!(unit_tests(&invalid, Framework::Go).is_err());
}
