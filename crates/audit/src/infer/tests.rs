//! Topics as the clients' rules write them, and topics that nothing wrote by key.

use std::sync::atomic::AtomicBool;

use data_encoding::HEXLOWER;

use super::testing::{Topic, keys, place};
use super::*;

fn run(mut topic: Topic, expect: Option<&str>) -> InferReport {
    let options = InferOptions {
        partitions: None,
        expect: expect.map(|name| Client::parse(name).unwrap()),
        show: 10,
    };
    let run = Run {
        threads: 2,
        interrupted: &AtomicBool::new(false),
    };
    infer_from(&mut topic, &options, &run).unwrap()
}

fn each(numbers: std::ops::Range<i64>, key: impl Fn(i64) -> Vec<u8>) -> Vec<Vec<u8>> {
    numbers.map(key).collect()
}

#[test]
fn every_rule_of_the_catalogue_is_named() {
    let mut texts = keys(0, 150);
    // Keys that tell the rules apart which differ on such keys alone.
    texts.extend(each(0..150, |i| format!("Zoë-ü{i}é").into_bytes()));
    for rule in rules::rules(None) {
        for count in [3, 12, 50] {
            let report = run(
                Topic::new(count).by(rule.entries[0].id, count, &texts),
                None,
            );
            let [only] = &report.components[..] else {
                panic!("{} at {count}: {:#?}", rule.name, report.components);
            };
            // Rules that differ at i32::MIN alone are named together.
            let rare =
                |twin: &TwinReport| twin.profile == rule.name && twin.because == TwinReason::Keys;
            assert!(
                only.profile == rule.name || only.twins.iter().any(rare),
                "{} for {} at {count}",
                only.profile,
                rule.name
            );
            assert_eq!(
                report.verdict,
                InferVerdict::OneProfile,
                "{} at {count}: {:#?}",
                rule.name,
                only.twins
            );
            assert_eq!((report.unexplained.places, only.places), (0, 300));
            assert_eq!(only.key_bytes, "as-is");
        }
    }
}

/// The real clients' placements, made by running them.
#[test]
fn topics_as_the_real_clients_write_them_are_named() {
    use copart_partitioners::catalogue;
    let files = copart_compat_vectors::Files::unpack();
    let mut named = 0;
    for name in files.names().filter(|name| name.starts_with("placements/")) {
        let id = name["placements/".len()..]
            .trim_end_matches(".jsonl")
            .replacen("__", "/", 1);
        let profile = catalogue::find(&id).unwrap().profile;
        for count in [6u32, 12, 31] {
            let mut topic = Topic::new(count);
            for line in files.get(name).unwrap().lines() {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                let (Some(hex), Some(at)) =
                    (row["key_hex"].as_str(), row["partitions"].as_object())
                else {
                    continue;
                };
                let partition = at[&count.to_string()].as_u64().unwrap() as u32;
                topic = topic.at(partition, Some(&HEXLOWER.decode(hex.as_bytes()).unwrap()));
            }
            // Of kafka-python's `hash()` only the empty key is the same in every process.
            if topic.records.len() < 100 {
                continue;
            }
            let report = run(topic, Some(&id));
            let expected = report.expected.as_ref().unwrap();
            assert_eq!(
                expected.outcome,
                ExpectedOutcome::Met,
                "{id} at {count}: {}",
                expected.why
            );
            if matches!(profile.keyed, copart_partitioners::KeyedRule::Hashed { .. }) {
                named += 1;
                assert_eq!(report.verdict, InferVerdict::OneProfile, "{id} at {count}");
                let clients = &report.components[0].clients;
                let client = clients.iter().find(|client| client.id == id);
                assert!(
                    client.is_some_and(|client| client.ruled_out.is_none()),
                    "{id} at {count}: {clients:?}"
                );
            }
        }
    }
    assert!(named > 120, "{named}");
}

