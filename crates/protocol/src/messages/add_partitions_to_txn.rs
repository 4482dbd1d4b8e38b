//! AddPartitionsToTxn: adds partitions to an open transaction.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AddPartitionsToTxn (key 24).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnRequest {
    /// Versions 0-3.
    pub v3_and_below_transactional_id: String,
    /// Versions 0-3.
    pub v3_and_below_producer_id: i64,
    /// Versions 0-3.
    pub v3_and_below_producer_epoch: i16,
    /// Versions 0-3.
    pub v3_and_below_topics: Vec<AddPartitionsToTxnTopic>,
    /// Versions 4+.
    pub transactions: Vec<AddPartitionsToTxnTransaction>,
}

impl Wire for AddPartitionsToTxnRequest {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in(
            ..=3,
            "v3_and_below_transactional_id",
            &self.v3_and_below_transactional_id,
        )?;
        w.need_in(
            ..=3,
            "v3_and_below_producer_id",
            &self.v3_and_below_producer_id,
        )?;
        w.need_in(
            ..=3,
            "v3_and_below_producer_epoch",
            &self.v3_and_below_producer_epoch,
        )?;
        w.need_in(..=3, "v3_and_below_topics", &self.v3_and_below_topics)?;
        w.need_in(4.., "transactions", &self.transactions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            v3_and_below_transactional_id: r.get_in(..=3)?,
            v3_and_below_producer_id: r.get_in(..=3)?,
            v3_and_below_producer_epoch: r.get_in(..=3)?,
            v3_and_below_topics: r.get_in(..=3)?,
            transactions: r.get_in(4..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`AddPartitionsToTxnRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnTopic {
    pub name: String,
    pub partitions: Vec<i32>,
}

plain!(AddPartitionsToTxnTopic, min 3, name, partitions);

/// In [`AddPartitionsToTxnRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnTransaction {
    pub transactional_id: String,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub verify_only: bool,
    pub topics: Vec<AddPartitionsToTxnTopic>,
}

plain!(AddPartitionsToTxnTransaction, min 14, transactional_id, producer_id, producer_epoch, verify_only, topics);

/// Answers [`AddPartitionsToTxnRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnResponse {
    pub throttle_time_ms: i32,
    /// Versions 0-3.
    pub results_by_topic_v3_and_below: Vec<AddPartitionsToTxnTopicResult>,
    /// Versions 4+.
    pub error_code: ErrorCode,
    /// Versions 4+.
    pub results_by_transaction: Vec<AddPartitionsToTxnResult>,
}

impl Wire for AddPartitionsToTxnResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.need_in(
            ..=3,
            "results_by_topic_v3_and_below",
            &self.results_by_topic_v3_and_below,
        )?;
        w.put_in(4.., &self.error_code)?;
        w.need_in(4.., "results_by_transaction", &self.results_by_transaction)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            results_by_topic_v3_and_below: r.get_in(..=3)?,
            error_code: r.get_in(4..)?,
            results_by_transaction: r.get_in(4..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`AddPartitionsToTxnResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnTopicResult {
    pub name: String,
    pub results_by_partition: Vec<AddPartitionsToTxnPartitionResult>,
}

plain!(AddPartitionsToTxnTopicResult, min 3, name, results_by_partition);

/// In [`AddPartitionsToTxnResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnPartitionResult {
    pub partition_index: i32,
    pub partition_error_code: ErrorCode,
}

plain!(AddPartitionsToTxnPartitionResult, min 6, partition_index, partition_error_code);

/// In [`AddPartitionsToTxnResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddPartitionsToTxnResult {
    pub transactional_id: String,
    pub topic_results: Vec<AddPartitionsToTxnTopicResult>,
}

plain!(AddPartitionsToTxnResult, min 3, transactional_id, topic_results);
