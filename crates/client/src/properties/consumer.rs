//! What a consumer takes from properties, besides what readers do.

use std::sync::Arc;
use std::time::Duration;

use super::values::Values;
use crate::{Assignor, Commit, ConsumerBuilder, GroupProtocol};

/// Checked settings.
#[derive(Clone, Debug, Default)]
pub(super) struct ConsumerSettings {
    pub(super) group: Option<Arc<str>>,
    instance_id: Option<Arc<str>>,
    protocol: Option<GroupProtocol>,
    assignors: Option<Vec<Assignor>>,
    server_assignor: Option<String>,
    session_timeout: Option<Duration>,
    heartbeat_interval: Option<Duration>,
    max_processing_time: Option<Duration>,
    commit: Option<Commit>,
    api_timeout: Option<Duration>,
}

pub(super) fn read(values: &mut Values<'_>) -> ConsumerSettings {
    let arc = |(_, text): (&str, &str)| Arc::from(text.trim());
    ConsumerSettings {
        group: values.filled(&["group.id"]).map(arc),
        instance_id: values.filled(&["group.instance.id"]).map(arc),
        protocol: values.choice(
            &["group.protocol"],
            &[
                ("classic", GroupProtocol::Classic),
                ("consumer", GroupProtocol::Consumer),
            ],
        ),
        assignors: assignors(values),
        server_assignor: values
            .filled(&["group.remote.assignor"])
            .map(|(_, name)| name.trim().to_owned()),
        session_timeout: values.milliseconds(&["session.timeout.ms"]),
        heartbeat_interval: values.milliseconds(&["heartbeat.interval.ms"]),
        max_processing_time: values.milliseconds(&["max.poll.interval.ms"]),
        commit: commit(values),
        api_timeout: values.milliseconds(&["default.api.timeout.ms"]),
    }
}

fn commit(values: &mut Values<'_>) -> Option<Commit> {
    let every = values.milliseconds(&["auto.commit.interval.ms"]);
    let by_itself = values.flag(&["enable.auto.commit"]);
    match (by_itself, every) {
        (Some(false), _) => Some(Commit::Manual),
        // librdkafka's way to turn it off.
        (_, Some(Duration::ZERO)) => Some(Commit::Manual),
        (_, Some(every)) => Some(Commit::Processed { every }),
        (_, None) => None,
    }
}

/// Names, or classes of Java's.
fn assignors(values: &mut Values<'_>) -> Option<Vec<Assignor>> {
    let key = "partition.assignment.strategy";
    let (_, list) = values.filled(&[key])?;
    let mut assignors = Vec::new();
    for name in list.split(',').map(str::trim) {
        let known = match name.strip_prefix("org.apache.kafka.clients.consumer.") {
            Some("RangeAssignor") => Some(Assignor::Range),
            Some("RoundRobinAssignor") => Some(Assignor::RoundRobin),
            Some("StickyAssignor") => Some(Assignor::Sticky),
            Some("CooperativeStickyAssignor") => Some(Assignor::CooperativeSticky),
            Some(_) => None,
            None => Assignor::named(name),
        };
        match known {
            Some(assignor) if !assignors.contains(&assignor) => assignors.push(assignor),
            Some(_) => {}
            None => values.refuse(
                key,
                format_args!(
                    "is a list of range, roundrobin, sticky, cooperative-sticky or of Java's classes of these \
                     names; {name:?} cannot run here"
                ),
            ),
        }
    }
    Some(assignors)
}

impl ConsumerSettings {
    pub(super) fn configure(&self, mut builder: ConsumerBuilder) -> ConsumerBuilder {
        if let Some(id) = &self.instance_id {
            builder = builder.instance_id(Arc::clone(id));
        }
        if let Some(protocol) = self.protocol {
            builder = builder.protocol(protocol);
        }
        if let Some(assignors) = &self.assignors {
            builder = builder.assignors(assignors.iter().copied());
        }
        if let Some(assignor) = &self.server_assignor {
            builder = builder.server_assignor(assignor.as_str());
        }
        if let Some(timeout) = self.session_timeout {
            builder = builder.session_timeout(timeout);
        }
        if let Some(interval) = self.heartbeat_interval {
            builder = builder.heartbeat_interval(interval);
        }
        if let Some(time) = self.max_processing_time {
            builder = builder.max_processing_time(time);
        }
        if let Some(commit) = self.commit {
            builder = builder.commit(commit);
        }
        if let Some(timeout) = self.api_timeout {
            builder = builder.api_timeout(timeout);
        }
        builder
    }
}
