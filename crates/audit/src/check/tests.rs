use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use copart_partitioners::PartitionCount;

use super::*;
use crate::clients::Client;
use crate::infer::testing::{Topic as Records, keys as keys_of};

static GO_ON: AtomicBool = AtomicBool::new(false);

const RUN: Run<'static> = Run {
    threads: 1,
    interrupted: &GO_ON,
};

/// The contract of a repository that has kafkajs 1.16, and `lines` in its topic.
fn contract(lines: &str) -> String {
    format!(
        "contract = 1\n\n[[topic]]\nname = \"orders\"\npartitions = 12\nprofile = \"kafkajs/legacy\"\n{lines}\n\n[[topic.producer]]\nname = \"api\"\nclient = \"kafkajs\"\nlock = \"package-lock.json\"\n"
    )
}

const KEYS: &str = "keys = [{ key = \"100:48069\" }, { key = \"user-1\" }, { key = \"TT0124\" }]";

fn lock(release: &str) -> String {
    format!(
        "{{\n \"lockfileVersion\": 3,\n \"packages\": {{\n  \"node_modules/kafkajs\": {{\n   \"version\": \"{release}\"\n  }}\n }}\n}}"
    )
}

/// A repository in a folder of its own.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new(contract: &str) -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository
            .file("copart.toml", contract)
            .file("package-lock.json", &lock("1.16.0"));
        repository
    }

    fn file(&self, name: &str, content: &str) -> &Self {
        fs::write(self.0.path().join(name), content).unwrap();
        self
    }

    fn check(&self) -> CheckReport {
        self.check_with(None)
    }

    fn check_with(&self, cluster: Option<&mut (dyn Cluster + 'static)>) -> CheckReport {
        let contract = Contract::read(&self.0.path().join("copart.toml")).unwrap();
        check(&contract, cluster, &RUN)
    }
}

/// Rules and lines of the findings.
fn found(report: &CheckReport) -> Vec<(&'static str, u64)> {
    let findings = report.findings.iter();
    findings
        .map(|finding| (finding.rule.id(), finding.line.unwrap_or(0)))
        .collect()
}

#[test]
fn an_upgrade_that_moves_keys_is_named_with_its_line() {
    let repository = Repository::new(&contract(KEYS));
    let report = repository.check();
    assert_eq!(
        (report.verdict, report.exit_code()),
        (CheckVerdict::Kept, 0),
        "{report:#?}"
    );
    let producer = &report.topics[0].producers[0];
    assert_eq!(producer.release.as_deref(), Some("kafkajs 1.16.0"));
    assert_eq!(
        (producer.kept, producer.moved, producer.line),
        (3, 0, Some(5))
    );

    repository.file("package-lock.json", &lock("2.2.4"));
    let report = repository.check();
    assert_eq!(report.exit_code(), 1);
    assert_eq!(found(&report), [("profile-changed", 5)]);
    let finding = &report.findings[0];
    assert!(finding.file.ends_with("package-lock.json"));
    for part in [
        "producer api (kafkajs 2.2.4)",
        "as kafkajs/default, and the contract has kafkajs/legacy",
        "of 3 sample keys move at 12 partitions",
        "Partitioners.LegacyPartitioner",
    ] {
        assert!(
            finding.message.contains(part),
            "{part}: {}",
            finding.message
        );
    }
    assert!(report.topics[0].producers[0].moved > 0);

    // Configured to stay as it was.
    let configured = contract(KEYS) + "partitioner = \"legacy\"\n";
    assert_eq!(
        repository
            .file("copart.toml", &configured)
            .check()
            .exit_code(),
        0
    );
}

