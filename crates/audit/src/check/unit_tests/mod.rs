//! Unit tests for another repository: a contract's keys and partitions, as a file in the language of
//! the producer, which calls the partitioner of the client that it is built with.
//!
//! A client's default is called as the default, not by what it is today, so that the test fails when
//! an upgrade changes it. Keys are in hexadecimal: they are bytes, and no language can mistake them.

mod go;
mod java;
mod javascript;
mod python;
mod ruby;
mod rust;

use copart_partitioners::Placement;
use data_encoding::HEXLOWER;

use super::contract::{Contract, Producer, ProducerSource, Topic};
use super::keys;
use crate::Error;
use crate::named::named;

/// Test frameworks that files are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framework {
    /// Ruby.
    Rspec,
    /// Java, JUnit 5.
    Junit,
    /// Python.
    Pytest,
    /// Go's own.
    Go,
    /// JavaScript; Jest, and what has its `test` and `expect`.
    Jest,
    /// Rust's own.
    Rust,
}

impl Framework {
    /// Every framework with its name.
    pub const ALL: &[(Self, &str)] = &[
        (Self::Rspec, "rspec"),
        (Self::Junit, "junit"),
        (Self::Pytest, "pytest"),
        (Self::Go, "go"),
        (Self::Jest, "jest"),
        (Self::Rust, "rust"),
    ];

    /// The clients whose partitioners a file can call.
    const fn clients(self) -> &'static [&'static str] {
        match self {
            Self::Rspec => ruby::CLIENTS,
            Self::Junit => java::CLIENTS,
            Self::Pytest => python::CLIENTS,
            Self::Go => go::CLIENTS,
            Self::Jest => javascript::CLIENTS,
            Self::Rust => &["any"],
        }
    }

    /// How to call a client's partitioner, if that can be done.
    fn call(self, client: &str, partitioner: Option<&str>) -> Option<Call> {
        match self {
            Self::Rspec => ruby::call(client, partitioner),
            Self::Junit => java::call(client, partitioner),
            Self::Pytest => python::call(client, partitioner),
            Self::Go => go::call(client, partitioner),
            Self::Jest => javascript::call(client, partitioner),
            Self::Rust => Some(rust::call(client, partitioner)),
        }
    }
}

named!(Framework, "framework");

/// Code that places one key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    /// Lines that the file begins with.
    imports: Vec<String>,
    /// The expression, of `key` and `count`.
    place: String,
    /// What is called, in words.
    what: String,
}

/// A topic's rows.
struct Suite {
    topic: String,
    partitions: u32,
    call: Call,
    /// Keys in hexadecimal with their partitions.
    rows: Vec<(String, u32)>,
}

/// Writes the file for all topics of a contract.
///
/// # Errors
///
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) when the contract makes no sense, or the framework has
/// no way to call the client; [`ErrorKind::Input`](crate::ErrorKind::Input) when its keys can't be read.
pub fn unit_tests(contract: &Contract, framework: Framework) -> Result<String, Error> {
    if let Some(problem) = contract.problems.first() {
        return Err(Error::usage(format!(
            "{}:{}: {} (`copart check` says all)",
            contract.name, problem.line, problem.what
        )));
    }
    let suites: Vec<Suite> = contract
        .topics
        .iter()
        .map(|topic| suite(contract, topic, framework))
        .collect::<Result<_, _>>()?;
    if let Some(other) = suites.iter().find(|suite| suite.call != suites[0].call) {
        return Err(Error::usage(format!(
            "topics {} and {} are placed by different calls; write a file for each with --topic",
            suites[0].topic, other.topic
        )));
    }
    Ok(match framework {
        Framework::Rspec => ruby::file(&suites),
        Framework::Junit => java::file(&suites),
        Framework::Pytest => python::file(&suites),
        Framework::Go => go::file(&suites),
        Framework::Jest => javascript::file(&suites),
        Framework::Rust => rust::file(&suites),
    })
}

fn suite(contract: &Contract, topic: &Topic, framework: Framework) -> Result<Suite, Error> {
    let mut sample = topic.keys.clone();
    if let Some(file) = &topic.keys_file {
        let shown = file.value.display();
        let keys = keys::read(&file.value, topic.encoding, topic.partitions);
        sample.extend(keys.map_err(|(line, what)| match line {
            Some(line) => Error::input(format!("{shown}:{line}: {what}")),
            None => Error::input(format!("{shown}: {what}")),
        })?);
    }
    let mut rows = Vec::new();
    for key in &sample {
        let Some(bytes) = &key.key else {
            continue;
        };
        let placed = topic
            .profile
            .as_ref()
            .map(|profile| profile.value.profile().place(Some(bytes), topic.partitions));
        let partition = match (key.partition, placed) {
            (Some(partition), _) => partition,
            (None, Some(Placement::Pinned(partition))) => partition.unsigned_abs(),
            _ => continue,
        };
        rows.push((HEXLOWER.encode(bytes), partition));
    }
    if rows.is_empty() {
        return Err(Error::usage(format!(
            "{}: topic {}: no sample key belongs on a partition of its own",
            contract.name, topic.name
        )));
    }
    Ok(Suite {
        topic: topic.name.clone(),
        partitions: topic.partitions.get(),
        call: call(topic, framework)?,
        rows,
    })
}

/// The partitioner of the first producer that the framework can call; of the topic's profile else.
fn call(topic: &Topic, framework: Framework) -> Result<Call, Error> {
    let named = topic.producers.iter().filter_map(of_producer);
    let profile = topic.profile.as_ref().map(|profile| {
        let id = profile
            .value
            .entry()
            .map_or(profile.value.name(), |entry| entry.id);
        split(id)
    });
    let all: Vec<(String, Option<String>)> = named.chain(profile).collect();
    let found = all
        .iter()
        .find_map(|(client, partitioner)| framework.call(client, partitioner.as_deref()));
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(client, _)| client.as_str()).collect();
        Error::usage(format!(
            "topic {}: a file for {framework} can call {}; the contract has {}",
            topic.name,
            framework.clients().join(", "),
            if names.is_empty() {
                "no client".into()
            } else {
                names.join(", ")
            }
        ))
    })
}

fn of_producer(producer: &Producer) -> Option<(String, Option<String>)> {
    match &producer.source {
        ProducerSource::Locked {
            client,
            partitioner,
            ..
        } => Some((client.clone(), partitioner.clone())),
        ProducerSource::Profile(client) => {
            let entry = client.entry()?;
            // The name that the user gave may be the client's alone, which is its default.
            Some(match client.name().split_once(['/', '@']) {
                None => (entry.client().to_owned(), None),
                Some(_) => split(entry.id),
            })
        }
    }
}

/// Client and partitioner of an id.
fn split(id: &str) -> (String, Option<String>) {
    let id = id.split_once('@').map_or(id, |(id, _)| id);
    match id.split_once('/') {
        Some((client, partitioner)) => (client.to_owned(), Some(partitioner.to_owned())),
        None => (id.to_owned(), None),
    }
}

/// A topic's name as an identifier.
fn identifier(topic: &str) -> String {
    topic
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

/// The first line of every file, after the characters that begin a comment.
const MADE: &str = "Written by `copart vectors export` from a partition contract: do not edit.";

#[cfg(test)]
mod tests;
