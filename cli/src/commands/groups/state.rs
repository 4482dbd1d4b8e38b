//! Groups with their members, and how far they have come: `docs/src/schema/copart.groups-1.schema.json`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use copart::admin::{
    GroupDescription, GroupOffsets, ListedOffset, MemberAssignment, OffsetSpec, Results,
};
use copart::{Client, TopicPartition};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Group {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) protocol_type: Option<String>,
    pub(super) assignor: String,
    pub(super) members: Vec<Member>,
    /// By topic and partition: all that were committed, and all that a member has.
    pub(super) offsets: Vec<Progress>,
}

#[derive(Serialize)]
pub(super) struct Member {
    pub(super) member_id: String,
    pub(super) instance_id: Option<String>,
    pub(super) client_id: String,
    pub(super) host: String,
    /// `None` if only members of its kind can read what it has.
    pub(super) partitions: Option<Vec<Assigned>>,
}

#[derive(Serialize)]
pub(super) struct Assigned {
    pub(super) topic: String,
    pub(super) partition: i32,
}

/// How far a group has come in a partition.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Progress {
    pub(super) topic: String,
    pub(super) partition: i32,
    /// `None` if nothing was committed.
    pub(super) offset: Option<i64>,
    pub(super) leader_epoch: Option<i32>,
    pub(super) metadata: Option<String>,
    pub(super) begin_offset: Option<i64>,
    pub(super) end_offset: Option<i64>,
    /// Records that were not processed. `None` if that can't be told.
    pub(super) lag: Option<i64>,
    pub(super) member_id: Option<String>,
    pub(super) client_id: Option<String>,
    pub(super) host: Option<String>,
    /// Why something of it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

impl Progress {
    fn new(partition: &TopicPartition) -> Self {
        Self {
            topic: partition.topic.to_string(),
            partition: partition.partition,
            offset: None,
            leader_epoch: None,
            metadata: None,
            begin_offset: None,
            end_offset: None,
            lag: None,
            member_id: None,
            client_id: None,
            host: None,
            error: None,
        }
    }

    /// Where a partition begins and ends; each is unknown when its leader does not tell.
    fn between(&mut self, ends: &Ends, partition: &TopicPartition) {
        self.begin_offset = ends.begin.get(partition).copied();
        self.end_offset = ends.end.get(partition).copied();
        if let Some(error) = ends.errors.get(partition) {
            self.error.get_or_insert_with(|| error.clone());
        }
        self.lag = match (self.offset, self.begin_offset, self.end_offset) {
            (Some(offset), _, Some(end)) => Some((end - offset).max(0)),
            // Where nothing is, nothing is left to do.
            (None, Some(begin), Some(end)) if begin == end => Some(0),
            _ => None,
        };
    }
}

/// Where partitions begin and end.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) begin: HashMap<TopicPartition, i64>,
    pub(super) end: HashMap<TopicPartition, i64>,
    pub(super) errors: HashMap<TopicPartition, String>,
}

impl Ends {
    pub(super) async fn of(
        client: &Client,
        partitions: &BTreeSet<TopicPartition>,
        timeout: Duration,
    ) -> Self {
        let admin = client.admin().timeout(timeout);
        let asked = |spec: OffsetSpec| {
            admin.list_offsets(partitions.iter().cloned().map(move |p| (p, spec)))
        };
        let (begin, end) = tokio::join!(asked(OffsetSpec::Earliest), asked(OffsetSpec::Latest));
        let mut errors = HashMap::new();
        let mut known = |results: Results<TopicPartition, ListedOffset>| {
            let mut offsets = HashMap::new();
            for (partition, outcome) in results {
                match outcome {
                    Ok(found) => offsets.extend(found.offset.map(|offset| (partition, offset))),
                    Err(error) => drop(errors.insert(partition, error.to_string())),
                }
            }
            offsets
        };
        let (begin, end) = (known(begin), known(end));
        Self { begin, end, errors }
    }
}