#[test]
fn expected_partitions_are_enough_without_a_profile() {
    let lines = "keys-file = \"keys.csv\"";
    let text = contract(lines).replace("profile = \"kafkajs/legacy\"\n", "");
    let repository = Repository::new(&text);
    let legacy = Client::parse("kafkajs/legacy").unwrap();
    let count = PartitionCount::new(12).unwrap();
    let mut rows = String::from("key,partition\n");
    for i in 0..40 {
        let key = format!("1{i}0:48{i}69");
        let place = legacy.profile().place(Some(key.as_bytes()), count);
        let copart_partitioners::Placement::Pinned(partition) = place else {
            panic!("{place:?}")
        };
        rows += &format!("{key},{partition}\n");
    }
    repository.file("keys.csv", &rows);
    assert_eq!(repository.check().exit_code(), 0);
    repository.file("package-lock.json", &lock("2.2.4"));
    let report = repository.check();
    assert_eq!(found(&report), [("keys-elsewhere", 5)]);
    assert!(
        report.topics[0].producers[0].moves[0]
            .file
            .ends_with("keys.csv")
    );

    // Two keys are right by chance too often.
    let few: String = rows
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    repository
        .file("keys.csv", &few)
        .file("package-lock.json", &lock("1.16.0"));
    let report = repository.check();
    assert_eq!(
        (report.exit_code(), found(&report)),
        (4, vec![("no-evidence", 4)])
    );
}

#[test]
fn what_cannot_be_told_is_no_success() {
    let repository = Repository::new(&contract(KEYS));
    for (release, code, rule) in [
        ("2.0.0-rc.1", 4, "unknown-release"),
        ("next", 4, "unknown-release"),
        ("git+https://example.test/fork.git", 4, "unknown-release"),
    ] {
        let report = repository.file("package-lock.json", &lock(release)).check();
        assert_eq!(
            (report.exit_code(), found(&report)),
            (code, vec![(rule, 5)]),
            "{release}"
        );
    }
    repository.file(
        "package-lock.json",
        &lock("1.16.0").replace("kafkajs", "other"),
    );
    let report = repository.check();
    assert_eq!(
        (report.exit_code(), found(&report)),
        (1, vec![("client-not-locked", 9)])
    );
    repository.file("package-lock.json", "{");
    let report = repository.check();
    assert_eq!(
        (report.exit_code(), found(&report)),
        (3, vec![("unreadable-file", 1)])
    );
    fs::remove_file(repository.0.path().join("package-lock.json")).unwrap();
    assert_eq!(found(&repository.check()), [("unreadable-file", 9)]);

    let no_keys = Repository::new(&contract(""));
    let report = no_keys.check();
    assert_eq!(
        (report.exit_code(), found(&report)),
        (4, vec![("no-evidence", 4)])
    );
    let unpinned = contract(KEYS).replace("kafkajs/legacy", "kafka-go");
    let report = Repository::new(&unpinned).check();
    assert_eq!(
        report.exit_code(),
        1,
        "a producer that pins keys nobody should pin"
    );
}

#[test]
fn another_rule_is_told_apart_by_keys_that_are_made_up() {
    let text = "contract = 1\n[[topic]]\nname = \"t\"\npartitions = 8\nprofile = \"java\"\nkeys = [{ key = \"a\" }]\n[[topic.producer]]\nprofile = \"platformatic\"\n";
    // The same at a power of two, for any key.
    let report = Repository::new(text).check();
    assert_eq!(
        (report.exit_code(), found(&report)),
        (0, vec![("other-rule", 7)])
    );
    assert!(!report.findings[0].decides);
    // `b` stays at 12 by chance of its sign, and half of all keys do not.
    let twelve = text.replace("= 8", "= 12").replace("\"a\"", "\"user-1\"");
    let report = Repository::new(&twelve).check();
    assert_eq!(
        (report.exit_code(), found(&report)),
        (1, vec![("profile-changed", 7)]),
        "{report:#?}"
    );
}

