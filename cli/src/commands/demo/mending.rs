//! Steps 6 to 8: the guard, one partitioner, and a topic that grows.

use std::collections::BTreeSet;

use copart::admin::NewPartitions;
use copart::{ErrorKind, Guard};
use copart_audit::Error;
use serde_json::json;

use super::audit::foretold;
use super::counting::{self, Assignment, Group};
use super::opening::{self, Both, SHOWN, shared_out};
use super::services::{self, MOBILE, MOBILE_MENDED, Sent, WEB, apart, record};
use super::stage::{PARTITIONS, PARTITIONS_AFTER, Stage};
use super::story::{Step, number, of};
use super::views::Round;

/// A topic that only the web service has written to.
pub(super) const TOPIC: &str = "TopicB";

/// The group that counts it, and what the web service has sent.
pub(super) struct Guarded {
    group: Group,
    assignment: Assignment,
    web: Sent,
}

pub(super) fn guard(stage: &Stage, step: &mut Step) -> Result<Guarded, Error> {
    let (group, assignment, web) = stage.run("the topic", async {
        stage.create_topic(TOPIC).await?;
        let group = Group::join(&stage.client, &format!("page-views-of-{TOPIC}"), TOPIC)?;
        let assignment = group.settle(PARTITIONS).await?;
        let ruby = stage.another_client().await?;
        let producer = WEB.producer(&ruby)?;
        let web = WEB
            .send(&producer, TOPIC, stage.views.of(WEB.sender, Round::First))
            .await?;
        Ok((group, assignment, web))
    })?;
    step.say(format!(
        "{TOPIC} has only what the web service wrote: {} records. Now the mobile service starts, with \
         Java's partitioner and `verify_topic(\"{TOPIC}\", Guard::Refuse)`. Its first record fails:",
        number(web.acknowledged)
    ));
    let (refusal, after) = stage.run("the guard", async {
        let java = stage.another_client().await?;
        let producer = MOBILE.guarded(&java, TOPIC)?;
        let mut views = stage.views.of(MOBILE.sender, Round::First);
        let refusal = match views.next() {
            Some(view) => producer.send(record(TOPIC, view)).await.err(),
            None => None,
        };
        Ok((refusal, stage.records_in(TOPIC, PARTITIONS).await?))
    })?;
    let is_guard = refusal
        .as_ref()
        .is_some_and(|error| error.kind() == ErrorKind::Guard);
    let text = refusal.map(|error| error.to_string());
    if let Some(text) = &text {
        step.say(text.clone());
    }
    step.check(
        is_guard,
        "the guard refuses the mobile service",
        if is_guard { "yes" } else { "no" },
    );
    step.check(
        u64::try_from(after).is_ok_and(|after| after == web.acknowledged),
        "records in the topic are as many as before",
        number(after.unsigned_abs()),
    );
    step.facts(json!({
        "topic": TOPIC,
        "records": after,
        "services": [web.facts(WEB)?],
        "refusal": text,
    }));
    Ok(Guarded {
        group,
        assignment,
        web,
    })
}

pub(super) fn one_partitioner(
    stage: &Stage,
    step: &mut Step,
    guarded: Guarded,
) -> Result<(Group, Assignment, Both), Error> {
    let Guarded {
        group,
        assignment,
        web,
    } = guarded;
    let right = stage.views.counts(&[Round::First]);
    let all: u64 = right.values().sum();
    let (mobile, counted) = stage.run("the counts", async {
        let other = stage.another_client().await?;
        let producer = MOBILE_MENDED.guarded(&other, TOPIC)?;
        let views = stage.views.of(MOBILE_MENDED.sender, Round::First);
        let mobile = MOBILE_MENDED.send(&producer, TOPIC, views).await?;
        Ok((mobile, group.counted(all).await?))
    })?;
    step.say(format!(
        "The mobile service takes the guard's advice: `Partitioning::like(\"{}\")`. The guard lets it \
         through, and the group counts the same views as before:",
        MOBILE_MENDED.like
    ));
    step.table(services::HEADS, [web.row(WEB)?, mobile.row(MOBILE_MENDED)?]);
    step.table(counting::HEADS, counted.rows());
    let judged = counted.judged(&right);
    let apart = apart(&web, &mobile).len();
    step.check(
        apart == 0,
        "users whose records are on two partitions",
        number(apart as u64),
    );
    opening::check_records(step, &counted, &right);
    step.check(
        judged.wrong == 0 && judged.right == right.len(),
        "daily counts that one member has, whole and right",
        of(judged.right as u64, right.len() as u64),
    );
    step.facts(json!({
        "topic": TOPIC,
        "services": [web.facts(WEB)?, mobile.facts(MOBILE_MENDED)?],
        "users_on_two_partitions": apart,
        "members": counted.facts(),
        "records": counted.records(),
        "daily_counts_right": judged.right,
        "daily_counts_wrong": judged.wrong,
    }));
    Ok((group, assignment, Both { web, mobile }))
}

