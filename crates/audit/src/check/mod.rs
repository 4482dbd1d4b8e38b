//! Does a repository keep its partition contract?
//!
//! A contract ([`Contract`]) says which topics a repository writes, with how many partitions and by
//! which rule, and names sample keys. [`check()`] compares it with what the repository is built
//! with (the releases in its lock files), with the cluster, and with records. [`init()`] writes one
//! from records.

mod contract;
mod evidence;
mod fields;
mod init;
mod keys;
mod packages;
mod producer;
mod records;
mod release;
mod report;
#[cfg(test)]
mod tests;
mod unit_tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use copart_partitioners::PartitionCount;

pub use contract::{Contract, VERSION};
pub(crate) use contract::{SampleKey, Topic};
pub use init::{InitOptions, Written, init};
pub use report::*;
pub use unit_tests::{Framework, unit_tests};

use crate::input::records::RecordSource;
use crate::pipeline::Run;
use crate::{Error, ErrorKind};

/// The cluster that a contract is compared with.
pub trait Cluster {
    /// What to call it in reports.
    fn name(&self) -> &str;

    /// How many partitions a topic has.
    ///
    /// # Errors
    ///
    /// Of the kind [`ErrorKind::Usage`] when there is no such topic; [`ErrorKind::Cluster`] when the
    /// cluster can't be asked.
    fn partition_count(&mut self, topic: &str) -> Result<PartitionCount, Error>;

    /// At most so many records of a topic.
    ///
    /// # Errors
    ///
    /// As [`Cluster::partition_count`].
    fn records(&mut self, topic: &str, records: u64) -> Result<Box<dyn RecordSource>, Error>;
}

/// Checks everything, and says all that is wrong.
///
/// The cluster is asked if there is one; records are read if the contract names any.
#[must_use]
pub fn check(
    contract: &Contract,
    mut cluster: Option<&mut (dyn Cluster + 'static)>,
    run: &Run<'_>,
) -> CheckReport {
    let mut check = Check {
        contract,
        run,
        findings: Vec::new(),
        warnings: Vec::new(),
        partial: false,
        unreached: false,
    };
    let mut topics = Vec::new();
    if contract.problems.is_empty() {
        for topic in &contract.topics {
            if run.interrupted.load(Ordering::Relaxed) {
                check.partial = true;
                break;
            }
            topics.push(check.topic(topic, cluster.as_deref_mut()));
        }
    }
    for problem in &contract.problems {
        let at = Spot::new(&contract.path, problem.line);
        check.find(
            CheckRule::InvalidContract,
            at,
            &Subject::default(),
            problem.what.clone(),
        );
    }
    if check.partial {
        let at = Spot::file(&contract.path);
        let message = "interrupted before everything was checked".to_owned();
        check.find(CheckRule::Interrupted, at, &Subject::default(), message);
    }
    CheckReport {
        schema: CheckReport::SCHEMA,
        verdict: verdict(&check.findings),
        partial: check.partial,
        contract: contract.name.clone(),
        topics,
        findings: check.findings,
        warnings: check.warnings,
    }
}

/// What makes the contract meaningless comes first; then what is certainly broken, whatever else
/// could not be looked at.
fn verdict(findings: &[Finding]) -> CheckVerdict {
    let order = [
        CheckVerdict::Invalid,
        CheckVerdict::Broken,
        CheckVerdict::Unreadable,
        CheckVerdict::Unreached,
        CheckVerdict::Inconclusive,
    ];
    let deciding = |verdict: &CheckVerdict| {
        let mut findings = findings.iter().filter(|finding| finding.decides);
        findings.any(|finding| finding.rule.verdict() == *verdict)
    };
    order
        .into_iter()
        .find(deciding)
        .unwrap_or(CheckVerdict::Kept)
}

/// A place in a file.
#[derive(Clone, Debug)]
struct Spot {
    path: PathBuf,
    line: Option<u64>,
}

impl Spot {
    fn new(path: &Path, line: u64) -> Self {
        Self {
            path: path.to_owned(),
            line: Some(line),
        }
    }

    fn file(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
        }
    }
}

