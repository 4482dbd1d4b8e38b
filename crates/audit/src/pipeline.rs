//! All cores work on blocks of keys; what they make of them is put together in the input's order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use crate::Error;
use crate::input::{BadRecord, KeyBlock, Position, Source};

/// How to run: on how many threads, and whether to go on.
#[derive(Debug)]
pub struct Run<'r> {
    /// Worker threads; at least one is started.
    pub threads: usize,
    /// When this becomes true, no further block is begun, and the result is marked partial.
    pub interrupted: &'r AtomicBool,
}

/// How a run ended, unless with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The whole input was read.
    Complete,
    /// [`Run::interrupted`] was set before that.
    Interrupted,
}

/// What a merge is told of a block besides the work's result.
pub(crate) struct Merged {
    /// The number of keys in all blocks before it.
    pub(crate) keys_before: u64,
    /// Keys in it that end in a carriage return.
    pub(crate) carriage_returns: u64,
}

/// How many blocks may be finished ahead of the one that is merged next, for each thread.
const AHEAD: usize = 4;

struct Done<T> {
    index: usize,
    keys: u64,
    carriage_returns: u64,
    made: T,
}

/// Runs `work` on every block, on all threads, and `merge` on the results in order, on this one.
///
/// # Errors
///
/// The first error in the order of the input, of a record or of `merge`. Results of the blocks
/// before it were merged.
pub(crate) fn run<S: Default, T: Send>(
    source: &Source,
    run: &Run<'_>,
    work: impl Fn(&mut S, &KeyBlock) -> T + Sync,
    mut merge: impl FnMut(T, &Merged) -> Result<(), Error>,
) -> Result<Ended, Error> {
    let threads = run.threads.max(1);
    let window = Window {
        merged: Mutex::new(0),
        moved: Condvar::new(),
        size: AHEAD * threads,
    };
    let stop = AtomicBool::new(false);
    let (sender, results) = mpsc::sync_channel(threads);
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (window, stop, work) = (&window, &stop, &work);
            scope.spawn(move || {
                let go_on =
                    || !stop.load(Ordering::Relaxed) && !run.interrupted.load(Ordering::Relaxed);
                work_on_blocks(source, window, go_on, work, &sender);
            });
        }
        drop(sender);
        let mut in_order = InOrder {
            waiting: BTreeMap::new(),
            next: 0,
            keys: 0,
        };
        let mut result = Ok(());
        for done in results {
            if result.is_err() {
                continue; // Drain, so that no worker waits for a place in the channel.
            }
            result = in_order.take(source, done, &mut merge);
            window.move_to(if result.is_ok() {
                in_order.next
            } else {
                usize::MAX
            });
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        result?;
        let interrupted = run.interrupted.load(Ordering::Relaxed);
        Ok(if interrupted {
            Ended::Interrupted
        } else {
            Ended::Complete
        })
    })
}

fn work_on_blocks<S: Default, T>(
    source: &Source,
    window: &Window,
    go_on: impl Fn() -> bool,
    work: impl Fn(&mut S, &KeyBlock) -> T,
    sender: &SyncSender<Result<Done<T>, BadRecord>>,
) {
    let _released = ReleasedOnPanic(window);
    let mut scratch = S::default();
    let mut block = KeyBlock::default();
    while go_on() {
        let done = match source.next(&mut block) {
            Ok(false) => return,
            Ok(true) => {
                window.wait_for(block.index);
                Ok(Done {
                    index: block.index,
                    keys: block.len() as u64,
                    carriage_returns: block.carriage_returns,
                    made: work(&mut scratch, &block),
                })
            }
            Err(bad) => Err(bad),
        };
        let failed = done.is_err();
        if sender.send(done).is_err() || failed {
            return;
        }
    }
}

/// Keeps the fast from running so far ahead that results pile up.
struct Window {
    merged: Mutex<usize>,
    moved: Condvar,
    size: usize,
}

impl Window {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.merged
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait_for(&self, index: usize) {
        let mut merged = self.lock();
        while index >= merged.saturating_add(self.size) {
            merged = self
                .moved
                .wait(merged)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn move_to(&self, merged: usize) {
        *self.lock() = merged;
        self.moved.notify_all();
    }
}

/// A worker that panics never delivers its block: nobody may wait for it then.
struct ReleasedOnPanic<'w>(&'w Window);

impl Drop for ReleasedOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.move_to(usize::MAX);
        }
    }
}

struct InOrder<T> {
    waiting: BTreeMap<usize, Result<Done<T>, BadRecord>>,
    next: usize,
    keys: u64,
}

impl<T> InOrder<T> {
    fn take(
        &mut self,
        source: &Source,
        done: Result<Done<T>, BadRecord>,
        merge: &mut impl FnMut(T, &Merged) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let index = match &done {
            Ok(done) => done.index,
            Err(bad) => bad.index,
        };
        self.waiting.insert(index, done);
        while let Some(done) = self.waiting.remove(&self.next) {
            let done = done.map_err(|bad| self.error(source, bad))?;
            let merged = Merged {
                keys_before: self.keys,
                carriage_returns: done.carriage_returns,
            };
            merge(done.made, &merged)?;
            self.next += 1;
            self.keys += done.keys;
        }
        Ok(())
    }

    fn error(&self, source: &Source, bad: BadRecord) -> Error {
        let name = source.name();
        let line = match bad.at {
            Position::Line(line) => line,
            Position::InBlock(record) => self.keys + record + 1,
            Position::Unknown => return Error::input(format!("{name}: {}", bad.what)),
        };
        Error::input(format!("{name}:{line}: {}", bad.what))
    }
}