pub(super) fn growth(
    stage: &Stage,
    step: &mut Step,
    (group, before, first): (Group, Assignment, Both),
) -> Result<(), Error> {
    let foretold = foretold(stage, WEB.like)?;
    let right = stage.views.counts(&[Round::First, Round::Second]);
    let all: u64 = right.values().sum();
    let (refusal, after, web, mobile) = stage.run("the new partitions", async {
        let grown = NewPartitions::total(TOPIC, PARTITIONS_AFTER as i32);
        stage.admin().create_partitions([grown]).await.all()?;
        let after = group.settle(PARTITIONS_AFTER).await?;
        let client = stage.another_client().await?;
        let guarded = WEB
            .builder(&client)?
            .expect_partitions(TOPIC, PARTITIONS as usize, Guard::Refuse)
            .build()?;
        let refusal = guarded.prepare(TOPIC).await.err();
        let views = &stage.views;
        let web = WEB.producer(&client)?;
        let web = WEB
            .send(&web, TOPIC, views.of(WEB.sender, Round::Second))
            .await?;
        let mobile = MOBILE_MENDED.producer(&client)?;
        let of_mobile = views.of(MOBILE_MENDED.sender, Round::Second);
        let mobile = MOBILE_MENDED.send(&mobile, TOPIC, of_mobile).await?;
        Ok((refusal, after, web, mobile))
    })?;
    let counted = stage.run("the counts", async {
        group.counted(all).await?;
        group.leave().await
    })?;
    let moved = apart(&first.web, &web);
    let users = stage.views.users.len();
    step.say(format!(
        "`copart movement --from {}:{PARTITIONS} --to {PARTITIONS_AFTER}` foretells it: {} of {} users move. \
         Then {TOPIC} gets {PARTITIONS_AFTER} partitions, the group shares them out anew, and both services \
         send the evening of {}:",
        WEB.like,
        number(foretold.moved_keys.moved),
        number(users as u64),
        super::views::day_name(1),
    ));
    shared_out(step, &after);
    step.table(
        ["user", "at 8", "at 12"],
        moved
            .iter()
            .take(SHOWN)
            .map(|(user, from, to)| [(*user).to_owned(), from.to_string(), to.to_string()]),
    );
    let judged = counted.judged(&right);
    step.say("Local state does not move with a partition, so that counts are split again:");
    let examples = opening::examples(step, &counted, &right, &judged);
    step.check(
        moved.len() as u64 == foretold.moved_keys.moved && !moved.is_empty(),
        "users that moved, as was foretold",
        of(moved.len() as u64, users as u64),
    );
    let misplaced = web.misplaced(WEB, PARTITIONS_AFTER)?
        + mobile.misplaced(MOBILE_MENDED, PARTITIONS_AFTER)?
        + apart(&web, &mobile).len() as u64;
    step.check(
        misplaced == 0,
        "users on whom the two services disagree",
        misplaced,
    );
    opening::check_records(step, &counted, &right);
    let expected: BTreeSet<String> = first
        .web
        .partitions
        .iter()
        .filter(|&(user, &old)| {
            let new = web.partitions.get(user).copied();
            new.is_none_or(|new| before.member_of(old) != after.member_of(new))
        })
        .map(|(user, _)| user.clone())
        .collect();
    step.check(
        expected == judged.users && !expected.is_empty(),
        "users whose counts are split: those that have another member now",
        of(judged.users.len() as u64, users as u64),
    );
    let is_guard = refusal
        .as_ref()
        .is_some_and(|error| error.kind() == ErrorKind::Guard);
    step.check(
        is_guard,
        format!("a producer that was told of {PARTITIONS} partitions refuses to write"),
        refusal
            .as_ref()
            .map_or_else(|| "it wrote".to_owned(), ToString::to_string),
    );
    step.facts(json!({
        "topic": TOPIC,
        "from": PARTITIONS,
        "to": PARTITIONS_AFTER,
        "users": users,
        "foretold_to_move": foretold.moved_keys.moved,
        "expected_share": foretold.expected.share,
        "moved": moved.len(),
        "assignment": after.facts(),
        "members": counted.facts(),
        "records": counted.records(),
        "daily_counts_right": judged.right,
        "daily_counts_wrong": judged.wrong,
        "users_split": judged.users.len(),
        "examples": examples,
        "refusal": refusal.map(|error| error.to_string()),
    }));
    Ok(())
}
