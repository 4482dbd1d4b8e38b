//! The forms of input: each gives the same keys, and bad input is named by file and line.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{pipe, run, run_unread};

/// Keys as `copart map` read them.
fn keys(input: &[u8], args: &[&str]) -> Vec<Option<String>> {
    let mut all = vec!["map", "-", "-p", "12", "--output", "jsonl"];
    all.extend(args);
    let ran = pipe(input, &all);
    assert_eq!(ran.code, 0, "{ran:?}");
    let key_of = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["key_hex"].as_str().map(|hex| {
            let bytes = (0..hex.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&hex[i..i + 2], 16));
            String::from_utf8(bytes.collect::<Result<_, _>>().unwrap()).unwrap()
        })
    };
    ran.out.lines().map(key_of).collect()
}

fn some(keys: &[&str]) -> Vec<Option<String>> {
    keys.iter().map(|key| Some((*key).to_owned())).collect()
}

#[test]
fn lines_are_bytes_and_an_empty_line_is_an_empty_key() {
    assert_eq!(keys(b"a\n\nb ", &[]), some(&["a", "", "b "]));
    assert_eq!(
        keys(b"a\nNULL\n", &["--null-value", "NULL"]),
        [Some("a".into()), None]
    );
}

#[test]
fn nul_delimited_keys_may_hold_line_ends() {
    assert_eq!(
        keys(b"a\nb\0\0c\0", &["--format", "nul"]),
        some(&["a\nb", "", "c"])
    );
}

#[test]
fn csv_by_name_and_by_number() {
    let csv = b"id,\"user, key\"\n1,a\n2,\"b\n\"\"c\"\"\"\n3,\n4,\\N\n";
    let want = [
        Some("a".into()),
        Some("b\n\"c\"".into()),
        Some(String::new()),
        None,
    ];
    for field in ["user, key", "2"] {
        let args = ["--format", "csv", "--field", field, "--null-value", "\\N"];
        assert_eq!(keys(csv, &args), want);
    }
    let args = ["--format", "csv", "--field", "1", "--no-header"];
    assert_eq!(keys(b"x,1\ny,2\n", &args), some(&["x", "y"]));
    assert_eq!(keys(b"key\nx\n", &["--format", "csv"]), some(&["x"]));
}

#[test]
fn tsv_takes_quotes_as_they_are() {
    let args = ["--format", "tsv", "--field", "k"];
    assert_eq!(keys(b"n\tk\n1\t\"q\n2\tz\n", &args), some(&["\"q", "z"]));
}

#[test]
fn json_lines_by_pointer() {
    let input = b"{\"u\":{\"id\":7}}\n{\"u\":{\"id\":null}}\n{\"u\":{\"id\":\"\\u00e9\"}}\n";
    let args = ["--format", "jsonl", "--field", "/u/id"];
    assert_eq!(
        keys(input, &args),
        [Some("7".into()), None, Some("é".into())]
    );
    let args = ["--format", "jsonl", "--field", "/a", "--missing", "null"];
    assert_eq!(
        keys(b"{}\n{\"a\":\"x\"}\n", &args),
        [None, Some("x".into())]
    );
}

#[test]
fn key_encodings_give_bytes() {
    assert_eq!(keys(b"6162\n", &["--key-encoding", "hex"]), some(&["ab"]));
    assert_eq!(
        keys(b"1633837924\n", &["--key-encoding", "int32"]),
        some(&["abcd"])
    );
    assert_eq!(
        keys(b"YWI=\n", &["--key-encoding", "base64"]),
        some(&["ab"])
    );
}

#[test]
fn compressed_files_are_read_as_they_are() {
    for (tool, suffix) in [("gzip", "gz"), ("zstd", "zst")] {
        let Ok(mut child) = Command::new(tool)
            .arg("-c")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
        else {
            eprintln!("{tool} is not installed; the unit tests of the reader cover its format");
            continue;
        };
        let mut stdin = child.stdin.take().unwrap();
        stdin
            .write_all(b"{\"key\":\"a\"}\n{\"key\":null}\n")
            .unwrap();
        drop(stdin);
        let packed = child.wait_with_output().unwrap().stdout;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("keys.jsonl.{suffix}"));
        std::fs::write(&path, &packed).unwrap();
        let ran = run(&[
            "map",
            path.to_str().unwrap(),
            "-p",
            "12",
            "-o",
            "jsonl",
            "--clients",
            "java",
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.out.starts_with("{\"key_hex\":\"61\"") && ran.out.lines().count() == 2,
            "{ran:?}"
        );
        // Standard input has no name to go by.
        assert_eq!(
            keys(&packed, &["--format", "jsonl"]),
            [Some("a".into()), None]
        );
        // A file that was cut short is an error, not fewer keys.
        std::fs::write(&path, &packed[..packed.len() - 6]).unwrap();
        let ran = run(&["verify", path.to_str().unwrap(), "-p", "12"]);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{ran:?}");
    }
}

#[test]
fn bad_input_is_named_by_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    // Far enough into the file that other threads have read on.
    let many = "12\n".repeat(200_000);
    let many_json = "{\"key\":\"a\"}\n".repeat(100_000);
    for (name, content, args, line, what) in [
        (
            "a.txt",
            format!("{many}x\n12\n"),
            &["--key-encoding", "int32"][..],
            200_001,
            "`x` is not a whole number",
        ),
        (
            "b.jsonl",
            format!("{many_json}{{\"kex\":1}}\n"),
            &[],
            100_001,
            "--field says where the key is",
        ),
        ("c.jsonl", "\"a\"\n{\n".into(), &[], 2, "EOF"),
        (
            "d.jsonl",
            "\"a\"\n\n\"b\"\n".into(),
            &[],
            2,
            "an empty line",
        ),
        (
            "e.csv",
            "a,b\n1,\"x\ny\"\n3\n".into(),
            &["--field", "b"],
            4,
            "has 1 of at least 2 columns",
        ),
        (
            "f.txt",
            "zz\n".into(),
            &["--key-encoding", "hex"],
            1,
            "not hexadecimal",
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let path = path.to_str().unwrap();
        let mut all = vec!["verify", path, "-p", "12"];
        all.extend(args);
        let ran = run(&all);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{name} {ran:?}");
        let want = format!("{path}:{line}: ");
        assert!(
            ran.err.contains(&want) && ran.err.contains(what),
            "{want} {}",
            ran.err
        );
    }
    let path = folder.path().join("e.csv");
    let ran = run(&["verify", path.to_str().unwrap(), "-p", "12", "--field", "c"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the columns are a, b"), "{}", ran.err);
}

#[test]
fn map_without_keys_is_inconclusive() {
    let ran = pipe(b"", &["map", "-", "-p", "12"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""));
    assert!(ran.err.contains("there are no keys"));
}

/// `copart map … | head -1` ends quietly and at once.
#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.txt");
    std::fs::write(&path, "user-1\n".repeat(500_000)).unwrap();
    let ran = run_unread(&["map", path.to_str().unwrap(), "-p", "12", "-o", "csv"]);
    assert_eq!(ran, (Some(0), String::new()));
}

#[test]
fn messages_that_nobody_reads_do_not_change_the_exit_code() {
    for (args, code) in [
        (["verify", "no-such-file", "-p", "12"], 3),
        (["map", "/dev/null", "-p", "12"], 4),
        (["verify", "/dev/null", "-p", "0"], 2),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = Command::new(env!("CARGO_BIN_EXE_copart"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(writer)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{args:?}");
    }
}
