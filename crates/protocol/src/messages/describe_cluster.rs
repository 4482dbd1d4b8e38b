//! DescribeCluster: brokers and controller of the cluster.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeCluster (key 60).
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeClusterRequest {
    pub include_cluster_authorized_operations: bool,
    /// Versions 1+.
    pub endpoint_type: i8,
    /// Versions 2+.
    pub include_fenced_brokers: bool,
}

impl Default for DescribeClusterRequest {
    fn default() -> Self {
        Self {
            include_cluster_authorized_operations: false,
            endpoint_type: 1,
            include_fenced_brokers: false,
        }
    }
}

impl Wire for DescribeClusterRequest {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.include_cluster_authorized_operations)?;
        w.need_in_or(1.., "endpoint_type", &self.endpoint_type, &1)?;
        w.need_in(2.., "include_fenced_brokers", &self.include_fenced_brokers)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            include_cluster_authorized_operations: r.get()?,
            endpoint_type: r.get_in_or(1.., 1)?,
            include_fenced_brokers: r.get_in(2..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`DescribeClusterRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeClusterResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    /// Versions 1+.
    pub endpoint_type: i8,
    pub cluster_id: String,
    pub controller_id: i32,
    pub brokers: Vec<DescribeClusterBroker>,
    pub cluster_authorized_operations: i32,
}

impl Default for DescribeClusterResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: None,
            endpoint_type: 1,
            cluster_id: String::new(),
            controller_id: -1,
            brokers: Vec::new(),
            cluster_authorized_operations: i32::MIN,
        }
    }
}

impl Wire for DescribeClusterResponse {
    const MIN_SIZE: usize = 18;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put(&self.error_message)?;
        w.need_in_or(1.., "endpoint_type", &self.endpoint_type, &1)?;
        w.put(&self.cluster_id)?;
        w.put(&self.controller_id)?;
        w.put(&self.brokers)?;
        w.put(&self.cluster_authorized_operations)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get()?,
            error_message: r.get()?,
            endpoint_type: r.get_in_or(1.., 1)?,
            cluster_id: r.get()?,
            controller_id: r.get()?,
            brokers: r.get()?,
            cluster_authorized_operations: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeClusterResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeClusterBroker {
    pub broker_id: i32,
    pub host: String,
    pub port: i32,
    pub rack: Option<String>,
    /// Versions 2+.
    pub is_fenced: bool,
}

impl Wire for DescribeClusterBroker {
    const MIN_SIZE: usize = 11;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.broker_id)?;
        w.put(&self.host)?;
        w.put(&self.port)?;
        w.put(&self.rack)?;
        w.need_in(2.., "is_fenced", &self.is_fenced)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            broker_id: r.get()?,
            host: r.get()?,
            port: r.get()?,
            rack: r.get()?,
            is_fenced: r.get_in(2..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
