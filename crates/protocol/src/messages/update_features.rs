//! UpdateFeatures: raises or lowers finalized feature levels.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for UpdateFeatures (key 57).
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateFeaturesRequest {
    pub timeout_ms: i32,
    pub feature_updates: Vec<FeatureUpdateKey>,
    /// Versions 1+.
    pub validate_only: bool,
}

impl Default for UpdateFeaturesRequest {
    fn default() -> Self {
        Self {
            timeout_ms: 60000,
            feature_updates: Vec::new(),
            validate_only: false,
        }
    }
}

impl Wire for UpdateFeaturesRequest {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.timeout_ms)?;
        w.put(&self.feature_updates)?;
        w.need_in(1.., "validate_only", &self.validate_only)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            timeout_ms: r.get()?,
            feature_updates: r.get()?,
            validate_only: r.get_in(1..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`UpdateFeaturesRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureUpdateKey {
    pub feature: String,
    pub max_version_level: i16,
    /// Versions 0.
    pub allow_downgrade: bool,
    /// Versions 1+.
    pub upgrade_type: i8,
}

impl Default for FeatureUpdateKey {
    fn default() -> Self {
        Self {
            feature: String::new(),
            max_version_level: 0,
            allow_downgrade: false,
            upgrade_type: 1,
        }
    }
}

impl Wire for FeatureUpdateKey {
    const MIN_SIZE: usize = 5;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.feature)?;
        w.put(&self.max_version_level)?;
        w.need_in(..=0, "allow_downgrade", &self.allow_downgrade)?;
        w.need_in_or(1.., "upgrade_type", &self.upgrade_type, &1)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            feature: r.get()?,
            max_version_level: r.get()?,
            allow_downgrade: r.get_in(..=0)?,
            upgrade_type: r.get_in_or(1.., 1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`UpdateFeaturesRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateFeaturesResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    /// Versions 0-1.
    pub results: Vec<UpdatableFeatureResult>,
}

impl Wire for UpdateFeaturesResponse {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put(&self.error_message)?;
        w.put_in(..=1, &self.results)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get()?,
            error_message: r.get()?,
            results: r.get_in(..=1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`UpdateFeaturesResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdatableFeatureResult {
    pub feature: String,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(UpdatableFeatureResult, min 5, feature, error_code, error_message);
