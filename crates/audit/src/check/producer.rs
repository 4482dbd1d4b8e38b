//! What each producer does with the sample keys, and how that is known.

use std::path::Path;

use copart_partitioners::Placement;
use copart_partitioners::catalogue;
use data_encoding::HEXLOWER;

use super::contract::{Producer, ProducerSource};
use super::evidence::{Sampled, apart, place_name};
use super::release::resolve;
use super::{Check, CheckRule, MovedKey, Outcome, ProducerReport, Spot, Subject, Topic, packages};
use crate::clients::{Client, same_for_keyed};
use crate::lock::{self, LockKind};
use crate::settings::setting;
use crate::text::number;

/// Keys that a report lists, and bytes of each.
const LISTED: usize = 100;
const KEY_BYTES: usize = 1 << 10;

/// What a producer was found to do.
struct Known {
    client: Client,
    /// The profile's name in reports: the catalogue's id, or what the user wrote.
    name: String,
    /// `kafkajs 2.2.4`, if a lock file says so.
    release: Option<String>,
    note: Option<String>,
    at: Spot,
}

impl Check<'_> {
    pub(super) fn producers(&mut self, topic: &Topic, keys: &[Sampled]) -> Vec<ProducerReport> {
        let producers = topic.producers.iter();
        producers
            .flat_map(|producer| self.producer(topic, producer, keys))
            .collect()
    }

    /// One report for each release that the lock file has.
    fn producer(
        &mut self,
        topic: &Topic,
        producer: &Producer,
        keys: &[Sampled],
    ) -> Vec<ProducerReport> {
        let subject = Subject::producer(topic, &producer.name);
        let known = match &producer.source {
            ProducerSource::Profile(client) => vec![Ok(Known {
                client: client.clone(),
                name: client.name().to_owned(),
                release: None,
                note: None,
                at: Spot::new(&self.contract.path, producer.line),
            })],
            ProducerSource::Locked {
                client,
                partitioner,
                lock,
                kind,
                package,
            } => self.locked(
                producer,
                &subject,
                (client, partitioner.as_deref()),
                (lock, *kind),
                package.as_deref(),
            ),
        };
        known
            .into_iter()
            .map(|known| match known {
                Ok(known) => self.judge(topic, &subject, producer, known, keys),
                Err((release, at)) => ProducerReport {
                    name: producer.name.clone(),
                    file: at.path.display().to_string(),
                    line: at.line,
                    release,
                    profile: None,
                    rule: None,
                    note: None,
                    outcome: Outcome::Unknown,
                    kept: 0,
                    moved: 0,
                    unpinned: 0,
                    moves: Vec::new(),
                },
            })
            .collect()
    }

    /// What the lock file says, or that it does not.
    fn locked(
        &mut self,
        producer: &Producer,
        subject: &Subject,
        (client, partitioner): (&str, Option<&str>),
        (path, kind): (&Path, LockKind),
        package: Option<&str>,
    ) -> Vec<Result<Known, (Option<String>, Spot)>> {
        let contract = Spot::new(&self.contract.path, producer.line);
        let shown = path.display();
        let names = match package {
            Some(package) => vec![package],
            None => packages::of_client(client, kind.ecosystem()).to_vec(),
        };
        if names.is_empty() {
            let what = format!(
                "{client} is in no package that {shown} could have; name it with `package`"
            );
            self.find(CheckRule::ClientNotLocked, contract.clone(), subject, what);
            return vec![Err((None, contract))];
        }
        let text = match lock::read(path) {
            Ok(text) => text,
            Err(what) => {
                self.find(
                    CheckRule::UnreadableFile,
                    contract.clone(),
                    subject,
                    format!("{shown}: {what}"),
                );
                return vec![Err((None, contract))];
            }
        };
        let packages = match kind.packages(&text, &names) {
            Ok(packages) => packages,
            Err(malformed) => {
                let at = Spot {
                    path: path.to_owned(),
                    line: malformed.line,
                };
                self.find(
                    CheckRule::UnreadableFile,
                    at.clone(),
                    subject,
                    malformed.what,
                );
                return vec![Err((None, at))];
            }
        };
        if packages.is_empty() {
            let what = format!(
                "producer {}: {shown} has no {}, and so says nothing of {client}",
                producer.name,
                names.join(" or ")
            );
            self.find(CheckRule::ClientNotLocked, contract, subject, what);
            return vec![Err((None, Spot::file(path)))];
        }
        let packages = packages.into_iter();
        packages
            .map(|package| {
                let at = Spot::new(path, package.line);
                let release = package
                    .release
                    .as_ref()
                    .ok()
                    .map(|release| format!("{client} {release}"));
                let resolved = package
                    .release
                    .and_then(|release| resolve(client, partitioner, &release));
                match resolved {
                    Ok(resolved) => Ok(Known {
                        client: Client::of_entry(resolved.entry),
                        name: resolved.entry.id.to_owned(),
                        release,
                        note: resolved.note,
                        at,
                    }),
                    Err(why) => {
                        let what = format!("producer {}: {}: {why}", producer.name, package.name);
                        self.find(CheckRule::UnknownRelease, at.clone(), subject, what);
                        Err((release, at))
                    }
                }
            })
            .collect()
    }

    /// Compares where the producer puts the sample keys with where they belong.
    fn judge(
        &mut self,
        topic: &Topic,
        subject: &Subject,
        producer: &Producer,
        known: Known,
        keys: &[Sampled],
    ) -> ProducerReport {
        let profile = known.client.profile();
        let (mut kept, mut unpinned) = (0, 0);
        let mut moved = Vec::new();
        for sampled in keys {
            let Some(belongs) = sampled.belongs(topic) else {
                continue;
            };
            let goes = profile.place(sampled.key.key.as_deref(), topic.partitions);
            match (belongs, goes) {
                (Placement::Unpinned, Placement::Unpinned) => unpinned += 1,
                (a, b) if a == b => kept += 1,
                _ => moved.push((sampled, belongs, goes)),
            }
        }
        let other = topic
            .profile
            .as_ref()
            .filter(|wanted| !same_for_keyed(wanted.value.profile(), profile));
        let mut report = ProducerReport {
            name: producer.name.clone(),
            file: known.at.path.display().to_string(),
            line: known.at.line,
            release: known.release.clone(),
            profile: Some(known.name.clone()),
            rule: Some(profile.keyed.to_string()),
            note: known.note.clone(),
            outcome: Outcome::Kept,
            kept,
            moved: moved.len() as u64,
            unpinned,
            moves: moved.iter().take(LISTED).map(moved_key).collect(),
        };
        let who = match &known.release {
            Some(release) => format!("producer {} ({release})", producer.name),
            None => format!("producer {}", producer.name),
        };
        let all = kept + moved.len() as u64 + unpinned;
        if let Some((first, belongs, goes)) = moved.first() {
            report.outcome = Outcome::Broken;
            let moves = format!(
                "{} of {} sample keys move at {} partitions, {} from {} to {}",
                number(moved.len() as u64),
                number(all),
                topic.partitions,
                first.shown(),
                place_name(*belongs),
                place_name(*goes),
            );
            let (rule, message) = match other {
                Some(wanted) => (
                    CheckRule::ProfileChanged,
                    format!(
                        "{who} places keys of topic {} as {}, and the contract has {}: {moves}{}",
                        topic.name,
                        known.name,
                        wanted.value.name(),
                        advice(&known.client, &wanted.value),
                    ),
                ),
                None => (
                    CheckRule::KeysElsewhere,
                    format!(
                        "{who} places keys of topic {} as {}: {moves}",
                        topic.name, known.name
                    ),
                ),
            };
            self.find(rule, known.at, subject, message);
        } else if let Some(wanted) = other {
            let (differ, of) = apart(
                wanted.value.profile(),
                profile,
                topic.encoding,
                topic.partitions,
            );
            let what = format!(
                "{who} places keys of topic {} as {}, and the contract has {}",
                topic.name,
                known.name,
                wanted.value.name()
            );
            if differ > 0 {
                report.outcome = Outcome::Broken;
                let message = format!(
                    "{what}: none of the {} sample keys moves at {} partitions, but of {of} keys that are made up {differ} do{}",
                    number(all),
                    topic.partitions,
                    advice(&known.client, &wanted.value),
                );
                self.find(CheckRule::ProfileChanged, known.at, subject, message);
            } else {
                let message = format!(
                    "{what}; at {} partitions the sample keys, and {of} more of their kind, are placed alike",
                    topic.partitions
                );
                self.find(CheckRule::OtherRule, known.at, subject, message);
            }
        }
        report
    }
}

/// The setting that would keep the contract.
fn advice(client: &Client, wanted: &Client) -> String {
    let Some(entry) = client.entry() else {
        return String::new();
    };
    match setting(entry.client(), wanted.profile()) {
        Some(setting) => format!(". To keep it: {}", setting.config.replace('\n', "; ")),
        None if catalogue::entries().any(|other| other.client() == entry.client()) => {
            format!(". {} has no partitioner that keeps it", entry.client())
        }
        None => String::new(),
    }
}

fn moved_key((sampled, belongs, goes): &(&Sampled, Placement, Placement)) -> MovedKey {
    let partition = |place: &Placement| match place {
        Placement::Pinned(partition) => u32::try_from(*partition).ok(),
        _ => None,
    };
    let key = sampled.key.key.as_deref();
    MovedKey {
        key_hex: key.map(|key| HEXLOWER.encode(&key[..key.len().min(KEY_BYTES)])),
        belongs: partition(belongs),
        goes: partition(goes),
        file: sampled.at.path.display().to_string(),
        line: sampled.key.line,
    }
}
