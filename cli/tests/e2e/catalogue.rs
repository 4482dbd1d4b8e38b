//! `copart clients`, `config` and `vectors`.

use crate::support::run;

#[test]
fn the_catalogue_lists_clients_and_what_proves_them() {
    let ran = run(&["clients"]);
    assert_eq!(ran.code, 0);
    for part in [
        "librdkafka/consistent_random",
        "filebeat/hash (unverified)",
        "kafka-go/round-robin",
    ] {
        assert!(ran.out.contains(part), "{part}");
    }
    let ran = run(&["clients", "kafkajs@1.16"]);
    assert!(ran.out.starts_with("kafkajs/legacy\n"), "{}", ran.out);
    assert!(
        ran.out.contains("Partitioners.LegacyPartitioner"),
        "{}",
        ran.out
    );
    assert_eq!(
        run(&["clients", "librdkafka"])
            .out
            .matches("select by")
            .count(),
        7
    );

    let ran = run(&["clients", "--output", "json"]);
    let list: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(list["schema"], "copart.clients/1");
    let clients = list["clients"].as_array().unwrap();
    let java = clients
        .iter()
        .find(|client| client["id"] == "java/default")
        .unwrap();
    assert_eq!(
        (&java["default"], &java["verified"]),
        (&true.into(), &true.into())
    );

    assert_eq!(run(&["clients", "kafka-jss"]).code, 2);
}

#[test]
fn config_gives_the_setting_in_the_clients_own_syntax() {
    let ran = run(&["config", "--from", "librdkafka", "--to", "java"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.out.starts_with("partitioner=murmur2_random\n"),
        "{}",
        ran.out
    );
    let ran = run(&["config", "--from", "kcat", "--to", "sarama"]);
    assert!(
        ran.out.starts_with("partitioner=fnv1a_random\n"),
        "{}",
        ran.out
    );
    let ran = run(&["config", "--from", "platformatic", "--to", "java"]);
    assert!(
        ran.out.contains("Still different: null keys"),
        "{}",
        ran.out
    );
    let ran = run(&["config", "--from", "java", "--to", "ruby-kafka"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("java has no setting"), "{}", ran.out);
    let ran = run(&[
        "config",
        "--from",
        "kafkajs",
        "--to",
        "kafkajs@1",
        "--output",
        "json",
    ]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["setting"]["id"], "kafkajs/legacy");
}

#[test]
fn this_program_passes_its_own_vectors() {
    let ran = run(&["vectors", "verify"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("placements compared, 0 different"),
        "{}",
        ran.out
    );
    let ran = run(&["vectors", "list", "--output", "json"]);
    let list: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(list["files"].as_array().unwrap().len() > 50);
}
