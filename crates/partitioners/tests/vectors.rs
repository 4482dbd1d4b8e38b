//! Every profile of the catalogue against the placements of the real client
//! (`compat-vectors/`, see its README).

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use copart_partitioners::catalogue::{self, Entry, Evidence};
use copart_partitioners::{HashValue, PartitionCount, Placement};
use serde_json::Value;

fn vectors_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../compat-vectors")
}

fn rows(file: &str) -> Vec<Value> {
    let path = vectors_dir().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The bytes of every key by its id; `None` is the null key.
fn keys() -> BTreeMap<String, Option<Vec<u8>>> {
    rows("keys.jsonl")
        .iter()
        .map(|row| {
            let key = row["key_hex"].as_str().map(unhex);
            (row["id"].as_str().unwrap().to_owned(), key)
        })
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
        .collect()
}

fn file_of(id: &str) -> String {
    format!("placements/{}.jsonl", id.replace('/', "__"))
}

/// Checks one entry against one file; returns how many placements were compared.
fn check(entry: &Entry, file: &str, keys: &BTreeMap<String, Option<Vec<u8>>>) -> usize {
    let mut compared = 0;
    for row in rows(file) {
        let id = row["id"].as_str().unwrap();
        let key = keys[id].as_deref();
        let what = |n: &str| format!("{} key {id} ({}) at {n}", entry.id, row["key_hex"]);
        if let Some(partitions) = row["partitions"].as_object() {
            for (n, want) in partitions {
                let count = PartitionCount::new(n.parse().unwrap()).unwrap();
                let want = Placement::Pinned(want.as_i64().unwrap() as i32);
                assert_eq!(entry.profile.place(key, count), want, "{}", what(n));
                compared += 1;
            }
        } else {
            let want = match row["outcome"].as_str() {
                Some("unpinned") => Placement::Unpinned,
                Some("rejected") => Placement::Rejected,
                other => panic!("{file}: outcome {other:?}"),
            };
            let count = PartitionCount::new(12).unwrap();
            assert_eq!(
                entry.profile.place(key, count),
                want,
                "{}",
                what("any count")
            );
            compared += 1;
        }
        check_hash(entry, &row, key);
    }
    compared
}

/// Where the client shows its hash, ours is the same; some show it with the sign bit masked.
fn check_hash(entry: &Entry, row: &Value, key: Option<&[u8]>) {
    let Some(key) = key.filter(|key| !key.is_empty()) else {
        return;
    };
    let (shown, ours) = (&row["hash"], entry.profile.hash(key));
    if let (Some(shown), Some(HashValue::Bits32(ours))) = (shown.as_i64(), ours) {
        let shown = shown as u32;
        assert!(
            shown == ours || shown == ours & 0x7fff_ffff,
            "{} key {}: hash {shown:#x}, ours {ours:#x}",
            entry.id,
            row["id"]
        );
    }
}

#[test]
fn every_profile_places_every_key_as_its_client_did() {
    let keys = keys();
    assert_eq!(keys.len(), 601);
    let mut compared = 0;
    for entry in catalogue::entries() {
        if let Some(id) = entry.vectors() {
            compared += check(entry, &file_of(id), &keys);
        }
    }
    assert!(compared > 500_000, "only {compared} placements compared");
}

#[test]
fn every_published_file_has_its_profile() {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(vectors_dir().join("manifest.json")).unwrap())
            .unwrap();
    let files = manifest["files"].as_array().unwrap();
    assert!(!files.is_empty());
    for file in files {
        let profile = file["profile"].as_str().unwrap();
        let entry = catalogue::find(profile).unwrap();
        assert_eq!((entry.id, entry.evidence), (profile, Evidence::Vectors));
        let path = format!("placements/{}", file["file"].as_str().unwrap());
        assert_eq!(path, file_of(profile));
    }
}

#[test]
fn only_these_profiles_are_unverified() {
    let unverified: Vec<_> = catalogue::entries()
        .filter(|entry| matches!(entry.evidence, Evidence::Unverified(_)))
        .map(|entry| entry.id)
        .collect();
    assert_eq!(unverified, ["filebeat/hash", "filebeat/hash@7.12",]);
}

#[test]
fn placements_that_users_reported() {
    let place = |client: &str, key: &str, n| {
        let profile = catalogue::find(client).unwrap().profile;
        profile
            .place(Some(key.as_bytes()), PartitionCount::new(n).unwrap())
            .partition()
            .unwrap()
    };
    // fluent/fluent-plugin-kafka 397
    assert_eq!(place("ruby-kafka", "mk-123456", 25), 3);
    assert_eq!(place("java", "mk-123456", 25), 5);
    // tulios/kafkajs 357
    assert_eq!(place("kafkajs/legacy", "100:48069", 12), 6);
    assert_eq!(place("java", "100:48069", 12), 9);
    // tulios/kafkajs 1154
    assert_eq!(place("librdkafka", "TT0124", 15), 9);
    assert_eq!(place("java", "TT0124", 15), 10);
    // twmb/franz-go 669
    assert_eq!(place("franz-go/sarama-hasher-crc32", "test", 840), 76);
    assert_eq!(place("sarama/custom-crc32", "test", 840), 180);
    // IBM/sarama: a key whose FNV-1a hash is i32::MIN
    assert_eq!(place("sarama", "1468509572224", 12), 8);
    assert_eq!(place("sarama/reference-hash", "1468509572224", 12), 0);
}
