//! Memory, and who is served when.

use super::*;

/// A batch of about 4 KiB: as much as a partition has in store before it is left out.
fn large(base: i64) -> Vec<u8> {
    batch(base, 1, 4 * KIB, 0)
}

#[test]
fn a_partition_with_enough_in_store_does_not_hold_up_others() {
    let mut bench = Bench::reading(config(), 2);
    bench.fetch(vec![data(0, &[large(0)]), data(1, &[])]);
    let mut waits = Vec::new();
    for offset in 0..8 {
        let plan = bench.plan(1);
        waits.push(plan.wait.as_millis());
        let small = batch(offset, 1, 1, 0);
        bench.answer(1, &plan, response(5, vec![data(1, &[small])]));
        // Partition 0 has its turn, and is not read.
    }
    // The first waits are short, so that the one that was left out is asked for again soon.
    assert_eq!(waits, [10, 20, 40, 80, 160, 320, 500, 500]);
    let mut got = Vec::new();
    while let Some((partition, offsets)) = bench.read() {
        got.push((partition, offsets[0]));
    }
    // Turn by turn.
    assert_eq!(got[..3], [(0, 0), (1, 0), (1, 1)]);
    assert_eq!(got.len(), 9);
    let plan = bench.plan(1);
    assert_eq!(named(&plan.request).get(&0), Some(&1));
    assert_eq!(plan.wait.as_millis(), 500);
}

#[test]
fn partitions_take_turns() {
    let mut bench = Bench::reading(config(), 3);
    let plan = bench.plan(1);
    let small = |partition| data(partition, &[batch(0, 1, 1, 0)]);
    bench.answer(1, &plan, response(5, vec![small(0), small(1), small(2)]));
    let plan = bench.plan(1);
    let small = |partition| data(partition, &[batch(1, 1, 1, 0)]);
    bench.answer(1, &plan, response(5, vec![small(0), small(1), small(2)]));
    let mut turns = Vec::new();
    while let Some((partition, _)) = bench.read() {
        turns.push(partition);
    }
    assert_eq!(turns, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn memory_is_bounded_and_comes_back() {
    let mut bench = Bench::reading(config(), 8);
    let mut next = [0; 8];
    let mut fetched = 0;
    // The broker sends a full answer each time; nobody reads.
    while let Turn::Fetch(plan) = bench.turn(1) {
        assert!(plan.request.max_bytes as usize <= 16 * KIB);
        let mut left = plan.request.max_bytes as usize;
        let mut partitions = Vec::new();
        for (place, _) in plan.asked.iter().copied() {
            if left < 5 * KIB {
                break;
            }
            left -= 5 * KIB;
            partitions.push(data(place as i32, &[large(next[place])]));
            next[place] += 1;
            fetched += 1;
        }
        bench.answer(1, &plan, response(0, partitions));
        assert!(fetched < 20, "no end of it");
    }
    let used = bench.core.nodes[&1].used;
    assert!((12 * KIB..=16 * KIB).contains(&used), "{used}");
    while bench.read().is_some() {}
    assert_eq!(bench.core.nodes[&1].used, 0);
    assert!(bench.core.frames.is_empty());
    bench.plan(1);
}

#[test]
fn brokers_have_equal_shares() {
    let mut bench = Bench::reading(config(), 2);
    bench.core.set_topic(&topic(&[(1, 0), (2, 1)]));
    assert_eq!(bench.core.nodes(bench.now), [1, 2]);
    let plan = bench.plan(1);
    assert_eq!(plan.request.max_bytes as usize, 8 * KIB);
    let huge = batch(0, 1, 20 * KIB, 0);
    bench.answer(1, &plan, response(5, vec![data(0, &[huge])]));
    // Node 1 has more than its share; node 2 has its own.
    assert_eq!(bench.waits(1), None);
    let plan = bench.plan(2);
    assert_eq!(plan.request.max_bytes as usize, 8 * KIB);
}

#[test]
fn a_batch_above_all_limits_comes() {
    let mut bench = Bench::reading(config(), 1);
    let plan = bench.plan(1);
    let largest = plan.request.topics[0].partitions[0].partition_max_bytes;
    // A broker before KIP-74 sends the beginning of a batch that does not fit.
    let huge = batch(0, 1, 30 * KIB, 0);
    let part = huge[..largest as usize].to_vec();
    bench.answer(1, &plan, response(5, vec![data(0, &[part])]));
    let mut tries = 0;
    loop {
        let plan = bench.plan(1);
        let limit = plan.request.topics[0].partitions[0].partition_max_bytes as usize;
        assert!(plan.request.max_bytes as usize >= limit);
        let part = huge[..huge.len().min(limit)].to_vec();
        bench.answer(1, &plan, response(5, vec![data(0, &[part])]));
        if let Some(read) = bench.read() {
            assert_eq!(read, (0, vec![0]));
            break;
        }
        tries += 1;
        assert!(tries < 10);
    }
}

#[test]
fn paused_partitions_give_their_memory_to_others() {
    let mut bench = Bench::reading(
        CoreConfig {
            memory: 6 * KIB,
            ..config()
        },
        2,
    );
    bench.fetch(vec![data(0, &[large(0)])]);
    assert_eq!(bench.waits(1), None, "there is no room");
    bench.core.pause(&at(0), true);
    let plan = bench.plan(1);
    assert_eq!(forgotten(&plan.request), [0]);
    bench.answer(1, &plan, response(5, vec![data(1, &[batch(0, 1, 1, 0)])]));
    assert_eq!(bench.read(), Some((1, vec![0])));
    bench.core.pause(&at(0), false);
    let plan = bench.plan(1);
    // It is fetched again, and nothing of it is lost.
    assert_eq!(named(&plan.request).get(&0), Some(&0));
    bench.answer(1, &plan, response(5, vec![data(0, &[large(0)])]));
    assert_eq!(bench.read(), Some((0, vec![0])));
}

#[test]
fn what_is_paused_is_not_handed_out_and_stays() {
    let mut bench = Bench::reading(config(), 2);
    bench.fetch(vec![
        data(0, &[batch(0, 2, 1, 0)]),
        data(1, &[batch(0, 1, 1, 0)]),
    ]);
    bench.core.pause(&at(0), true);
    assert_eq!(bench.read(), Some((1, vec![0])));
    assert!(bench.read().is_none());
    bench.core.pause(&at(0), false);
    assert_eq!(bench.read(), Some((0, vec![0, 1])));
}
