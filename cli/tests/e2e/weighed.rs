//! `copart movement`, `skew` and `size` as a user runs them.

use crate::support::{pipe, run, run_unread};

const KEYS: &str = "docs/examples/user-events.jsonl";

#[test]
fn a_changed_count_moves_what_arithmetic_expects() {
    let ran = run(&["movement", KEYS, "--from", "java:8", "--to", "12"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "649 of 967 distinct keys (67.1 %) and 663 of 981 records (67.6 %) move from java:8 to java:12",
        "expected of distinct keys: 66.7 %",
        "null keys: 19 records, from unpinned to unpinned",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
}

#[test]
fn both_may_change_at_once() {
    let args = [
        "movement",
        KEYS,
        "--from",
        "ruby-kafka:6",
        "--to",
        "java:12",
        "--output",
        "json",
    ];
    let ran = run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("\"schema\": \"copart.movement/1\""));
    assert!(ran.out.contains("\"algorithm_keys\": "), "{}", ran.out);
}

#[test]
fn limits_are_gates() {
    let moved = |limit| {
        run(&[
            "movement",
            KEYS,
            "--from",
            "java:8",
            "--to",
            "16",
            "--max-moved",
            limit,
        ])
        .code
    };
    assert_eq!((moved("60"), moved("40%")), (0, 1));
    let skewed = |limit| run(&["skew", KEYS, "-p", "12", "--max-skew", limit]).code;
    assert_eq!((skewed("2"), skewed("1.01")), (0, 1));
}

#[test]
fn no_keys_are_no_answer() {
    for input in [&b""[..], b"-\n-\n"] {
        for args in [
            &[
                "movement",
                "-",
                "--from",
                "java:8",
                "--to",
                "12",
                "--null-value",
                "-",
            ][..],
            &["skew", "-", "-p", "12", "--null-value", "-"],
        ] {
            let ran = pipe(input, args);
            assert_eq!(ran.code, 4, "{ran:?}");
            assert!(ran.out.contains("inconclusive: "), "{}", ran.out);
        }
    }
}

#[test]
fn a_row_may_stand_for_many_records() {
    let csv = b"key,records\nbot,900\na,50\nb,50\n";
    let args = [
        "skew",
        "-",
        "--format",
        "csv",
        "--field",
        "key",
        "--count-field",
        "records",
        "-p",
        "12",
    ];
    let ran = pipe(csv, &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("1,000 records in 3 rows; 3 distinct keys"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("90.0 %"), "{}", ran.out);

    let jsonl = b"{\"k\":\"bot\",\"n\":7}\n{\"k\":null,\"n\":3}\n";
    let args = [
        "skew",
        "-",
        "--format",
        "jsonl",
        "--field",
        "/k",
        "--count-field",
        "/n",
        "-p",
        "3",
    ];
    let ran = pipe(jsonl, &args);
    assert!(ran.out.contains("10 records in 2 rows"), "{}", ran.out);
}

#[test]
fn a_bad_count_is_named_with_its_line() {
    let args = [
        "skew",
        "-",
        "--format",
        "csv",
        "--field",
        "key",
        "--count-field",
        "n",
        "-p",
        "3",
    ];
    let ran = pipe(b"key,n\na,1\nb,many\n", &args);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.err.contains("standard input:3: the count is many"),
        "{}",
        ran.err
    );
    let ran = pipe(b"a\n", &["skew", "-", "--count-field", "n", "-p", "3"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("--count-field needs --format csv"),
        "{}",
        ran.err
    );
}

#[test]
fn estimates_are_the_same_for_any_number_of_threads() {
    let keys: String = (0..60_000)
        .map(|i| format!("user-{}\n", i % 40_000))
        .collect();
    let with = |threads: &str| {
        let args = [
            "movement",
            "-",
            "--from",
            "java:8",
            "--to",
            "librdkafka:12",
            "--exact-keys",
            "1000",
            "--threads",
            threads,
            "--output",
            "json",
        ];
        pipe(keys.as_bytes(), &args).out
    };
    let one = with("1");
    assert!(one.contains("\"exact\": false"), "{one}");
    assert_eq!(one, with("4"));
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for (args, hint) in [
        (
            &["movement", KEYS, "--from", "java", "--to", "12"][..],
            "write it as java:12",
        ),
        (
            &["movement", KEYS, "--from", "java:0", "--to", "12"],
            "is no partition count",
        ),
        (
            &[
                "movement",
                KEYS,
                "--from",
                "java:8",
                "--to",
                "12",
                "--max-moved",
                "101",
            ],
            "0 to 100",
        ),
        (
            &["movement", KEYS, "--from", "java:9999", "--to", "9999"],
            "pairs",
        ),
        (
            &["skew", KEYS, "-p", "12", "--max-skew", "0.5"],
            "at least 1",
        ),
        (
            &["skew", KEYS, "-p", "12", "--exact-keys", "0"],
            "1 to 100000000",
        ),
        (&["size", "--throughput", "fast"], "is no rate"),
        (
            &["size", "--throughput", "1MB"],
            "nothing asks for a number of partitions",
        ),
        (
            &[
                "size",
                "--throughput",
                "1MB",
                "--consumers",
                "3",
                "--output",
                "html",
            ],
            "table, json, csv",
        ),
        (
            &[
                "size",
                "--throughput",
                "1MB",
                "--consumers",
                "3",
                "--platform",
                "x",
            ],
            "msk",
        ),
    ] {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?} {ran:?}");
        assert!(ran.err.contains(hint), "{args:?} {}", ran.err);
    }
}

#[test]
fn a_sizing_says_when_no_count_helps() {
    let base = [
        "size",
        "--throughput",
        "100MB/s",
        "--per-partition-out",
        "10MB/s",
    ];
    let ran = run(&base);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("at least 13 partitions"), "{}", ran.out);
    let ran = run(&[&base[..], &["--hot-key", "10%"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("no count helps"), "{}", ran.out);
}

#[test]
fn a_page_needs_nothing_else() {
    for args in [
        &["verify", KEYS, "-p", "12"][..],
        &["movement", KEYS, "--from", "java:8", "--to", "12"],
        &["skew", KEYS, "-p", "12"],
    ] {
        let ran = run(&[args, &["--output", "html"]].concat());
        assert!(ran.out.starts_with("<!doctype html>") && ran.out.ends_with("</html>\n"));
        assert!(ran.err.is_empty() && !ran.out.contains("://"), "{args:?}");
    }
}

#[test]
fn a_reader_that_went_away_changes_no_answer() {
    let args = [
        "movement",
        KEYS,
        "--from",
        "java:8",
        "--to",
        "16",
        "--max-moved",
        "1",
    ];
    assert_eq!(run_unread(&args), (Some(1), String::new()));
}
