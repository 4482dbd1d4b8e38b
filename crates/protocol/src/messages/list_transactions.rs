//! ListTransactions: transactions that a broker coordinates.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ListTransactions (key 66).
#[derive(Clone, Debug, PartialEq)]
pub struct ListTransactionsRequest {
    pub state_filters: Vec<String>,
    pub producer_id_filters: Vec<i64>,
    /// Versions 1+.
    pub duration_filter: i64,
    /// Versions 2+.
    pub transactional_id_pattern: Option<String>,
}

impl Default for ListTransactionsRequest {
    fn default() -> Self {
        Self {
            state_filters: Vec::new(),
            producer_id_filters: Vec::new(),
            duration_filter: -1,
            transactional_id_pattern: None,
        }
    }
}

impl Wire for ListTransactionsRequest {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.state_filters)?;
        w.put(&self.producer_id_filters)?;
        w.need_in_or(1.., "duration_filter", &self.duration_filter, &-1)?;
        w.need_in(
            2..,
            "transactional_id_pattern",
            &self.transactional_id_pattern,
        )?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            state_filters: r.get()?,
            producer_id_filters: r.get()?,
            duration_filter: r.get_in_or(1.., -1)?,
            transactional_id_pattern: r.get_in(2..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`ListTransactionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListTransactionsResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub unknown_state_filters: Vec<String>,
    pub transaction_states: Vec<TransactionState>,
}

plain!(ListTransactionsResponse, min 9, throttle_time_ms, error_code, unknown_state_filters, transaction_states);

/// In [`ListTransactionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactionState {
    pub transactional_id: String,
    pub producer_id: i64,
    pub transaction_state: String,
}

plain!(TransactionState, min 11, transactional_id, producer_id, transaction_state);
