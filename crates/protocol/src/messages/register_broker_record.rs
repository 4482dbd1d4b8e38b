//! In the metadata log: a broker registered (type 0).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a broker registered (type 0).
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterBrokerRecord {
    pub broker_id: i32,
    /// Versions 2+.
    pub is_migrating_zk_broker: bool,
    pub incarnation_id: Uuid,
    pub broker_epoch: i64,
    pub end_points: Vec<BrokerEndpoint>,
    pub features: Vec<BrokerFeature>,
    pub rack: Option<String>,
    pub fenced: bool,
    /// Versions 1+.
    pub in_controlled_shutdown: bool,
    /// Versions 3+.
    pub log_dirs: Vec<Uuid>,
    /// Versions 4+.
    pub cordoned_log_dirs: Option<Vec<Uuid>>,
}

impl Default for RegisterBrokerRecord {
    fn default() -> Self {
        Self {
            broker_id: 0,
            is_migrating_zk_broker: false,
            incarnation_id: Uuid::ZERO,
            broker_epoch: 0,
            end_points: Vec::new(),
            features: Vec::new(),
            rack: Some(String::new()),
            fenced: true,
            in_controlled_shutdown: false,
            log_dirs: Vec::new(),
            cordoned_log_dirs: None,
        }
    }
}

impl Wire for RegisterBrokerRecord {
    const MIN_SIZE: usize = 33;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.broker_id)?;
        w.need_in(2.., "is_migrating_zk_broker", &self.is_migrating_zk_broker)?;
        w.put(&self.incarnation_id)?;
        w.put(&self.broker_epoch)?;
        w.put(&self.end_points)?;
        w.put(&self.features)?;
        w.put(&self.rack)?;
        w.put(&self.fenced)?;
        w.need_in(1.., "in_controlled_shutdown", &self.in_controlled_shutdown)?;
        w.tags(|t| {
            t.need(0, 3.., "log_dirs", &self.log_dirs)?;
            t.need(1, 4.., "cordoned_log_dirs", &self.cordoned_log_dirs)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            broker_id: r.get()?,
            is_migrating_zk_broker: r.get_in(2..)?,
            incarnation_id: r.get()?,
            broker_epoch: r.get()?,
            end_points: r.get()?,
            features: r.get()?,
            rack: r.get()?,
            fenced: r.get()?,
            in_controlled_shutdown: r.get_in(1..)?,
            log_dirs: Vec::new(),
            cordoned_log_dirs: None,
        };
        r.tags(|r, tag| {
            match tag {
                0 if r.version() >= 3 => value.log_dirs = r.get()?,
                1 if r.version() >= 4 => value.cordoned_log_dirs = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`RegisterBrokerRecord`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrokerEndpoint {
    pub name: String,
    pub host: String,
    pub port: u16,
    pub security_protocol: i16,
}

plain!(BrokerEndpoint, min 7, name, host, port, security_protocol);

/// In [`RegisterBrokerRecord`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrokerFeature {
    pub name: String,
    pub min_supported_version: i16,
    pub max_supported_version: i16,
}

plain!(BrokerFeature, min 6, name, min_supported_version, max_supported_version);

impl Body for RegisterBrokerRecord {
    const NAME: &'static str = "RegisterBrokerRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);
    const FLEXIBLE_FROM: i16 = 0;
}
