//! OAUTHBEARER (RFC 7628, KIP-255).

use std::fmt;

use super::{Exchange, refused};
use crate::Result;
use crate::net::BoxFuture;

/// A token, and the extensions that go with it (KIP-342).
#[derive(Clone)]
pub struct Token {
    value: String,
    extensions: Vec<(String, String)>,
}

impl Token {
    /// A token without extensions.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            extensions: Vec::new(),
        }
    }

    /// Adds an extension, such as `logicalCluster`.
    #[must_use]
    pub fn extension(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extensions.push((name.into(), value.into()));
        self
    }

    #[cfg(test)]
    pub(crate) fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("extensions", &self.extensions.len())
            .finish_non_exhaustive()
    }
}

/// Gives out tokens. Closures that return a boxed future are providers too.
pub trait TokenProvider: Send + Sync + 'static {
    /// A token that is valid now.
    ///
    /// Cancel-safe: the client drops the future when the time to connect is over.
    fn token(&self) -> BoxFuture<'_, Result<Token, Box<dyn std::error::Error + Send + Sync>>>;
}

impl<F> TokenProvider for F
where
    F: Fn() -> BoxFuture<'static, Result<Token, Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Sync
        + 'static,
{
    fn token(&self) -> BoxFuture<'_, Result<Token, Box<dyn std::error::Error + Send + Sync>>> {
        self()
    }
}

const MECHANISM: &str = "OAUTHBEARER";

pub(super) struct OAuthBearer {
    message: Vec<u8>,
    refusal: Option<String>,
}

impl OAuthBearer {
    pub(super) fn new(token: Token) -> Result<Self> {
        // A separator in a value would let it pass for another field.
        let clean = |text: &str| !text.bytes().any(|byte| byte == 1);
        let fits = !token.value.is_empty()
            && clean(&token.value)
            && token.extensions.iter().all(|(name, value)| {
                name != "auth"
                    && !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && clean(value)
            });
        if !fits {
            return Err(refused(
                MECHANISM,
                "the token is empty, or it or an extension has characters that cannot be sent",
            ));
        }
        let mut message = format!("n,,\u{1}auth=Bearer {}", token.value);
        for (name, value) in &token.extensions {
            message.push_str(&format!("\u{1}{name}={value}"));
        }
        message.push_str("\u{1}\u{1}");
        Ok(Self {
            message: message.into_bytes(),
            refusal: None,
        })
    }
}

impl Exchange for OAuthBearer {
    fn first(&mut self) -> Result<Vec<u8>> {
        Ok(std::mem::take(&mut self.message))
    }

    fn next(&mut self, answer: &[u8]) -> Result<Option<Vec<u8>>> {
        if let Some(refusal) = self.refusal.take() {
            return Err(refused(MECHANISM, refusal));
        }
        if answer.is_empty() {
            return Ok(None);
        }
        // An error in JSON. The broker wants this byte before it says that authentication failed.
        let text: String = String::from_utf8_lossy(answer).chars().take(500).collect();
        self.refusal = Some(format!("the broker does not take the token: {text}"));
        Ok(Some(vec![1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_token_and_extensions() {
        let token = Token::new("abc").extension("logicalCluster", "lkc-1");
        let mut exchange = OAuthBearer::new(token).expect("fits");
        assert_eq!(
            exchange.first().expect("a message"),
            b"n,,\x01auth=Bearer abc\x01logicalCluster=lkc-1\x01\x01"
        );
        assert_eq!(exchange.next(b"").expect("done"), None);
    }

    #[test]
    fn a_refusal_is_acknowledged_then_told() {
        let mut exchange = OAuthBearer::new(Token::new("abc")).expect("fits");
        exchange.first().expect("a message");
        let reply = exchange.next(b"{\"status\":\"invalid_token\"}");
        assert_eq!(reply.expect("goes on"), Some(vec![1]));
        let error = exchange.next(b"").expect_err("refused").to_string();
        assert!(error.contains("invalid_token"), "{error}");
    }

    #[test]
    fn separators_are_not_smuggled_in() {
        assert!(OAuthBearer::new(Token::new("a\u{1}b")).is_err());
        assert!(OAuthBearer::new(Token::new("")).is_err());
        assert!(OAuthBearer::new(Token::new("a").extension("auth", "b")).is_err());
        assert!(OAuthBearer::new(Token::new("a").extension("x", "b\u{1}")).is_err());
    }
}
