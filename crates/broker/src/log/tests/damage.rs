//! Damage to stored records: never dropped in silence, and repaired only when
//! asked.

use super::*;
use crate::files::{Files, Mode, read_exact_at};

/// Where the log that is damaged ends.
const END: i64 = 58;

/// Where a batch is: segment, position, size, first offset.
type Place = (usize, u64, u64, i64);

/// A closed log with full segments, all of it synced, where its batches are,
/// and where its segments begin.
fn stored() -> (Arc<SimulatedFiles>, Vec<Place>, Vec<i64>) {
    let files = disk();
    let mut log = open(&files, &small()).0;
    fill(&mut log, END as usize / 2);
    let bases: Vec<i64> = log
        .segments
        .iter()
        .map(|segment| segment.base_offset)
        .collect();
    let mut batches = Vec::new();
    for (index, segment) in log.segments.iter().enumerate() {
        let mut scan = super::super::scan::Scan::headers(&*segment.file, 0, segment.size);
        while let super::super::scan::Found::Batch(batch) = scan.next().expect("reads") {
            let size = batch.header.size as u64;
            batches.push((index, batch.position, size, batch.header.base_offset));
        }
    }
    log.close().expect("closed");
    (files, batches, bases)
}

fn flip(files: &SimulatedFiles, base: i64, position: u64, bit: u32) {
    let path = names::numbered(dir(), base, names::LOG);
    let file = files.open(&path, Mode::Write).expect("there");
    let mut byte = [0];
    read_exact_at(&*file, &mut byte, position).expect("read");
    file.write_at(&[byte[0] ^ 1 << bit], position)
        .expect("written");
}

/// Is the log readable up to the damage, and up to nowhere else? Nothing on the
/// disk may change.
fn readable_up_to(files: &Arc<SimulatedFiles>, log: &mut PartitionLog, offset: i64, what: &str) {
    let before = content(files);
    let end = log.log_end_offset();
    assert!(end >= END, "{what}: ends at {end}");
    let mut at = log.log_start_offset();
    while at < offset {
        let read = log.read(at, end, 200).expect(what);
        let read = decode(read).expect("whole batches");
        assert_eq!(read[0], (at, at.to_string()), "{what}");
        at = read.last().expect("records").0 + 1;
    }
    assert_eq!(at, offset, "{what}");
    for beyond in offset..=end {
        let error = log.read(beyond, end, 200).expect_err(what);
        assert_eq!(error.kind(), crate::ErrorKind::Damaged, "{what}: {error}");
        assert!(error.to_string().contains("quarantined"), "{what}: {error}");
        let code = copart_protocol::ErrorCode::KAFKA_STORAGE_ERROR;
        assert_eq!(error.error_code(), code);
    }
    for before in log.log_start_offset()..offset {
        let found = log.find_time(NOW + before, end).expect(what);
        assert_eq!(found.map(|found| found.offset), Some(before), "{what}");
    }
    log.find_time(NOW + offset, end).expect_err(what);
    log.find_max_timestamp(end).expect_err(what);
    let refused = [
        append(log, &Draft::of(&["v"])).err(),
        log.roll(NOW).err(),
        log.sync().err(),
        log.compact(NOW).err(),
        log.apply_retention(NOW).err(),
        log.delete_records(offset).err(),
    ];
    for error in refused {
        let error = error.expect(what);
        assert_eq!(error.kind(), crate::ErrorKind::ReadOnly, "{what}: {error}");
    }
    assert_eq!(content(files), before, "{what}: something was changed");
}

/// All names and bytes.
fn content(files: &SimulatedFiles) -> Vec<(String, Option<Vec<u8>>)> {
    let names = files.list(dir()).expect("listed").into_iter();
    let read = |name: &String| crate::files::read_small(files, &dir().join(name), 1 << 20);
    names
        .map(|name| (name.clone(), read(&name).expect("read")))
        .collect()
}

