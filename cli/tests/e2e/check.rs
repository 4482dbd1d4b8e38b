//! `copart check` and `copart vectors export --for` as a user runs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::broker::start;
use crate::support::{Ran, copart, repository, run};

/// The example repository of the documentation, in a folder where it may be changed.
fn example() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["copart.toml", "package.json", "package-lock.json"] {
        let from = repository().join("docs/examples/contract").join(name);
        fs::copy(from, folder.path().join(name)).unwrap();
    }
    folder
}

/// Another release of KafkaJS, as `npm install kafkajs@2.2.4` changes the two files of a package.
fn upgrade(folder: &Path) {
    for name in ["package.json", "package-lock.json"] {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("1.16.0"), "{name}");
        fs::write(path, text.replace("1.16.0", "2.2.4")).unwrap();
    }
}

fn check(folder: &Path, args: &[&str]) -> Ran {
    let mut command: Command = copart();
    command
        .current_dir(folder)
        .arg("check")
        .args(args)
        .output()
        .unwrap()
        .into()
}

#[test]
fn bumping_kafkajs_in_the_package_files_alone_goes_red() {
    let folder = example();
    let green = check(folder.path(), &[]);
    assert_eq!(green.code, 0, "{green:?}");
    assert!(
        green
            .out
            .contains("kept: everything is as the contract says"),
        "{}",
        green.out
    );
    assert!(green.out.contains("kafkajs 1.16.0"), "{}", green.out);

    upgrade(folder.path());
    let red = check(folder.path(), &["--output", "github"]);
    assert_eq!(red.code, 1, "{red:?}");
    let error = red
        .out
        .lines()
        .find(|line| line.starts_with("::error "))
        .unwrap();
    for part in [
        "file=package-lock.json,line=15,",
        "places keys of topic orders as kafkajs/default, and the contract has kafkajs/legacy",
        "of 20 sample keys move at 12 partitions",
        "createPartitioner: Partitioners.LegacyPartitioner",
    ] {
        assert!(error.contains(part), "{part}\n{error}");
    }
    let json = check(folder.path(), &["--output", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let moved = report["topics"][0]["producers"][0]["moved"]
        .as_u64()
        .unwrap();
    assert!(
        moved > 0 && error.contains(&format!("{moved} of 20 sample keys move")),
        "{moved}"
    );

    // Configured as before, and the contract says so.
    let contract = folder.path().join("copart.toml");
    let text = fs::read_to_string(&contract).unwrap();
    let text = text.replace(
        "client = \"kafkajs\"\n",
        "client = \"kafkajs\"\npartitioner = \"legacy\"\n",
    );
    fs::write(&contract, text).unwrap();
    assert_eq!(check(folder.path(), &[]).code, 0);
}

#[test]
fn the_exit_code_says_what_is_the_matter() {
    let folder = example();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    assert_eq!(check(folder.path(), &["no-such.toml"]).code, 3);
    assert_eq!(check(folder.path(), &["--topic", "no-such"]).code, 2);
    assert_eq!(check(folder.path(), &["--topic", "orders"]).code, 0);
    write("bad.toml", "contract = 1\ntopics = 3\n");
    let bad = check(folder.path(), &["bad.toml", "--output", "github"]);
    assert_eq!(bad.code, 2);
    assert!(bad.out.contains("file=bad.toml,line=2,"), "{}", bad.out);
    write("package-lock.json", "{");
    assert_eq!(check(folder.path(), &[]).code, 3);
    write(
        "empty.toml",
        "contract = 1\n[[topic]]\nname = \"a\"\npartitions = 3\nprofile = \"java\"\n",
    );
    assert_eq!(check(folder.path(), &["empty.toml"]).code, 4);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap().to_string();
    drop(gone);
    let folder = example();
    let unreached = check(folder.path(), &["--bootstrap", &address, "--timeout", "2"]);
    assert_eq!(unreached.code, 5, "{unreached:?}");
    for args in [
        &["--init"][..],
        &["--init", "--topic", "t"],
        &["--init", "--topic", "t", "--input", "x"],
        &["--offline", "--bootstrap", "x:1"],
        &["--keys", "5"],
    ] {
        assert_eq!(check(folder.path(), args).code, 2, "{args:?}");
    }
}

#[test]
fn a_contract_is_made_from_a_live_topic_and_compared_with_it() {
    let broker = start(&["--topic", "orders:12", "--topic", "few:12"]);
    let bootstrap = broker.bootstrap();
    crate::live::write(&broker, "orders", "kafkajs@1.16", 400);
    let folder = example();
    // There is one already.
    let init = ["--init", "--topic", "orders", "--bootstrap", &bootstrap];
    assert_eq!(check(folder.path(), &init).code, 2);
    let made = check(folder.path(), &[&["new.toml"][..], &init].concat());
    assert_eq!(
        (made.code, made.out.as_str()),
        (0, "new.toml\n"),
        "{made:?}"
    );
    let kept = check(folder.path(), &["new.toml"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert!(
        kept.out.contains("topic orders: 400 records"),
        "{}",
        kept.out
    );
    upgrade(folder.path());
    assert_eq!(check(folder.path(), &["new.toml"]).code, 1);
    assert_eq!(check(folder.path(), &["new.toml", "--offline"]).code, 1);

    // The records of another client are found in the cluster.
    let folder = example();
    let other = start(&["--topic", "orders:12"]);
    crate::live::write(&other, "orders", "java", 400);
    let report = check(
        folder.path(),
        &["--bootstrap", &other.bootstrap(), "--output", "json"],
    );
    assert_eq!(report.code, 1, "{report:?}");
    assert!(report.out.contains("records-elsewhere"), "{}", report.out);
    let count = start(&["--topic", "orders:6"]);
    let report = check(folder.path(), &["--bootstrap", &count.bootstrap()]);
    assert!(
        report.code == 1 && report.out.contains("partition-count"),
        "{report:?}"
    );
    let missing = start(&["--topic", "t:6"]);
    let report = check(folder.path(), &["--bootstrap", &missing.bootstrap()]);
    assert!(
        report.code == 1 && report.out.contains("topic-missing"),
        "{report:?}"
    );

    let few = [
        "few.toml",
        "--init",
        "--topic",
        "few",
        "--bootstrap",
        &bootstrap,
    ];
    let undecided = check(folder.path(), &few);
    assert_eq!(undecided.code, 4, "{undecided:?}");
    assert!(!folder.path().join("few.toml").exists());
}

#[test]
fn unit_tests_are_written_for_other_repositories() {
    let contract = ["--contract", "docs/examples/contract/copart.toml"];
    let export = |args: &[&str]| run(&[&["vectors", "export"][..], args].concat());
    let jest = export(&[&["--for", "jest"][..], &contract].concat());
    assert_eq!(jest.code, 0, "{jest:?}");
    assert!(
        jest.out.contains("Partitioners.DefaultPartitioner()("),
        "{}",
        jest.out
    );
    assert_eq!(jest.out.matches("  [\"").count(), 20, "{}", jest.out);
    let go = export(&[&["--for", "go"][..], &contract].concat());
    assert_eq!(go.code, 2);
    assert!(go.err.contains("sarama, kafka-go, franz-go"), "{}", go.err);
    assert_eq!(export(&["--for", "cobol"]).code, 2);
    assert_eq!(export(&[]).code, 2);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tests.rs");
    let written = export(&[&["--for", "rust", file.to_str().unwrap()][..], &contract].concat());
    assert_eq!(written.code, 0, "{written:?}");
    assert!(
        fs::read_to_string(file)
            .unwrap()
            .contains("fn partitions_of_orders()")
    );
}
