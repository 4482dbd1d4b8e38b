//! DescribeConfigs: settings of topics, brokers and groups.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeConfigs (key 32).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeConfigsRequest {
    pub resources: Vec<DescribeConfigsResource>,
    pub include_synonyms: bool,
    /// Versions 3+.
    pub include_documentation: bool,
}

impl Wire for DescribeConfigsRequest {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.resources)?;
        w.put(&self.include_synonyms)?;
        w.need_in(3.., "include_documentation", &self.include_documentation)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            resources: r.get()?,
            include_synonyms: r.get()?,
            include_documentation: r.get_in(3..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeConfigsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsResource {
    pub resource_type: i8,
    pub resource_name: String,
    pub configuration_keys: Option<Vec<String>>,
}

impl Default for DescribeConfigsResource {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: String::new(),
            configuration_keys: Some(Vec::new()),
        }
    }
}

plain!(DescribeConfigsResource, min 4, resource_type, resource_name, configuration_keys);

/// Answers [`DescribeConfigsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeConfigsResponse {
    pub throttle_time_ms: i32,
    pub results: Vec<DescribeConfigsResult>,
}

plain!(DescribeConfigsResponse, min 6, throttle_time_ms, results);

/// In [`DescribeConfigsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeConfigsResult {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub resource_type: i8,
    pub resource_name: String,
    pub configs: Vec<DescribeConfigsResourceResult>,
}

plain!(DescribeConfigsResult, min 7, error_code, error_message, resource_type, resource_name, configs);

/// In [`DescribeConfigsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsResourceResult {
    pub name: String,
    pub value: Option<String>,
    pub read_only: bool,
    pub config_source: i8,
    pub is_sensitive: bool,
    pub synonyms: Vec<DescribeConfigsSynonym>,
    /// Versions 3+.
    pub config_type: i8,
    /// Versions 3+.
    pub documentation: Option<String>,
}

impl Default for DescribeConfigsResourceResult {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
            read_only: false,
            config_source: -1,
            is_sensitive: false,
            synonyms: Vec::new(),
            config_type: 0,
            documentation: Some(String::new()),
        }
    }
}

impl Wire for DescribeConfigsResourceResult {
    const MIN_SIZE: usize = 9;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.name)?;
        w.put(&self.value)?;
        w.put(&self.read_only)?;
        w.put(&self.config_source)?;
        w.put(&self.is_sensitive)?;
        w.put(&self.synonyms)?;
        w.put_in(3.., &self.config_type)?;
        w.put_in(3.., &self.documentation)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get()?,
            value: r.get()?,
            read_only: r.get()?,
            config_source: r.get()?,
            is_sensitive: r.get()?,
            synonyms: r.get()?,
            config_type: r.get_in(3..)?,
            documentation: r.get_in_or(3.., Some(String::new()))?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeConfigsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsSynonym {
    pub name: String,
    pub value: Option<String>,
    pub source: i8,
}

impl Default for DescribeConfigsSynonym {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
            source: 0,
        }
    }
}

plain!(DescribeConfigsSynonym, min 4, name, value, source);
