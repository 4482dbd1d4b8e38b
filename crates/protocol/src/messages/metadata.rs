//! Metadata: brokers of the cluster, and topics with their partitions, leaders and replicas.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for Metadata (key 3).
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataRequest {
    /// Null in versions 1+.
    pub topics: Option<Vec<MetadataRequestTopic>>,
    /// Versions 4+.
    pub allow_auto_topic_creation: bool,
    /// Versions 8-10.
    pub include_cluster_authorized_operations: bool,
    /// Versions 8+.
    pub include_topic_authorized_operations: bool,
}

impl Default for MetadataRequest {
    fn default() -> Self {
        Self {
            topics: Some(Vec::new()),
            allow_auto_topic_creation: true,
            include_cluster_authorized_operations: false,
            include_topic_authorized_operations: false,
        }
    }
}

impl Wire for MetadataRequest {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_nullable_from(1, "topics", &self.topics)?;
        w.need_in_or(
            4..,
            "allow_auto_topic_creation",
            &self.allow_auto_topic_creation,
            &true,
        )?;
        w.need_in(
            8..=10,
            "include_cluster_authorized_operations",
            &self.include_cluster_authorized_operations,
        )?;
        w.need_in(
            8..,
            "include_topic_authorized_operations",
            &self.include_topic_authorized_operations,
        )?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            topics: r.get_nullable_from(1)?,
            allow_auto_topic_creation: r.get_in_or(4.., true)?,
            include_cluster_authorized_operations: r.get_in(8..=10)?,
            include_topic_authorized_operations: r.get_in(8..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`MetadataRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataRequestTopic {
    /// Versions 10+.
    pub topic_id: Uuid,
    /// Null in versions 10+.
    pub name: Option<String>,
}

impl Default for MetadataRequestTopic {
    fn default() -> Self {
        Self {
            topic_id: Uuid::ZERO,
            name: Some(String::new()),
        }
    }
}

impl Wire for MetadataRequestTopic {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(10.., &self.topic_id)?;
        w.put_nullable_from(10, "name", &self.name)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            topic_id: r.get_in(10..)?,
            name: r.get_nullable_from(10)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`MetadataRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponse {
    /// Versions 3+.
    pub throttle_time_ms: i32,
    pub brokers: Vec<MetadataResponseBroker>,
    /// Versions 2+.
    pub cluster_id: Option<String>,
    /// Versions 1+.
    pub controller_id: i32,
    pub topics: Vec<MetadataResponseTopic>,
    /// Versions 8-10.
    pub cluster_authorized_operations: i32,
    /// Versions 13+.
    pub error_code: ErrorCode,
}

impl Default for MetadataResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            brokers: Vec::new(),
            cluster_id: None,
            controller_id: -1,
            topics: Vec::new(),
            cluster_authorized_operations: i32::MIN,
            error_code: ErrorCode::NONE,
        }
    }
}

impl Wire for MetadataResponse {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3.., &self.throttle_time_ms)?;
        w.put(&self.brokers)?;
        w.put_in(2.., &self.cluster_id)?;
        w.put_in(1.., &self.controller_id)?;
        w.put(&self.topics)?;
        w.need_in_or(
            8..=10,
            "cluster_authorized_operations",
            &self.cluster_authorized_operations,
            &i32::MIN,
        )?;
        w.put_in(13.., &self.error_code)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(3..)?,
            brokers: r.get()?,
            cluster_id: r.get_in(2..)?,
            controller_id: r.get_in_or(1.., -1)?,
            topics: r.get()?,
            cluster_authorized_operations: r.get_in_or(8..=10, i32::MIN)?,
            error_code: r.get_in(13..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`MetadataResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetadataResponseBroker {
    pub node_id: i32,
    pub host: String,
    pub port: i32,
    /// Versions 1+.
    pub rack: Option<String>,
}

impl Wire for MetadataResponseBroker {
    const MIN_SIZE: usize = 10;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.node_id)?;
        w.put(&self.host)?;
        w.put(&self.port)?;
        w.put_in(1.., &self.rack)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            node_id: r.get()?,
            host: r.get()?,
            port: r.get()?,
            rack: r.get_in(1..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`MetadataResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponseTopic {
    pub error_code: ErrorCode,
    /// Null in versions 12+.
    pub name: Option<String>,
    /// Versions 10+.
    pub topic_id: Uuid,
    /// Versions 1+.
    pub is_internal: bool,
    pub partitions: Vec<MetadataResponsePartition>,
    /// Versions 8+.
    pub topic_authorized_operations: i32,
}

impl Default for MetadataResponseTopic {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            name: Some(String::new()),
            topic_id: Uuid::ZERO,
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: i32::MIN,
        }
    }
}

impl Wire for MetadataResponseTopic {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.put_nullable_from(12, "name", &self.name)?;
        w.put_in(10.., &self.topic_id)?;
        w.put_in(1.., &self.is_internal)?;
        w.put(&self.partitions)?;
        w.need_in_or(
            8..,
            "topic_authorized_operations",
            &self.topic_authorized_operations,
            &i32::MIN,
        )?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            error_code: r.get()?,
            name: r.get_nullable_from(12)?,
            topic_id: r.get_in(10..)?,
            is_internal: r.get_in(1..)?,
            partitions: r.get()?,
            topic_authorized_operations: r.get_in_or(8.., i32::MIN)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`MetadataResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponsePartition {
    pub error_code: ErrorCode,
    pub partition_index: i32,
    pub leader_id: i32,
    /// Versions 7+.
    pub leader_epoch: i32,
    pub replica_nodes: Vec<i32>,
    pub isr_nodes: Vec<i32>,
    /// Versions 5+.
    pub offline_replicas: Vec<i32>,
}

impl Default for MetadataResponsePartition {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            offline_replicas: Vec::new(),
        }
    }
}

impl Wire for MetadataResponsePartition {
    const MIN_SIZE: usize = 18;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.put(&self.partition_index)?;
        w.put(&self.leader_id)?;
        w.put_in(7.., &self.leader_epoch)?;
        w.put(&self.replica_nodes)?;
        w.put(&self.isr_nodes)?;
        w.put_in(5.., &self.offline_replicas)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            error_code: r.get()?,
            partition_index: r.get()?,
            leader_id: r.get()?,
            leader_epoch: r.get_in_or(7.., -1)?,
            replica_nodes: r.get()?,
            isr_nodes: r.get()?,
            offline_replicas: r.get_in(5..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
