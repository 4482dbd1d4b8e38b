//! SaslAuthenticate: one step of a SASL exchange.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for SaslAuthenticate (key 36).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaslAuthenticateRequest {
    pub auth_bytes: Bytes,
}

plain!(SaslAuthenticateRequest, min 2, auth_bytes);

/// Answers [`SaslAuthenticateRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaslAuthenticateResponse {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub auth_bytes: Bytes,
    /// Versions 1+.
    pub session_lifetime_ms: i64,
}

impl Wire for SaslAuthenticateResponse {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.put(&self.error_message)?;
        w.put(&self.auth_bytes)?;
        w.put_in(1.., &self.session_lifetime_ms)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            error_code: r.get()?,
            error_message: r.get()?,
            auth_bytes: r.get()?,
            session_lifetime_ms: r.get_in(1..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
