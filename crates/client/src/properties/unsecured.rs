//! Tokens without a signature, as Java's `OAuthBearerLoginModule` and librdkafka make them for development.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;

use crate::net::BoxFuture;
use crate::net::sasl::{Token, TokenProvider};

/// Makes such tokens (RFC 7515, appendix A.5).
#[derive(Default)]
pub(super) struct Unsecured {
    /// Names with values that are JSON already.
    pub(super) claims: Vec<(String, String)>,
    pub(super) extensions: Vec<(String, String)>,
    pub(super) lifetime: Duration,
}

impl Unsecured {
    fn at(&self, now: Duration) -> Token {
        let mut claims = String::from("{");
        for (name, value) in &self.claims {
            let _ = write!(claims, "{}:{value},", json(name));
        }
        let until = (now + self.lifetime).as_secs();
        let _ = write!(claims, "\"iat\":{},\"exp\":{until}}}", now.as_secs());
        let head = BASE64URL_NOPAD.encode(br#"{"alg":"none"}"#);
        let claims = BASE64URL_NOPAD.encode(claims.as_bytes());
        let token = Token::new(format!("{head}.{claims}."));
        self.extensions.iter().fold(token, |token, (name, value)| {
            token.extension(name.as_str(), value.as_str())
        })
    }
}

impl TokenProvider for Unsecured {
    fn token(&self) -> BoxFuture<'_, Result<Token, Box<dyn std::error::Error + Send + Sync>>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let token = self.at(now.unwrap_or_default());
        Box::pin(async { Ok(token) })
    }
}

/// A string in JSON.
pub(super) fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_times_are_json_in_base64() {
        let made = Unsecured {
            claims: vec![
                ("sub".into(), json("a\"b\u{1}")),
                ("n".into(), "1.5".into()),
            ],
            extensions: Vec::new(),
            lifetime: Duration::from_secs(60),
        };
        let token = made.at(Duration::from_millis(1_000_999));
        let parts: Vec<&str> = token.value().split('.').collect();
        let plain = |part: &str| {
            let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).expect("base64");
            String::from_utf8(bytes).expect("text")
        };
        assert_eq!(plain(parts[0]), r#"{"alg":"none"}"#);
        assert_eq!(
            plain(parts[1]),
            r#"{"sub":"a\"b\u0001","n":1.5,"iat":1000,"exp":1060}"#
        );
        assert_eq!(parts[2], "");
    }
}
