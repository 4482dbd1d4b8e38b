//! Small cases by hand.

use super::*;

fn member(id: &str, topics: &[&str]) -> MemberSubscription {
    MemberSubscription {
        member_id: id.into(),
        instance_id: None,
        rack: None,
        topics: topics.iter().copied().map(Arc::from).collect(),
        owned: Vec::new(),
        generation: -1,
        user_data: None,
    }
}

fn counts(of: &[(&str, i32)]) -> BTreeMap<Arc<str>, i32> {
    of.iter()
        .map(|(topic, count)| (Arc::from(*topic), *count))
        .collect()
}

fn shown(assigned: &BTreeMap<Arc<str>, Vec<TopicPartition>>) -> String {
    let members = assigned.iter().map(|(member, partitions)| {
        let partitions: Vec<String> = partitions.iter().map(ToString::to_string).collect();
        format!("{member}: {}", partitions.join(" "))
    });
    members.collect::<Vec<_>>().join(", ")
}

#[test]
fn range_cuts_each_topic() {
    let members = [member("a", &["t", "u"]), member("b", &["u", "t"])];
    let assigned = assign(Assignor::Range, &members, &counts(&[("t", 3), ("u", 3)]));
    assert_eq!(shown(&assigned), "a: t-0 t-1 u-0 u-1, b: t-2 u-2");
}

#[test]
fn static_members_are_first_by_their_instances() {
    let mut members = [
        member("a", &["t"]),
        member("b", &["t"]),
        member("c", &["t"]),
    ];
    members[1].instance_id = Some("y".into());
    members[2].instance_id = Some("x".into());
    let counts = counts(&[("t", 4)]);
    let assigned = assign(Assignor::Range, &members, &counts);
    assert_eq!(shown(&assigned), "a: t-3, b: t-2, c: t-0 t-1");
    let assigned = assign(Assignor::RoundRobin, &members, &counts);
    assert_eq!(shown(&assigned), "a: t-2, b: t-1, c: t-0 t-3");
}

#[test]
fn round_robin_passes_over_who_does_not_want_it() {
    let members = [
        member("a", &["t"]),
        member("b", &["t", "u"]),
        member("c", &["t", "u", "v"]),
    ];
    let counts = counts(&[("t", 1), ("u", 2), ("v", 3)]);
    let assigned = assign(Assignor::RoundRobin, &members, &counts);
    assert_eq!(shown(&assigned), "a: t-0, b: u-0, c: u-1 v-0 v-1 v-2");
    // The sticky one is more even.
    let assigned = assign(Assignor::Sticky, &members, &counts);
    assert_eq!(shown(&assigned), "a: t-0, b: u-0 u-1, c: v-0 v-1 v-2");
}

/// Has everybody own what it was given.
fn own(members: &mut [MemberSubscription], given: &BTreeMap<Arc<str>, Vec<TopicPartition>>) {
    for member in members {
        member.owned = given.get(&member.member_id).cloned().unwrap_or_default();
        member.generation += 1;
    }
}

#[test]
fn sticky_moves_no_more_than_it_has_to() {
    let counts = counts(&[("t", 3), ("u", 3)]);
    let mut members = vec![member("a", &["t", "u"]), member("b", &["t", "u"])];
    let first = assign(Assignor::Sticky, &members, &counts);
    assert_eq!(shown(&first), "a: t-0 t-2 u-1, b: t-1 u-0 u-2");
    own(&mut members, &first);

    members.push(member("c", &["t", "u"]));
    let second = assign(Assignor::Sticky, &members, &counts);
    assert_eq!(shown(&second), "a: t-0 u-1, b: t-1 u-0, c: t-2 u-2");

    // Nobody is given what another one reads still; the next generation has it.
    let handed = assign(Assignor::CooperativeSticky, &members, &counts);
    assert_eq!(shown(&handed), "a: t-0 u-1, b: t-1 u-0, c: ");
    own(&mut members, &handed);
    let next = assign(Assignor::CooperativeSticky, &members, &counts);
    assert_eq!(next, second);
}

#[test]
fn the_later_generation_is_believed_and_no_one_if_two_say_the_same() {
    let counts = counts(&[("t", 2)]);
    let mut members = [member("a", &["t"]), member("b", &["t"])];
    let both: Vec<TopicPartition> = (0..2).map(|it| TopicPartition::new("t", it)).collect();
    members[0].owned.clone_from(&both);
    members[0].generation = 3;
    members[1].owned = vec![TopicPartition::new("t", 0)];
    members[1].generation = 4;
    let assigned = assign(Assignor::CooperativeSticky, &members, &counts);
    assert_eq!(shown(&assigned), "a: t-1, b: t-0");

    members[0].generation = 4;
    members[1].owned = both;
    let assigned = assign(Assignor::CooperativeSticky, &members, &counts);
    assert_eq!(shown(&assigned), "a: , b: ");
}

#[test]
fn what_members_make_up_is_not_believed() {
    let counts = counts(&[("t", 2), ("negative", -3), ("empty", 0)]);
    let mut liar = member("a", &["t", "t", "negative", "empty", "missing"]);
    liar.generation = i32::MAX;
    liar.owned = [
        ("t", -1),
        ("t", 2),
        ("t", i32::MAX),
        ("missing", 0),
        ("t", 1),
        ("t", 1),
    ]
    .map(|(topic, partition)| TopicPartition::new(topic, partition))
    .to_vec();
    let members = [liar.clone(), member("b", &["t"]), liar, member("c", &[])];
    for assignor in [
        Assignor::Range,
        Assignor::RoundRobin,
        Assignor::Sticky,
        Assignor::CooperativeSticky,
    ] {
        let assigned = assign(assignor, &members, &counts);
        let expected = match assignor {
            Assignor::Range | Assignor::RoundRobin => "a: t-0, b: t-1, c: ",
            Assignor::Sticky | Assignor::CooperativeSticky => "a: t-1, b: t-0, c: ",
        };
        assert_eq!(shown(&assigned), expected, "{assignor:?}");
        assert!(assign(assignor, &[], &counts).is_empty());
    }
}
