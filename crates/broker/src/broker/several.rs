//! Work on many logs, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Each waits for the disk again and again, and file systems make many syncs one.
const AT_ONCE: usize = 16;

/// Does the same for all items, and returns what came out in their order.
pub(super) fn several_at_a_time<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let work_off = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                return done;
            };
            done.push((at, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE.min(items.len()))
            .map(|_| scope.spawn(work_off))
            .collect();
        let results = threads.into_iter().flat_map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        results.collect()
    });
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn results_are_in_order_and_work_is_at_once() {
        for count in [0, 1, 2, 15, 16, 17, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled = several_at_a_time(&items, |item| item * 2);
            assert_eq!(doubled, items.iter().map(|i| i * 2).collect::<Vec<_>>());
        }
        // None of them ends before all of them have begun.
        let together = Barrier::new(AT_ONCE);
        let items = [(); AT_ONCE];
        let leaders = several_at_a_time(&items, |()| together.wait().is_leader());
        assert_eq!(leaders.iter().filter(|&&leader| leader).count(), 1);
    }
}
