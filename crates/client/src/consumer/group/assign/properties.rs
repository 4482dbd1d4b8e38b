//! What goes for any group.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

use super::*;

const TOPICS: [&str; 4] = ["orders", "payments", "returns", "views"];

type Given = BTreeMap<Arc<str>, Vec<TopicPartition>>;

fn counts() -> impl Strategy<Value = BTreeMap<Arc<str>, i32>> {
    proptest::collection::vec(0..9, TOPICS.len()).prop_map(|counts| {
        let topics = TOPICS.iter().copied().map(Arc::from);
        topics.zip(counts).filter(|(_, count)| *count > 0).collect()
    })
}

/// Members that know nothing of before.
fn members(equal: bool) -> impl Strategy<Value = Vec<MemberSubscription>> {
    let topics = subsequence(TOPICS.to_vec(), 1..=TOPICS.len());
    let member = (topics, proptest::option::of(0..1000));
    proptest::collection::vec(member, 1..9).prop_map(move |members| {
        let all: Vec<Arc<str>> = members[0].0.iter().copied().map(Arc::from).collect();
        let members = members.into_iter().enumerate();
        let members = members.map(|(at, (topics, instance))| MemberSubscription {
            member_id: format!("m{at}").into(),
            instance_id: instance.map(|it| format!("i{it}-{at}").into()),
            rack: None,
            topics: match equal {
                true => all.clone(),
                false => topics.into_iter().map(Arc::from).collect(),
            },
            owned: Vec::new(),
            generation: -1,
            user_data: None,
        });
        members.collect()
    })
}

/// Anything that members could say.
fn liars() -> impl Strategy<Value = Vec<MemberSubscription>> {
    let owned = (0..TOPICS.len(), -1..10)
        .prop_map(|(topic, partition)| TopicPartition::new(TOPICS[topic], partition));
    let told = (proptest::collection::vec(owned, 0..9), -1..3);
    let told = proptest::collection::vec(told, 9);
    (any::<bool>(), told).prop_flat_map(|(equal, told)| {
        members(equal).prop_map(move |mut members| {
            for (member, (owned, generation)) in members.iter_mut().zip(told.clone()) {
                member.owned = owned;
                member.generation = generation;
            }
            members
        })
    })
}

fn own(members: &mut [MemberSubscription], given: &Given, generation: i32) {
    for member in members {
        member.owned = given[&member.member_id].clone();
        member.generation = generation;
    }
}

/// Every member has an entry, nothing is given twice or to who does not want it; returns what is given to someone.
fn check(members: &[MemberSubscription], given: &Given) -> BTreeSet<TopicPartition> {
    assert_eq!(members.len(), given.len());
    let mut all = BTreeSet::new();
    for member in members {
        for partition in &given[&member.member_id] {
            assert!(
                member.topics.contains(&partition.topic),
                "{partition} is not wanted"
            );
            assert!(all.insert(partition.clone()), "{partition} is given twice");
        }
    }
    all
}

/// All partitions of what anyone wants.
fn wanted(
    members: &[MemberSubscription],
    counts: &BTreeMap<Arc<str>, i32>,
) -> BTreeSet<TopicPartition> {
    let topics: BTreeSet<&Arc<str>> = members.iter().flat_map(|it| &it.topics).collect();
    let topics = topics
        .into_iter()
        .filter_map(|topic| Some((topic, counts.get(topic)?)));
    topics
        .flat_map(|(topic, count)| (0..*count).map(|it| TopicPartition::new(topic.clone(), it)))
        .collect()
}

/// Nobody could have a partition of someone who has two more.
fn check_fair(members: &[MemberSubscription], given: &Given) {
    for rich in members {
        let has = &given[&rich.member_id];
        for poor in members {
            let can_move = has.iter().any(|it| poor.topics.contains(&it.topic));
            assert!(
                !can_move || has.len() <= given[&poor.member_id].len() + 1,
                "{} could have some of {}",
                poor.member_id,
                rich.member_id
            );
        }
    }
}

