//! The partition contract of a repository: `copart.toml`.

use std::path::{Path, PathBuf};

use copart_partitioners::PartitionCount;
use toml::de::DeTable;

use super::fields::{At, Document, Fields};
use super::keys;
use crate::Error;
use crate::clients::Client;
use crate::input::KeyEncoding;
use crate::input::records::{DumpFormat, KcatFormat};
use crate::lock::{self, LockKind, line_at};

/// The version of the format. A contract names it, so that a later copart can tell.
pub const VERSION: i64 = 1;

/// What a repository commits: topics, who writes them, and where keys go.
#[derive(Debug)]
pub struct Contract {
    /// As it is shown in reports.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) topics: Vec<Topic>,
    pub(crate) cluster: Option<ClusterPart>,
    /// What is wrong with it; then nothing else is of use.
    pub(crate) problems: Vec<Problem>,
}

/// Something that is wrong with a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) line: u64,
    pub(crate) what: String,
}

#[derive(Debug)]
pub(crate) struct ClusterPart {
    pub(crate) bootstrap: String,
    pub(crate) line: u64,
    /// The most records to read of each topic; none are if it is 0.
    pub(crate) records: u64,
}

#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) line: u64,
    pub(crate) partitions: PartitionCount,
    pub(crate) partitions_line: u64,
    /// The rule that its keys are placed by.
    pub(crate) profile: Option<At<Client>>,
    pub(crate) encoding: KeyEncoding,
    pub(crate) keys: Vec<SampleKey>,
    pub(crate) keys_file: Option<At<PathBuf>>,
    pub(crate) producers: Vec<Producer>,
    pub(crate) records: Vec<Records>,
}

/// A key whose partition is part of the contract.
#[derive(Clone, Debug)]
pub(crate) struct SampleKey {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) partition: Option<u32>,
    pub(crate) line: u64,
}

#[derive(Debug)]
pub(crate) struct Producer {
    pub(crate) name: String,
    pub(crate) line: u64,
    pub(crate) source: ProducerSource,
}

/// How a producer's rule is known.
#[derive(Debug)]
pub(crate) enum ProducerSource {
    /// The contract says so.
    Profile(Client),
    /// The client's release is in a lock file.
    Locked {
        client: String,
        /// The partitioner that is configured; nothing is without it.
        partitioner: Option<String>,
        lock: PathBuf,
        kind: LockKind,
        /// The package's name, if it is not the usual one.
        package: Option<String>,
    },
}

/// Records that were written.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) input: PathBuf,
    pub(crate) line: u64,
    pub(crate) format: Option<DumpFormat>,
    pub(crate) kcat_format: Option<KcatFormat>,
    pub(crate) encoding: KeyEncoding,
    /// Who wrote them; the topic's own rule is expected otherwise.
    pub(crate) producer: Option<String>,
}

impl Contract {
    /// Reads a contract. One that makes no sense is returned too, for [`check`](super::check()) to
    /// say all that is wrong with it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) when the file can't be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = lock::read(path).map_err(|what| Error::input(format!("{name}: {what}")))?;
        Ok(Self::parse(&text, path))
    }

    pub(crate) fn parse(text: &str, path: &Path) -> Self {
        let mut document = Document {
            text,
            problems: Vec::new(),
        };
        let (root, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let line = error.span().map_or(1, |span| line_at(text, span.start));
            document.complain(line, format!("no TOML: {}", error.message()));
        }
        let mut contract = Self {
            name: path.display().to_string(),
            path: path.to_owned(),
            topics: Vec::new(),
            cluster: None,
            problems: Vec::new(),
        };
        if document.problems.is_empty() {
            let mut fields = Fields::new(root.get_ref(), "the contract", 1);
            contract.fill(&mut fields, &mut document);
            fields.end(&mut document);
        }
        document.problems.sort_by_key(|problem| problem.line);
        contract.problems = document.problems;
        contract
    }

    fn fill(&mut self, fields: &mut Fields<'_, '_>, document: &mut Document<'_>) {
        match fields.number(document, "contract", 1..=i64::MAX) {
            Some(At { value: VERSION, .. }) => {}
            Some(At { value, line }) => document.complain(
                line,
                format!(
                    "this copart reads contracts of version {VERSION}, and this one has {value}"
                ),
            ),
            None if !document.problems.is_empty() => {}
            None => document.complain(
                1,
                format!("the contract's version is missing: begin with `contract = {VERSION}`"),
            ),
        }
        if let Some(mut table) = fields.table(document, "cluster") {
            let bootstrap = table.string(document, "bootstrap");
            let records = table.number(document, "records", 0..=10_000_000);
            table.end(document);
            match bootstrap {
                Some(bootstrap) => {
                    self.cluster = Some(ClusterPart {
                        bootstrap: bootstrap.value,
                        line: bootstrap.line,
                        records: records.map_or(RECORDS, |records| records.value.unsigned_abs()),
                    });
                }
                None => document.complain(
                    table.line,
                    "`cluster`: `bootstrap` is missing: where the cluster is",
                ),
            }
        }
        let folder = self.path.parent().unwrap_or(Path::new("")).to_owned();
        for mut table in fields.tables(document, "topic") {
            if let Some(topic) = topic(&mut table, &folder, document) {
                if self.topics.iter().any(|other| other.name == topic.name) {
                    document.complain(topic.line, format!("topic {} is there twice", topic.name));
                }
                self.topics.push(topic);
            }
        }
        if self.topics.is_empty() && document.problems.is_empty() {
            document.complain(1, "no topic: a contract has at least one [[topic]]");
        }
    }

    /// Where the cluster is that the contract is compared with, if it names one.
    #[must_use]
    pub fn bootstrap(&self) -> Option<&str> {
        self.cluster
            .as_ref()
            .map(|cluster| cluster.bootstrap.as_str())
    }

    /// The names of its topics.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().map(|topic| topic.name.as_str())
    }

    /// Leaves out all other topics than these.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) when it has no topic of a name.
    pub fn keep_topics(&mut self, names: &[String]) -> Result<(), Error> {
        if let Some(missing) = names
            .iter()
            .find(|name| !self.topics().any(|topic| topic == *name))
        {
            let there: Vec<_> = self.topics().collect();
            return Err(Error::usage(format!(
                "{}: no topic {missing}; there are {}",
                self.name,
                there.join(", ")
            )));
        }
        self.topics.retain(|topic| names.contains(&topic.name));
        Ok(())
    }
}

