//! PLAIN (RFC 4616).

use super::Exchange;
use crate::Result;

pub(super) struct Plain {
    message: Vec<u8>,
}

impl Plain {
    pub(super) fn new(user: &str, password: &str) -> Self {
        Self {
            message: format!("\0{user}\0{password}").into_bytes(),
        }
    }
}

impl Exchange for Plain {
    fn first(&mut self) -> Result<Vec<u8>> {
        Ok(std::mem::take(&mut self.message))
    }

    fn next(&mut self, _answer: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}
