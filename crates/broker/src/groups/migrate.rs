//! A group that moves from one protocol to the other while its members work: one by one they are restarted with the
//! other protocol. The first that speaks the consumer protocol makes it a consumer group, and the last one that leaves
//! makes it a classic group again.

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_protocol_assignment::{
    ConsumerProtocolAssignment, TopicPartition,
};
use copart_protocol::messages::consumer_protocol_subscription::ConsumerProtocolSubscription;

use super::classic::{ClassicGroup, Member as ClassicMember, State, join_error, sync_error};
use super::consumer::{ClassicSide, ConsumerGroup, Member, MemberState, current, plain};
use super::coordinator::{Coordinator, Group, Input};
use super::embedded::{self, CONSUMER};
use super::env::{Cluster, Env, GroupError, GroupResult, Moment, Reply};
use super::timers::Timer;

impl Coordinator {
    /// Makes a classic group with members a consumer group.
    pub(super) fn upgrade(&mut self, input: Input<'_>, id: &str) -> GroupResult<()> {
        let (groups, _, mut env) = self.split(input);
        let Some(Group::Classic(classic)) = groups.get_mut(id) else {
            return Ok(());
        };
        let max = usize::try_from(env.config.group_consumer_max_size).unwrap_or(0);
        let refused = |why: &str| {
            GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Cannot upgrade classic group {id} to consumer group because {why}."),
            )
        };
        if classic.protocol_type.as_deref() != Some(CONSUMER) {
            return Err(refused(
                "the group does not use the consumer embedded protocol",
            ));
        }
        if classic.members.len() > max {
            return Err(refused(
                "the group size exceeds the consumer group maximum size",
            ));
        }
        let consumer = to_consumer(classic, env.cluster)
            .ok_or_else(|| refused("the embedded consumer protocol is malformed"))?;
        for member in classic.members.values_mut() {
            let code = ErrorCode::REBALANCE_IN_PROGRESS;
            if let Some(join) = member.join.take() {
                let response = join_error(join.version, code, &member.id);
                env.reply(join.token, Reply::Join(response));
            }
            if let Some(token) = member.sync.take() {
                env.reply(token, Reply::Sync(sync_error(code)));
            }
        }
        cancel_timers(&mut env, id);
        env.write(classic.tombstone());
        for record in consumer.records(env.now.ms) {
            env.write(record);
        }
        for member in consumer.members.keys() {
            consumer.alive(&mut env, member);
        }
        tracing::info!(group = id, "became a consumer group");
        groups.insert(id.to_owned(), Group::Consumer(Box::new(consumer)));
        Ok(())
    }

    /// Makes a consumer group whose members all speak the classic protocol a classic group.
    pub(super) fn downgrade_if_classic(&mut self, input: Input<'_>, id: &str, left: bool) {
        let (groups, _, mut env) = self.split(input);
        let max = usize::try_from(env.config.group_max_size).unwrap_or(0);
        let consumer = match groups.get(id) {
            Some(Group::Consumer(group))
                if group.is_all_classic() && group.members.len() <= max =>
            {
                group
            }
            _ => return,
        };
        for record in consumer.tombstones() {
            env.write(record);
        }
        let settled = consumer.epoch == consumer.assignment_epoch
            && consumer
                .members
                .values()
                .all(|it| it.state == MemberState::Stable && it.epoch == consumer.epoch);
        let mut classic = to_classic(consumer, env.cluster, env.now);
        for member in consumer.members.keys() {
            for timer in [
                Timer::MemberJoin {
                    group: id.to_owned(),
                    member: member.clone(),
                },
                Timer::MemberSync {
                    group: id.to_owned(),
                    member: member.clone(),
                },
            ] {
                env.timers.cancel(&timer);
            }
        }
        env.write(classic.to_record());
        for member in classic.members.keys() {
            classic.alive(member, &mut env);
        }
        if left || !settled {
            classic.rebalance(&mut env);
        }
        tracing::info!(group = id, "became a classic group");
        groups.insert(id.to_owned(), Group::Classic(Box::new(classic)));
    }
}

fn cancel_timers(env: &mut Env<'_>, id: &str) {
    let group = id.to_owned();
    env.timers.cancel(&Timer::Join { group });
    let group = id.to_owned();
    env.timers.cancel(&Timer::Sync { group });
}

/// `None` if members are no consumers.
fn to_consumer(classic: &ClassicGroup, cluster: &dyn Cluster) -> Option<ConsumerGroup> {
    let mut group = ConsumerGroup::new(&classic.id);
    group.epoch = classic.generation;
    group.assignment_epoch = classic.generation;
    for old in classic.members.values() {
        let protocol = match &classic.protocol {
            Some(protocol) => protocol,
            None => &old.protocols.first()?.0,
        };
        let subscription = embedded::subscription(&old.metadata(protocol))?;
        let assignment = embedded::assignment(&old.assignment)?;
        let assigned = assignment.assigned_partitions.iter().filter_map(|it| {
            let topic = cluster.topic(&it.topic)?;
            Some((topic.id, it.partitions.iter().copied().collect()))
        });
        let assigned = assigned.collect();
        let member = Member {
            instance: old.instance.clone(),
            rack: subscription.rack_id,
            client_id: old.client_id.clone(),
            client_host: old.client_host.clone(),
            topics: subscription.topics.into_iter().collect(),
            rebalance_timeout_ms: old.rebalance_timeout_ms,
            classic: Some(ClassicSide {
                session_timeout_ms: old.session_timeout_ms,
                protocols: old.protocols.clone(),
            }),
            epoch: classic.generation,
            previous_epoch: classic.generation,
            assigned: current(&assigned, classic.generation),
            ..Member::new(&old.id)
        };
        group.targets.insert(old.id.clone(), assigned);
        group.members.insert(old.id.clone(), member);
    }
    // By way of its records, so that it is what a restart would find.
    let records = group.records(0);
    let mut group = ConsumerGroup::new(&classic.id);
    for record in records {
        group.apply(&record);
    }
    Some(group)
}

fn to_classic(consumer: &ConsumerGroup, cluster: &dyn Cluster, now: Moment) -> ClassicGroup {
    let mut group = ClassicGroup::new(&consumer.id, now);
    group.state = State::Stable;
    group.generation = consumer.epoch;
    group.protocol_type = Some(CONSUMER.to_owned());
    for old in consumer.members.values() {
        let Some(classic) = &old.classic else {
            continue;
        };
        let first = classic.protocols.first();
        let version = first
            .and_then(|(_, metadata)| embedded::version::<ConsumerProtocolSubscription>(metadata))
            .unwrap_or(0);
        let assigned = plain(&old.assigned);
        let topics = assigned.iter().filter_map(|(topic, partitions)| {
            Some(TopicPartition {
                topic: cluster.topic_name(*topic)?,
                partitions: partitions.iter().copied().collect(),
            })
        });
        let assignment = ConsumerProtocolAssignment {
            assigned_partitions: topics.collect(),
            user_data: None,
        };
        group.add(ClassicMember {
            id: old.id.clone(),
            instance: old.instance.clone(),
            client_id: old.client_id.clone(),
            client_host: old.client_host.clone(),
            rebalance_timeout_ms: old.rebalance_timeout_ms,
            session_timeout_ms: classic.session_timeout_ms,
            protocols: classic.protocols.clone(),
            assignment: embedded::write(&assignment, version),
            join: None,
            sync: None,
            new: false,
        });
    }
    group.protocol = group.select_protocol();
    group.leader = group.members.first().map(|(id, _)| id.clone());
    group
}
