//! The batches that a coordinator's records are written in.

use copart_protocol::Result;
use copart_protocol::records::BatchBuilder;

use super::record::Record;

/// The bytes of a batch of these records.
pub(super) fn size(records: &[Record]) -> Result<usize> {
    let batches = in_batches(records, 0, usize::MAX)?;
    Ok(batches.iter().map(BatchBuilder::size).sum())
}

/// Puts the records, in their order, into batches of at most `max` bytes. A record for which that is too little has
/// one of its own: the coordinator counts on it already, and without it all groups of the partition would begin anew.
/// What members may not write is refused before.
pub(super) fn in_batches(records: &[Record], now_ms: i64, max: usize) -> Result<Vec<BatchBuilder>> {
    let mut full = Vec::new();
    let mut batch = BatchBuilder::new();
    for record in records {
        let (key, value) = record.encode()?;
        let (key, value) = (Some(key.as_slice()), value.as_deref());
        if !batch.is_empty() && batch.size_with(now_ms, key, value, &[]) > max {
            full.push(std::mem::take(&mut batch));
        }
        batch.append(now_ms, key, value, &[])?;
    }
    if !batch.is_empty() {
        full.push(batch);
    }
    Ok(full)
}

#[cfg(test)]
mod tests {
    use copart_protocol::messages::offset_commit_key::OffsetCommitKey;

    use super::*;

    #[test]
    fn batches_are_filled_up_to_the_limit() {
        let tombstone = |topic: usize| {
            let key = OffsetCommitKey {
                group: "g".to_owned(),
                topic: "t".repeat(topic),
                partition: 0,
            };
            Record::OffsetCommit(key, None)
        };
        let records = [1, 1, 1, 500, 1].map(tombstone);
        let two = size(&records[..2]).expect("encodes");
        let lens = |max: usize| {
            let batches = in_batches(&records, 7, max).expect("encodes");
            let lens: Vec<_> = batches.iter().map(BatchBuilder::len).collect();
            lens
        };
        assert_eq!(lens(usize::MAX), [5]);
        assert_eq!(lens(two), [2, 1, 1, 1]);
        assert_eq!(lens(two - 1), [1, 1, 1, 1, 1]);
        assert_eq!(in_batches(&[], 7, two).expect("nothing").len(), 0);
    }
}