/// None in hundreds: the error over all tests of a run is one in a million.
#[test]
fn random_placement_is_never_taken_for_a_rule() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = |n: u32| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        ((seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % u64::from(n)) as u32
    };
    let counts = [2, 3, 4, 6, 7, 8, 12, 16, 24, 31];
    for topic_number in 0..240u32 {
        let count = counts[topic_number as usize % counts.len()];
        let mut topic = Topic::new(count);
        for i in 0..200u32 {
            let key = match topic_number % 4 {
                0 => format!("user-{topic_number}-{i}").into_bytes(),
                1 => i64::from(topic_number * 1000 + i).to_be_bytes().to_vec(),
                2 => format!("{}", topic_number * 1000 + i).into_bytes(),
                _ => vec![
                    0,
                    0,
                    0,
                    0,
                    1 + (i % 2) as u8,
                    i as u8,
                    topic_number as u8,
                    7,
                ],
            };
            topic = topic.at(random(count), Some(&key));
        }
        let report = run(topic, None);
        assert!(
            report.components.is_empty(),
            "topic {topic_number} of {count}: {:#?}",
            report.components
        );
        assert!(
            matches!(
                report.verdict,
                InferVerdict::NoRuleFits | InferVerdict::TooFewKeys
            ),
            "topic {topic_number} of {count}: {:?}",
            report.verdict
        );
    }
}

#[test]
fn skew_and_strays_are_no_rules() {
    // Most records on one partition, whatever their keys.
    let mut topic = Topic::new(12);
    for (i, key) in keys(0, 500).iter().enumerate() {
        topic = topic.at(
            if i % 10 == 0 { (i / 10 % 12) as u32 } else { 3 },
            Some(key),
        );
    }
    assert!(run(topic, None).components.is_empty());
    // One key by hand among a thousand by Java: listed, and no second writer.
    let report = run(
        Topic::new(12)
            .by("java", 12, &keys(0, 1000))
            .at(5, Some(b"by-hand")),
        None,
    );
    assert_eq!(report.verdict, InferVerdict::OneProfile);
    assert_eq!(report.unexplained.places, 1);
    assert_eq!(
        report.unexplained.examples[0].key_hex,
        HEXLOWER.encode(b"by-hand")
    );
}

#[test]
fn sign_twins_are_named_with_the_counts_that_tell() {
    for (client, twin) in [("java", "platformatic"), ("kafkajs", "platformatic")] {
        let report = run(Topic::new(16).by(client, 16, &keys(0, 200)), None);
        assert_eq!(report.verdict, InferVerdict::Twins);
        assert_eq!(report.exit_code(), 4);
        let twins = &report.components[0].twins;
        let twin = twins.iter().find(|found| found.profile == twin).unwrap();
        assert_eq!(twin.because, TwinReason::PartitionCount);
        let at_12 = twin
            .tell_at
            .iter()
            .find(|tell| tell.partitions == 12)
            .unwrap();
        assert!((0.4..0.6).contains(&at_12.share), "{at_12:?}");
        // Where they can't be told apart, either expectation is met.
        for expect in ["java", "platformatic"] {
            let report = run(Topic::new(16).by(client, 16, &keys(0, 200)), Some(expect));
            assert_eq!(report.expected.unwrap().outcome, ExpectedOutcome::Met);
        }
    }
    // Keys that are all ASCII can't tell C's signed char; that does not make Java doubtful.
    let report = run(Topic::new(12).by("java", 12, &keys(0, 200)), None);
    assert_eq!(report.verdict, InferVerdict::OneProfile);
    let twins = &report.components[0].twins;
    assert!(
        twins
            .iter()
            .any(|t| t.profile == "ruby-kafka/murmur2" && t.because == TwinReason::Keys),
        "{twins:?}"
    );
}

