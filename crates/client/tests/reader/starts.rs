//! Where reading begins and ends.

use std::time::Duration;

use copart::serializers::Utf8;
use copart::{End, ErrorKind, Isolation, Start, TopicPartition};

use crate::support::{TOPIC, broker, build, client, next, read_to_end, take, write};

#[tokio::test]
async fn from_every_place_to_the_end() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    // Times are the values in seconds.
    write(&client, 0, 10..20).await;
    for (start, expected) in [
        (Start::Earliest, 10..20),
        (Start::Offset(4), 14..20),
        (Start::Offset(10), 20..20),
        (Start::Timestamp(17_000), 17..20),
        (Start::Timestamp(16_001), 17..20),
        (Start::Timestamp(0), 10..20),
        (Start::Timestamp(99_000), 20..20),
        (Start::Latest, 20..20),
        (Start::Ago(Duration::from_secs(3600)), 20..20),
    ] {
        let reader = client.reader().topic(TOPIC).start(start).until(End::Latest);
        let mut reader = build(reader.isolation(Isolation::ReadUncommitted)).await;
        let read = read_to_end(&mut reader).await;
        let values: Vec<u64> = read.iter().map(|&(_, _, value)| value).collect();
        assert_eq!(values, expected.clone().collect::<Vec<_>>(), "{start:?}");
        assert!(
            read.iter()
                .all(|&(p, offset, v)| p == 0 && offset == v as i64 - 10)
        );
        assert!(reader.recv().await.is_none(), "an end stays one");
        assert_eq!(reader.position((TOPIC, 0)), Some(10));
    }
}

#[tokio::test]
async fn ends_by_offset_and_by_time_and_for_one_partition() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..10).await;
    write(&client, 1, 0..10).await;
    let reader = client
        .reader()
        .topic(TOPIC)
        .until(End::Offset(3))
        .until_of((TOPIC, 1), End::Timestamp(5_000))
        .start_of((TOPIC, 1), Start::Offset(2));
    let mut reader = build(reader).await;
    let mut read = read_to_end(&mut reader).await;
    read.sort_unstable();
    let expected = [
        (0, 0, 0),
        (0, 1, 1),
        (0, 2, 2),
        (1, 2, 2),
        (1, 3, 3),
        (1, 4, 4),
    ];
    assert_eq!(read, expected);
}

#[tokio::test]
async fn records_have_what_was_written() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 5..6).await;
    let mut reader = build(client.reader().partition((TOPIC, 0))).await;
    let batch = next(&mut reader).await;
    assert_eq!(
        (batch.len(), batch.first_offset(), batch.last_offset()),
        (1, 0, 0)
    );
    assert!(batch.producer_id().is_some() && !batch.is_transactional());
    let record = batch.get(0).expect("one");
    assert_eq!(record.key_as(&Utf8).expect("text"), "key-5");
    assert_eq!(record.value_as(&Utf8).expect("text"), "5");
    assert_eq!(record.timestamp(), 5000);
    assert_eq!(
        record.headers().last("number").expect("there").value,
        Some(&b"x"[..])
    );
    assert_eq!(record.leader_epoch(), 0);
    let (shared, copy) = (record.share(), record.detach());
    assert_eq!(shared, copy);
    assert_eq!(copy.key_as(&Utf8).expect("text"), "key-5");
    // The one keeps the batch's buffer, the other has its own.
    assert_eq!(
        shared.key().map(<[u8]>::as_ptr),
        record.key().map(<[u8]>::as_ptr)
    );
    assert_ne!(
        copy.key().map(<[u8]>::as_ptr),
        record.key().map(<[u8]>::as_ptr)
    );
    drop(batch);
    assert_eq!(copy.value(), Some(&b"5"[..]));
}

#[tokio::test]
async fn what_is_written_later_comes_too() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..3).await;
    let mut reader = build(client.reader().topic(TOPIC).start(Start::Latest)).await;
    // The position is found by asking the leader.
    let nothing = tokio::time::timeout(Duration::from_millis(300), reader.recv()).await;
    assert!(nothing.is_err());
    assert_eq!(reader.position((TOPIC, 0)), Some(3));
    write(&client, 0, 3..6).await;
    assert_eq!(take(&mut reader, 3).await, [3, 4, 5]);
    let ends = reader.watermarks((TOPIC, 0)).expect("fetched");
    assert_eq!((ends.high_watermark, ends.log_start_offset), (6, 0));
    assert_eq!(reader.lag((TOPIC, 0)), Some(0));
}

