//! What the assignors of kafka-clients give, and the bytes that it writes: the tables of `oracle/`.

use super::*;

const ASSIGNMENTS: &str = include_str!("../../../../oracle/assignments.tsv");
const SUBSCRIPTIONS: &str = include_str!("../../../../oracle/subscriptions.tsv");

/// The parts, or none for a dot.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| *part != ".")
}

fn partitions(text: &str) -> Vec<TopicPartition> {
    let partitions = parts(text).map(|part| {
        let (topic, partition) = part.split_once('-').expect("a topic and a number");
        TopicPartition::new(topic, partition.parse().expect("a number"))
    });
    partitions.collect()
}

fn member(text: &str) -> MemberSubscription {
    let [id, instance, topics, generation, owned] = text.split(' ').collect::<Vec<_>>()[..]
        .try_into()
        .expect("5 parts");
    MemberSubscription {
        member_id: Arc::from(id),
        instance_id: (instance != ".").then(|| Arc::from(instance)),
        rack: None,
        topics: parts(topics).map(Arc::from).collect(),
        owned: partitions(owned),
        generation: generation.parse().expect("a number"),
        user_data: None,
    }
}

#[test]
fn assignments_are_those_of_kafka_clients() {
    for row in ASSIGNMENTS.lines() {
        let [assignor, counts, members, expected] = row.split('\t').collect::<Vec<_>>()[..]
            .try_into()
            .expect("4 columns");
        let counts = counts.split('|').map(|count| {
            let (topic, count) = count.split_once(' ').expect("a topic and a number");
            (Arc::from(topic), count.parse().expect("a number"))
        });
        let mut members: Vec<MemberSubscription> = members.split('|').map(member).collect();
        // The order in which the coordinator lists them means nothing.
        members.reverse();
        let expected: BTreeMap<Arc<str>, Vec<TopicPartition>> = expected
            .split('|')
            .map(|given| {
                let (id, given) = given.split_once(' ').expect("a member and partitions");
                (Arc::from(id), partitions(given))
            })
            .collect();
        let assignor = Assignor::named(assignor).expect("known");
        assert_eq!(
            assign(assignor, &members, &counts.collect()),
            expected,
            "{row}"
        );
    }
}

#[test]
fn bytes_are_those_of_kafka_clients() {
    for row in SUBSCRIPTIONS.lines() {
        let [what, told, rack, expected] = row.split('\t').collect::<Vec<_>>()[..]
            .try_into()
            .expect("4 columns");
        let bytes = data_encoding::HEXLOWER
            .decode(expected.as_bytes())
            .expect("hexadecimal");
        let bytes = Bytes::from(bytes);
        if what == "assignment" {
            let given = partitions(told);
            assert_eq!(encode_assignment(&given), bytes, "{row}");
            assert_eq!(decode_assignment(&bytes).expect("readable"), given, "{row}");
            continue;
        }
        let assignor = Assignor::named(what).expect("known");
        let mut told = member(told);
        if !matches!(assignor, Assignor::Sticky | Assignor::CooperativeSticky) {
            // They have let go of everything.
            told.owned.clear();
        }
        let rack = (rack != ".").then_some(rack);
        let written =
            encode_subscription(assignor, &told.topics, &told.owned, told.generation, rack);
        assert_eq!(written, bytes, "{row}");
        let read = decode_subscription(assignor, "a", None, &bytes).expect("readable");
        told.topics.sort();
        assert_eq!(read.topics, told.topics, "{row}");
        assert_eq!(read.owned, told.owned, "{row}");
        assert_eq!(
            (read.generation, read.rack.as_deref()),
            (told.generation, rack),
            "{row}"
        );
    }
}
