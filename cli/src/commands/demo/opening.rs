//! Steps 1 to 4: a cluster, a group that counts, two services, and counts that are wrong.

use std::collections::BTreeSet;

use copart_audit::Error;
use serde_json::json;

use super::counting::{self, Assignment, Counted, Group, Judged};
use super::services::{self, MOBILE, Sent, WEB, apart};
use super::stage::{NODES, PARTITIONS, REPLICAS, Stage};
use super::story::{Step, number, of};
use super::views::{Counts, Round, day_name};
use crate::commands::metadata;
use crate::listing::{Metadata, Topic};

pub(super) const TOPIC: &str = "TopicA";
/// How many users are shown where some are.
pub(super) const SHOWN: usize = 3;

pub(super) fn cluster(stage: &Stage, step: &mut Step) -> Result<(), Error> {
    let (cluster, found) = stage.run("the topic", async {
        stage.create_topic(TOPIC).await?;
        let cluster = stage.admin().describe_cluster().await?;
        let found: metadata::Found = stage
            .admin()
            .describe_topics([TOPIC])
            .await
            .into_iter()
            .collect();
        Ok((cluster, found))
    })?;
    step.lines(metadata::listing(&cluster, &found, Some(TOPIC)).trim_end());
    let brokers = cluster.brokers.len();
    step.check(brokers == NODES, "brokers in the cluster", brokers);
    let (mut partitions, mut whole, mut leaders) = (0, 0, BTreeSet::new());
    for (_, topic) in &found {
        let topic = topic.as_ref().map_err(Clone::clone)?;
        partitions += topic.partitions.len();
        for partition in &topic.partitions {
            let replicas: BTreeSet<_> = partition.replicas.iter().collect();
            let in_sync: BTreeSet<_> = partition.in_sync.iter().collect();
            whole += usize::from(replicas.len() == REPLICAS && replicas == in_sync);
            leaders.extend(partition.leader);
        }
    }
    step.check(
        partitions == PARTITIONS as usize && whole == partitions,
        format!("partitions with {REPLICAS} replicas, all of them in sync"),
        of(whole as u64, u64::from(PARTITIONS)),
    );
    step.check(
        leaders.len() == NODES,
        "brokers that lead a partition",
        of(leaders.len() as u64, NODES as u64),
    );
    let topics = found.into_iter().map(|(name, outcome)| match outcome {
        Ok(topic) => Topic::from(topic),
        Err(error) => Topic::failed(name, &error),
    });
    step.facts(json!({ "metadata": Metadata::new(cluster, topics.collect()) }));
    Ok(())
}

pub(super) fn group(
    stage: &Stage,
    step: &mut Step,
    topic: &'static str,
) -> Result<(Group, Assignment), Error> {
    let name = format!("page-views-of-{topic}");
    let (group, assignment) = stage.run("the group", async {
        let group = Group::join(&stage.client, &name, topic)?;
        let assignment = group.settle(PARTITIONS).await?;
        Ok((group, assignment))
    })?;
    step.say(format!(
        "Members of the group {name} share the partitions out. Each counts the records that it gets, \
         and keeps its counts to itself:"
    ));
    shared_out(step, &assignment);
    let shared: Vec<i32> = assignment.0.values().flatten().copied().collect();
    let distinct: BTreeSet<i32> = shared.iter().copied().collect();
    step.check(
        distinct.len() == PARTITIONS as usize && shared.len() == distinct.len(),
        "partitions that exactly one member has",
        of(distinct.len() as u64, u64::from(PARTITIONS)),
    );
    step.facts(json!({ "group": name, "topic": topic, "members": assignment.facts() }));
    Ok((group, assignment))
}

/// Who has which partitions.
pub(super) fn shared_out(step: &mut Step, assignment: &Assignment) {
    let rows = assignment.0.iter().map(|(member, partitions)| {
        let partitions: Vec<_> = partitions.iter().map(ToString::to_string).collect();
        [member.clone(), partitions.join(" ")]
    });
    step.table(["member", "partitions"], rows);
}

/// What the two services have sent.
pub(super) struct Both {
    pub(super) web: Sent,
    pub(super) mobile: Sent,
}