/// What a finding is about.
#[derive(Clone, Debug, Default)]
struct Subject {
    topic: Option<String>,
    producer: Option<String>,
}

impl Subject {
    fn topic(topic: &Topic) -> Self {
        Self {
            topic: Some(topic.name.clone()),
            producer: None,
        }
    }

    fn producer(topic: &Topic, name: &str) -> Self {
        Self {
            producer: Some(name.to_owned()),
            ..Self::topic(topic)
        }
    }
}

/// A check that is under way.
struct Check<'c> {
    contract: &'c Contract,
    run: &'c Run<'c>,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    partial: bool,
    /// The cluster did not answer once: it is not asked again, and not waited for again.
    unreached: bool,
}

impl Check<'_> {
    fn find(&mut self, rule: CheckRule, at: Spot, subject: &Subject, message: String) {
        self.findings.push(Finding {
            rule,
            decides: rule != CheckRule::OtherRule,
            topic: subject.topic.clone(),
            producer: subject.producer.clone(),
            message,
            file: at.path.display().to_string(),
            path: at.path,
            line: at.line,
        });
    }

    fn topic(
        &mut self,
        topic: &Topic,
        cluster: Option<&mut (dyn Cluster + 'static)>,
    ) -> TopicReport {
        let keys = self.keys(topic);
        self.contradictions(topic, &keys);
        let producers = self.producers(topic, &keys);
        self.evidence(topic, &keys);
        let mut records = self.dumps(topic);
        let cluster = cluster.and_then(|cluster| self.cluster(topic, cluster, &mut records));
        TopicReport {
            name: topic.name.clone(),
            partitions: topic.partitions.get(),
            profile: topic
                .profile
                .as_ref()
                .map(|profile| profile.value.name().to_owned()),
            keys: keys.len() as u64,
            expected: keys
                .iter()
                .filter(|key| key.key.partition.is_some())
                .count() as u64,
            producers,
            cluster,
            records,
        }
    }

    /// The topic in the cluster, and what was written to it.
    fn cluster(
        &mut self,
        topic: &Topic,
        cluster: &mut (dyn Cluster + 'static),
        records: &mut Vec<RecordsReport>,
    ) -> Option<ClusterReport> {
        if self.unreached {
            return None;
        }
        let subject = Subject::topic(topic);
        let at = || Spot::new(&self.contract.path, topic.line);
        let mut report = ClusterReport {
            bootstrap: cluster.name().to_owned(),
            outcome: Outcome::Unknown,
            partitions: None,
        };
        let count = match cluster.partition_count(&topic.name) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Usage => {
                report.outcome = Outcome::Broken;
                self.find(CheckRule::TopicMissing, at(), &subject, error.to_string());
                return Some(report);
            }
            Err(error) => {
                self.unreached = true;
                let line = self.contract.cluster.as_ref().map(|cluster| cluster.line);
                let at = Spot {
                    line,
                    ..Spot::file(&self.contract.path)
                };
                self.find(CheckRule::ClusterUnreached, at, &subject, error.to_string());
                return Some(report);
            }
        };
        report.partitions = Some(count.get());
        if count != topic.partitions {
            report.outcome = Outcome::Broken;
            let message = format!(
                "topic {} has {count} partitions in {}, and {} in the contract",
                topic.name, report.bootstrap, topic.partitions
            );
            let at = Spot::new(&self.contract.path, topic.partitions_line);
            self.find(CheckRule::PartitionCount, at, &subject, message);
            return Some(report);
        }
        report.outcome = Outcome::Kept;
        let wanted = self
            .contract
            .cluster
            .as_ref()
            .map_or(contract::RECORDS, |c| c.records);
        if wanted > 0 && topic.profile.is_some() {
            match cluster.records(&topic.name, wanted) {
                Ok(mut source) => {
                    records.extend(self.records(topic, source.as_mut(), None, at()));
                }
                Err(error) => {
                    self.unreached = error.kind() == ErrorKind::Cluster;
                    report.outcome = Outcome::Unknown;
                    self.find(
                        CheckRule::ClusterUnreached,
                        at(),
                        &subject,
                        error.to_string(),
                    );
                }
            }
        }
        Some(report)
    }
}
