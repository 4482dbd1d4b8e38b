//! ApiVersions: what a broker supports; the first request on a connection.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ApiVersions (key 18).
#[derive(Clone, Debug, PartialEq)]
pub struct ApiVersionsRequest {
    /// Versions 3+.
    pub client_software_name: String,
    /// Versions 3+.
    pub client_software_version: String,
    /// Versions 5+.
    pub cluster_id: Option<String>,
    /// Versions 5+.
    pub node_id: i32,
}

impl Default for ApiVersionsRequest {
    fn default() -> Self {
        Self {
            client_software_name: String::new(),
            client_software_version: String::new(),
            cluster_id: None,
            node_id: -1,
        }
    }
}

impl Wire for ApiVersionsRequest {
    const MIN_SIZE: usize = 0;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3.., &self.client_software_name)?;
        w.put_in(3.., &self.client_software_version)?;
        w.put_in(5.., &self.cluster_id)?;
        w.put_in(5.., &self.node_id)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            client_software_name: r.get_in(3..)?,
            client_software_version: r.get_in(3..)?,
            cluster_id: r.get_in(5..)?,
            node_id: r.get_in_or(5.., -1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`ApiVersionsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct ApiVersionsResponse {
    pub error_code: ErrorCode,
    pub api_keys: Vec<ApiVersion>,
    /// Versions 1+.
    pub throttle_time_ms: i32,
    /// Versions 3+.
    pub supported_features: Vec<SupportedFeatureKey>,
    /// Versions 3+.
    pub finalized_features_epoch: i64,
    /// Versions 3+.
    pub finalized_features: Vec<FinalizedFeatureKey>,
    /// Versions 3+.
    pub zk_migration_ready: bool,
}

impl Default for ApiVersionsResponse {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            api_keys: Vec::new(),
            throttle_time_ms: 0,
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        }
    }
}

impl Wire for ApiVersionsResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.put(&self.api_keys)?;
        w.put_in(1.., &self.throttle_time_ms)?;
        w.tags(|t| {
            t.put(0, 3.., &self.supported_features)?;
            t.put_or(1, 3.., &self.finalized_features_epoch, &-1)?;
            t.put(2, 3.., &self.finalized_features)?;
            t.put(3, 3.., &self.zk_migration_ready)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            error_code: r.get()?,
            api_keys: r.get()?,
            throttle_time_ms: r.get_in(1..)?,
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.supported_features = r.get()?,
                1 => value.finalized_features_epoch = r.get()?,
                2 => value.finalized_features = r.get()?,
                3 => value.zk_migration_ready = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`ApiVersionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiVersion {
    pub api_key: i16,
    pub min_version: i16,
    pub max_version: i16,
}

plain!(ApiVersion, min 6, api_key, min_version, max_version);

/// In [`ApiVersionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SupportedFeatureKey {
    pub name: String,
    pub min_version: i16,
    pub max_version: i16,
}

plain!(SupportedFeatureKey, min 6, name, min_version, max_version);

/// In [`ApiVersionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FinalizedFeatureKey {
    pub name: String,
    pub max_version_level: i16,
    pub min_version_level: i16,
}

plain!(FinalizedFeatureKey, min 6, name, max_version_level, min_version_level);