pub(super) fn services(stage: &Stage, step: &mut Step) -> Result<Both, Error> {
    let sent = stage.run("the records", async {
        // Each service is a program of its own.
        let (ruby, java) = (stage.another_client().await?, stage.another_client().await?);
        let views = &stage.views;
        let web = WEB.producer(&ruby)?;
        let web = WEB
            .send(&web, TOPIC, views.of(WEB.sender, Round::First))
            .await?;
        let mobile = MOBILE.producer(&java)?;
        let mobile = MOBILE
            .send(&mobile, TOPIC, views.of(MOBILE.sender, Round::First))
            .await?;
        Ok(Both { web, mobile })
    })?;
    let Both { web, mobile } = &sent;
    step.say(
        "The web service is in Ruby, the mobile one in Java, each with its client's own partitioner. \
         The key is the user:",
    );
    step.table(services::HEADS, [web.row(WEB)?, mobile.row(MOBILE)?]);
    let apart = apart(web, mobile);
    step.say("Some users, and the partition that each service's records of them are on:");
    let rows = apart
        .iter()
        .take(SHOWN)
        .map(|(user, web, mobile)| [(*user).to_owned(), web.to_string(), mobile.to_string()]);
    step.table(["user", "web", "mobile"], rows);
    let all: u64 = stage.views.counts(&[Round::First]).values().sum();
    let acknowledged = web.acknowledged + mobile.acknowledged;
    step.check(
        acknowledged == all,
        "records that were acknowledged, and no error",
        of(acknowledged, all),
    );
    let misplaced = web.misplaced(WEB, PARTITIONS)? + mobile.misplaced(MOBILE, PARTITIONS)?;
    step.check(
        misplaced == 0,
        "records that are not where the real client would have put them",
        misplaced,
    );
    let users = stage.views.users.len();
    step.check(
        !apart.is_empty(),
        "users whose records are on two partitions all the same",
        of(apart.len() as u64, users as u64),
    );
    step.facts(json!({
        "topic": TOPIC,
        "services": [web.facts(WEB)?, mobile.facts(MOBILE)?],
        "users": users,
        "users_on_two_partitions": apart.len(),
        "examples": apart.iter().take(SHOWN).map(|(user, web, mobile)| json!({
            "user": user, "web": web, "mobile": mobile,
        })).collect::<Vec<_>>(),
    }));
    Ok(sent)
}

pub(super) fn split_counts(
    stage: &Stage,
    step: &mut Step,
    (group, assignment): (Group, Assignment),
    sent: &Both,
) -> Result<(), Error> {
    let right = stage.views.counts(&[Round::First]);
    let all: u64 = right.values().sum();
    let counted = stage.run("the counts", async {
        group.counted(all).await?;
        group.leave().await
    })?;
    step.say("What each member has counted:");
    step.table(counting::HEADS, counted.rows());
    let judged = counted.judged(&right);
    let examples = examples(step, &counted, &right, &judged);
    check_records(step, &counted, &right);
    let users = stage.views.users.len();
    step.check(
        !judged.users.is_empty(),
        "users whose counts are split between two members, so that nobody has the right one",
        of(judged.users.len() as u64, users as u64),
    );
    let expected: BTreeSet<String> = apart(&sent.web, &sent.mobile)
        .into_iter()
        .filter(|&(_, web, mobile)| assignment.member_of(web) != assignment.member_of(mobile))
        .map(|(user, ..)| user.to_owned())
        .collect();
    step.check(
        expected == judged.users,
        "they are the users whose two partitions belong to two members",
        of(
            expected.intersection(&judged.users).count() as u64,
            judged.users.len() as u64,
        ),
    );
    step.facts(json!({
        "members": counted.facts(),
        "records": counted.records(),
        "daily_counts_right": judged.right,
        "daily_counts_wrong": judged.wrong,
        "users_split": judged.users.len(),
        "examples": examples,
    }));
    Ok(())
}

/// Nothing is lost, and nothing is counted twice: the fault is in the placement alone.
pub(super) fn check_records(step: &mut Step, counted: &Counted, right: &Counts) {
    step.check(
        counted.total() == *right,
        "records that were counted by somebody, each once",
        of(counted.records(), right.values().sum::<u64>()),
    );
}

/// Shows users with a split count, and returns them for programs.
pub(super) fn examples(
    step: &mut Step,
    counted: &Counted,
    right: &Counts,
    judged: &Judged,
) -> Vec<serde_json::Value> {
    let wrong = right
        .iter()
        .filter(|((user, day), _)| judged.users.contains(user) && counted.of(user, *day).len() > 1);
    // A user once.
    let mut seen = BTreeSet::new();
    let wrong: Vec<_> = wrong
        .filter(|((user, _), _)| seen.insert(user))
        .take(SHOWN)
        .collect();
    step.table(
        ["user", "day", "views", "counted by"],
        wrong.iter().map(|((user, day), count)| {
            let by = counted.of(user, *day).into_iter();
            let by: Vec<_> = by
                .map(|(member, count)| format!("{member}: {count}"))
                .collect();
            [
                user.clone(),
                day_name(*day).to_owned(),
                number(**count),
                by.join(", "),
            ]
        }),
    );
    let examples = wrong.iter().map(|((user, day), count)| {
        let by = counted.of(user, *day).into_iter();
        let by: Vec<_> = by
            .map(|(member, views)| json!({ "member": member, "views": views }))
            .collect();
        json!({ "user": user, "day": day_name(*day), "views": count, "counted_by": by })
    });
    examples.collect()
}