#[tokio::test]
async fn seek_pause_and_resume() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..5).await;
    write(&client, 1, 100..105).await;
    let reader = client.reader().topic(TOPIC).until(End::Latest);
    let mut reader = build(reader).await;
    reader.pause((TOPIC, 1)).expect("read");
    assert!(reader.is_paused((TOPIC, 1)) && !reader.is_paused((TOPIC, 0)));
    assert_eq!(take(&mut reader, 3).await, [0, 1, 2]);
    assert_eq!(reader.position((TOPIC, 0)), Some(3));
    reader.seek((TOPIC, 0), Start::Offset(1)).expect("read");
    assert_eq!(reader.position((TOPIC, 0)), Some(1));
    assert_eq!(take(&mut reader, 4).await, [1, 2, 3, 4]);
    reader.resume((TOPIC, 1)).expect("read");
    let rest = read_to_end(&mut reader).await;
    let rest: Vec<u64> = rest.into_iter().map(|(_, _, value)| value).collect();
    assert_eq!(rest, (100..105).collect::<Vec<_>>());
    // After the end it goes on from another place.
    reader
        .seek((TOPIC, 0), Start::Timestamp(4_000))
        .expect("read");
    let rest = read_to_end(&mut reader).await;
    assert_eq!(rest, [(0, 4, 4)]);
    let error = reader
        .seek((TOPIC, 7), Start::Earliest)
        .expect_err("not read");
    assert_eq!(error.context().partition, Some(7));
    assert!(reader.seek((TOPIC, 0), Start::Offset(-1)).is_err());
}

#[tokio::test]
async fn ranges_with_one_reader() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..20).await;
    write(&client, 1, 0..20).await;
    // It begins at its end.
    let reader = client
        .reader()
        .topic(TOPIC)
        .start(Start::Offset(0))
        .until(End::Offset(0));
    let mut reader = build(reader).await;
    assert!(read_to_end(&mut reader).await.is_empty());
    for (from, until) in [(3, 6), (10, 12), (0, 2), (18, 20)] {
        for partition in [0, 1] {
            let range = (Start::Offset(from), End::Offset(until));
            reader
                .seek_within((TOPIC, partition), range.0, range.1)
                .expect("read");
        }
        let mut read = read_to_end(&mut reader).await;
        read.sort_unstable();
        let of = |partition| (from..until).map(move |at| (partition, at, at as u64));
        assert_eq!(read, of(0).chain(of(1)).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn offsets_are_told() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 1, 0..5).await;
    let reader = build(client.reader().topic(TOPIC)).await;
    let (first, second) = (TopicPartition::new(TOPIC, 0), TopicPartition::new(TOPIC, 1));
    assert_eq!(reader.partitions(), [first.clone(), second.clone()]);
    let of = |a, b| vec![(first.clone(), a), (second.clone(), b)];
    assert_eq!(reader.beginning_offsets().await.expect("told"), of(0, 0));
    assert_eq!(reader.end_offsets().await.expect("told"), of(0, 5));
    let times = [(first.clone(), 0), (second.clone(), 2500)];
    let found = reader.offsets_for_times(times).await.expect("told");
    assert_eq!(found[0], (first.clone(), None));
    let (_, found) = &found[1];
    let found = found.expect("there is one");
    assert_eq!((found.offset, found.timestamp), (3, 3000));
}

#[tokio::test]
async fn what_is_not_there_is_told() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    let missing = client.reader().topic("missing").build().await;
    assert_eq!(
        missing.expect_err("missing").kind(),
        ErrorKind::UnknownTopic
    );
    let missing = client.reader().partition((TOPIC, 1)).build().await;
    assert_eq!(
        missing.expect_err("missing").kind(),
        ErrorKind::UnknownTopic
    );
    let nothing = client
        .reader()
        .start(Start::Offset(-3))
        .memory(1)
        .build()
        .await;
    let nothing = nothing.expect_err("several violations").to_string();
    for part in ["name a topic", "start: -3", "memory:"] {
        assert!(nothing.contains(part), "{nothing}");
    }
    // An offset that is not in the log is an error of its partition, and a seek makes it go on.
    write(&client, 0, 0..3).await;
    let reader = client
        .reader()
        .topic(TOPIC)
        .start(Start::Offset(50))
        .until(End::Offset(60));
    let mut reader = build(reader).await;
    let error = reader
        .recv()
        .await
        .expect("an error")
        .expect_err("out of range");
    assert_eq!(error.kind(), ErrorKind::OffsetOutOfRange);
    assert_eq!(error.context().offset, Some(50));
    assert!(reader.recv().await.is_none(), "nothing else is read");
    reader.seek((TOPIC, 0), Start::Offset(1)).expect("read");
    assert_eq!(take(&mut reader, 2).await, [1, 2]);
}
