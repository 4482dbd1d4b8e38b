//! SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677, KIP-84).
//!
//! On RustCrypto's HMAC and PBKDF2. The crates that have whole SCRAM clients either prepare passwords with
//! SASLprep, which Kafka's broker does not, or let the server choose any number of iterations.

use std::fmt;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};

use super::{Exchange, refused};
use crate::Result;

#[derive(Clone, Copy)]
pub(super) enum Hash {
    Sha256,
    Sha512,
}

/// What RFC 7677 demands at least; Kafka has the same bound. Fewer would help whoever listens.
const MIN_ITERATIONS: u32 = 4096;
/// More than Kafka lets an administrator set (16384), and a fraction of a second of work.
const MAX_ITERATIONS: u32 = 100_000;

impl Hash {
    pub(super) fn mechanism(self) -> &'static str {
        match self {
            Self::Sha256 => "SCRAM-SHA-256",
            Self::Sha512 => "SCRAM-SHA-512",
        }
    }

    fn hmac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => keyed::<Hmac<Sha256>>(key, message)
                .finalize()
                .into_bytes()
                .to_vec(),
            Self::Sha512 => keyed::<Hmac<Sha512>>(key, message)
                .finalize()
                .into_bytes()
                .to_vec(),
        }
    }

    /// Compares in constant time.
    fn verify(self, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Sha256 => keyed::<Hmac<Sha256>>(key, message)
                .verify_slice(signature)
                .is_ok(),
            Self::Sha512 => keyed::<Hmac<Sha512>>(key, message)
                .verify_slice(signature)
                .is_ok(),
        }
    }

    fn digest(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(message).to_vec(),
            Self::Sha512 => Sha512::digest(message).to_vec(),
        }
    }

    fn salted(self, password: &[u8], salt: &[u8], iterations: u32) -> Vec<u8> {
        match self {
            Self::Sha256 => {
                let mut out = vec![0; 32];
                pbkdf2::pbkdf2_hmac::<Sha256>(password, salt, iterations, &mut out);
                out
            }
            Self::Sha512 => {
                let mut out = vec![0; 64];
                pbkdf2::pbkdf2_hmac::<Sha512>(password, salt, iterations, &mut out);
                out
            }
        }
    }
}

fn keyed<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> M {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac
}

/// States, in their order: `Start`, `Challenged` after the first message, `Proved` after the proof.
enum State {
    Start,
    /// The first message went out.
    Challenged,
    /// The proof went out; the broker's must be a signature of `auth_message` under `server_key`.
    Proved {
        server_key: Vec<u8>,
        auth_message: Vec<u8>,
    },
    Done,
}

pub(super) struct Scram {
    hash: Hash,
    password: String,
    nonce: String,
    first_bare: String,
    state: State,
}

impl Scram {
    pub(super) fn new(hash: Hash, user: &str, password: &str) -> Result<Self> {
        let mut random = [0; 24];
        getrandom::fill(&mut random)
            .map_err(|error| refused(hash.mechanism(), format!("no random nonce: {error}")))?;
        // Base64 has no comma, which a nonce must not have.
        Ok(Self::with_nonce(
            hash,
            user,
            password,
            BASE64.encode(&random),
        ))
    }

    fn with_nonce(hash: Hash, user: &str, password: &str, nonce: String) -> Self {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        Self {
            hash,
            password: password.to_owned(),
            first_bare: format!("n={user},r={nonce}"),
            nonce,
            state: State::Start,
        }
    }

    fn refused(&self, reason: impl fmt::Display) -> crate::Error {
        refused(self.hash.mechanism(), reason)
    }

