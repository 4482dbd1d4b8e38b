//! The three file layers do the same.

use std::path::Path;
use std::sync::Arc;

use super::*;

#[test]
fn files_hold_what_was_written() {
    let temporary = tempfile::tempdir().expect("a directory");
    let layers: [(Arc<dyn Files>, &Path); 3] = [
        (Arc::new(DiskFiles), temporary.path()),
        (Arc::new(MemoryFiles::new()), Path::new("/")),
        (Arc::new(SimulatedFiles::new()), Path::new("/")),
    ];
    for (files, root) in layers {
        for seed in 0..8 {
            let mut random = Random::new(seed);
            let path = root.join(format!("f{seed}"));
            let file = files.open(&path, Mode::CreateNew).expect("created");
            let mut model: Vec<u8> = Vec::new();
            for _ in 0..40 {
                let len = [10, 1000, 70_000, 200_000][random.below(4) as usize];
                let at = random.below(len) as usize;
                match random.below(5) {
                    0 => {
                        file.set_size(at as u64).expect("cut");
                        model.resize(at, 0);
                    }
                    1 => {
                        file.allocate(at as u64).expect("allocated");
                        model.resize(at.max(model.len()), 0);
                    }
                    _ => {
                        let position = random.below(model.len() as u64 + 100) as usize;
                        let bytes: Vec<u8> = (0..at).map(|n| (n as u64 + seed) as u8).collect();
                        file.write_at(&bytes, position as u64).expect("written");
                        if !bytes.is_empty() {
                            model.resize(model.len().max(position + at), 0);
                            model[position..position + at].copy_from_slice(&bytes);
                        }
                    }
                }
                assert_eq!(file.size().expect("size"), model.len() as u64, "{files:?}");
                let from = random.below(model.len() as u64 + 2) as usize;
                let mut read = vec![9; random.below(len) as usize];
                let there = file.read_at(&mut read, from as u64).expect("read");
                let expected = model.get(from..).unwrap_or_default();
                assert_eq!(there, read.len().min(expected.len()));
                assert!(read[..there] == expected[..there], "seed {seed}");
            }
            let reader = files.open(&path, Mode::Read).expect("opened");
            assert!(reader.write_at(b"x", 0).is_err());
            files.remove(&path).expect("removed");
            let mut all = vec![0; model.len()];
            read_exact_at(&*reader, &mut all, 0).expect("those who have it open read it");
            assert!(all == model);
            assert!(files.open(&path, Mode::Read).is_err());
        }
    }
}

#[test]
fn directories_are_renamed_and_removed_when_empty() {
    let temporary = tempfile::tempdir().expect("a directory");
    let layers: [(Arc<dyn Files>, &Path); 3] = [
        (Arc::new(DiskFiles), temporary.path()),
        (Arc::new(MemoryFiles::new()), Path::new("/")),
        (Arc::new(SimulatedFiles::new()), Path::new("/")),
    ];
    for (files, root) in layers {
        let (a, b) = (root.join("a"), root.join("b"));
        assert!(files.list(&a).is_err());
        files.create_dir(&a).expect("created");
        files.create_dir(&a).expect("again");
        replace(&*files, &a.join("x"), b"1").expect("written");
        let open = files.open(&a.join("x"), Mode::Write).expect("opened");
        files.rename(&a, &b).expect("renamed");
        open.write_at(b"2", 0).expect("written");
        let content = read_small(&*files, &b.join("x"), 9).expect("read");
        assert_eq!(content.as_deref(), Some(&b"2"[..]));
        assert!(files.list(&a).is_err());
        assert_eq!(files.list(root).expect("listed"), ["b"]);
        assert!(files.remove_dir(&b).is_err(), "not empty");
        files.remove(&b.join("x")).expect("removed");
        files.remove_dir(&b).expect("removed");
        assert!(files.list(root).expect("listed").is_empty());
        let lock = root.join(".lock");
        let held = files.lock(&lock).expect("works").expect("free");
        assert!(files.lock(&lock).expect("works").is_none());
        drop(held);
        assert!(files.lock(&lock).expect("works").is_some());
    }
}
