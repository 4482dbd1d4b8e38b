//! EndTxn: commits or aborts a transaction.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for EndTxn (key 26).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndTxnRequest {
    pub transactional_id: String,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub committed: bool,
}

plain!(EndTxnRequest, min 13, transactional_id, producer_id, producer_epoch, committed);

/// Answers [`EndTxnRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct EndTxnResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    /// Versions 5+.
    pub producer_id: i64,
    /// Versions 5+.
    pub producer_epoch: i16,
}

impl Default for EndTxnResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            producer_id: -1,
            producer_epoch: -1,
        }
    }
}

impl Wire for EndTxnResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put_in(5.., &self.producer_id)?;
        w.put_in(5.., &self.producer_epoch)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get()?,
            producer_id: r.get_in_or(5.., -1)?,
            producer_epoch: r.get_in_or(5.., -1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