    fn prove(&mut self, server_first: &str) -> Result<Vec<u8>> {
        let field = |name: &str| {
            server_first
                .split(',')
                .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
                .ok_or_else(|| self.refused(format!("the broker's message has no {name}=")))
        };
        let nonce = field("r")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(self.refused("the broker's nonce does not continue ours"));
        }
        let salt = BASE64
            .decode(field("s")?.as_bytes())
            .map_err(|error| self.refused(format!("the salt is not base64: {error}")))?;
        let iterations = field("i")?.parse().unwrap_or(0);
        if !(MIN_ITERATIONS..=MAX_ITERATIONS).contains(&iterations) {
            return Err(self.refused(format!(
                "the broker asks for {} iterations, outside of {MIN_ITERATIONS} to {MAX_ITERATIONS}",
                field("i")?
            )));
        }
        let hash = self.hash;
        let salted = hash.salted(self.password.as_bytes(), &salt, iterations);
        let client_key = hash.hmac(&salted, b"Client Key");
        let stored_key = hash.digest(&client_key);
        // "biws" is the base64 of "n,,": no channel binding.
        let final_bare = format!("c=biws,r={nonce}");
        let auth_message = format!("{},{server_first},{final_bare}", self.first_bare).into_bytes();
        let signature = hash.hmac(&stored_key, &auth_message);
        let proof: Vec<u8> = client_key
            .iter()
            .zip(&signature)
            .map(|(k, s)| k ^ s)
            .collect();
        self.state = State::Proved {
            server_key: hash.hmac(&salted, b"Server Key"),
            auth_message,
        };
        Ok(format!("{final_bare},p={}", BASE64.encode(&proof)).into_bytes())
    }
}

impl Exchange for Scram {
    fn first(&mut self) -> Result<Vec<u8>> {
        self.state = State::Challenged;
        Ok(format!("n,,{}", self.first_bare).into_bytes())
    }

    fn next(&mut self, answer: &[u8]) -> Result<Option<Vec<u8>>> {
        let text = std::str::from_utf8(answer)
            .map_err(|_| self.refused("the broker's message is not UTF-8"))?;
        if let Some(reason) = text.strip_prefix("e=") {
            return Err(self.refused(format!("the broker says {reason:?}")));
        }
        match std::mem::replace(&mut self.state, State::Done) {
            State::Challenged => self.prove(text).map(Some),
            State::Proved {
                server_key,
                auth_message,
            } => {
                let signature = text
                    .split(',')
                    .find_map(|part| part.strip_prefix("v="))
                    .and_then(|value| BASE64.decode(value.as_bytes()).ok())
                    .ok_or_else(|| self.refused("the broker's last message has no signature"))?;
                if !self.hash.verify(&server_key, &auth_message, &signature) {
                    return Err(self.refused(
                        "the broker's signature is wrong: it does not know the password either",
                    ));
                }
                Ok(None)
            }
            State::Start | State::Done => Err(self.refused("a message out of turn")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of RFC 7677, section 3.
    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                                s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                                p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn exchange() -> Scram {
        let mut scram = Scram::with_nonce(Hash::Sha256, "user", "pencil", NONCE.to_owned());
        assert_eq!(
            scram.first().expect("a message"),
            b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
        );
        scram
    }

    #[test]
    fn the_example_of_the_rfc() {
        let mut scram = exchange();
        let proof = scram.next(SERVER_FIRST.as_bytes()).expect("a proof");
        assert_eq!(proof.as_deref(), Some(CLIENT_FINAL.as_bytes()));
        assert_eq!(scram.next(SERVER_FINAL).expect("proved"), None);
        assert!(scram.next(SERVER_FINAL).is_err(), "only once");
    }

    #[test]
    fn a_broker_that_does_not_know_the_password_is_refused() {
        let mut scram = exchange();
        scram.next(SERVER_FIRST.as_bytes()).expect("a proof");
        let forged = b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
        let error = scram.next(forged).expect_err("forged").to_string();
        assert!(error.contains("signature is wrong"), "{error}");
    }

    #[test]
    fn what_the_broker_says_is_bounded_and_checked() {
        for (message, hint) in [
            ("r=other,s=AAAA,i=4096", "does not continue ours"),
            (
                "r=rOprNGfwEbeRWgbNEkqO,s=AAAA,i=4096",
                "does not continue ours",
            ),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4095", "4095 iterations"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4294967295", "iterations"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=AAAA", "no i="),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=?,i=4096", "not base64"),
            ("e=unknown-user", "unknown-user"),
        ] {
            let error = exchange().next(message.as_bytes()).expect_err(message);
            assert!(error.to_string().contains(hint), "{error}");
        }
        assert!(exchange().next(&[0xff]).is_err());
    }

    #[test]
    fn names_are_escaped() {
        let mut scram = Scram::with_nonce(Hash::Sha512, "a=b,c", "x", "n".to_owned());
        assert_eq!(scram.first().expect("a message"), b"n,,n=a=3Db=2Cc,r=n");
    }
}
