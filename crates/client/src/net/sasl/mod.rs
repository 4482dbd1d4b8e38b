//! SASL: proving to a broker who we are.
//!
//! A mechanism is a plain state machine ([`Exchange`]): what the broker said goes in, what to send comes
//! out. [`handshake`](super::handshake) carries the messages, on new connections and again when a session's
//! lifetime ends (KIP-368).

mod oauthbearer;
mod plain;
mod scram;

use std::fmt;
use std::sync::Arc;

pub use oauthbearer::{Token, TokenProvider};

use crate::{Error, ErrorKind, Result};

/// How to authenticate. Secrets are not printed.
#[derive(Clone)]
pub struct Sasl(Mechanism);

#[derive(Clone)]
enum Mechanism {
    Plain {
        user: String,
        password: String,
    },
    Scram {
        hash: scram::Hash,
        user: String,
        password: String,
    },
    OAuthBearer(Arc<dyn TokenProvider>),
}

impl Sasl {
    /// PLAIN: the password goes over the connection as it is, so use it with TLS only.
    pub fn plain(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self(Mechanism::Plain {
            user: user.into(),
            password: password.into(),
        })
    }

    /// SCRAM-SHA-256.
    pub fn scram_sha256(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::scram(scram::Hash::Sha256, user.into(), password.into())
    }

    /// SCRAM-SHA-512.
    pub fn scram_sha512(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::scram(scram::Hash::Sha512, user.into(), password.into())
    }

    fn scram(hash: scram::Hash, user: String, password: String) -> Self {
        Self(Mechanism::Scram {
            hash,
            user,
            password,
        })
    }

    /// OAUTHBEARER (KIP-255) with tokens from `provider`, which is asked for each connection and whenever a
    /// session is about to end.
    pub fn oauthbearer(provider: impl TokenProvider) -> Self {
        Self(Mechanism::OAuthBearer(Arc::new(provider)))
    }

    /// The name that brokers know the mechanism by.
    pub fn mechanism(&self) -> &'static str {
        match &self.0 {
            Mechanism::Plain { .. } => "PLAIN",
            Mechanism::Scram { hash, .. } => hash.mechanism(),
            Mechanism::OAuthBearer(_) => "OAUTHBEARER",
        }
    }

    /// Starts an exchange, with a new token if the mechanism has tokens.
    pub(crate) async fn start(&self) -> Result<Box<dyn Exchange>> {
        Ok(match &self.0 {
            Mechanism::Plain { user, password } => Box::new(plain::Plain::new(user, password)),
            Mechanism::Scram {
                hash,
                user,
                password,
            } => Box::new(scram::Scram::new(*hash, user, password)?),
            Mechanism::OAuthBearer(provider) => {
                let token = provider.token().await.map_err(|error| {
                    Error::new(
                        ErrorKind::Authentication,
                        format!("the token provider failed: {error}"),
                    )
                })?;
                Box::new(oauthbearer::OAuthBearer::new(token)?)
            }
        })
    }

    pub(crate) fn check(&self, violations: &mut Vec<String>) {
        if let Mechanism::Plain { user, password } | Mechanism::Scram { user, password, .. } =
            &self.0
        {
            if user.is_empty() || password.is_empty() {
                violations.push(format!(
                    "sasl: {} needs a user and a password",
                    self.mechanism()
                ));
            }
            if user.contains('\0') || password.contains('\0') {
                violations.push("sasl: user and password must not contain a NUL".into());
            }
        }
    }
}

impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Sasl");
        debug.field("mechanism", &self.mechanism());
        if let Mechanism::Plain { user, .. } | Mechanism::Scram { user, .. } = &self.0 {
            debug.field("user", user);
        }
        debug.finish_non_exhaustive()
    }
}

/// One side of an exchange.
pub(crate) trait Exchange: Send {
    /// What the client says first.
    fn first(&mut self) -> Result<Vec<u8>>;

    /// What it says to the broker's answer; `None` when there is no more to say, and the broker has proved
    /// whatever the mechanism makes it prove.
    fn next(&mut self, answer: &[u8]) -> Result<Option<Vec<u8>>>;
}

fn refused(mechanism: &str, reason: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Authentication, format!("{mechanism}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        for sasl in [
            Sasl::plain("ann", "s3cret"),
            Sasl::scram_sha512("ann", "s3cret"),
        ] {
            let text = format!("{sasl:?}");
            assert!(text.contains("ann") && !text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn empty_credentials_are_violations() {
        let mut violations = Vec::new();
        Sasl::plain("", "x").check(&mut violations);
        Sasl::plain("a\0b", "x").check(&mut violations);
        assert_eq!(violations.len(), 2);
    }
}
