//! Arguments of commands that talk to a schema registry.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use copart::Properties;
use copart_audit::Error;
use copart_serializers::registry::{Registry, RegistryBuilder};

/// Where the registry is, and how to get in.
#[derive(clap::Args)]
pub(crate) struct RegistryArgs {
    /// Schema registry: its address, or several with commas between [default: schema.registry.url
    /// of the properties file]
    #[arg(long, value_name = "URL,…", help_heading = "Registry")]
    registry: Option<String>,

    /// Properties file with the keys of Confluent's serializers: schema.registry.url,
    /// basic.auth.user.info (user:password), bearer.auth.token, ssl.ca.location,
    /// ssl.certificate.location and ssl.key.location (PEM); schema.registry. may stand in front of each
    #[arg(long, value_name = "FILE", help_heading = "Registry")]
    registry_properties: Option<PathBuf>,

    /// How long each request to the registry may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Registry")]
    registry_timeout: u32,
}

impl RegistryArgs {
    /// Whether a registry is named at all.
    pub(crate) fn is_given(&self) -> bool {
        self.registry.is_some() || self.registry_properties.is_some()
    }

    /// The registry. Nothing is connected yet.
    pub(crate) fn registry(&self) -> Result<Registry, Error> {
        let settings = match &self.registry_properties {
            Some(path) => Settings::read(path)?,
            None => Settings::default(),
        };
        let url = self.registry.as_ref().or(settings.url.as_ref());
        let url = url.ok_or_else(|| {
            Error::usage(
                "where is the schema registry? --registry http://HOST:8081, or schema.registry.url in --registry-properties FILE",
            )
        })?;
        let builder = settings.configure(Registry::builder(url))?;
        let builder = builder.timeout(Duration::from_secs(self.registry_timeout.into()));
        // Nothing was asked of it: what is wrong is in the settings.
        builder
            .build()
            .map_err(|error| Error::usage(error.to_string()))
    }

    /// Runs `work` on a runtime.
    pub(crate) fn run<T, F>(&self, work: impl FnOnce(Registry) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let registry = self.registry()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(work(registry))
    }
}

/// What a properties file says.
#[derive(Default)]
struct Settings {
    url: Option<String>,
    user_info: Option<String>,
    token: Option<String>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

const KEYS: &str = "schema.registry.url, basic.auth.credentials.source, basic.auth.user.info, bearer.auth.credentials.source, bearer.auth.token, ssl.ca.location, ssl.certificate.location, ssl.key.location";

impl Settings {
    fn read(path: &Path) -> Result<Self, Error> {
        let said = |what: String| Error::usage(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
        let pairs = Properties::pairs(&text).map_err(|error| said(error.reason().to_owned()))?;
        Self::new(pairs).map_err(said)
    }

    fn new(pairs: Vec<(String, String)>) -> Result<Self, String> {
        let mut settings = Self::default();
        for (name, value) in pairs {
            let key = name.strip_prefix("schema.registry.").unwrap_or(&name);
            match key {
                "url" => settings.url = Some(value),
                "basic.auth.user.info" => settings.user_info = Some(value),
                "bearer.auth.token" => settings.token = Some(value),
                "ssl.ca.location" => settings.ca = Some(value.into()),
                "ssl.certificate.location" => settings.certificate = Some(value.into()),
                "ssl.key.location" => settings.key = Some(value.into()),
                "basic.auth.credentials.source" if value == "USER_INFO" => {}
                "bearer.auth.credentials.source" if value == "STATIC_TOKEN" => {}
                "basic.auth.credentials.source" => {
                    return Err(format!(
                        "{name}: only USER_INFO is known, with basic.auth.user.info"
                    ));
                }
                "bearer.auth.credentials.source" => {
                    return Err(format!(
                        "{name}: only STATIC_TOKEN is known, with bearer.auth.token"
                    ));
                }
                _ => {
                    return Err(format!(
                        "{name}: there is no such key for a registry; there are {KEYS}"
                    ));
                }
            }
        }
        Ok(settings)
    }

    fn configure(&self, mut builder: RegistryBuilder) -> Result<RegistryBuilder, Error> {
        let file = |path: &Path| {
            std::fs::read(path)
                .map_err(|error| Error::usage(format!("{}: {error}", path.display())))
        };
        match (&self.user_info, &self.token) {
            (Some(_), Some(_)) => {
                return Err(Error::usage(
                    "basic.auth.user.info and bearer.auth.token are both there: which one counts?",
                ));
            }
            (Some(info), None) => {
                let (user, password) = info.split_once(':').ok_or_else(|| {
                    Error::usage("basic.auth.user.info has no colon: it is user:password")
                })?;
                builder = builder.basic_auth(user, password);
            }
            (None, Some(token)) => builder = builder.bearer(token),
            (None, None) => {}
        }
        if let Some(path) = &self.ca {
            builder = builder.root_certificates(file(path)?);
        }
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                builder = builder.client_certificate(file(certificate)?, file(key)?);
            }
            (None, None) => {}
            _ => {
                return Err(Error::usage(
                    "ssl.certificate.location and ssl.key.location belong together",
                ));
            }
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<Settings, String> {
        Settings::new(Properties::pairs(text).map_err(|error| error.to_string())?)
    }

    #[test]
    fn keys_with_their_prefix_and_without() {
        let read = settings(
            "schema.registry.url=http://a:8081\nschema.registry.basic.auth.user.info=ann:s:3\n\
             basic.auth.credentials.source=USER_INFO\n",
        );
        let read = read.unwrap();
        assert_eq!(read.url.as_deref(), Some("http://a:8081"));
        assert_eq!(read.user_info.as_deref(), Some("ann:s:3"));
        for (text, hint) in [
            ("basic.auth.credentials.source=URL", "only USER_INFO"),
            (
                "bearer.auth.credentials.source=OAUTHBEARER",
                "only STATIC_TOKEN",
            ),
            ("bootstrap.servers=a:9092", "there is no such key"),
            ("url=a\nurl=b", "second time"),
        ] {
            let error = settings(text).map(|_| ()).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn credentials_that_do_not_fit_are_refused_without_being_shown() {
        for (text, hint) in [
            ("basic.auth.user.info=s3cret", "no colon"),
            (
                "basic.auth.user.info=a:s3cret\nbearer.auth.token=s3cret",
                "both there",
            ),
            ("ssl.key.location=s3cret", "belong together"),
        ] {
            let builder = Registry::builder("http://a");
            let error = settings(text).unwrap().configure(builder).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(hint) && !error.contains("s3cret"), "{error}");
        }
    }
}
