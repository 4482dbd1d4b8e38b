//! How a registry is reached.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use hyper::header::HeaderValue;
use hyper::http::uri::{Scheme, Uri};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::{Error, ErrorKind, Result};

use super::Registry;
use super::http::{Base, Http};

/// Settings of a [`Registry`]. Printed without secrets.
pub struct RegistryBuilder {
    urls: String,
    authorization: Option<String>,
    roots: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    timeout: Duration,
    retries: u32,
}

impl RegistryBuilder {
    pub(super) fn new(urls: &str) -> Self {
        Self {
            urls: urls.to_owned(),
            authorization: None,
            roots: None,
            identity: None,
            timeout: Duration::from_secs(10),
            retries: 3,
        }
    }

    /// Signs in with a name and a password; with Confluent Cloud, the registry's
    /// API key and secret.
    #[must_use]
    pub fn basic_auth(mut self, user: &str, password: &str) -> Self {
        let pair = format!("{user}:{password}");
        self.authorization = Some(format!("Basic {}", BASE64.encode(pair.as_bytes())));
        self
    }

    /// Signs in with a token that does not change.
    #[must_use]
    pub fn bearer(mut self, token: &str) -> Self {
        self.authorization = Some(format!("Bearer {token}"));
        self
    }

    /// Trusts these certificates (PEM) in the place of the system's.
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// Shows this certificate, with its chain, and proves it with this key
    /// (both PEM): mTLS.
    #[must_use]
    pub fn client_certificate(
        mut self,
        certificates: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.identity = Some((certificates.into(), key.into()));
        self
    }

    /// How long one request may take; 10 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often a request is tried again when the registry can't be reached,
    /// is overloaded or fails; 3 times by default, after 0.1 seconds, then twice
    /// as long each time, with some chance in it. With several addresses, each
    /// try goes to the next one.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Ready for use. Nothing is connected yet.
    ///
    /// # Errors
    /// [`Settings`](ErrorKind::Settings) if an address, a certificate or a key
    /// can't be used.
    pub fn build(self) -> Result<Registry> {
        let bases: Vec<Base> = self
            .urls
            .split(',')
            .map(|url| base(url.trim()))
            .collect::<Result<_>>()?;
        let authorization = match self.authorization {
            None => None,
            Some(text) => {
                let mut value = HeaderValue::try_from(text).map_err(|_| {
                    settings("the password or token has characters that HTTP does not take")
                })?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let tls = if bases.iter().any(|base| base.tls) {
            Some(Arc::new(tls(self.roots, self.identity)?))
        } else {
            None
        };
        Ok(Registry::new(Http::new(
            bases,
            authorization,
            tls,
            self.timeout,
            self.retries,
        )))
    }
}

#[cold]
fn settings(reason: impl Into<String>) -> Error {
    Error::of_schema(
        ErrorKind::Settings,
        format!("schema registry: {}", reason.into()),
    )
}

fn base(url: &str) -> Result<Base> {
    let wrong = |what: &str| {
        settings(format!(
            "{what}, in the form http://host:8081 or https://host"
        ))
    };
    let uri: Uri = url
        .parse()
        .map_err(|_| wrong("an address that is no URL"))?;
    let tls = match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS => true,
        Some(scheme) if *scheme == Scheme::HTTP => false,
        _ => return Err(wrong("an address without http or https")),
    };
    let authority = uri
        .authority()
        .ok_or_else(|| wrong("an address without a host"))?;
    if authority.as_str().contains('@') {
        return Err(settings(
            "a name and a password within an address; give them to basic_auth",
        ));
    }
    if uri.query().is_some() {
        return Err(wrong("an address with a query"));
    }
    let host = authority.host();
    Ok(Base {
        tls,
        // An IPv6 address without its brackets.
        host: host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
            .to_owned(),
        port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        authority: authority.to_string(),
        path: uri.path().trim_end_matches('/').to_owned(),
    })
}

fn tls(roots: Option<Vec<u8>>, identity: Option<(Vec<u8>, Vec<u8>)>) -> Result<ClientConfig> {
    let certificates = |pem: &[u8], what: &str| {
        let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        match found {
            Ok(found) if !found.is_empty() => Ok(found),
            Ok(_) => Err(settings(format!("the {what} have no PEM certificate"))),
            Err(error) => Err(settings(format!("the {what} can't be read")).caused_by(error)),
        }
    };
    let mut store = RootCertStore::empty();
    match roots {
        Some(pem) => {
            for certificate in certificates(&pem, "root certificates")? {
                store.add(certificate).map_err(|error| {
                    settings("a root certificate can't be used").caused_by(error)
                })?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| settings("TLS can't be set up").caused_by(error))?
        .with_root_certificates(store);
    match identity {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => {
            let chain = certificates(&chain, "client's certificates")?;
            let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| {
                settings("the client's key can't be read as PEM").caused_by(error)
            })?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| settings("the client's key can't be used").caused_by(error))
        }
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let found = base("https://registry.example/prefix/").expect("an address");
        assert!(found.tls);
        assert_eq!((found.host.as_str(), found.port), ("registry.example", 443));
        assert_eq!(found.path, "/prefix");
        let found = base("http://[::1]:8081").expect("an address");
        assert_eq!((found.host.as_str(), found.port), ("::1", 8081));
        assert_eq!(found.authority, "[::1]:8081");
        for wrong in [
            "",
            "registry:8081",
            "ftp://host",
            "http://u:secret@host",
            "http://host/?a=b",
        ] {
            let error = base(wrong).expect_err("no address");
            assert_eq!(error.kind(), ErrorKind::Settings);
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let builder = Registry::builder("http://host").basic_auth("user", "secret");
        assert!(!format!("{builder:?}").contains("secret"));
        let registry = builder.build().expect("builds");
        let shown = format!("{registry:?}");
        assert!(shown.contains("host") && !shown.contains("c2VjcmV0") && !shown.contains("user"));
    }

    #[test]
    fn certificates_that_are_none() {
        let error = Registry::builder("https://host")
            .root_certificates("not PEM")
            .build()
            .expect_err("no certificates");
        assert!(error.to_string().contains("root certificates"), "{error}");
    }
}
