//! TLS and mutual TLS, by rustls.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{
    WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as RustlsError, RootCertStore,
    SignatureScheme,
};

use super::Address;
use super::transport::{BoxFuture, BoxStream, Tcp, Transport};
use crate::{Error, ErrorKind, Result};

/// Which brokers to trust, and who we are to them.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use copart::Tls;
/// let tls = Tls::with_roots_pem(std::fs::read("ca.pem")?)
///     .client_certificate_pem(std::fs::read("client.pem")?, std::fs::read("client.key")?);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Tls {
    roots: Roots,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    check_name: bool,
    config: Option<Arc<ClientConfig>>,
}

#[derive(Clone)]
enum Roots {
    System,
    Pem(Vec<u8>),
}

impl Tls {
    /// Trusts the certificate authorities that the operating system trusts.
    pub fn system_roots() -> Self {
        Self::new(Roots::System)
    }

    /// Trusts the certificate authorities in `pem`, and no others.
    pub fn with_roots_pem(pem: impl Into<Vec<u8>>) -> Self {
        Self::new(Roots::Pem(pem.into()))
    }

    /// Uses a rustls configuration as it is, for all that this type has no setting for.
    pub fn with_config(config: Arc<ClientConfig>) -> Self {
        Self {
            config: Some(config),
            ..Self::new(Roots::System)
        }
    }

    fn new(roots: Roots) -> Self {
        Self {
            roots,
            identity: None,
            check_name: true,
            config: None,
        }
    }

    /// Shows brokers a certificate (mutual TLS): the chain, leaf first, and its private key, both as PEM.
    #[must_use]
    pub fn client_certificate_pem(
        mut self,
        chain: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.identity = Some((chain.into(), key.into()));
        self
    }

    /// Accepts a certificate that is in order but not for the broker's host name, as Java does with
    /// `ssl.endpoint.identification.algorithm=` left empty. Whoever has any certificate of a trusted
    /// authority can then stand in for a broker.
    #[must_use]
    pub fn accept_any_host_name(mut self) -> Self {
        self.check_name = false;
        self
    }

    pub(crate) fn build(&self) -> Result<TlsTransport> {
        if let Some(config) = &self.config {
            return Ok(TlsTransport::new(Arc::clone(config)));
        }
        let provider = Arc::new(ring::default_provider());
        let roots = Arc::new(self.root_store()?);
        let refused = |error: RustlsError| config_error("TLS", error);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(refused)?;
        let builder = if self.check_name {
            builder.with_root_certificates(roots)
        } else {
            let signatures = WebPkiServerVerifier::builder_with_provider(
                Arc::clone(&roots),
                Arc::clone(&provider),
            )
            .build()
            .map_err(|error| config_error("TLS", error))?;
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyName {
                    roots,
                    provider,
                    signatures,
                }))
        };
        let config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = certificates("client certificate", chain)?;
                let key = PrivateKeyDer::from_pem_slice(key)
                    .map_err(|error| config_error("client key", error))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| config_error("client certificate and key", error))?
            }
        };
        Ok(TlsTransport::new(Arc::new(config)))
    }

    fn root_store(&self) -> Result<RootCertStore> {
        let mut store = RootCertStore::empty();
        match &self.roots {
            Roots::Pem(pem) => {
                for certificate in certificates("roots", pem)? {
                    store
                        .add(certificate)
                        .map_err(|error| config_error("roots", error))?;
                }
            }
            Roots::System => {
                let found = rustls_native_certs::load_native_certs();
                let (added, _) = store.add_parsable_certificates(found.certs);
                if added == 0 {
                    let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
                    return Err(Error::new(
                        ErrorKind::Config,
                        format!(
                            "the system has no trusted roots that can be read; give them as PEM: {}",
                            reasons.join("; ")
                        ),
                    ));
                }
            }
        }
        Ok(store)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("system_roots", &matches!(self.roots, Roots::System))
            .field("client_certificate", &self.identity.is_some())
            .field("check_name", &self.check_name)
            .finish_non_exhaustive()
    }
}

fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_slice_iter(pem)
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| config_error(what, error))?;
    if found.is_empty() {
        return Err(Error::new(
            ErrorKind::Config,
            format!("{what}: no certificate is in the PEM text"),
        ));
    }
    Ok(found)
}

fn config_error(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Config, format!("{what}: {error}")).caused_by(error)
}

/// TLS over TCP.
pub(crate) struct TlsTransport {
    tcp: Tcp,
    connector: TlsConnector,
}

impl TlsTransport {
    fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            tcp: Tcp::new(),
            connector: TlsConnector::from(config),
        }
    }
}

impl Transport for TlsTransport {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>> {
        Box::pin(async move {
            let name = ServerName::try_from(address.host().to_owned())
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            let stream = self.tcp.open(address).await?;
            let stream = self
                .connector
                .connect(name, stream)
                .await
                .map_err(explain)?;
            Ok(Box::new(stream) as BoxStream)
        })
    }

    fn name(&self) -> &'static str {
        "TLS"
    }
}

/// Says what a failed handshake most likely means.
fn explain(error: io::Error) -> io::Error {
    let hint = match error
        .get_ref()
        .and_then(|e| e.downcast_ref::<RustlsError>())
    {
        Some(RustlsError::InvalidMessage(_)) => {
            "; the peer does not speak TLS: is it a plaintext listener?"
        }
        Some(RustlsError::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "; give the authority that signed the broker's certificate as a root"
        }
        Some(_) => "",
        // A plaintext listener takes a ClientHello for a frame far too long, and hangs up.
        None if error.kind() == io::ErrorKind::UnexpectedEof
            || error.kind() == io::ErrorKind::ConnectionReset =>
        {
            "; the peer hung up during the TLS handshake: is it a plaintext listener?"
        }
        None => "",
    };
    io::Error::new(error.kind(), format!("TLS: {error}{hint}"))
}

/// Checks the chain and the signatures, not the name.
#[derive(Debug)]
struct AnyName {
    roots: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
    signatures: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, RustlsError> {
        verify_server_cert_signed_by_trust_anchor(
            &ParsedCertificate::try_from(end_entity)?,
            &self.roots,
            intermediates,
            now,
            self.provider.signature_verification_algorithms.all,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, RustlsError> {
        self.signatures.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, RustlsError> {
        self.signatures.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signatures.supported_verify_schemes()
    }
}
