//! Group commit: one thread syncs whatever was written since it looked last.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::Partition;
use crate::Result;

/// The thread that syncs. Batches of all partitions that arrive while a sync runs share the next one.
#[derive(Debug)]
pub(crate) struct GroupCommit {
    /// The thread ends when this is dropped.
    queue: Sender<Arc<Partition>>,
}

impl GroupCommit {
    /// Starts the thread.
    pub(crate) fn start() -> Result<Self> {
        let (queue, partitions) = channel();
        std::thread::Builder::new()
            .name("copart-sync".to_owned())
            .spawn(move || run(&partitions))
            .map_err(|error| crate::Error::io("starting the thread that syncs", error))?;
        Ok(Self { queue })
    }

    /// Has the partition's batches synced soon, and those who wait for it woken.
    pub(crate) fn request(&self, partition: &Arc<Partition>) {
        if !partition.queued.swap(true, Ordering::AcqRel) {
            // It fails when the thread is gone, which syncs nothing any more: then nothing is acknowledged.
            let _ = self.queue.send(partition.clone());
        }
    }
}

fn run(partitions: &Receiver<Arc<Partition>>) {
    while let Ok(first) = partitions.recv() {
        let mut round = vec![first];
        round.extend(partitions.try_iter());
        let pending: Vec<_> = round
            .into_iter()
            .filter_map(|partition| {
                // Before the look at the log: what is written behind it asks again.
                partition.queued.store(false, Ordering::Release);
                let sync = partition.state().log().ok()?.begin_sync()?;
                Some((partition, sync))
            })
            .collect();
        let finished: Vec<_> = pending
            .into_iter()
            .map(|(partition, sync)| (partition, sync.run()))
            .collect();
        for (partition, sync) in finished {
            if let Ok(log) = partition.state().log()
                && let Err(error) = log.finish_sync(sync)
            {
                tracing::error!(
                    topic = partition.topic().name,
                    partition = partition.index(),
                    "no more writes are taken: {error}"
                );
            }
            partition.waiters().wake();
        }
    }
}
