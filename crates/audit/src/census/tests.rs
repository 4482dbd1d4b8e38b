use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::input::{Format, InputOptions};

/// A cell for each partition of each of two columns.
struct Partitions(usize, usize);

impl Cells for Partitions {
    fn len(&self) -> usize {
        self.0 + self.1
    }

    fn of(&self, placed: &[u32], mut add: impl FnMut(usize)) {
        if (placed[0] as usize) < self.0 {
            add(placed[0] as usize);
        }
        if (placed[1] as usize) < self.1 {
            add(self.0 + placed[1] as usize);
        }
    }

    fn is_example(&self, placed: &[u32]) -> bool {
        placed[0] != placed[1]
    }
}

fn taken<R>(
    input: &str,
    exact: usize,
    threads: usize,
    look: impl FnOnce(&Counted, &Partitions) -> R,
) -> R {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    let options = InputOptions {
        format: Some(Format::Tsv),
        field: Some("1".into()),
        count_field: Some("2".into()),
        no_header: true,
        null_value: Some("NULL".into()),
        ..InputOptions::default()
    };
    let source = Source::open(file.path(), &options).unwrap();
    let clients = Client::parse_list("java,librdkafka").unwrap();
    let column = |client, n| Column {
        client,
        count: PartitionCount::new(n).unwrap(),
    };
    let columns = [column(0, 7), column(1, 12)];
    let cells = Partitions(7, 12);
    let census = Census::new(&clients, &columns, &cells, exact);
    let run = Run {
        threads,
        interrupted: &AtomicBool::new(false),
    };
    let counted = census.take(&source, &run).unwrap();
    look(&counted, &cells)
}

/// Keys as a hostile world would send them: few and many, heavy and light, empty and null.
fn rows(keys: u64, rows: u64) -> Vec<(Option<String>, u64)> {
    let mut state = 7u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..rows)
        .map(|_| match random() % 50 {
            0 => (None, 1),
            1 => (Some(String::new()), 2),
            n => {
                // Products of two uniform numbers: small ones are frequent.
                let key = random() % keys * (random() % 1000) / 1000;
                (Some(format!("key-{key}")), n % 4)
            }
        })
        .collect()
}

fn text(rows: &[(Option<String>, u64)]) -> String {
    rows.iter()
        .map(|(key, count)| format!("{}\t{count}\n", key.as_deref().unwrap_or("NULL")))
        .collect()
}

#[test]
fn sums_are_those_of_a_naive_count() {
    for (keys, many) in [(10, 500), (3_000, 20_000), (100_000, 60_000)] {
        let rows = rows(keys, many);
        let clients = Client::parse_list("java,librdkafka").unwrap();
        let mut records = vec![0; 19];
        let mut by_key: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, count) in &rows {
            for (at, n, offset) in [(0, 7, 0), (1, 12, 7)] {
                let bytes = key.as_ref().map(String::as_bytes);
                let place = clients[at]
                    .profile()
                    .place(bytes, PartitionCount::new(n).unwrap());
                if let Some(partition) = place.partition() {
                    records[offset + partition as usize] += count;
                }
            }
            if let Some(key) = key {
                *by_key.entry(key).or_default() += count;
            }
        }
        let mut distinct = vec![0; 19];
        for key in by_key.keys() {
            for (at, n, offset) in [(0, 7, 0), (1, 12, 7)] {
                let place = clients[at]
                    .profile()
                    .place(Some(key.as_bytes()), PartitionCount::new(n).unwrap());
                if let Some(partition) = place.partition() {
                    distinct[offset + partition as usize] += 1;
                }
            }
        }
        taken(&text(&rows), EXACT_KEYS, 2, |counted, cells| {
            assert_eq!(counted.cells, records);
            assert_eq!(counted.keys(cells), distinct);
            assert_eq!(counted.distinct(), by_key.len() as u64);
            assert!(counted.sample.is_exact());
            assert_eq!(counted.rows.total(), many);
            assert_eq!(
                counted.records.total(),
                rows.iter().map(|(_, n)| n).sum::<u64>()
            );
            let most = by_key
                .iter()
                .filter(|(key, _)| !key.is_empty())
                .map(|(_, &n)| n)
                .max();
            assert_eq!(counted.sample.most_records(), most);
            for key in counted.heavy.keys(&counted.sample).0 {
                let real = by_key[str::from_utf8(&key.key).unwrap()];
                assert_eq!((key.at_least, key.at_most), (real, real));
            }
        });
    }
}