/// Flips one bit, and expects that the batch, and nothing else, is reported
/// and then repaired.
fn flipped(files: &Arc<SimulatedFiles>, batch: Place, bases: &[i64], byte: u64, bit: u32) {
    let (segment, position, _, offset) = batch;
    let what = format!("segment {segment}, batch at {offset}, byte {byte}, bit {bit}");
    let files = Arc::new(files.kill());
    flip(&files, bases[segment], position + byte, bit);
    let opened = PartitionLog::open(files.clone(), dir(), small(), NOW).expect("opens");
    match opened {
        Opened::Quarantined(mut quarantine) => {
            readable_up_to(&files, &mut quarantine, offset, &what);
            let first = &quarantine.damages()[0];
            assert_eq!(
                quarantine.damages().len(),
                1,
                "{what}: {:?}",
                quarantine.damages()
            );
            assert_eq!(first.from_offset, offset, "{what}: {first}");
            assert!(
                first.to_offset.is_none_or(|to| to == offset + 2),
                "{what}: {first}"
            );
            assert_eq!(first.segment, bases[segment], "{what}: {first}");
        }
        // Full segments are not read as a whole when a log is opened. Then
        // the read finds it.
        Opened::Ready(mut log, recovery) => {
            assert!(segment + 1 < bases.len(), "{what}");
            assert_eq!(recovery.cut, None, "{what}");
            // The leader epoch is in no checksum, and harms no record.
            if !(12..16).contains(&byte) {
                let error = records(&log).expect_err(&what);
                assert_eq!(error.kind(), crate::ErrorKind::Damaged, "{what}: {error}");
                // Whoever reads tells the log.
                let error = log.read(offset, END, 1000).expect_err(&what);
                log.quarantine(offset, &error);
                assert_eq!(log.damages()[0].from_offset, offset, "{what}");
                readable_up_to(&files, &mut log, offset, &what);
            }
        }
    }
    let plan = RepairPlan::new(files.clone(), dir(), &small()).expect("planned");
    assert_eq!(plan.damages.len(), 1, "{what}: {plan}");
    let kind = plan.damages[0].kind;
    assert!(
        plan.to_string()
            .contains(&format!("offsets {offset} to {}", offset + 1))
            || plan
                .to_string()
                .contains(&format!("offsets from {offset} on")),
        "{plan}"
    );
    let repaired = plan.carry_out().expect("repaired");
    let (mut log, _) = open(&files, &small());
    assert_eq!(log.log_end_offset(), END, "{what}");
    let lost = kind != DamageKind::LeaderEpoch;
    assert_eq!(repaired.dropped_offsets, if lost { 2 } else { 0 }, "{what}");
    assert_eq!(repaired.kept.len(), 1);
    let expected: Vec<(i64, String)> = (0..END)
        .filter(|&n| !lost || n != offset && n != offset + 1)
        .map(|n| (n, n.to_string()))
        .collect();
    assert_eq!(records(&log).expect("reads"), expected, "{what}");
    fill(&mut log, 1);
    let plan = RepairPlan::new(files, dir(), &small()).expect("planned");
    assert!(plan.damages.is_empty(), "{what}: {plan}");
}

#[test]
fn a_flipped_bit_in_any_field_is_reported_and_only_that_batch_is_lost() {
    let (files, batches, bases) = stored();
    assert!(bases.len() >= 3);
    let last = bases.len() - 1;
    let in_segment = |index| batches.iter().filter(move |batch| batch.0 == index);
    let chosen = [
        // First, middle and last batch of a full segment and of the last one.
        *in_segment(1).next().expect("first"),
        *in_segment(1).nth(3).expect("middle"),
        *in_segment(1).next_back().expect("last"),
        *in_segment(last).next().expect("first"),
        *in_segment(last).nth(1).expect("middle"),
        *in_segment(last).next_back().expect("last"),
    ];
    for batch in chosen {
        for byte in 0..batch.2 {
            flipped(&files, batch, &bases, byte, (byte % 8) as u32);
        }
    }
}

#[test]
fn missing_segments_and_cut_segments_are_reported_and_repaired() {
    let (files, _, bases) = stored();
    for (index, &base) in bases.iter().enumerate() {
        for cut in [None, Some(0), Some(100)] {
            let files = Arc::new(files.kill());
            let path = names::numbered(dir(), base, names::LOG);
            match cut {
                None => files.remove(&path).expect("removed"),
                Some(size) => {
                    let file = files.open(&path, Mode::Write).expect("there");
                    file.set_size(size).expect("cut");
                }
            }
            let what = format!("segment {index}, cut to {cut:?}");
            let opened = PartitionLog::open(files.clone(), dir(), small(), NOW).expect("opens");
            let Opened::Quarantined(mut quarantine) = opened else {
                panic!("{what}: not noticed");
            };
            let lost_from = quarantine.damages()[0].from_offset;
            readable_up_to(&files, &mut quarantine, lost_from, &what);
            assert!(
                (base..base + 4).contains(&lost_from),
                "{what}: {:?}",
                quarantine.damages()
            );
            let plan = RepairPlan::new(files.clone(), dir(), &small()).expect("planned");
            let repaired = plan.carry_out().expect("repaired");
            let (log, _) = open(&files, &small());
            assert_eq!(log.log_end_offset(), END, "{what}");
            let left = records(&log).expect("reads");
            assert_eq!(left.len() as i64, END - repaired.dropped_offsets, "{what}");
            assert!(
                left.iter()
                    .all(|(offset, value)| offset.to_string() == *value)
            );
        }
    }
}

#[test]
fn damage_behind_the_synced_offset_is_a_torn_tail() {
    let files = disk();
    let mut log = open(&files, &LogConfig::default()).0;
    fill(&mut log, 2);
    log.sync().expect("synced");
    let position = log.size();
    fill(&mut log, 3);
    flip(&files, 0, position + 30, 3);
    let (log, recovery) = open(&Arc::new(files.kill()), &LogConfig::default());
    assert_filled(&log, 4);
    let cut = recovery.cut.expect("reported");
    assert_eq!((cut.from_offset, cut.position), (4, position));
    assert_eq!(cut.bytes, 3 * position / 2);
    assert!(cut.to_string().contains("offsets from 4 on"), "{cut}");
}

#[test]
fn damage_met_while_producers_are_read_is_reported() {
    let (files, batches, bases) = stored();
    // Without snapshots all batches are read.
    for name in files.list(dir()).expect("listed") {
        if name.ends_with(names::SNAPSHOT) {
            files.remove(&dir().join(name)).expect("removed");
        }
    }
    let &(segment, position, size, offset) = &batches[3];
    flip(&files, bases[segment], position + size - 1, 0);
    let opened = PartitionLog::open(files, dir(), small(), NOW).expect("opens");
    let Opened::Quarantined(quarantine) = opened else {
        panic!("not noticed");
    };
    assert_eq!(quarantine.damages()[0].from_offset, offset);
}