#[test]
fn everything_wrong_with_a_contract_is_said_at_once() {
    let text = "contract = 1\nverison = 2\n[cluster]\nrecords = -1\n[[topic]]\nname = \"a\"\npartitions = 0\nprofile = \"jva\"\nkeys = [{ key = \"x\", partition = 3 }, { kay = \"x\" }, 7]\n[[topic.producer]]\nclient = \"kafkajs@2\"\nlock = \"package.json\"\n[[topic.producer]]\nname = \"p\"\n[[topic]]\nname = \"b\"\npartitions = 2\nprofile = \"java\"\nkeys = [{ key = \"x\", partition = 2 }]\n[[topic.records]]\ninput = \"x\"\nproducer = \"nobody\"\n";
    let report = Repository::new(text).check();
    assert_eq!((report.exit_code(), report.topics.len()), (2, 0));
    let messages: Vec<_> = report
        .findings
        .iter()
        .map(|finding| format!("{}: {}", finding.line.unwrap(), finding.message))
        .collect();
    for part in [
        "2: the contract: no field is called `verison`",
        "3: `cluster`: `bootstrap` is missing",
        "4: `cluster`: `records` must be a whole number from 0 to 10000000, and is -1",
        "7: topic a: `partitions` must be a whole number from 1",
        "did you mean `java`?",
        "did you mean `key`?",
        "9: topic a: `keys` 3 must be a table, and is 7",
        "the release comes from the lock file",
        "it has ranges; name package-lock.json",
        "producer p: how is it known what it does?",
        "the topic has no partition 2",
        "no producer is called nobody",
    ] {
        assert!(
            messages.iter().any(|message| message.contains(part)),
            "{part}\n{messages:#?}"
        );
    }
    for (text, hint) in [
        ("contract = 2\n", "reads contracts of version 1"),
        ("", "begin with `contract = 1`"),
        ("contract = 1\n", "at least one [[topic]]"),
        ("contract = \n[x\n", "no TOML"),
        (
            "contract = 1\n[[topic]]\nname = \"a\"\npartitions = 3\n",
            "nothing says where keys belong",
        ),
    ] {
        let report = Repository::new(text).check();
        assert!(report.findings[0].message.contains(hint), "{report:#?}");
        assert_eq!(report.exit_code(), 2);
    }
}

#[test]
fn a_contract_that_contradicts_itself_is_broken() {
    let report = Repository::new(&contract(
        "keys = [{ key = \"user-1\", partition = 0 }, { null = true }]",
    ))
    .check();
    assert!(
        found(&report).contains(&("contract-contradicts", 7)),
        "{report:#?}"
    );
}

/// A cluster with one topic.
struct Fake {
    count: Result<u32, bool>,
    by: &'static str,
}

impl Cluster for Fake {
    fn name(&self) -> &str {
        "fake:9092"
    }

    fn partition_count(&mut self, topic: &str) -> Result<PartitionCount, Error> {
        match self.count {
            Ok(count) => Ok(PartitionCount::new(count).unwrap()),
            Err(true) => Err(Error::usage(format!("no topic {topic}"))),
            Err(false) => {
                let gone = std::io::Error::other("gone");
                Err(Error::cluster("gone", gone))
            }
        }
    }

    fn records(&mut self, _topic: &str, _records: u64) -> Result<Box<dyn RecordSource>, Error> {
        Ok(Box::new(Records::new(12).by(self.by, 12, &keys_of(0, 300))))
    }
}

#[test]
fn the_cluster_is_compared() {
    let repository = Repository::new(&contract(KEYS));
    let asked = |count, by| {
        let mut cluster = Fake { count, by };
        let report = repository.check_with(Some(&mut cluster));
        (report.exit_code(), found(&report), report)
    };
    let (code, findings, report) = asked(Ok(12), "kafkajs@1.16");
    assert_eq!((code, findings), (0, vec![]), "{report:#?}");
    assert_eq!(report.topics[0].records[0].outcome, Outcome::Kept);
    let (code, findings, report) = asked(Ok(12), "kafkajs@2");
    assert_eq!(
        (code, findings),
        (1, vec![("records-elsewhere", 4)]),
        "{report:#?}"
    );
    assert_eq!(asked(Ok(16), "java").1, [("partition-count", 5)]);
    assert_eq!(asked(Err(true), "java").1, [("topic-missing", 4)]);
    let (code, findings, _) = asked(Err(false), "java");
    assert_eq!((code, findings), (5, vec![("cluster-unreached", 0)]));
}

