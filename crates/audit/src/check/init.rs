//! Writes a contract from records: the rule that placed them, sample keys, and the producers whose
//! lock files are beside it.

use std::fmt::Write as _;
use std::path::Path;

use copart_partitioners::catalogue::{self, Entry};
use copart_partitioners::{PartitionCount, Placement, Version};

use super::contract::VERSION;
use super::packages;
use super::release::resolve;
use crate::Error;
use crate::clients::{Client, same_for_keyed};
use crate::infer::{InferOptions, InferReport, InferVerdict, Observed, conclude};
use crate::input::KeyEncoding;
use crate::input::records::RecordSource;
use crate::lock::{self, LockKind};
use crate::pipeline::Run;

/// What a new contract is to have.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// The topic's name.
    pub topic: String,
    /// Its partition count, if the source does not know it.
    pub partitions: Option<PartitionCount>,
    /// Where the cluster is, if the contract is to be compared with it.
    pub bootstrap: Option<String>,
    /// Sample keys.
    pub keys: usize,
}

/// What came of it.
#[derive(Debug)]
pub enum Written {
    /// The contract's text.
    Contract(String),
    /// No rule can be named that placed these records, and so none be promised.
    Undecided(Box<InferReport>),
}

/// Reads records and writes a contract that they keep, for a file in `folder`.
///
/// # Errors
///
/// When the source can't be read.
pub fn init(
    source: &mut dyn RecordSource,
    options: &InitOptions,
    folder: &Path,
    run: &Run<'_>,
) -> Result<Written, Error> {
    let observed = Observed::read(source, options.partitions, run)?;
    let asked = InferOptions {
        partitions: options.partitions,
        expect: None,
        show: 10,
    };
    let report = conclude(&observed, &asked, run.threads);
    let found = match (report.verdict, report.components.as_slice()) {
        (InferVerdict::OneProfile | InferVerdict::Twins, [found]) if !report.partial => found,
        _ => return Ok(Written::Undecided(Box::new(report))),
    };
    let count = PartitionCount::new(report.partitions.count).unwrap_or(PartitionCount::ONE);
    // The keys as they stand, or text that stands for the bytes that were hashed.
    let encoding = match found.key_bytes {
        "as-is" => Some(KeyEncoding::Utf8),
        view => view
            .strip_prefix("text-as-")
            .and_then(|name| name.parse().ok()),
    };
    let rules: Vec<Client> = std::iter::once(&found.profile)
        .chain(found.twins.iter().map(|twin| &twin.profile))
        .filter_map(|name| Client::parse(name).ok())
        .collect();
    let beside = beside(folder);
    let fitting = beside.iter().find_map(|locked| {
        let rule = rules
            .iter()
            .find(|rule| same_for_keyed(rule.profile(), &locked.entry.profile));
        rule.map(|_| locked)
    });
    let profile = match (report.verdict, fitting, rules.first()) {
        // The lock file says which of the twins it is.
        (_, Some(locked), _) => Client::of_entry(locked.entry),
        (InferVerdict::OneProfile, None, Some(rule)) => rule.clone(),
        _ => return Ok(Written::Undecided(Box::new(report))),
    };
    let Some(encoding) = encoding else {
        return Ok(Written::Undecided(Box::new(report)));
    };
    let text = Writer {
        options,
        count,
        profile: &profile,
        encoding,
        keys: sample(&observed, &profile, encoding, count, options.keys),
        beside: &beside,
    };
    Ok(Written::Contract(text.write()))
}

/// A client that a lock file beside the contract has.
struct Locked {
    client: &'static str,
    file: &'static str,
    release: String,
    /// What it does with nothing configured, or, if it has no default, the partitioner it may have.
    entry: &'static Entry,
}

fn beside(folder: &Path) -> Vec<Locked> {
    let mut found = Vec::new();
    let files = LockKind::ALL
        .iter()
        .flat_map(|(kind, names)| names.iter().map(move |name| (*kind, *name)));
    for (kind, file) in files {
        let Ok(text) = lock::read(&folder.join(file)) else {
            continue;
        };
        for (client, names) in packages::of_ecosystem(kind.ecosystem()) {
            let Ok(packages) = kind.packages(&text, names) else {
                continue;
            };
            for release in packages
                .into_iter()
                .filter_map(|package| package.release.ok())
            {
                if let Ok(resolved) = resolve(client, None, &release) {
                    found.push(Locked {
                        client,
                        file,
                        release,
                        entry: resolved.entry,
                    });
                }
            }
        }
    }
    found
}