#[test]
fn too_few_keys_are_too_few_and_how_many_it_takes_is_said() {
    let report = run(Topic::new(12).by("java", 12, &keys(0, 6)), None);
    assert_eq!(
        (report.verdict, report.exit_code()),
        (InferVerdict::TooFewKeys, 4)
    );
    let needed = report.evidence.keys_needed.unwrap();
    assert!((8..40).contains(&needed), "{needed}");
    // One partition tells nothing, however many keys.
    let report = run(Topic::new(1).by("java", 1, &keys(0, 1000)), None);
    assert_eq!(
        (report.verdict, report.evidence.keys_needed),
        (InferVerdict::TooFewKeys, None)
    );
    assert_eq!(run(Topic::new(12), None).verdict, InferVerdict::NoKeys);
    assert_eq!(
        run(Topic::new(12).at(0, None).at(1, Some(b"")), None).verdict,
        InferVerdict::NoKeys
    );
    // Enough is enough at every count.
    for count in [3, 5, 6, 12, 31, 50] {
        let report = run(Topic::new(count).by("sarama", count, &keys(0, 60)), None);
        assert_eq!(
            report.verdict,
            InferVerdict::OneProfile,
            "{count}: {report:#?}"
        );
    }
}

#[test]
fn a_writer_that_changed_half_way_is_found_with_its_offsets() {
    let topic =
        Topic::new(12)
            .by("ruby-kafka", 12, &keys(0, 1500))
            .by("java", 12, &keys(500, 2000));
    let report = run(topic, Some("java"));
    assert_eq!(
        (report.verdict, report.exit_code()),
        (InferVerdict::Mixed, 1)
    );
    let names: Vec<_> = report
        .components
        .iter()
        .map(|c| c.profile.as_str())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"librdkafka") && names.contains(&"java"));
    assert!(
        report
            .components
            .iter()
            .all(|c| (c.share - 0.5).abs() < 0.05)
    );
    assert_eq!(report.unexplained.places, 0);
    assert!(report.moved.keys > 800, "{}", report.moved.keys);
    assert_eq!(report.moved.examples.len(), 10);
    let timeline = report.timeline.unwrap();
    assert!(timeline.in_turn);
    let java = names.iter().position(|name| *name == "java").unwrap();
    let segments = timeline.by_time.unwrap().segments;
    assert_eq!(segments.len(), 2);
    assert_eq!(segments[1].component, java);
    let change = 1_700_000_000_000 + 15_000;
    let (before, after) = (
        segments[0].to.timestamp.unwrap(),
        segments[1].from.timestamp.unwrap(),
    );
    assert!(
        before < change && change <= after && after - before < 200,
        "{before} {after}"
    );
    assert_eq!(timeline.by_partition.len(), 12);
    for partition in &timeline.by_partition {
        let [first, second] = &partition.order.segments[..] else {
            panic!("{partition:?}");
        };
        let gap = second.from.offset.unwrap() - first.to.offset.unwrap();
        assert!((1..8).contains(&gap), "{partition:?}");
    }
    // The header tells too, and only because it goes with the rules.
    assert_eq!(report.hints.len(), 1);
    assert_eq!(report.hints[0].values.len(), 2);
}

#[test]
fn writers_at_once_and_a_rolled_back_release() {
    let mut topic = Topic::new(12);
    for chunk in keys(0, 1200).chunks(3) {
        topic = topic
            .by("librdkafka", 12, &chunk[..1])
            .by("java", 12, &chunk[1..]);
    }
    let report = run(topic, None);
    assert_eq!(report.verdict, InferVerdict::Mixed);
    assert!(!report.timeline.as_ref().unwrap().in_turn);
    assert_eq!(report.components[0].profile, "java");
    assert!((report.components[0].share - 0.66).abs() < 0.05);
    let topic = Topic::new(12)
        .by("kafkajs@1.16", 12, &keys(0, 600))
        .by("kafkajs@2", 12, &keys(600, 900))
        .by("kafkajs@1.16", 12, &keys(900, 1500));
    let report = run(topic, None);
    let segments = report.timeline.unwrap().by_time.unwrap().segments;
    assert_eq!(
        segments.iter().map(|s| s.component).collect::<Vec<_>>(),
        [0, 1, 0]
    );
    assert_eq!(report.components[1].profile, "java");
}

#[test]
fn a_minority_is_found() {
    let mut many = Topic::new(12).by("java", 12, &keys(0, 5000));
    many = many.by("sarama", 12, &keys(9000, 9060));
    let report = run(many, None);
    assert_eq!(report.verdict, InferVerdict::Mixed);
    assert_eq!(report.components[1].profile, "sarama");
    assert!(report.components[1].places_alone > 40);
}