/// The groups, in the order of their names as given.
pub(super) async fn gather(
    client: &Client,
    groups: &[String],
    timeout: Duration,
) -> Vec<(String, copart::Result<Group>)> {
    let admin = client.admin().timeout(timeout);
    let (described, offsets) = tokio::join!(
        admin.describe_groups(groups.iter().map(String::as_str)),
        admin.list_group_offsets(groups.iter().map(String::as_str)),
    );
    let both: Vec<_> = described
        .into_iter()
        .zip(offsets)
        .map(|((group, described), (_, offsets))| {
            let known = described.and_then(|described| Ok((described, offsets?)));
            (group, known)
        })
        .collect();
    let known = both.iter().filter_map(|(_, known)| known.as_ref().ok());
    let partitions = known
        .flat_map(|(described, offsets)| {
            let assigned = described.members.iter();
            let assigned = assigned.flat_map(|member| member.assignment.partitions());
            assigned.chain(offsets.iter().map(|(partition, _)| partition))
        })
        .cloned()
        .collect();
    let ends = Ends::of(client, &partitions, timeout).await;
    both.into_iter()
        .map(|(group, known)| {
            let known = known.map(|(described, offsets)| assemble(described, offsets, &ends));
            (group, known)
        })
        .collect()
}

fn assemble(described: GroupDescription, offsets: GroupOffsets, ends: &Ends) -> Group {
    let mut progress: BTreeMap<TopicPartition, Progress> = BTreeMap::new();
    for (partition, outcome) in offsets {
        let mut one = Progress::new(&partition);
        match outcome {
            Ok(committed) => {
                one.offset = Some(committed.offset);
                one.leader_epoch = committed.leader_epoch;
                one.metadata = Some(committed.metadata).filter(|text| !text.is_empty());
            }
            Err(error) => one.error = Some(error.to_string()),
        }
        progress.insert(partition, one);
    }
    let mut members = Vec::new();
    for member in described.members {
        for partition in member.assignment.partitions() {
            let one = progress
                .entry(partition.clone())
                .or_insert_with(|| Progress::new(partition));
            one.member_id = Some(member.member_id.clone());
            one.client_id = Some(member.client_id.clone());
            one.host = Some(member.host.clone());
        }
        members.push(Member {
            partitions: match member.assignment {
                MemberAssignment::Partitions(partitions) => {
                    let partitions = partitions.into_iter().map(|partition| Assigned {
                        topic: partition.topic.to_string(),
                        partition: partition.partition,
                    });
                    Some(partitions.collect())
                }
                _ => None,
            },
            member_id: member.member_id,
            instance_id: member.instance_id,
            client_id: member.client_id,
            host: member.host,
        });
    }
    members.sort_by(|a, b| a.member_id.cmp(&b.member_id));
    for (partition, one) in &mut progress {
        one.between(ends, partition);
    }
    Group {
        group: described.group,
        kind: described.kind.to_string(),
        state: described.state,
        protocol_type: described.protocol_type,
        assignor: described.assignor,
        members,
        offsets: progress.into_values().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_known_or_unknown_and_never_guessed() {
        let partition = TopicPartition::new("t", 0);
        let lag = |offset, begin: Option<i64>, end: Option<i64>| {
            let known = |offset: Option<i64>| offset.map(|o| (partition.clone(), o));
            let ends = Ends {
                begin: known(begin).into_iter().collect(),
                end: known(end).into_iter().collect(),
                errors: HashMap::new(),
            };
            let mut one = Progress {
                offset,
                ..Progress::new(&partition)
            };
            one.between(&ends, &partition);
            one.lag
        };
        assert_eq!(lag(Some(3), Some(0), Some(10)), Some(7));
        assert_eq!(lag(Some(10), Some(0), Some(10)), Some(0));
        // Committed beyond the end: the topic was made anew.
        assert_eq!(lag(Some(11), Some(0), Some(10)), Some(0));
        assert_eq!(lag(Some(3), None, None), None);
        // Nothing committed: whether that is behind depends on where its consumers would begin.
        assert_eq!(lag(None, Some(0), Some(10)), None);
        assert_eq!(lag(None, Some(10), Some(10)), Some(0));
    }
}