/// The partitioner that makes a release place keys by a rule, if it has one.
fn partitioner(locked: &Locked, profile: &Client) -> Option<&'static str> {
    let version = Version::parse(&locked.release);
    let binding = locked.entry.client() != locked.client;
    let of = locked.entry.client();
    catalogue::entries()
        .filter(|entry| entry.client() == of && same_for_keyed(&entry.profile, profile.profile()))
        .find(|entry| binding || version.is_some_and(|version| entry.versions.contains(version)))
        .and_then(|entry| entry.id.split_once('/'))
        .map(|(_, name)| name.split_once('@').map_or(name, |(name, _)| name))
}

/// Keys with their partitions, evenly from those that were seen.
fn sample(
    observed: &Observed,
    profile: &Client,
    encoding: KeyEncoding,
    count: PartitionCount,
    wanted: usize,
) -> Vec<(Vec<u8>, u32)> {
    let mut fitting = Vec::new();
    for place in &observed.sample.places {
        let key = &observed.sample.keys[place.key as usize];
        let mut bytes = Vec::new();
        if encoding.encode(key, &mut bytes).is_err() {
            continue;
        }
        let belongs = profile.profile().place(Some(&bytes), count);
        if belongs == Placement::Pinned(i32::try_from(place.partition).unwrap_or(-1)) {
            fitting.push((key.to_vec(), place.partition));
        }
    }
    let step = fitting.len().div_ceil(wanted.max(1)).max(1);
    fitting.into_iter().step_by(step).take(wanted).collect()
}

struct Writer<'w> {
    options: &'w InitOptions,
    count: PartitionCount,
    profile: &'w Client,
    encoding: KeyEncoding,
    keys: Vec<(Vec<u8>, u32)>,
    beside: &'w [Locked],
}

/// Text in quotes: what JSON writes is TOML as well, where no DEL is in it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\x7f', "\\u007f")
}

impl Writer<'_> {
    fn write(&self) -> String {
        let mut text = String::from(
            "# Where the keys of this repository's topics go. `copart check` compares.\n",
        );
        let _ = writeln!(text, "contract = {VERSION}");
        if let Some(bootstrap) = &self.options.bootstrap {
            let _ = writeln!(text, "\n[cluster]\nbootstrap = {}", quoted(bootstrap));
        }
        let _ = writeln!(text, "\n[[topic]]\nname = {}", quoted(&self.options.topic));
        let _ = writeln!(text, "partitions = {}", self.count);
        let _ = writeln!(text, "profile = {}", quoted(self.profile.name()));
        if self.encoding != KeyEncoding::Utf8 {
            let _ = writeln!(text, "key-encoding = {}", quoted(self.encoding.name()));
        }
        text.push_str("keys = [\n");
        for (key, partition) in &self.keys {
            let printable = std::str::from_utf8(key)
                .ok()
                .filter(|key| !key.contains(char::is_control));
            let key = match printable {
                Some(key) => format!("key = {}", quoted(key)),
                None => format!("hex = \"{}\"", data_encoding::HEXLOWER.encode(key)),
            };
            let _ = writeln!(text, "  {{ {key}, partition = {partition} }},");
        }
        text.push_str("]\n");
        self.producers(&mut text);
        text
    }

    fn producers(&self, text: &mut String) {
        let mut any = false;
        for locked in self.beside {
            let default = same_for_keyed(&locked.entry.profile, self.profile.profile());
            let other = partitioner(locked, self.profile);
            let Locked {
                client,
                file,
                release,
                ..
            } = locked;
            if !default && other.is_none() {
                let _ = writeln!(
                    text,
                    "\n# {client} {release} of {file} cannot place keys like this."
                );
                continue;
            }
            any = true;
            let _ = writeln!(
                text,
                "\n[[topic.producer]]\nname = {}\nclient = {}\nlock = {}",
                quoted(client),
                quoted(client),
                quoted(file)
            );
            if let (false, Some(partitioner)) = (default, other) {
                let _ = writeln!(
                    text,
                    "# Not what {client} {release} does by itself: is this configured?\npartitioner = {}",
                    quoted(partitioner)
                );
            }
        }
        if !any {
            text.push_str("\n# Say who writes the topic, so that an upgrade that moves keys is seen:\n# [[topic.producer]]\n# name = \"…\"\n# client = \"…\"\n# lock = \"…\"\n");
        }
    }
}
