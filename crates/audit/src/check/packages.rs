//! The packages that clients come in.

use crate::lock::Ecosystem;

use Ecosystem::{CratesIo, Go, Hex, Maven, Npm, NuGet, Packagist, PyPi, RubyGems};

/// Client, ecosystem, packages. A client that is in none of them (Filebeat, kcat) is a program, and
/// no lock file names its release.
const PACKAGES: &[(&str, Ecosystem, &[&str])] = &[
    ("java", Maven, &["org.apache.kafka:kafka-clients"]),
    (
        "spring-cloud-stream",
        Maven,
        &["org.springframework.cloud:spring-cloud-stream"],
    ),
    ("debezium", Maven, &["io.debezium:debezium-core"]),
    ("ruby-kafka", RubyGems, &["ruby-kafka"]),
    ("rdkafka-ruby", RubyGems, &["rdkafka", "karafka-rdkafka"]),
    (
        "sarama",
        Go,
        &["github.com/IBM/sarama", "github.com/Shopify/sarama"],
    ),
    ("kafka-go", Go, &["github.com/segmentio/kafka-go"]),
    ("franz-go", Go, &["github.com/twmb/franz-go"]),
    ("goka", Go, &["github.com/lovoo/goka"]),
    (
        "confluent-kafka-go",
        Go,
        &[
            "github.com/confluentinc/confluent-kafka-go",
            "github.com/confluentinc/confluent-kafka-go/v2",
        ],
    ),
    ("kafkajs", Npm, &["kafkajs"]),
    ("kafka-node", Npm, &["kafka-node"]),
    ("platformatic", Npm, &["@platformatic/kafka"]),
    ("node-rdkafka", Npm, &["node-rdkafka"]),
    (
        "confluent-kafka-javascript",
        Npm,
        &["@confluentinc/kafka-javascript"],
    ),
    ("kafka-python", PyPi, &["kafka-python", "kafka-python-ng"]),
    ("aiokafka", PyPi, &["aiokafka"]),
    ("pykafka", PyPi, &["pykafka"]),
    ("confluent-kafka-python", PyPi, &["confluent-kafka"]),
    ("brod", Hex, &["brod"]),
    ("kafka_ex", Hex, &["kafka_ex"]),
    ("phpkafka", Packagist, &["longlang/phpkafka"]),
    ("kafka-rust", CratesIo, &["kafka"]),
    ("rust-rdkafka", CratesIo, &["rdkafka"]),
    ("confluent-kafka-dotnet", NuGet, &["Confluent.Kafka"]),
];

/// The packages of a client in an ecosystem; none if it is not there.
pub(super) fn of_client(client: &str, ecosystem: Ecosystem) -> &'static [&'static str] {
    let row = PACKAGES
        .iter()
        .find(|(name, of, _)| *name == client && *of == ecosystem);
    row.map_or(&[], |(_, _, packages)| packages)
}

/// Every client of an ecosystem with its packages.
pub(super) fn of_ecosystem(
    ecosystem: Ecosystem,
) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let rows = PACKAGES.iter().filter(move |(_, of, _)| *of == ecosystem);
    rows.map(|(client, _, packages)| (*client, *packages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use copart_partitioners::catalogue;

    #[test]
    fn clients_are_those_of_the_catalogue() {
        for (client, ecosystem, packages) in PACKAGES {
            let known = catalogue::entries().any(|entry| entry.client() == *client)
                || catalogue::names().any(|name| name == *client);
            assert!(known, "{client}");
            assert_eq!(of_client(client, *ecosystem), *packages);
        }
        // Programs and what is no client of its own; every other client has a package.
        let without = ["filebeat", "internal", "librdkafka"];
        for entry in catalogue::entries() {
            let has = PACKAGES
                .iter()
                .any(|(client, ..)| *client == entry.client());
            assert!(
                has != without.contains(&entry.client()),
                "{}",
                entry.client()
            );
        }
    }
}
