//! Giving partitions up: what is out is waited for, what was processed is committed.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::Commit;
use super::committer::Committer;
use super::hooks::Rebalance;
use super::shared::Shared;
use crate::{Error, TopicPartition};

/// Those that can be given up at once, and each of the others on its own: another member may wait for it.
pub(crate) fn pieces(shared: &Shared, partitions: Vec<TopicPartition>) -> Vec<Vec<TopicPartition>> {
    let (held, free): (Vec<_>, Vec<_>) = {
        let progress = shared.progress();
        let mut partitions = partitions.into_iter();
        partitions
            .by_ref()
            .partition(|partition| progress.is_held(std::slice::from_ref(partition)))
    };
    let mut pieces = Vec::new();
    if !free.is_empty() {
        pieces.push(free);
    }
    pieces.extend(held.into_iter().map(|one| vec![one]));
    pieces
}

/// Resolves when they may be another's. If they are lost meanwhile, or time is up, it does not wait any longer for
/// what is out.
pub(crate) async fn release(
    shared: Arc<Shared>,
    partitions: Vec<TopicPartition>,
    deadline: Option<Instant>,
) -> (Vec<TopicPartition>, Option<Error>) {
    let mut changes = shared.changes.subscribe();
    let let_go = changes.wait_for(|_| !shared.progress().is_held(&partitions));
    match deadline {
        // Late is told by whoever set the deadline.
        Some(deadline) => drop(timeout_at(deadline, let_go).await),
        None => drop(let_go.await),
    }
    if let Some(hook) = &shared.settings.hooks.revoked {
        hook(Rebalance::new(partitions.clone(), Committer::new(&shared))).await;
    }
    let mut error = None;
    if shared.settings.commit != Commit::Manual {
        let offsets = shared.progress().uncommitted(Some(&partitions));
        if let Err(failure) = shared.commit(offsets).await {
            tracing::warn!(error = %failure, "what was processed of partitions that are given up was not committed");
            error = Some(failure);
        }
    }
    (partitions, error)
}