#[test]
fn a_stale_count_is_found_alone_and_beside_the_right_one() {
    let report = run(Topic::new(12).by("java", 7, &keys(0, 300)), None);
    assert_eq!(
        (report.verdict, report.exit_code()),
        (InferVerdict::StaleCount, 1)
    );
    assert_eq!(report.components[0].partitions, 7);
    assert!(report.components[0].stale_count);
    for stale in [6, 8] {
        let topic = Topic::new(12)
            .by("java", 12, &keys(0, 600))
            .by("java", stale, &keys(600, 900));
        let report = run(topic, None);
        assert_eq!(report.verdict, InferVerdict::Mixed);
        let counts: Vec<_> = report
            .components
            .iter()
            .map(|c| (c.partitions, c.stale_count))
            .collect();
        assert_eq!(counts, [(12, false), (stale, true)]);
    }
}

#[test]
fn without_a_count_it_is_inferred() {
    // The highest partitions of 12 have no record.
    let few: Vec<_> = keys(0, 400)
        .into_iter()
        .filter(|key| place(Client::parse("java").unwrap().profile(), key, 12) < 10)
        .collect();
    let report = run(Topic::new(12).by("java", 12, &few).count_unknown(), None);
    assert_eq!(report.verdict, InferVerdict::OneProfile);
    assert_eq!(
        (report.partitions.count, report.partitions.source),
        (12, CountSource::Inferred)
    );
    let report = run(
        Topic::new(12).by("java", 12, &keys(0, 400)).count_unknown(),
        None,
    );
    assert_eq!(
        (report.partitions.count, report.partitions.source),
        (12, CountSource::HighestPartition)
    );
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("-p says it"))
    );
}

#[test]
fn numbers_and_uuids_shown_as_text_are_recognised() {
    let uuid = |i: i64| {
        uuid::Uuid::from_u64_pair((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), i as u64)
    };
    // What was hashed, what the dump shows, and the name of the difference.
    type Case = (fn(i64) -> Vec<u8>, fn(i64) -> Vec<u8>, &'static str);
    let cases: [Case; 4] = [
        (
            |i| i.to_be_bytes().to_vec(),
            |i| i.to_string().into_bytes(),
            "text-as-int64",
        ),
        (
            |i| (i as i32).to_be_bytes().to_vec(),
            |i| i.to_string().into_bytes(),
            "text-as-int32",
        ),
        (
            |i| i.to_string().into_bytes(),
            |i| i.to_be_bytes().to_vec(),
            "integer-as-text",
        ),
        (
            |i| format!("u{i}").into_bytes(),
            |i| format!("\"u{i}\"").into_bytes(),
            "unquoted",
        ),
    ];
    let profile = *Client::parse("java").unwrap().profile();
    for (hashed, shown, name) in cases {
        let mut topic = Topic::new(12);
        for i in 1000..1200 {
            topic = topic.at(place(&profile, &hashed(i), 12), Some(&shown(i)));
        }
        let report = run(topic, None);
        assert_eq!(report.components[0].key_bytes, name);
        assert_eq!(report.verdict, InferVerdict::OneProfile);
    }
    let mut topic = Topic::new(12);
    for i in 0..200 {
        let text = uuid(i).to_string();
        topic = topic.at(
            place(&profile, uuid(i).as_bytes(), 12),
            Some(text.as_bytes()),
        );
    }
    assert_eq!(
        run(topic, None).components[0].key_bytes,
        "text-as-uuid-bytes"
    );
    // And int64 keys that are int64 keys.
    let report = run(
        Topic::new(12).by("java", 12, &each(0..200, |i| i.to_be_bytes().to_vec())),
        None,
    );
    assert_eq!(report.components[0].key_bytes, "as-is");
}

#[test]
fn avro_keys_under_two_schema_ids() {
    let framed = |id: u8, i: i64| {
        let mut key = vec![0, 0, 0, 0, id];
        key.extend_from_slice(format!("\x0cuser{i:03}").as_bytes());
        key
    };
    let both = [
        each(0..200, |i| framed(1, i)),
        each(0..200, |i| framed(2, i)),
    ]
    .concat();
    let report = run(Topic::new(12).by("java", 12, &both), None);
    assert_eq!(report.verdict, InferVerdict::OneProfile);
    assert_eq!(report.components[0].key_bytes, "as-is");
    let framing = report.framing.unwrap();
    assert_eq!(
        (framing.schema_ids.len(), framing.payloads_under_several_ids),
        (2, 200)
    );
    assert!(framing.payloads_apart > 150);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("schema id"))
    );
    // A producer that leaves the id out keeps each of them together.
    let profile = *Client::parse("java").unwrap().profile();
    let mut topic = Topic::new(12);
    for key in &both {
        topic = topic.at(place(&profile, &key[5..], 12), Some(key));
    }
    let report = run(topic, None);
    assert_eq!(report.components[0].key_bytes, "without-schema-id");
    assert_eq!(report.framing.unwrap().payloads_apart, 0);
}

