//! What happens on a new connection before anything else: versions, then authentication.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use copart_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use copart_protocol::messages::sasl_authenticate::SaslAuthenticateRequest;
use copart_protocol::messages::sasl_handshake::SaslHandshakeRequest;
use copart_protocol::versions::BrokerVersions;
use copart_protocol::{ApiKey, Body, ErrorCode, Request, VersionRange, frame};

use super::connection::{Connection, ConnectionConfig, Lane};
use super::sasl::Sasl;
use super::transport::Transport;
use super::{Address, reauthenticate};
use crate::{Error, ErrorKind, Result};

/// What is asked for first. Version 5 would tell the broker which one we believe it to be, which is of no
/// use to a client that finds out by this request.
const API_VERSIONS: i16 = 4;

/// Everything that a new connection needs.
#[derive(Clone)]
pub(crate) struct Dialer {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) sasl: Option<Sasl>,
    pub(crate) config: ConnectionConfig,
    pub(crate) connect_timeout: Duration,
}

impl Dialer {
    /// Connects, agrees on versions and authenticates, or fails within the time to connect.
    ///
    /// Cancel-safe.
    pub(crate) async fn dial(&self, address: &Address, node: Option<i32>) -> Result<Connection> {
        let broker: Arc<str> = match node {
            Some(node) => format!("{address} (node {node})").into(),
            None => address.to_string().into(),
        };
        let dialing = self.dial_untimed(address, Arc::clone(&broker));
        let result = match tokio::time::timeout(self.connect_timeout, dialing).await {
            Ok(result) => result,
            Err(_) => Err(Error::new(
                ErrorKind::Connect,
                format!(
                    "no {} connection within {:?}",
                    self.transport.name(),
                    self.connect_timeout
                ),
            )),
        };
        metrics::counter!(crate::telemetry::names::CONNECTIONS, "outcome" => if result.is_ok() { "ok" } else { "failed" })
            .increment(1);
        result.map_err(|error| match error.context().broker {
            Some(_) => error,
            None => error.at_broker(broker),
        })
    }

    async fn dial_untimed(&self, address: &Address, broker: Arc<str>) -> Result<Connection> {
        let stream =
            self.transport.connect(address).await.map_err(|error| {
                Error::new(ErrorKind::Connect, error.to_string()).caused_by(error)
            })?;
        let connection = Connection::start(stream, broker, self.config.clone());
        let versions = api_versions(&connection, self.connect_timeout)
            .await
            .map_err(|error| self.explain(error))?;
        connection.set_versions(BrokerVersions::new(&versions));
        if let Some(sasl) = &self.sasl {
            let lifetime = authenticate(&connection, sasl, self.connect_timeout).await?;
            if let Some(lifetime) = lifetime {
                reauthenticate::schedule(
                    &connection,
                    sasl.clone(),
                    lifetime,
                    self.config.request_timeout,
                );
            }
        }
        Ok(connection)
    }

    /// A broker that hangs up at the first request is most often one that expects another protocol.
    fn explain(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::Disconnected && self.transport.name() == "plaintext" {
            return Error::new(
                ErrorKind::Connect,
                format!(
                    "{} at the first request: does the listener expect TLS?",
                    error.reason()
                ),
            )
            .caused_by(error);
        }
        error.maybe_written(false)
    }
}

/// Asks what the broker supports; if it does not know the version that we ask in, once more in one it knows.
async fn api_versions(connection: &Connection, timeout: Duration) -> Result<ApiVersionsResponse> {
    let request = ApiVersionsRequest {
        client_software_name: "copart".to_owned(),
        client_software_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ApiVersionsRequest::default()
    };
    let mut version = API_VERSIONS;
    loop {
        let mut answer =
            connection.enqueue(version, &request, timeout, Lane::Authentication, true)?;
        let content = std::future::poll_fn(|cx| answer.poll_content(cx)).await?;
        let response = read_api_versions(version, content)?;
        if response.error_code.is_none() {
            return Ok(response);
        }
        if response.error_code != ErrorCode::UNSUPPORTED_VERSION || version == 0 {
            return Err(
                Error::from_code(response.error_code, None).in_api(ApiKey::ApiVersions, version)
            );
        }
        version = response
            .api_keys
            .iter()
            .find(|api| api.api_key == ApiKey::ApiVersions as i16)
            .and_then(|api| {
                let theirs = VersionRange::new(api.min_version, api.max_version);
                theirs.intersect(VersionRange::new(0, version - 1))
            })
            .map_or(0, |common| common.max);
    }
}

/// The answer to a version that the broker does not know is in version 0.
fn read_api_versions(version: i16, content: Bytes) -> Result<ApiVersionsResponse> {
    let code = content
        .get(4..6)
        .map(|code| i16::from_be_bytes([code[0], code[1]]));
    let version = match code {
        Some(code) if code == ErrorCode::UNSUPPORTED_VERSION.0 => 0,
        _ => version,
    };
    let (_, response) = frame::read_response::<ApiVersionsRequest>(version, content)?;
    Ok(response)
}

/// Goes through a SASL exchange, on a new connection or on one whose session is about to end. The result is
/// how long the session lasts, if the broker limits it.
pub(super) async fn authenticate(
    connection: &Connection,
    sasl: &Sasl,
    timeout: Duration,
) -> Result<Option<Duration>> {
    let mechanism = sasl.mechanism();
    let handshake = SaslHandshakeRequest {
        mechanism: mechanism.to_owned(),
    };
    // Version 0 would mean tokens without frames, which brokers before Kafka 1.0 want.
    let answer = ask(connection, &handshake, VersionRange::new(1, 1), timeout).await?;
    if !answer.error_code.is_none() {
        let enabled = answer.mechanisms.join(", ");
        return Err(Error::from_code(
            answer.error_code,
            Some(&format!(
                "{mechanism} is not enabled; the broker has {enabled}"
            )),
        )
        .at_broker(Arc::clone(connection.broker())));
    }
    let mut exchange = sasl.start().await?;
    let mut message = exchange.first()?;
    loop {
        let request = SaslAuthenticateRequest {
            auth_bytes: Bytes::from(message),
        };
        let answer = ask(
            connection,
            &request,
            SaslAuthenticateRequest::VERSIONS,
            timeout,
        )
        .await?;
        if !answer.error_code.is_none() {
            return Err(
                Error::from_code(answer.error_code, answer.error_message.as_deref())
                    .at_broker(Arc::clone(connection.broker())),
            );
        }
        match exchange.next(&answer.auth_bytes)? {
            Some(next) => message = next,
            None => {
                let lifetime = u64::try_from(answer.session_lifetime_ms).unwrap_or(0);
                return Ok((lifetime > 0).then(|| Duration::from_millis(lifetime)));
            }
        }
    }
}

async fn ask<R: Request>(
    connection: &Connection,
    request: &R,
    wanted: VersionRange,
    timeout: Duration,
) -> Result<R::Response> {
    let version = connection.negotiate(R::API, wanted)?;
    connection
        .enqueue(version, request, timeout, Lane::Authentication, true)?
        .await
        .map_err(|error| match error.kind() {
            // Some brokers hang up instead of saying that a password is wrong.
            ErrorKind::Disconnected => Error::new(
                ErrorKind::Authentication,
                format!("{} during authentication", error.reason()),
            )
            .caused_by(error),
            _ => error.maybe_written(false),
        })
}
