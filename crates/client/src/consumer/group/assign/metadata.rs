//! What consumers put into the bytes that a group only hands on, as Java's `ConsumerProtocol` and its assignors lay it
//! out. All of it comes from other members: nothing in it is believed.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use copart_protocol::Body;
use copart_protocol::messages::consumer_protocol_assignment::{
    ConsumerProtocolAssignment, TopicPartition as Assigned,
};
use copart_protocol::messages::consumer_protocol_subscription::{
    ConsumerProtocolSubscription, TopicPartition as Owned,
};
use copart_protocol::wire::{MAX_STRING, Reader, Writer};

use super::{Assignor, MemberSubscription};
use crate::{Error, ErrorKind, Result, TopicPartition};

/// The version of both messages that is written: the one with racks (KIP-881).
const VERSION: i16 = 3;

/// The metadata of one protocol in JoinGroup, as Java's ConsumerProtocol writes it for that assignor.
///
/// `owned` and `generation` are what the member has now and since when (KIP-429, KIP-792); before the first assignment,
/// nothing and -1. For [`Assignor::Sticky`] they are what it had been assigned last, though it has let go of it since: they
/// go into the assignor's user data. Names that are longer than any of Kafka's are left out.
pub(crate) fn encode_subscription(
    assignor: Assignor,
    topics: &[Arc<str>],
    owned: &[TopicPartition],
    generation: i32,
    rack: Option<&str>,
) -> Bytes {
    let mut topics: Vec<String> = fitting(topics.iter()).map(|it| it.to_string()).collect();
    topics.sort_unstable();
    topics.dedup();
    let mut message = ConsumerProtocolSubscription {
        topics,
        generation_id: generation,
        rack_id: rack
            .filter(|rack| !rack.is_empty() && rack.len() <= MAX_STRING)
            .map(str::to_owned),
        ..ConsumerProtocolSubscription::default()
    };
    let owned = by_topic(owned);
    let owned = owned.into_iter();
    match assignor {
        Assignor::Sticky => message.user_data = sticky_user_data(owned, generation),
        Assignor::Range | Assignor::RoundRobin | Assignor::CooperativeSticky => {
            message.owned_partitions = owned
                .map(|(topic, partitions)| Owned { topic, partitions })
                .collect();
        }
    }
    if assignor == Assignor::CooperativeSticky {
        // For leaders that don't know the message's own field yet.
        message.user_data = Some(Bytes::copy_from_slice(&generation.to_be_bytes()));
    }
    write(&message)
}

/// What a member told the group: for [`assign`](super::assign) with this assignor.
///
/// # Errors
/// `Protocol` if the bytes are no subscription. User data that its assignor can't read are passed over, as Java does.
pub(crate) fn decode_subscription(
    assignor: Assignor,
    member_id: &str,
    instance_id: Option<&str>,
    metadata: &Bytes,
) -> Result<MemberSubscription> {
    let message: ConsumerProtocolSubscription = read(metadata)
        .map_err(|error| error.about(format_args!("the subscription of member {member_id}")))?;
    let mut owned: Vec<TopicPartition> = Vec::new();
    let mut generation = message.generation_id;
    if assignor == Assignor::Sticky {
        // Its members have let go of everything before they join. What they had is in the user data alone.
        (owned, generation) = message
            .user_data
            .as_ref()
            .and_then(previous_assignment)
            .unwrap_or((owned, -1));
    } else {
        for Owned { topic, partitions } in message.owned_partitions {
            spread(topic, partitions, &mut owned);
        }
    }
    if assignor == Assignor::CooperativeSticky && generation < 0 {
        // A member before KIP-792.
        generation = message
            .user_data
            .as_ref()
            .and_then(|data| Some(i32::from_be_bytes(*data.first_chunk()?)))
            .unwrap_or(-1);
    }
    Ok(MemberSubscription {
        member_id: member_id.into(),
        instance_id: instance_id.map(Arc::from),
        rack: message
            .rack_id
            .filter(|rack| !rack.is_empty())
            .map(Arc::from),
        topics: message.topics.into_iter().map(Arc::from).collect(),
        owned,
        generation: generation.max(-1),
        user_data: message.user_data,
    })
}

/// What the leader has SyncGroup hand on to a member.
pub(crate) fn encode_assignment(partitions: &[TopicPartition]) -> Bytes {
    let assigned_partitions = by_topic(partitions)
        .into_iter()
        .map(|(topic, partitions)| Assigned { topic, partitions })
        .collect();
    write(&ConsumerProtocolAssignment {
        assigned_partitions,
        user_data: None,
    })
}

