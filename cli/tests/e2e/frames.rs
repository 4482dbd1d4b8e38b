//! Keys with a schema registry's frame: `--key-frame`.

use crate::support::{pipe, run};

/// An Avro string under schema 1 of Confluent's registry; the same under Apicurio's ids of 8 bytes,
/// and in AWS Glue's frame.
const CONFLUENT: &[u8] = b"00000000010c757365722d31\n";
const APICURIO: &[u8] = b"0000000000000000010c757365722d31\n";
const GLUE: &[u8] = b"03006b1ad2f43c294cbf9c3f0d5c6f0a6a100c757365722d31\n";

/// The key that `copart map` hashed, and its partition.
fn placed(input: &[u8], frame: &str) -> (String, i64) {
    let ran = pipe(
        input,
        &[
            "map",
            "-",
            "-p",
            "12",
            "--clients",
            "java",
            "--key-encoding",
            "hex",
            "--output",
            "jsonl",
            "--key-frame",
            frame,
        ],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let row: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    (
        row["key_hex"].as_str().unwrap().to_owned(),
        row["partitions"]["12"]["java"].as_i64().unwrap(),
    )
}

#[test]
fn one_payload_is_one_key_whatever_frame_it_came_in() {
    let bare = placed(b"0c757365722d31\n", "keep");
    for (input, frame) in [
        (CONFLUENT, "strip-confluent"),
        (APICURIO, "strip-apicurio"),
        (GLUE, "strip-glue"),
    ] {
        assert_eq!(placed(input, frame), bare, "{frame}");
    }
    assert_eq!(
        placed(b"0c757365722d31\n", "add-id=1"),
        placed(CONFLUENT, "keep")
    );
    let other = placed(CONFLUENT, "replace-id=2");
    assert_eq!(other.0, "00000000020c757365722d31");
    assert_ne!(other.1, placed(CONFLUENT, "keep").1);
}

#[test]
fn every_command_that_reads_keys_takes_it_off() {
    let keys = b"00000000010c757365722d31\n00000000020c757365722d31\n";
    let bare = "\"key_hex\": \"0c757365722d31\"";
    for (command, shown) in [
        (
            &["verify", "-p", "12", "--clients", "java,librdkafka"][..],
            bare,
        ),
        (&["movement", "--from", "java:8", "--to", "12"], bare),
        (&["skew", "-p", "12"], bare),
        (&["lint"], "\"findings\": []"),
    ] {
        let mut args = vec![command[0], "-", "--key-encoding", "hex", "--output", "json"];
        args.extend(["--key-frame", "strip-confluent"]);
        args.extend(&command[1..]);
        let ran = pipe(keys, &args);
        assert!(ran.code < 2, "{command:?}: {ran:?}");
        assert!(ran.out.contains(shown), "{command:?}: {}", ran.out);
    }
}

#[test]
fn a_key_without_the_frame_is_named_by_its_line() {
    let keys = b"00000000010c757365722d31\n757365722d31\n";
    let args = ["map", "-", "-p", "12", "--key-encoding", "hex"];
    let framed = |frame| pipe(keys, &[&args[..], &["--key-frame", frame]].concat());
    for frame in ["strip-confluent", "replace-id=2"] {
        let ran = framed(frame);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(
            ran.err
                .contains("standard input:2: the key should begin with Confluent's frame"),
            "{ran:?}"
        );
        assert!(ran.err.contains("757365722d31"), "{ran:?}");
    }
    let ran = framed("strip-glue");
    assert!(ran.err.contains("standard input:1: "), "{ran:?}");
    assert!(
        ran.err.contains("it looks like Confluent's frame"),
        "{ran:?}"
    );
    // A frame that there is not is no reason to read anything.
    let ran = run(&["map", "-", "-p", "12", "--key-frame", "strip"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("strip-apicurio"), "{ran:?}");
}

#[test]
fn null_keys_have_no_frame() {
    let ran = pipe(
        b"{\"key\":null}\n",
        &[
            "map",
            "-",
            "-p",
            "12",
            "--clients",
            "java",
            "--format",
            "jsonl",
            "--output",
            "jsonl",
            "--key-frame",
            "strip-confluent",
        ],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("\"key_hex\":null"), "{ran:?}");
}
