//! `copart verify` as a user runs it.

use crate::support::{copart, pipe, run, run_unread};

const KEYS: &str = "docs/examples/user-events.jsonl";

#[test]
fn the_default_clients_disagree_on_the_example() {
    let ran = run(&["verify", KEYS, "-p", "12"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "1,000 keys, 15 of them empty, 19 null",
        "12 partitions: the clients DISAGREE",
        "B  ruby-kafka, librdkafka",
        "user-94675",
        "757365722d3934363735",
        "0xcb477fac -> 4",
        "0x5720e8bb -> 7",
        "ruby-kafka, librdkafka: another hash than java",
        "partitioner=murmur2_random",
        "librdkafka: another rule for empty keys than java",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
}

#[test]
fn clients_that_follow_java_agree_and_null_keys_stand_apart() {
    let clients = "java,librdkafka/murmur2_random,kafkajs";
    let ran = run(&["verify", KEYS, "-p", "12", "--clients", clients]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("Null keys go to: java unpinned"),
        "{}",
        ran.out
    );

    let fail = [
        "verify",
        KEYS,
        "-p",
        "12",
        "--clients",
        clients,
        "--unpinned",
        "fail",
    ];
    assert_eq!(run(&fail).code, 1);
    let skip = [
        "verify",
        KEYS,
        "-p",
        "12",
        "--clients",
        clients,
        "--unpinned",
        "skip",
    ];
    assert_eq!(run(&skip).code, 0);
}

#[test]
fn no_keys_and_null_keys_alone_are_inconclusive() {
    assert_eq!(pipe(b"", &["verify", "-", "-p", "12"]).code, 4);
    let ran = pipe(
        b"null\nnull\n",
        &["verify", "-", "-p", "12", "--format", "jsonl"],
    );
    assert_eq!(ran.code, 4, "{ran:?}");
    // Empty keys tell: Java pins them, librdkafka does not.
    assert_eq!(pipe(b"\n", &["verify", "-", "-p", "12"]).code, 1);
}

#[test]
fn agreement_by_a_power_of_two_is_not_taken_for_agreement() {
    let ran = run(&["verify", KEYS, "-p", "16", "--clients", "java,platformatic"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out
            .contains("they agree at 16 only because 16 is a power of two"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("52 % of keys at 12"), "{}", ran.out);
    assert!(ran.out.contains("compatibilityPartitioner"), "{}", ran.out);
    assert_eq!(
        run(&[
            "verify",
            KEYS,
            "-p",
            "16,12",
            "--clients",
            "java,platformatic"
        ])
        .code,
        1
    );
    let none = [
        "verify",
        KEYS,
        "-p",
        "16",
        "--clients",
        "java,platformatic",
        "--probe",
        "none",
    ];
    assert!(!run(&none).out.contains("power of two"));
}

#[test]
fn each_kind_of_difference_is_named() {
    for (clients, keys, reason) in [
        (
            "sarama,sarama/reference-hash",
            "user-3\nuser-4\nuser-5\n",
            "sign bit is treated differently",
        ),
        (
            "java,ruby-kafka/murmur2",
            "é\nüber\nabcé\n",
            "C's signed char",
        ),
        (
            "java,kafkajs/legacy",
            "user-1\nuser-2\nuser-3\n",
            "another arithmetic",
        ),
        (
            "ruby-kafka,rdkafka-ruby/partition_key-consistent_random",
            "München-1\n",
            "multi-byte",
        ),
        ("java,kafka-go", "user-1\n", "keys ignored, round-robin"),
        (
            "java,hash=xxh32,reduce=mask",
            "user-1\nuser-2\n",
            "another hash than java",
        ),
    ] {
        let ran = pipe(
            keys.as_bytes(),
            &["verify", "-", "-p", "12", "--clients", clients],
        );
        assert_eq!(ran.code, 1, "{clients} {ran:?}");
        assert!(ran.out.contains(reason), "{clients}: {}", ran.out);
    }
}

#[test]
fn placements_that_users_reported() {
    for (key, n, clients, placements) in [
        ("mk-123456", "25", "ruby-kafka,java", ["-> 3", "-> 5"]),
        ("100:48069", "12", "kafkajs/legacy,java", ["-> 6", "-> 9"]),
        ("TT0124", "15", "librdkafka,java", ["-> 9", "-> 10"]),
        (
            "test",
            "840",
            "hash=crc32,reduce=unsigned,hash=crc32,reduce=signed-abs",
            ["-> 76", "-> 180"],
        ),
    ] {
        let ran = pipe(
            key.as_bytes(),
            &["verify", "-", "-p", n, "--clients", clients],
        );
        assert_eq!(ran.code, 1);
        let line = ran
            .out
            .lines()
            .find(|line| line.contains("->") && line.contains(key))
            .unwrap();
        for placement in placements {
            assert!(line.contains(placement), "{line}");
        }
    }
}

#[test]
fn usage_errors_say_what_to_do_and_print_no_result() {
    for (args, hint) in [
        (
            &["verify", KEYS, "-p", "0"][..],
            "1 to 2147483647 partitions",
        ),
        (&["verify", KEYS], "--partitions"),
        (
            &["verify", KEYS, "-p", "12", "--clients", "jva,java"],
            "did you mean `java`?",
        ),
        (
            &["verify", KEYS, "-p", "12", "--clients", "java"],
            "at least two clients",
        ),
        (
            &["verify", KEYS, "-p", "12", "--clients", "java,brod"],
            "brod/hash",
        ),
        (&["verify", KEYS, "-p", "12", "--output", "pdf"], "table"),
        (
            &["verify", KEYS, "-p", "12", "--key-encoding", "latin1"],
            "uuid-dotnet",
        ),
        (&["verify", KEYS, "-p", "12", "--field", "key"], "/key"),
        (
            &["verify", "README.md", "-p", "12", "--field", "key"],
            "--format csv, tsv or jsonl",
        ),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {ran:?}");
        assert!(ran.err.contains(hint), "{}", ran.err);
    }
}

#[test]
fn unreadable_input_is_named_and_prints_no_result() {
    let ran = run(&["verify", "no/such/file", "-p", "12"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("no/such/file"), "{}", ran.err);
    let ran = run(&["verify", "docs", "-p", "12"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("is a directory"), "{}", ran.err);
}

#[test]
fn colors_are_for_terminals() {
    assert!(!run(&["verify", KEYS, "-p", "12"]).out.contains('\x1b'));
}

#[test]
fn carriage_returns_are_warned_of() {
    let ran = pipe(b"a\r\nb\r\n", &["verify", "-", "-p", "12"]);
    assert!(
        ran.out.contains("2 keys end in a carriage return"),
        "{}",
        ran.out
    );
}

/// Ctrl-C while keys still arrive: what was read is reported, marked partial.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_partial_report() {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let mut child = copart()
        .args(["verify", "-", "-p", "12", "--show", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than two blocks arrive before the signal and the end only after it.
    let keys = b"user-123456\n".repeat(100_000);
    stdin.write_all(&keys).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    std::thread::sleep(Duration::from_millis(300));
    let _ = stdin.write_all(&keys);
    drop(stdin);
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(out.contains("PARTIAL"), "{out}");
}

/// `copart verify … | head` must not pass for agreement in a script with `pipefail`.
#[test]
fn a_closed_pipe_does_not_change_the_answer() {
    let ran = run_unread(&["verify", KEYS, "-p", "12", "--show", "100", "-o", "json"]);
    assert_eq!(ran, (Some(1), String::new()));
}

#[test]
fn a_client_that_has_the_closest_setting_is_not_told_to_change_it() {
    let ran = pipe(
        b"\n",
        &[
            "verify",
            "-",
            "-p",
            "12",
            "--clients",
            "ruby-kafka,rdkafka-ruby",
        ],
    );
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("the one it has comes closest"),
        "{}",
        ran.out
    );
}
