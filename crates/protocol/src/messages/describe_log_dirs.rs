//! DescribeLogDirs: log directories, and the replicas in them with their sizes.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeLogDirs (key 35).
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeLogDirsRequest {
    pub topics: Option<Vec<DescribableLogDirTopic>>,
}

impl Default for DescribeLogDirsRequest {
    fn default() -> Self {
        Self {
            topics: Some(Vec::new()),
        }
    }
}

plain!(DescribeLogDirsRequest, min 2, topics);

/// In [`DescribeLogDirsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribableLogDirTopic {
    pub topic: String,
    pub partitions: Vec<i32>,
}

plain!(DescribableLogDirTopic, min 3, topic, partitions);

/// Answers [`DescribeLogDirsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeLogDirsResponse {
    pub throttle_time_ms: i32,
    /// Versions 3+.
    pub error_code: ErrorCode,
    pub results: Vec<DescribeLogDirsResult>,
}

impl Wire for DescribeLogDirsResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put_in(3.., &self.error_code)?;
        w.put(&self.results)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get_in(3..)?,
            results: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeLogDirsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeLogDirsResult {
    pub error_code: ErrorCode,
    pub log_dir: String,
    pub topics: Vec<DescribeLogDirsTopic>,
    /// Versions 4+.
    pub total_bytes: i64,
    /// Versions 4+.
    pub usable_bytes: i64,
    /// Versions 5+.
    pub is_cordoned: bool,
}

impl Default for DescribeLogDirsResult {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            log_dir: String::new(),
            topics: Vec::new(),
            total_bytes: -1,
            usable_bytes: -1,
            is_cordoned: false,
        }
    }
}

impl Wire for DescribeLogDirsResult {
    const MIN_SIZE: usize = 5;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.put(&self.log_dir)?;
        w.put(&self.topics)?;
        w.put_in(4.., &self.total_bytes)?;
        w.put_in(4.., &self.usable_bytes)?;
        w.put_in(5.., &self.is_cordoned)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            error_code: r.get()?,
            log_dir: r.get()?,
            topics: r.get()?,
            total_bytes: r.get_in_or(4.., -1)?,
            usable_bytes: r.get_in_or(4.., -1)?,
            is_cordoned: r.get_in(5..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeLogDirsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeLogDirsTopic {
    pub name: String,
    pub partitions: Vec<DescribeLogDirsPartition>,
}

plain!(DescribeLogDirsTopic, min 3, name, partitions);

/// In [`DescribeLogDirsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeLogDirsPartition {
    pub partition_index: i32,
    pub partition_size: i64,
    pub offset_lag: i64,
    pub is_future_key: bool,
}

plain!(DescribeLogDirsPartition, min 21, partition_index, partition_size, offset_lag, is_future_key);
