//! DescribeTransactions: state of transactions.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeTransactions (key 65).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeTransactionsRequest {
    pub transactional_ids: Vec<String>,
}

plain!(DescribeTransactionsRequest, min 2, transactional_ids);

/// Answers [`DescribeTransactionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeTransactionsResponse {
    pub throttle_time_ms: i32,
    pub transaction_states: Vec<TransactionState>,
}

plain!(DescribeTransactionsResponse, min 6, throttle_time_ms, transaction_states);

/// In [`DescribeTransactionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactionState {
    pub error_code: ErrorCode,
    pub transactional_id: String,
    pub transaction_state: String,
    pub transaction_timeout_ms: i32,
    pub transaction_start_time_ms: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub topics: Vec<TopicData>,
}

plain!(TransactionState, min 28, error_code, transactional_id, transaction_state, transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch, topics);

/// In [`DescribeTransactionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicData {
    pub topic: String,
    pub partitions: Vec<i32>,
}

plain!(TopicData, min 3, topic, partitions);