proptest! {
    #[test]
    fn everything_is_given_to_someone_who_wants_it(members in liars(), counts in counts()) {
        for assignor in [Assignor::Range, Assignor::RoundRobin, Assignor::Sticky] {
            let given = assign(assignor, &members, &counts);
            prop_assert_eq!(check(&members, &given), wanted(&members, &counts));
        }
    }

    #[test]
    fn sticky_is_fair_whatever_members_say(members in liars(), counts in counts()) {
        check_fair(&members, &assign(Assignor::Sticky, &members, &counts));
    }

    #[test]
    fn range_and_round_robin_are_fair_if_all_want_the_same(members in members(true), counts in counts()) {
        check_fair(&members, &assign(Assignor::RoundRobin, &members, &counts));
        for (topic, count) in &counts {
            let only = BTreeMap::from([(topic.clone(), *count)]);
            check_fair(&members, &assign(Assignor::Range, &members, &only));
        }
    }

    #[test]
    fn cooperative_gives_nobody_what_another_says_to_have(members in liars(), counts in counts()) {
        let given = assign(Assignor::CooperativeSticky, &members, &counts);
        check(&members, &given);
        for (id, partitions) in &given {
            for partition in partitions {
                let claims = members.iter().filter(|it| it.owned.contains(partition));
                let latest = claims.clone().map(|it| it.generation).max();
                let latest: Vec<_> = claims.filter(|it| Some(it.generation) == latest).collect();
                prop_assert!(latest.is_empty() || matches!(latest[..], [only] if only.member_id == *id));
            }
        }
    }

    #[test]
    fn nothing_moves_if_nothing_changes(equal: bool, seed in (members(true), members(false)), counts in counts()) {
        let mut members = if equal { seed.0 } else { seed.1 };
        for assignor in [Assignor::Sticky, Assignor::CooperativeSticky] {
            let given = assign(assignor, &members, &counts);
            own(&mut members, &given, 1);
            let before = assign(assignor, &members, &counts);
            own(&mut members, &before, 2);
            prop_assert_eq!(assign(assignor, &members, &counts), before);
        }
    }

    /// A member leaves: the others keep what they had. One joins: only it gets something that was another's.
    #[test]
    fn nothing_moves_without_need(mut members in members(true), counts in counts(), who: Index) {
        let who = who.index(members.len());
        let one = members.remove(who);
        if members.is_empty() {
            return Ok(());
        }
        let given = assign(Assignor::Sticky, &members, &counts);
        own(&mut members, &given, 1);
        let before = members.clone();
        members.push(one);
        let given = assign(Assignor::Sticky, &members, &counts);
        for member in &before {
            for partition in &given[&member.member_id] {
                prop_assert!(member.owned.contains(partition), "{} moved between old members", partition);
            }
        }
        own(&mut members, &given, 2);

        let left = members.remove(who % members.len());
        let given = assign(Assignor::Sticky, &members, &counts);
        for member in &members {
            for partition in &member.owned {
                prop_assert!(given[&member.member_id].contains(partition), "{} moved, though only {} left", partition, left.member_id);
            }
        }
    }

    /// Whatever members say, two cooperative generations later all is given and no one says anything wrong any more.
    #[test]
    fn cooperative_comes_to_rest(mut members in liars(), counts in counts()) {
        let generation = 3;
        let given = assign(Assignor::CooperativeSticky, &members, &counts);
        own(&mut members, &given, generation);
        let given = assign(Assignor::CooperativeSticky, &members, &counts);
        own(&mut members, &given, generation + 1);
        let given = assign(Assignor::CooperativeSticky, &members, &counts);
        prop_assert_eq!(check(&members, &given), wanted(&members, &counts));
        own(&mut members, &given, generation + 2);
        prop_assert_eq!(assign(Assignor::CooperativeSticky, &members, &counts), given);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, version in 0_i16..5) {
        let mut metadata = version.to_be_bytes().to_vec();
        metadata.extend(bytes);
        let metadata = Bytes::from(metadata);
        for assignor in [Assignor::Range, Assignor::Sticky, Assignor::CooperativeSticky] {
            if let Ok(read) = decode_subscription(assignor, "m", None, &metadata) {
                prop_assert!(read.owned.len() * 4 <= metadata.len());
            }
        }
        let _ = decode_assignment(&metadata);
    }
}
