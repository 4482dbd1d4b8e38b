//! Records that were written: are they where the contract says?

use super::contract::{ProducerSource, Records};
use super::{Check, CheckRule, Outcome, RecordsReport, Spot, Subject, Topic};
use crate::ErrorKind;
use crate::clients::Client;
use crate::infer::{ExpectedOutcome, InferOptions, infer_from};
use crate::input::records::{Dump, DumpOptions, RecordSource};

impl Check<'_> {
    /// The dumps that the contract names.
    pub(super) fn dumps(&mut self, topic: &Topic) -> Vec<RecordsReport> {
        topic
            .records
            .iter()
            .filter_map(|records| self.dump(topic, records))
            .collect()
    }

    fn dump(&mut self, topic: &Topic, records: &Records) -> Option<RecordsReport> {
        let at = Spot::new(&self.contract.path, records.line);
        let options = DumpOptions {
            format: records.format,
            kcat_format: records.kcat_format.clone(),
            encoding: records.encoding,
            ..DumpOptions::default()
        };
        match Dump::open(&records.input, &options) {
            Ok(mut dump) => self.records(topic, &mut dump, records.producer.as_deref(), at),
            Err(error) => {
                let rule = match error.kind() {
                    ErrorKind::Usage => CheckRule::InvalidContract,
                    _ => CheckRule::UnreadableFile,
                };
                self.find(rule, at, &Subject::topic(topic), error.to_string());
                None
            }
        }
    }

    /// Records of any source, by whoever is expected to have written them.
    pub(super) fn records(
        &mut self,
        topic: &Topic,
        source: &mut dyn RecordSource,
        producer: Option<&str>,
        at: Spot,
    ) -> Option<RecordsReport> {
        let subject = match producer {
            Some(producer) => Subject::producer(topic, producer),
            None => Subject::topic(topic),
        };
        let Some(client) = expected(topic, producer) else {
            let message = format!(
                "topic {}: nothing says which profile wrote these records: give the topic a `profile`",
                topic.name
            );
            self.find(CheckRule::InvalidContract, at, &subject, message);
            return None;
        };
        let options = InferOptions {
            partitions: Some(topic.partitions),
            expect: Some(client.clone()),
            show: 1,
        };
        let report = match infer_from(source, &options, self.run) {
            Ok(report) => report,
            Err(error) => {
                let rule = match error.kind() {
                    ErrorKind::Cluster => CheckRule::ClusterUnreached,
                    _ => CheckRule::UnreadableFile,
                };
                self.find(rule, at, &subject, error.to_string());
                return None;
            }
        };
        self.partial |= report.partial;
        let expected = report.expected.as_ref()?;
        let outcome = match expected.outcome {
            ExpectedOutcome::Met => Outcome::Kept,
            ExpectedOutcome::NotMet => Outcome::Broken,
            ExpectedOutcome::Inconclusive => Outcome::Unknown,
        };
        let why = format!("{}: {}", report.input.name, expected.why);
        match outcome {
            Outcome::Kept => {}
            Outcome::Broken => {
                let wrote = report
                    .components
                    .iter()
                    .map(|component| component.profile.as_str());
                let wrote: Vec<_> = wrote.collect();
                let found = match wrote.as_slice() {
                    [] => String::new(),
                    names => format!("; they fit {}", names.join(" and ")),
                };
                self.find(
                    CheckRule::RecordsElsewhere,
                    at,
                    &subject,
                    format!("{why}{found}"),
                );
            }
            Outcome::Unknown => {
                self.find(CheckRule::RecordsInconclusive, at, &subject, why.clone());
            }
        }
        self.warnings.extend(
            report
                .warnings
                .iter()
                .map(|warning| format!("{}: {warning}", report.input.name)),
        );
        Some(RecordsReport {
            name: report.input.name.clone(),
            records: report.input.records,
            keys: report.input.distinct_keys,
            profile: client.name().to_owned(),
            outcome,
            why: expected.why.clone(),
        })
    }
}

/// The profile of a producer that states one, or else the topic's.
fn expected<'t>(topic: &'t Topic, producer: Option<&str>) -> Option<&'t Client> {
    let named = producer.and_then(|name| topic.producers.iter().find(|p| p.name == name));
    match named.map(|producer| &producer.source) {
        Some(ProducerSource::Profile(client)) => Some(client),
        _ => topic.profile.as_ref().map(|profile| &profile.value),
    }
}
