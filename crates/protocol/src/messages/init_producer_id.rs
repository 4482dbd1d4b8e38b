//! InitProducerId: gives a producer its id and epoch, and fences its predecessors.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for InitProducerId (key 22).
#[derive(Clone, Debug, PartialEq)]
pub struct InitProducerIdRequest {
    pub transactional_id: Option<String>,
    pub transaction_timeout_ms: i32,
    /// Versions 3+.
    pub producer_id: i64,
    /// Versions 3+.
    pub producer_epoch: i16,
    /// Versions 6+.
    pub enable2_pc: bool,
    /// Versions 6+.
    pub keep_prepared_txn: bool,
}

impl Default for InitProducerIdRequest {
    fn default() -> Self {
        Self {
            transactional_id: Some(String::new()),
            transaction_timeout_ms: 0,
            producer_id: -1,
            producer_epoch: -1,
            enable2_pc: false,
            keep_prepared_txn: false,
        }
    }
}

impl Wire for InitProducerIdRequest {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.transactional_id)?;
        w.put(&self.transaction_timeout_ms)?;
        w.need_in_or(3.., "producer_id", &self.producer_id, &-1)?;
        w.need_in_or(3.., "producer_epoch", &self.producer_epoch, &-1)?;
        w.need_in(6.., "enable2_pc", &self.enable2_pc)?;
        w.need_in(6.., "keep_prepared_txn", &self.keep_prepared_txn)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            transactional_id: r.get()?,
            transaction_timeout_ms: r.get()?,
            producer_id: r.get_in_or(3.., -1)?,
            producer_epoch: r.get_in_or(3.., -1)?,
            enable2_pc: r.get_in(6..)?,
            keep_prepared_txn: r.get_in(6..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`InitProducerIdRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct InitProducerIdResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub producer_id: i64,
    pub producer_epoch: i16,
    /// Versions 6+.
    pub ongoing_txn_producer_id: i64,
    /// Versions 6+.
    pub ongoing_txn_producer_epoch: i16,
}

impl Default for InitProducerIdResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            producer_id: -1,
            producer_epoch: 0,
            ongoing_txn_producer_id: -1,
            ongoing_txn_producer_epoch: -1,
        }
    }
}

impl Wire for InitProducerIdResponse {
    const MIN_SIZE: usize = 16;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put(&self.producer_id)?;
        w.put(&self.producer_epoch)?;
        w.need_in_or(
            6..,
            "ongoing_txn_producer_id",
            &self.ongoing_txn_producer_id,
            &-1,
        )?;
        w.need_in_or(
            6..,
            "ongoing_txn_producer_epoch",
            &self.ongoing_txn_producer_epoch,
            &-1,
        )?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get()?,
            producer_id: r.get()?,
            producer_epoch: r.get()?,
            ongoing_txn_producer_id: r.get_in_or(6.., -1)?,
            ongoing_txn_producer_epoch: r.get_in_or(6.., -1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