/// Records that are read of a live topic if the contract does not say.
pub(super) const RECORDS: u64 = 10_000;

fn topic(table: &mut Fields<'_, '_>, folder: &Path, document: &mut Document<'_>) -> Option<Topic> {
    let before = document.problems.len();
    let name = table.string(document, "name");
    if let Some(name) = &name {
        table.name = format!("topic {}", name.value);
        if !is_topic(&name.value) {
            document.complain(
                name.line,
                format!(
                    "{}: no topic has such a name: letters, digits, ., _ and -, at most 249",
                    table.name
                ),
            );
        }
    } else if document.problems.len() == before {
        document.complain(table.line, format!("{}: `name` is missing", table.name));
    }
    let partitions = table.number(document, "partitions", 1..=i64::from(i32::MAX));
    if partitions.is_none()
        && !document.problems[before..]
            .iter()
            .any(|p| p.what.contains("`partitions`"))
    {
        document.complain(
            table.line,
            format!("{}: `partitions` is missing: the topic's count", table.name),
        );
    }
    let profile = table.parsed(document, "profile", client);
    let encoding = table.parsed(document, "key-encoding", str::parse);
    let encoding = encoding.map_or(KeyEncoding::default(), |encoding| encoding.value);
    let count = partitions.as_ref().map_or(u32::MAX, |count| {
        u32::try_from(count.value).unwrap_or(u32::MAX)
    });
    let mut keys = Vec::new();
    for mut key in table.tables(document, "keys") {
        keys.extend(sample_key(&mut key, encoding, count, document));
        key.end(document);
    }
    let keys_file = table.string(document, "keys-file").map(|file| At {
        value: folder.join(file.value),
        line: file.line,
    });
    let mut producers: Vec<Producer> = Vec::new();
    for mut producer in table.tables(document, "producer") {
        producer.name = format!("{}, producer {}", table.name, producers.len() + 1);
        producers.extend(self::producer(&mut producer, folder, document));
        producer.end(document);
    }
    let mut records = Vec::new();
    for mut part in table.tables(document, "records") {
        part.name = format!("{}, records", table.name);
        if let Some(part) = self::records(&mut part, folder, encoding, document) {
            if let Some(producer) = &part.producer
                && !producers.iter().any(|known| known.name == *producer)
            {
                document.complain(
                    part.line,
                    format!("{}: no producer is called {producer}", table.name),
                );
            }
            records.push(part);
        }
        part.end(document);
    }
    let expects = keys_file.is_some() || keys.iter().any(|key| key.partition.is_some());
    if profile.is_none() && !expects && document.problems.len() == before {
        document.complain(
            table.line,
            format!(
                "{}: nothing says where keys belong: give `profile`, or keys with their partitions",
                table.name
            ),
        );
    }
    table.end(document);
    let (name, partitions) = (name?, partitions?);
    Some(Topic {
        name: name.value,
        line: name.line,
        partitions: PartitionCount::new(u32::try_from(partitions.value).ok()?)?,
        partitions_line: partitions.line,
        profile,
        encoding,
        keys,
        keys_file,
        producers,
        records,
    })
}

/// Whether brokers take it for a topic's name.
fn is_topic(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=249).contains(&name.len()) && name.chars().all(legal) && name != "." && name != ".."
}

fn client(name: &str) -> Result<Client, String> {
    Client::parse(name).map_err(|e| e.to_string())
}