#[test]
fn topics_without_keyed_placement() {
    // kafka-go's default: each record to the next partition, keys or not.
    let mut topic = Topic::new(12);
    for i in 0..600u32 {
        topic = topic.at(i % 12, Some(format!("k{}", i * 7 % 50).as_bytes()));
    }
    let report = run(topic, Some("kafka-go"));
    assert_eq!(report.verdict, InferVerdict::NotKeyed);
    assert_eq!(report.spread.as_ref().unwrap().kind, SpreadKind::RoundRobin);
    assert_eq!(
        report.expected.as_ref().unwrap().outcome,
        ExpectedOutcome::Met
    );
    assert_eq!(report.moved.keys, 50);
    // kafka-node's: the first one always.
    let mut topic = Topic::new(12);
    for key in keys(0, 100) {
        topic = topic.at(0, Some(&key));
    }
    let report = run(topic, Some("kafka-node"));
    assert_eq!(report.verdict, InferVerdict::NotKeyed);
    assert_eq!(report.spread.as_ref().unwrap().kind, SpreadKind::Constant);
    assert_eq!(
        report.expected.as_ref().unwrap().outcome,
        ExpectedOutcome::Met
    );
    // A partitioner of one's own: each key keeps its partition.
    let mut topic = Topic::new(12);
    for round in 0..3 {
        for (i, key) in keys(0, 100).iter().enumerate() {
            topic = topic.at((i * i % 11 + usize::from(round > 3)) as u32, Some(key));
        }
    }
    let report = run(topic, Some("java"));
    assert_eq!(
        (report.verdict, report.exit_code()),
        (InferVerdict::UnknownRule, 1)
    );
}

#[test]
fn null_and_empty_keys_narrow_the_clients() {
    let mut topic = Topic::new(12).by("librdkafka/murmur2", 12, &keys(0, 100));
    for i in 0..24 {
        topic = topic.at(i % 12, None);
    }
    let report = run(topic, Some("librdkafka/murmur2"));
    let clients = &report.components[0].clients;
    let of = |id| clients.iter().find(|c| c.id == id).unwrap();
    assert!(of("java/default").ruled_out.is_none());
    assert!(of("librdkafka/murmur2").ruled_out.is_some());
    assert!(of("platformatic/compatibility").ruled_out.is_some());
    let expected = report.expected.unwrap();
    assert_eq!(expected.outcome, ExpectedOutcome::NotMet);
    assert!(expected.why.contains("null keys"), "{}", expected.why);
}

#[test]
fn a_partition_that_the_topic_does_not_have_is_an_error() {
    let mut topic = Topic::new(12).at(11, Some(b"k"));
    topic.count = Some(8);
    let run = Run {
        threads: 1,
        interrupted: &AtomicBool::new(false),
    };
    let error = infer_from(&mut topic, &InferOptions::default(), &run).unwrap_err();
    assert!(error.to_string().contains("partition 11"), "{error}");
}
