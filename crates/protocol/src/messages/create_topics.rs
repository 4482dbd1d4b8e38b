//! CreateTopics: creates topics.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for CreateTopics (key 19).
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTopicsRequest {
    pub topics: Vec<CreatableTopic>,
    pub timeout_ms: i32,
    pub validate_only: bool,
}

impl Default for CreateTopicsRequest {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            timeout_ms: 60000,
            validate_only: false,
        }
    }
}

plain!(CreateTopicsRequest, min 7, topics, timeout_ms, validate_only);

/// In [`CreateTopicsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreatableTopic {
    pub name: String,
    pub num_partitions: i32,
    pub replication_factor: i16,
    pub assignments: Vec<CreatableReplicaAssignment>,
    pub configs: Vec<CreatableTopicConfig>,
}

plain!(CreatableTopic, min 10, name, num_partitions, replication_factor, assignments, configs);

/// In [`CreateTopicsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreatableReplicaAssignment {
    pub partition_index: i32,
    pub broker_ids: Vec<i32>,
}

plain!(CreatableReplicaAssignment, min 6, partition_index, broker_ids);

/// In [`CreateTopicsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct CreatableTopicConfig {
    pub name: String,
    pub value: Option<String>,
}

impl Default for CreatableTopicConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
        }
    }
}

plain!(CreatableTopicConfig, min 3, name, value);

/// Answers [`CreateTopicsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreateTopicsResponse {
    pub throttle_time_ms: i32,
    pub topics: Vec<CreatableTopicResult>,
}

plain!(CreateTopicsResponse, min 6, throttle_time_ms, topics);

/// In [`CreateTopicsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct CreatableTopicResult {
    pub name: String,
    /// Versions 5+.
    pub topic_config_error_code: ErrorCode,
    /// Versions 7+.
    pub topic_id: Uuid,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    /// Versions 5+.
    pub num_partitions: i32,
    /// Versions 5+.
    pub replication_factor: i16,
    /// Versions 5+.
    pub configs: Option<Vec<CreatableTopicConfigs>>,
}

impl Default for CreatableTopicResult {
    fn default() -> Self {
        Self {
            name: String::new(),
            topic_config_error_code: ErrorCode::NONE,
            topic_id: Uuid::ZERO,
            error_code: ErrorCode::NONE,
            error_message: None,
            num_partitions: -1,
            replication_factor: -1,
            configs: Some(Vec::new()),
        }
    }
}

impl Wire for CreatableTopicResult {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.name)?;
        w.put_in(7.., &self.topic_id)?;
        w.put(&self.error_code)?;
        w.put(&self.error_message)?;
        w.put_in(5.., &self.num_partitions)?;
        w.put_in(5.., &self.replication_factor)?;
        w.put_in(5.., &self.configs)?;
        w.tags(|t| {
            t.put(0, 5.., &self.topic_config_error_code)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            name: r.get()?,
            topic_config_error_code: ErrorCode::NONE,
            topic_id: r.get_in(7..)?,
            error_code: r.get()?,
            error_message: r.get()?,
            num_partitions: r.get_in_or(5.., -1)?,
            replication_factor: r.get_in_or(5.., -1)?,
            configs: r.get_in_or(5.., Some(Vec::new()))?,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.topic_config_error_code = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`CreateTopicsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct CreatableTopicConfigs {
    pub name: String,
    pub value: Option<String>,
    pub read_only: bool,
    pub config_source: i8,
    pub is_sensitive: bool,
}

impl Default for CreatableTopicConfigs {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
            read_only: false,
            config_source: -1,
            is_sensitive: false,
        }
    }
}

plain!(CreatableTopicConfigs, min 6, name, value, read_only, config_source, is_sensitive);
