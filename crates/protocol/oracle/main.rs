//! Compares the schema and the codecs with a kafka-clients jar. `./run` starts it; see README.md.

#[path = "../tests/common/mod.rs"]
mod common;
mod facts;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};

use bytes::Bytes;
use copart_protocol_codegen::sample::Rng;
use copart_protocol_codegen::schema::Schema;

/// Random messages for each version of each message.
const SAMPLES: usize = 100;

fn main() -> ExitCode {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let Some((program, arguments)) = command.split_first() else {
        eprintln!("usage: protocol-oracle COMMAND… (what runs the Java program; see oracle/run)");
        return ExitCode::from(2);
    };
    let java = |what: &str| {
        let mut java = Command::new(program);
        java.args(arguments).arg(what).stdout(Stdio::piped());
        java
    };
    let schema = copart_protocol_codegen::load();
    let differences =
        compare_facts(&schema, java("facts")) + compare_bytes(&schema, java("exchange"));
    if differences > 0 {
        println!("{differences} differences");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn compare_facts(schema: &Schema, mut java: Command) -> usize {
    let output = java.output().expect("the Java program starts");
    assert!(output.status.success(), "the Java program failed");
    let jar = String::from_utf8(output.stdout).expect("it prints UTF-8");
    let (ours, theirs) = facts::comparable(schema, &jar);
    for line in ours.difference(&theirs) {
        println!("only in the schema: {line}");
    }
    for line in theirs.difference(&ours) {
        println!("only in the jar: {line}");
    }
    let apis = jar.lines().filter(|line| line.starts_with("api ")).count();
    println!(
        "facts: {} equal; {} of the jar's {apis} APIs",
        ours.intersection(&theirs).count(),
        schema.apis.len()
    );
    ours.symmetric_difference(&theirs).count()
}

fn compare_bytes(schema: &Schema, mut java: Command) -> usize {
    let mut rng = Rng::new(3);
    let mut questions = String::new();
    let mut expected = Vec::new();
    for case in common::cases(schema) {
        for version in case.versions() {
            for _ in 0..SAMPLES {
                let body = case.sample(version, &mut rng);
                let _ = writeln!(questions, "{} {version} {}", case.message.name, hex(&body));
                expected.push(answer(&case, version, body));
            }
        }
    }

    let mut child = java
        .stdin(Stdio::piped())
        .spawn()
        .expect("the Java program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let sent = questions.clone();
    let sender = std::thread::spawn(move || stdin.write_all(sent.as_bytes()));
    let answers: Vec<String> = BufReader::new(child.stdout.take().expect("piped"))
        .lines()
        .collect::<Result<_, _>>()
        .expect("it prints UTF-8");
    sender
        .join()
        .expect("no panic")
        .expect("it reads all questions");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(answers.len(), expected.len(), "an answer for each question");

    let mut differences = 0;
    for ((question, ours), theirs) in questions.lines().zip(&expected).zip(&answers) {
        if ours != theirs {
            differences += 1;
            if differences <= 10 {
                println!("{}", first_difference(question, ours, theirs));
            }
        }
    }
    println!("bytes: {} messages, {differences} differ", expected.len());
    differences
}

/// The question, and where the answers to it part.
fn first_difference(question: &str, ours: &str, theirs: &str) -> String {
    let mut pairs = ours.split(' ').zip(theirs.split(' '));
    let (our, their) = pairs.find(|(a, b)| a != b).unwrap_or((ours, theirs));
    format!("question: {question}\n    ours: {our}\n  theirs: {their}")
}

/// What `java/Exchange.java` answers, by our codecs.
fn answer(case: &common::Case<'_>, version: i16, body: Bytes) -> String {
    let value = match case.which.decode(version, body) {
        Ok(value) => value,
        Err(error) => return format!("undecodable {error}"),
    };
    let mut answer = "0".to_owned();
    for version in case.versions() {
        match value.encode(version) {
            Ok(bytes) => _ = write!(answer, " {version}:{}", hex(&bytes)),
            Err(_) => _ = write!(answer, " {version}:!"),
        }
    }
    answer
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
