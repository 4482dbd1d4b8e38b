//! Which broker coordinates a group or a transactional id.

use std::sync::Arc;

use copart_protocol::messages::find_coordinator::FindCoordinatorRequest;
use copart_protocol::{ApiKey, ErrorCode, Request};

use super::{Cluster, Route};
use crate::net::Address;
use crate::{Error, ErrorKind, Result};

/// What has a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coordinated {
    /// A consumer group.
    Group(Arc<str>),
    /// A transactional id.
    Transaction(Arc<str>),
}

impl Coordinated {
    fn key(&self) -> (&Arc<str>, i8) {
        match self {
            Self::Group(name) => (name, 0),
            Self::Transaction(name) => (name, 1),
        }
    }
}

impl Cluster {
    /// The coordinator's node, as found before or by asking any broker.
    ///
    /// Cancel-safe.
    pub(crate) async fn coordinator(&self, of: &Coordinated) -> Result<i32> {
        if let Some(&node) = self.shared.coordinators().get(of) {
            return Ok(node);
        }
        let (name, kind) = of.key();
        let connection = self.route(&Route::Any).await?;
        let version =
            connection.negotiate(ApiKey::FindCoordinator, ApiKey::FindCoordinator.versions())?;
        if version == 0 && kind != 0 {
            return Err(Error::new(
                ErrorKind::UnsupportedVersion,
                "the broker has no transactions",
            ));
        }
        let mut request = FindCoordinatorRequest {
            key_type: kind,
            ..FindCoordinatorRequest::default()
        };
        if version >= 4 {
            request.coordinator_keys = vec![name.to_string()];
        } else {
            request.key = name.to_string();
        }
        let timeout = self.shared.config.request_timeout;
        let mut response = connection.send(version, &request, timeout)?.await?;
        let (code, message, node, host, port) = if version >= 4 {
            let Some(found) = response.coordinators.pop() else {
                return Err(Error::new(
                    ErrorKind::Protocol,
                    "the answer names no coordinator",
                ));
            };
            let message = found.error_message;
            (
                found.error_code,
                message,
                found.node_id,
                found.host,
                found.port,
            )
        } else {
            let message = response.error_message;
            (
                response.error_code,
                message,
                response.node_id,
                response.host,
                response.port,
            )
        };
        if code != ErrorCode::NONE {
            return Err(Error::from_code(code, message.as_deref())
                .in_api(FindCoordinatorRequest::API, version));
        }
        // It may have joined after the last metadata.
        if let Some(address) = Address::advertised(&host, port) {
            self.learn_broker(node, address, None);
        }
        self.shared.coordinators().insert(of.clone(), node);
        Ok(node)
    }

    /// To be called when a broker says that it is not the coordinator.
    pub(crate) fn forget_coordinator(&self, of: &Coordinated) {
        self.shared.coordinators().remove(of);
    }
}