#[test]
fn nothing_depends_on_the_number_of_threads() {
    let text = text(&rows(200_000, 300_000));
    let look = |counted: &Counted, cells: &Partitions| {
        assert!(!counted.sample.is_exact());
        (
            counted.cells.clone(),
            counted.keys(cells),
            counted.heavy.keys(&counted.sample),
            counted.examples.clone(),
        )
    };
    let one = taken(&text, 1000, 1, look);
    assert_eq!(taken(&text, 1000, 2, look), one);
    assert_eq!(taken(&text, 1000, 7, look), one);
    assert_eq!(one.3.len(), KEPT);
    assert!(one.3.is_sorted_by_key(|example| example.record));
}

#[test]
fn a_sample_is_close_to_the_whole() {
    let rows: Vec<_> = (0..200_000)
        .map(|i| (Some(format!("user-{i}")), 1))
        .collect();
    taken(&text(&rows), 20_000, 2, |counted, cells| {
        assert!(counted.sample.len() <= 20_000 && counted.sample.len() > 8_000);
        let error = counted.sample.standard_error();
        assert!(error < 0.012, "{error}");
        let off = counted.distinct() as f64 / 200_000.0 - 1.0;
        assert!(off.abs() < 4.0 * error, "{off} {error}");
        // Every cell is estimated without bias too.
        for (cell, n) in counted
            .keys(cells)
            .into_iter()
            .zip([7; 7].into_iter().chain([12; 12]))
        {
            let expected = 200_000.0 / f64::from(n);
            assert!(
                (cell as f64 / expected - 1.0).abs() < 0.15,
                "{cell} {expected}"
            );
        }
        assert_eq!(counted.cells[..7].iter().sum::<u64>(), 200_000);
    });
}

#[test]
fn the_keys_of_most_records_are_found_within_the_bound() {
    // 5,000 keys take turns, and three keys come in between more often.
    let mut rows = Vec::new();
    for i in 0..100_000u64 {
        rows.push((Some(format!("light-{}", i % 5000)), 1));
        for (name, every) in [("hot", 3), ("warm", 10), ("mild", 40)] {
            if i % every == 0 {
                rows.push((Some(name.to_owned()), 1));
            }
        }
    }
    let total = rows.len() as u64;
    // With a tiny sample, so that counts are known by the summary alone.
    taken(&text(&rows), 1, 2, |counted, _| {
        let (heavy, others) = counted.heavy.keys(&counted.sample);
        let error = heavy[0].at_most - heavy[0].at_least;
        assert!(
            error > 0 && error <= total / (heavy::COUNTERS as u64 + 1),
            "{error}"
        );
        let names: Vec<_> = heavy
            .iter()
            .map(|key| str::from_utf8(&key.key).unwrap())
            .collect();
        assert_eq!(names[..3], ["hot", "warm", "mild"]);
        for (key, real) in heavy.iter().zip([33_334, 10_000, 2_500]) {
            assert!(key.at_least <= real && real <= key.at_most, "{key:?}");
            assert_eq!(key.at_most - key.at_least, error);
        }
        // Each light key has 20.
        assert!(others >= 20 && heavy.iter().all(|key| key.at_least > others));
        assert_eq!(counted.sample.most_records(), None);
    });
}

/// Two different keys may have the same 64 bits of hash; their records are told apart within a
/// block by their bytes. No such pair can be made here, so equal prefixes and lengths must do.
#[test]
fn keys_that_look_alike_are_not_the_same() {
    let long = "x".repeat(2000);
    let rows = vec![
        (Some(format!("{long}a")), 3),
        (Some(format!("{long}b")), 5),
        (Some(format!("{long}a")), 7),
    ];
    taken(&text(&rows), 10, 2, |counted, _| {
        let (heavy, _) = counted.heavy.keys(&counted.sample);
        assert_eq!(
            heavy.iter().map(|key| key.at_least).collect::<Vec<_>>(),
            [10, 5]
        );
        assert!(
            heavy
                .iter()
                .all(|key| key.key.len() == KEPT_BYTES && key.len == 2001)
        );
    });
}