/// What the leader assigned. No bytes are no partitions.
///
/// # Errors
/// `Protocol` if the bytes are no assignment.
pub(crate) fn decode_assignment(assignment: &Bytes) -> Result<Vec<TopicPartition>> {
    if assignment.is_empty() {
        return Ok(Vec::new());
    }
    let message: ConsumerProtocolAssignment = read(assignment)
        .map_err(|error| error.about("what the group's leader assigned to this member"))?;
    let mut partitions = Vec::new();
    for Assigned {
        topic,
        partitions: numbers,
    } in message.assigned_partitions
    {
        spread(topic, numbers, &mut partitions);
    }
    Ok(partitions)
}

/// What the sticky assignor of Java's client keeps: the partitions, and since 2.3 (KIP-341) the generation that they are
/// of.
fn sticky_user_data(
    owned: impl ExactSizeIterator<Item = (String, Vec<i32>)>,
    generation: i32,
) -> Option<Bytes> {
    if generation < 0 && owned.len() == 0 {
        return None;
    }
    let owned: Vec<Assigned> = owned
        .map(|(topic, partitions)| Assigned { topic, partitions })
        .collect();
    let mut w = Writer::new(0, false);
    w.put(&owned).and_then(|()| w.put(&generation)).ok()?;
    Some(w.into_bytes())
}

fn previous_assignment(user_data: &Bytes) -> Option<(Vec<TopicPartition>, i32)> {
    let mut reader = Reader::new(user_data.clone(), 0, false);
    let topics: Vec<Assigned> = reader.get().ok()?;
    let generation: i32 = reader.get().unwrap_or(-1);
    let mut owned = Vec::new();
    for Assigned { topic, partitions } in topics {
        spread(topic, partitions, &mut owned);
    }
    Some((owned, generation))
}

fn spread(topic: String, partitions: Vec<i32>, into: &mut Vec<TopicPartition>) {
    let topic: Arc<str> = topic.into();
    let partitions = partitions.into_iter();
    into.extend(partitions.map(|partition| TopicPartition::new(topic.clone(), partition)));
}

fn by_topic(partitions: &[TopicPartition]) -> BTreeMap<String, Vec<i32>> {
    let mut topics: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for TopicPartition { topic, partition } in partitions {
        if topic.len() <= MAX_STRING {
            topics
                .entry(topic.to_string())
                .or_default()
                .push(*partition);
        }
    }
    for partitions in topics.values_mut() {
        partitions.sort_unstable();
    }
    topics
}

fn fitting<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> impl Iterator<Item = &'a Arc<str>> {
    names.filter(|name| name.len() <= MAX_STRING)
}

/// The message behind its version.
fn write<B: Body>(message: &B) -> Bytes {
    let mut w = Writer::new(VERSION, false);
    // Only a name that is too long can't be written, and there is none.
    match w
        .put(&VERSION)
        .and_then(|()| message.encode_to(VERSION, &mut w))
    {
        Ok(()) => w.into_bytes(),
        Err(_) => Bytes::new(),
    }
}

