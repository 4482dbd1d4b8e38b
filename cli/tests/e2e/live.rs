//! Live topics, on the broker that is in the same binary.

use copart::{Client, Partitioning, ProducerRecord};

use crate::broker::{Running, start};
use crate::support::run;

/// Writes records `key-0`, `key-1` … as another client would.
pub(crate) fn write(broker: &Running, topic: &str, like: &str, records: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = Client::builder(broker.bootstrap()).connect().await.unwrap();
        let producer = client
            .producer()
            .partitioner(Partitioning::like(like).unwrap())
            .build()
            .unwrap();
        let mut deliveries = Vec::new();
        for i in 0..records {
            let record = ProducerRecord::to(topic).key(format!("key-{i}")).value("v");
            deliveries.push(producer.enqueue(record).await.unwrap());
        }
        for delivery in deliveries {
            delivery.await.unwrap();
        }
    });
}

fn infer(broker: &Running, topic: &str, more: &[&str]) -> crate::support::Ran {
    let bootstrap = broker.bootstrap();
    let args = ["infer", "--bootstrap", &bootstrap, "--topic", topic];
    run(&[&args[..], more].concat())
}

#[test]
fn the_writer_of_a_topic_is_named() {
    let broker = start(&["--nodes", "3", "--topic", "a:12", "--topic", "b:12"]);
    write(&broker, "a", "java", 600);
    write(&broker, "b", "ruby-kafka", 600);

    let java = infer(&broker, "a", &[]);
    assert_eq!(java.code, 0, "{}{}", java.out, java.err);
    assert!(java.out.contains("topic a: 600 records"), "{}", java.out);
    assert!(
        java.out.contains("600 distinct keys, 12 partitions"),
        "{}",
        java.out
    );
    assert!(java.out.contains("java (100.0 % of keys)"), "{}", java.out);
    // All of it was read, and the cluster said the count: nothing to warn of.
    assert!(!java.out.contains("warning"), "{}", java.out);

    assert_eq!(infer(&broker, "a", &["--expect", "java"]).code, 0);
    let other = infer(&broker, "b", &["--expect", "java"]);
    assert_eq!(other.code, 1, "{}{}", other.out, other.err);
    assert!(other.out.contains("expected not met"), "{}", other.out);
    assert!(other.out.contains("librdkafka"), "{}", other.out);
}

#[test]
fn a_sample_sees_both_ends_of_a_topic() {
    let broker = start(&["--topic", "t:3"]);
    write(&broker, "t", "ruby-kafka", 3000);
    write(&broker, "t", "java", 3000);
    let ran = infer(&broker, "t", &["--records", "1200", "--output", "json"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["verdict"], "mixed", "{}", ran.out);
    let read = report["input"]["records"].as_u64().unwrap();
    assert!((1000..=1200).contains(&read), "{read}");
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("windows over 6,000 offsets"),
        "{warnings}"
    );

    let empty = start(&["--topic", "t:3"]);
    let ran = infer(&empty, "t", &["--isolation", "read_uncommitted"]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
}

#[test]
fn counts_come_from_the_cluster() {
    let broker = start(&["--topic", "t:5"]);
    let bootstrap = broker.bootstrap();
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), "mk-123456\nb\nc\n").unwrap();
    let keys = keys.path().to_str().unwrap();
    let live = ["--bootstrap", &bootstrap, "--topic", "t"];
    for (command, same) in [
        (&["map", keys, "--output", "csv"][..], &["-p", "5"][..]),
        (&["verify", keys, "--clients", "java,kafkajs"], &["-p", "5"]),
        (&["skew", keys], &["-p", "5"]),
    ] {
        let asked = run(&[command, &live].concat());
        let said = run(&[command, same].concat());
        assert_eq!(
            (asked.code, &asked.out),
            (said.code, &said.out),
            "{}",
            asked.err
        );
        assert!(!asked.out.is_empty());
    }
    let both = run(&[&["map", keys, "-p", "7", "--output", "csv"][..], &live].concat());
    let said = run(&["map", keys, "-p", "5,7", "--output", "csv"]);
    assert_eq!(both.out, said.out);

    let moved = ["movement", keys, "--from", "java", "--to", "9"];
    let moved = run(&[&moved[..], &live].concat());
    let said = run(&["movement", keys, "--from", "java:5", "--to", "9"]);
    assert_eq!(
        (moved.code, moved.out),
        (said.code, said.out),
        "{}",
        moved.err
    );
    let needless = ["movement", keys, "--from", "java:5", "--to", "9"];
    assert_eq!(run(&[&needless[..], &live].concat()).code, 2);
}

#[test]
fn what_is_not_there_has_its_exit_code() {
    let broker = start(&["--topic", "t:5"]);
    let missing = infer(&broker, "no-such-topic", &[]);
    assert_eq!(
        (missing.code, missing.out.as_str()),
        (2, ""),
        "{}",
        missing.err
    );
    assert!(
        missing.err.contains("no topic no-such-topic"),
        "{}",
        missing.err
    );

    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap().to_string();
    drop(gone);
    let live = ["--bootstrap", &address, "--topic", "t", "--timeout", "2"];
    for command in [&["infer"][..], &["map", "-"]] {
        let ran = run(&[command, &live].concat());
        assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
        assert!(ran.err.contains(&address), "{}", ran.err);
    }
    let bad = run(&["infer", "--bootstrap", "no port", "--topic", "t"]);
    assert_eq!(bad.code, 2, "{}", bad.err);
    for args in [
        &["infer", "--topic", "t"][..],
        &["infer"],
        &["infer", "--input", "x", "--records", "5"],
        &["infer", "--bootstrap", &address, "--topic", "t", "-p", "3"],
        &[
            "infer",
            "--bootstrap",
            &address,
            "--topic",
            "t",
            "--format",
            "csv",
        ],
        &["map", "-"],
    ] {
        assert_eq!(run(args).code, 2, "{args:?}");
    }
}
