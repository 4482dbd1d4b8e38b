//! Counters and histograms, for the `metrics` facade.

pub(crate) const BATCHES: &str = "copart.producer.batches";
pub(crate) const RECORDS: &str = "copart.producer.records";
pub(crate) const BYTES: &str = "copart.producer.bytes";
pub(crate) const REQUESTS: &str = "copart.producer.requests";
pub(crate) const RETRIES: &str = "copart.producer.retries";
pub(crate) const SPLITS: &str = "copart.producer.splits";
pub(crate) const EPOCH_BUMPS: &str = "copart.producer.epoch_bumps";
pub(crate) const COUNT_CHANGES: &str = "copart.producer.partition_count_changes";
pub(crate) const GUARD_FINDINGS: &str = "copart.producer.guard_findings";
pub(crate) const BATCH_RECORDS: &str = "copart.producer.batch.records";
pub(crate) const BATCH_BYTES: &str = "copart.producer.batch.bytes";
pub(crate) const QUEUE_TIME: &str = "copart.producer.queue.duration";
pub(crate) const REQUEST_TIME: &str = "copart.producer.request.duration";
pub(crate) const DELIVERY_TIME: &str = "copart.producer.delivery.duration";
pub(crate) const CONSUMED_BATCHES: &str = "copart.consumer.batches";
pub(crate) const CONSUMED_RECORDS: &str = "copart.consumer.records";
pub(crate) const POISON: &str = "copart.consumer.poison";
pub(crate) const COMMITS: &str = "copart.consumer.commits";
pub(crate) const COMMIT_FAILURES: &str = "copart.consumer.commit_failures";
pub(crate) const ASSIGNED: &str = "copart.consumer.partitions_assigned";
pub(crate) const LOST: &str = "copart.consumer.partitions_lost";
pub(crate) const STALLS: &str = "copart.consumer.stalls";
pub(crate) const LAG: &str = "copart.consumer.lag";
pub(crate) const CONNECTIONS: &str = "copart.connections";
pub(crate) const REFRESHES: &str = "copart.metadata.refreshes";

/// Tells the installed recorder of `metrics` what the client's counters and histograms are, with their units.
/// Optional; call it once, after the recorder is installed.
pub fn describe_metrics() {
    use metrics::Unit::{Bytes, Count, Seconds};
    use metrics::{describe_counter, describe_gauge, describe_histogram};

    describe_counter!(
        BATCHES,
        Count,
        "Batches with an outcome, by topic and outcome"
    );
    describe_counter!(
        RECORDS,
        Count,
        "Records put on a connection, retries included, by topic"
    );
    describe_counter!(
        BYTES,
        Bytes,
        "Bytes of batches put on a connection, retries included, by topic"
    );
    describe_counter!(REQUESTS, Count, "Produce requests");
    describe_counter!(RETRIES, Count, "Batches that are sent again");
    describe_counter!(
        SPLITS,
        Count,
        "Batches that were split because the broker refuses their size"
    );
    describe_counter!(
        EPOCH_BUMPS,
        Count,
        "Partitions whose sequences started over (KIP-360)"
    );
    describe_counter!(
        COUNT_CHANGES,
        Count,
        "Topics whose number of partitions changed"
    );
    describe_counter!(
        GUARD_FINDINGS,
        Count,
        "Topics whose records were compared with the partitioner, by finding"
    );
    describe_histogram!(
        BATCH_RECORDS,
        Count,
        "Records of a batch when it goes out first"
    );
    describe_histogram!(
        BATCH_BYTES,
        Bytes,
        "Bytes of a batch when it goes out first, compressed"
    );
    describe_histogram!(
        QUEUE_TIME,
        Seconds,
        "From a batch's first record until it goes out first"
    );
    describe_histogram!(
        REQUEST_TIME,
        Seconds,
        "From a produce request to its answer"
    );
    describe_histogram!(
        DELIVERY_TIME,
        Seconds,
        "From a batch's first record to its outcome"
    );
    describe_counter!(
        CONSUMED_BATCHES,
        Count,
        "Batches handed out by consumers, by topic"
    );
    describe_counter!(
        CONSUMED_RECORDS,
        Count,
        "Records handed out by consumers, by topic"
    );
    describe_counter!(
        POISON,
        Count,
        "Records that could not be decoded, by topic, part and outcome"
    );
    describe_counter!(COMMITS, Count, "Offsets committed, by topic");
    describe_counter!(
        COMMIT_FAILURES,
        Count,
        "Offsets that could not be committed, by topic"
    );
    describe_counter!(ASSIGNED, Count, "Partitions that came, by group");
    describe_counter!(
        LOST,
        Count,
        "Partitions that were lost, not given up, by group"
    );
    describe_counter!(
        STALLS,
        Count,
        "Times that a consumer left its group as its program was stuck"
    );
    describe_gauge!(
        LAG,
        Count,
        "Offsets that are not processed yet, by group, topic and partition"
    );
    describe_counter!(
        CONNECTIONS,
        Count,
        "Connections that were dialled, by outcome"
    );
    describe_counter!(REFRESHES, Count, "Metadata that was refreshed");
}