/// Later versions add fields behind those that are known, which are passed over as Kafka does.
fn read<B: Body>(bytes: &Bytes) -> Result<B> {
    let Some(version) = bytes.first_chunk().copied().map(i16::from_be_bytes) else {
        let reason = format!("{} bytes, less than a version number has", bytes.len());
        return Err(Error::new(ErrorKind::Protocol, reason));
    };
    if version < 0 {
        let reason = format!("version {version} of {}, which can't be", B::NAME);
        return Err(Error::new(ErrorKind::Protocol, reason));
    }
    let mut body = bytes.clone();
    body.advance(2);
    let mut reader = Reader::new(body, version.min(B::VERSIONS.max), false);
    B::read(&mut reader).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use bytes::{BufMut, BytesMut};

    use super::*;

    const ALL: [Assignor; 4] = [
        Assignor::Range,
        Assignor::RoundRobin,
        Assignor::Sticky,
        Assignor::CooperativeSticky,
    ];

    fn topics(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().copied().map(Arc::from).collect()
    }

    fn partitions(of: &[(&str, i32)]) -> Vec<TopicPartition> {
        of.iter()
            .map(|(topic, partition)| TopicPartition::new(*topic, *partition))
            .collect()
    }

    #[test]
    fn subscriptions_come_back() {
        let owned = partitions(&[("b", 2), ("a", 1), ("b", 0)]);
        for assignor in ALL {
            let bytes =
                encode_subscription(assignor, &topics(&["b", "a", "b"]), &owned, 7, Some("r1"));
            let read = decode_subscription(assignor, "m", Some("i"), &bytes).expect("readable");
            assert_eq!(
                (&*read.member_id, read.instance_id.as_deref()),
                ("m", Some("i"))
            );
            assert_eq!(read.topics, topics(&["a", "b"]));
            assert_eq!(read.owned, partitions(&[("a", 1), ("b", 0), ("b", 2)]));
            assert_eq!((read.generation, read.rack.as_deref()), (7, Some("r1")));
        }
    }

    #[test]
    fn newcomers_say_nothing_of_before() {
        for assignor in ALL {
            let bytes = encode_subscription(assignor, &topics(&["a"]), &[], -1, None);
            let read = decode_subscription(assignor, "m", None, &bytes).expect("readable");
            assert_eq!(
                (read.owned.len(), read.generation, read.rack),
                (0, -1, None)
            );
        }
    }

    #[test]
    fn assignments_come_back() {
        let given = partitions(&[("a", 0), ("a", 3), ("b", 1)]);
        let bytes = encode_assignment(&given);
        assert_eq!(decode_assignment(&bytes).expect("readable"), given);
        assert!(
            decode_assignment(&Bytes::new())
                .expect("nothing")
                .is_empty()
        );
        let nothing = encode_assignment(&[]);
        assert!(decode_assignment(&nothing).expect("nothing").is_empty());
    }

    #[test]
    fn versions_before_and_after_are_read() {
        // Version 0: topics and user data.
        let mut bytes = BytesMut::new();
        bytes.put_i16(0);
        bytes.put_i32(1);
        bytes.put_slice(b"\0\x01t");
        bytes.put_i32(-1);
        let read = decode_subscription(Assignor::Range, "m", None, &bytes.freeze());
        assert_eq!(read.expect("readable").topics, topics(&["t"]));

        let known = encode_subscription(Assignor::Range, &topics(&["t"]), &[], 3, None);
        let mut later = BytesMut::from(&known[..]);
        later[1] = 9;
        later.put_slice(&[1, 2, 3]);
        let read = decode_subscription(Assignor::Range, "m", None, &later.freeze());
        assert_eq!(read.expect("readable").generation, 3);
    }

    #[test]
    fn user_data_of_older_members_are_read() {
        let owned = by_topic(&partitions(&[("a", 1)])).into_iter();
        let data = sticky_user_data(owned, 5).expect("some");
        let without_generation = data.slice(..data.len() - 4);
        let (owned, generation) = previous_assignment(&without_generation).expect("readable");
        assert_eq!((owned, generation), (partitions(&[("a", 1)]), -1));

        // Cooperative members say the generation in the user data, until the message has a field for it.
        let message = ConsumerProtocolSubscription {
            user_data: Some(Bytes::from_static(&[0, 0, 0, 6])),
            owned_partitions: vec![Owned {
                topic: "a".to_owned(),
                partitions: vec![1],
            }],
            ..ConsumerProtocolSubscription::default()
        };
        let mut bytes = BytesMut::from(&[0, 1][..]);
        bytes.extend_from_slice(&message.encode(1).expect("encodable"));
        let read = decode_subscription(Assignor::CooperativeSticky, "m", None, &bytes.freeze());
        let read = read.expect("readable");
        assert_eq!((read.generation, read.owned), (6, partitions(&[("a", 1)])));
    }

    #[test]
    fn other_bytes_are_errors() {
        let whole = encode_subscription(
            Assignor::CooperativeSticky,
            &topics(&["a"]),
            &partitions(&[("a", 0)]),
            1,
            Some("r"),
        );
        for assignor in ALL {
            for length in 0..whole.len() {
                let error = decode_subscription(assignor, "m-1", None, &whole.slice(..length))
                    .expect_err("cut short");
                assert_eq!(error.kind(), ErrorKind::Protocol);
                assert!(error.to_string().contains("member m-1"), "{error}");
            }
            let negative = Bytes::from_static(&[0xff, 0xff, 0, 0, 0, 0]);
            assert!(decode_subscription(assignor, "m", None, &negative).is_err());
        }
        let many = Bytes::from_static(&[0, 3, 0x7f, 0xff, 0xff, 0xff]);
        assert!(decode_assignment(&many).is_err());
        assert!(decode_assignment(&Bytes::from_static(&[0])).is_err());
    }

    #[test]
    fn user_data_that_mean_nothing_are_passed_over() {
        let message = ConsumerProtocolSubscription {
            user_data: Some(Bytes::from_static(&[0x7f, 0xff, 0xff, 0xff, 1])),
            generation_id: 4,
            ..ConsumerProtocolSubscription::default()
        };
        let read = decode_subscription(Assignor::Sticky, "m", None, &write(&message));
        let read = read.expect("readable");
        assert_eq!((read.owned.len(), read.generation), (0, -1));
    }

    #[test]
    fn names_that_kafka_can_not_have_are_left_out() {
        let long: Arc<str> = "x".repeat(MAX_STRING + 1).into();
        let names = [long.clone(), Arc::from("a")];
        let owned = [TopicPartition::new(long.clone(), 0)];
        let bytes = encode_subscription(Assignor::Sticky, &names, &owned, 1, Some(&long));
        let read = decode_subscription(Assignor::Sticky, "m", None, &bytes).expect("readable");
        assert_eq!(read.topics, topics(&["a"]));
        assert!(read.owned.is_empty() && read.rack.is_none());
    }
}