#[test]
fn dumps_are_compared() {
    let lines = format!("{KEYS}\n[[topic.records]]\ninput = \"dump.csv\"");
    let repository = Repository::new(&contract(&lines));
    let rows = |client: &str, keys: std::ops::Range<u32>| {
        let client = Client::parse(client).unwrap();
        let mut text = String::from("partition,key\n");
        for i in keys {
            let key = format!("user-{i}");
            let count = PartitionCount::new(12).unwrap();
            let place = client.profile().place(Some(key.as_bytes()), count);
            if let copart_partitioners::Placement::Pinned(partition) = place {
                text += &format!("{partition},{key}\n");
            }
        }
        text
    };
    let codes = [
        ("kafkajs@1.16", 0..200, 0),
        ("sarama", 0..200, 1),
        ("kafkajs@1.16", 0..2, 4),
    ];
    for (client, keys, code) in codes {
        let report = repository.file("dump.csv", &rows(client, keys)).check();
        assert_eq!(report.exit_code(), code, "{report:#?}");
    }
    repository.file("dump.csv", "partition,key\nx,y\n");
    assert_eq!(repository.check().exit_code(), 3);
}

#[test]
fn init_writes_a_contract_that_is_kept() {
    let options = InitOptions {
        topic: "orders".into(),
        partitions: None,
        bootstrap: Some("localhost:9092".into()),
        keys: 20,
    };
    let repository = Repository::new("");
    let begin = |by: &str, n: u32| {
        let mut source = Records::new(n).by(by, n, &keys_of(0, 300));
        init(&mut source, &options, repository.0.path(), &RUN).unwrap()
    };
    let Written::Contract(text) = begin("kafkajs@1.16", 12) else {
        panic!("undecided")
    };
    for part in [
        "profile = \"kafkajs/legacy\"",
        "client = \"kafkajs\"",
        "lock = \"package-lock.json\"",
        "bootstrap = \"localhost:9092\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("partition = ").count(), 20);
    let report = repository.file("copart.toml", &text).check();
    assert_eq!(report.exit_code(), 0, "{report:#?}");
    repository.file("package-lock.json", &lock("2.2.4"));
    assert_eq!(repository.check().exit_code(), 1);
    // What the client can be configured to do is proposed, and other clients are not.
    let Written::Contract(text) = begin("kafkajs@1.16", 12) else {
        panic!("undecided")
    };
    assert!(text.contains("partitioner = \"legacy\""), "{text}");
    let Written::Contract(text) = begin("sarama", 12) else {
        panic!("undecided")
    };
    assert!(
        text.contains("# kafkajs 2.2.4 of package-lock.json cannot"),
        "{text}"
    );
    // Of twins, the one that a lock file has.
    assert!(matches!(begin("java", 16), Written::Contract(_)));
    fs::remove_file(repository.0.path().join("package-lock.json")).unwrap();
    assert!(matches!(begin("java", 16), Written::Undecided(_)));
    let mut few = Records::new(12).by("java", 12, &keys_of(0, 2));
    let undecided = init(&mut few, &options, Path::new("."), &RUN).unwrap();
    assert!(matches!(undecided, Written::Undecided(_)));
}

#[test]
fn a_run_that_is_interrupted_is_no_success() {
    let repository = Repository::new(&contract(KEYS));
    let contract = Contract::read(&repository.0.path().join("copart.toml")).unwrap();
    let stopped = AtomicBool::new(true);
    let run = Run {
        threads: 1,
        interrupted: &stopped,
    };
    let report = check(&contract, None, &run);
    assert_eq!(
        (report.exit_code(), found(&report)),
        (130, vec![("interrupted", 0)])
    );
}
