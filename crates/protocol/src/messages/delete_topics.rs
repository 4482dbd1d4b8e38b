//! DeleteTopics: deletes topics, by name or by id.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DeleteTopics (key 20).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteTopicsRequest {
    /// Versions 1-5.
    pub topic_names: Vec<String>,
    /// Versions 6+.
    pub topics: Vec<DeleteTopicState>,
    pub timeout_ms: i32,
}

impl Wire for DeleteTopicsRequest {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1..=5, &self.topic_names)?;
        w.need_in(6.., "topics", &self.topics)?;
        w.put(&self.timeout_ms)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            topic_names: r.get_in(1..=5)?,
            topics: r.get_in(6..)?,
            timeout_ms: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DeleteTopicsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteTopicState {
    pub name: Option<String>,
    pub topic_id: Uuid,
}

plain!(DeleteTopicState, min 18, name, topic_id);

/// Answers [`DeleteTopicsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteTopicsResponse {
    pub throttle_time_ms: i32,
    pub responses: Vec<DeletableTopicResult>,
}

plain!(DeleteTopicsResponse, min 6, throttle_time_ms, responses);

/// In [`DeleteTopicsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DeletableTopicResult {
    /// Null in versions 6+.
    pub name: Option<String>,
    /// Versions 6+.
    pub topic_id: Uuid,
    pub error_code: ErrorCode,
    /// Versions 5+.
    pub error_message: Option<String>,
}

impl Default for DeletableTopicResult {
    fn default() -> Self {
        Self {
            name: Some(String::new()),
            topic_id: Uuid::ZERO,
            error_code: ErrorCode::NONE,
            error_message: None,
        }
    }
}

impl Wire for DeletableTopicResult {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_nullable_from(6, "name", &self.name)?;
        w.put_in(6.., &self.topic_id)?;
        w.put(&self.error_code)?;
        w.put_in(5.., &self.error_message)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_nullable_from(6)?,
            topic_id: r.get_in(6..)?,
            error_code: r.get()?,
            error_message: r.get_in(5..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