fn sample_key(
    table: &mut Fields<'_, '_>,
    encoding: KeyEncoding,
    count: u32,
    document: &mut Document<'_>,
) -> Option<SampleKey> {
    let text = table.string(document, "key");
    let hex = table.string(document, "hex");
    let null = table.boolean(document, "null").filter(|null| null.value);
    let partition = table.number(document, "partition", 0..=i64::from(i32::MAX) - 1);
    let line = table.line;
    let bytes = match (text, hex, null) {
        (Some(text), None, None) => keys::encoded(encoding, text.value.as_bytes()).map(Some),
        (None, Some(hex), None) => keys::encoded(KeyEncoding::Hex, hex.value.as_bytes()).map(Some),
        (None, None, Some(_)) => Ok(None),
        (None, None, None) => Err("`key` is missing (or `hex`, or `null = true`)".into()),
        _ => Err("one of `key`, `hex` and `null` is enough".into()),
    };
    let partition = partition.and_then(|partition| u32::try_from(partition.value).ok());
    let outside = partition.filter(|partition| *partition >= count);
    match (bytes, outside) {
        (Ok(key), None) => Some(SampleKey {
            key,
            partition,
            line,
        }),
        (Ok(_), Some(partition)) => {
            document.complain(
                line,
                format!("{}: the topic has no partition {partition}", table.name),
            );
            None
        }
        (Err(what), _) => {
            document.complain(line, format!("{}: {what}", table.name));
            None
        }
    }
}

fn producer(
    table: &mut Fields<'_, '_>,
    folder: &Path,
    document: &mut Document<'_>,
) -> Option<Producer> {
    let name = table.string(document, "name");
    if let Some(name) = &name {
        table.name = format!("producer {}", name.value);
    }
    let profile = table.parsed(document, "profile", self::client);
    let client = table.parsed(document, "client", known_client);
    let partitioner = table.string(document, "partitioner");
    let lock = table.parsed(document, "lock", |lock| {
        Ok((folder.join(lock), LockKind::of_path(Path::new(lock))?))
    });
    let package = table.string(document, "package");
    let line = table.line;
    let given = [&client, &partitioner, &package]
        .iter()
        .any(|field| field.is_some())
        || lock.is_some();
    let source = match (profile, client, lock) {
        (Some(_), _, _) if given => {
            document.complain(line, format!("{}: `profile` says it all, so that `client`, `partitioner`, `lock` and `package` have no meaning beside it", table.name));
            return None;
        }
        (Some(profile), ..) => ProducerSource::Profile(profile.value),
        (None, Some(client), Some(lock)) => {
            if let Some(partitioner) = &partitioner
                && let Err(what) = self::client(&format!("{}/{}", client.value, partitioner.value))
                // One that only older releases have is found with the release.
                && !copart_partitioners::catalogue::entries().any(|entry| {
                    entry.id.starts_with(&format!("{}/{}@", client.value, partitioner.value))
                })
            {
                document.complain(
                    partitioner.line,
                    format!("{}: `partitioner`: {what}", table.name),
                );
                return None;
            }
            ProducerSource::Locked {
                client: client.value,
                partitioner: partitioner.map(|partitioner| partitioner.value),
                lock: lock.value.0,
                kind: lock.value.1,
                package: package.map(|package| package.value),
            }
        }
        _ => {
            // What was given and made no sense is complained of already.
            if !document
                .problems
                .iter()
                .any(|problem| problem.what.starts_with(&table.name))
            {
                document.complain(
                    line,
                    format!(
                        "{}: how is it known what it does? Give `profile`, or `client` and `lock`",
                        table.name
                    ),
                );
            }
            return None;
        }
    };
    let client = match &source {
        ProducerSource::Profile(client) => client.name().to_owned(),
        ProducerSource::Locked { client, .. } => client.clone(),
    };
    Some(Producer {
        name: name.map_or(client, |name| name.value),
        line,
        source,
    })
}

/// A client's name without partitioner and release.
fn known_client(name: &str) -> Result<String, String> {
    if name.contains(['@', '/', '=']) {
        return Err("the client's name alone; the release comes from the lock file, and a partitioner goes to `partitioner`".into());
    }
    match Client::parse(name) {
        Ok(_) => Ok(name.to_owned()),
        // A client without a default is one.
        Err(_) if copart_partitioners::catalogue::entries().any(|entry| entry.client() == name) => {
            Ok(name.to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn records(
    table: &mut Fields<'_, '_>,
    folder: &Path,
    encoding: KeyEncoding,
    document: &mut Document<'_>,
) -> Option<Records> {
    let input = table.string(document, "input");
    let format = table.parsed(document, "format", str::parse);
    let kcat_format = table.parsed(document, "kcat-format", str::parse);
    let own = table.parsed(document, "key-encoding", str::parse);
    let producer = table.string(document, "producer");
    let Some(input) = input else {
        document.complain(
            table.line,
            format!("{}: `input` is missing: a file of records", table.name),
        );
        return None;
    };
    // A dump has text where the topic has bytes, and the topic's encoding says how to get them back.
    let encoding = own.map_or(encoding, |own| own.value);
    Some(Records {
        input: folder.join(input.value),
        line: input.line,
        format: format.map(|format| format.value),
        kcat_format: kcat_format.map(|format| format.value),
        encoding,
        producer: producer.map(|producer| producer.value),
    })
}
