//! SASL from properties.

use std::collections::BTreeMap;
use std::time::Duration;

use super::jaas;
use super::unsecured::{Unsecured, json};
use super::values::Values;
use crate::Sasl;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    Plain,
    Scram256,
    Scram512,
    OAuthBearer,
    Gssapi,
    AwsMskIam,
}

impl Mechanism {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::Scram256 => "SCRAM-SHA-256",
            Self::Scram512 => "SCRAM-SHA-512",
            Self::OAuthBearer => "OAUTHBEARER",
            Self::Gssapi => "GSSAPI",
            Self::AwsMskIam => "AWS_MSK_IAM",
        }
    }

    fn credentials(self, user: &str, password: &str) -> Option<Sasl> {
        match self {
            Self::Plain => Some(Sasl::plain(user, password)),
            Self::Scram256 => Some(Sasl::scram_sha256(user, password)),
            Self::Scram512 => Some(Sasl::scram_sha512(user, password)),
            Self::OAuthBearer | Self::Gssapi | Self::AwsMskIam => None,
        }
    }
}

const MECHANISMS: [(&str, Mechanism); 6] = [
    ("PLAIN", Mechanism::Plain),
    ("SCRAM-SHA-256", Mechanism::Scram256),
    ("SCRAM-SHA-512", Mechanism::Scram512),
    ("OAUTHBEARER", Mechanism::OAuthBearer),
    ("GSSAPI", Mechanism::Gssapi),
    ("AWS_MSK_IAM", Mechanism::AwsMskIam),
];

const MECHANISM: [&str; 2] = ["sasl.mechanism", "sasl.mechanisms"];
const JAAS: &str = "sasl.jaas.config";
const OAUTH: &str = "sasl.oauthbearer.config";
const UNSECURE: &str = "enable.sasl.oauthbearer.unsecure.jwt";

/// What the file says, whether it is needed or not: `needed` is what `security.protocol` says.
pub(super) fn read(values: &mut Values<'_>, needed: bool) -> Option<Sasl> {
    let mechanism = values.choice(&MECHANISM, &MECHANISMS);
    let jaas = values.filled(&[JAAS]);
    let user = values.text(&["sasl.username"]);
    let password = values.text(&["sasl.password"]);
    let oauth = values.filled(&[OAUTH]);
    let unsecure = values.flag(&[UNSECURE]).unwrap_or(false);
    if let Some((name, method)) = values.filled(&["sasl.oauthbearer.method"])
        && !method.eq_ignore_ascii_case("default")
    {
        values.refuse(
            name,
            "only default is taken; fetch tokens in code and give them to Sasl::oauthbearer",
        );
    }
    let Some(mechanism) = mechanism else {
        if needed && values.text(&MECHANISM).is_none() {
            values.refuse(
                MECHANISM[0],
                "security.protocol asks for SASL; name PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or \
                 OAUTHBEARER (Java's default, GSSAPI, is not supported)",
            );
        }
        return None;
    };
    match mechanism {
        Mechanism::Gssapi => {
            values.refuse(
                MECHANISM[0],
                "GSSAPI (Kerberos) is not supported: use SCRAM-SHA-512 or OAUTHBEARER",
            );
            None
        }
        Mechanism::AwsMskIam => {
            values.refuse(
                MECHANISM[0],
                "AWS_MSK_IAM is not supported: use SCRAM-SHA-512, which MSK has too, or OAUTHBEARER with \
                 a token of MSK's signer, given to Sasl::oauthbearer in code",
            );
            None
        }
        _ if jaas.is_some() => {
            if user.is_some() || password.is_some() {
                values.refuse(
                    JAAS,
                    "sasl.username and sasl.password say the same thing; keep one of the two ways",
                );
            }
            from_jaas(values, mechanism, jaas?.1)
        }
        Mechanism::OAuthBearer => {
            if !unsecure {
                if needed {
                    values.refuse(
                        MECHANISM[0],
                        "tokens are fetched in code: give Sasl::oauthbearer a function that returns one; or \
                         for development, unsecured ones by enable.sasl.oauthbearer.unsecure.jwt=true",
                    );
                }
                return None;
            }
            Some(Sasl::oauthbearer(of_librdkafka(values, oauth?.1)?))
        }
        _ => {
            let (user, password) = (user.map_or("", |u| u.1), password.map_or("", |p| p.1));
            if needed && (user.is_empty() || password.is_empty()) {
                values.refuse(
                    "sasl.username, sasl.password",
                    format_args!("{} needs both, or {JAAS} with both", mechanism.name()),
                );
                return None;
            }
            mechanism.credentials(user, password)
        }
    }
}

fn from_jaas(values: &mut Values<'_>, mechanism: Mechanism, text: &str) -> Option<Sasl> {
    let login = match jaas::parse(text) {
        Ok(login) => login,
        Err(reason) => {
            values.refuse(JAAS, reason);
            return None;
        }
    };
    let module = login.module.rsplit('.').next().unwrap_or_default();
    match (module, mechanism) {
        ("PlainLoginModule", Mechanism::Plain)
        | ("ScramLoginModule", Mechanism::Scram256 | Mechanism::Scram512) => {
            match (login.options.get("username"), login.options.get("password")) {
                (Some(user), Some(password)) => mechanism.credentials(user, password),
                _ => {
                    values.refuse(JAAS, "it needs username=\"…\" and password=\"…\"");
                    None
                }
            }
        }
        ("OAuthBearerLoginModule", Mechanism::OAuthBearer) => of_java(values, &login.options),
        ("PlainLoginModule" | "ScramLoginModule" | "OAuthBearerLoginModule", _) => {
            values.refuse(
                JAAS,
                format_args!(
                    "{module} does not go with sasl.mechanism={}",
                    mechanism.name()
                ),
            );
            None
        }
        ("Krb5LoginModule", _) => {
            values.refuse(
                JAAS,
                "GSSAPI (Kerberos) is not supported: use SCRAM-SHA-512 or OAUTHBEARER",
            );
            None
        }
        ("IAMLoginModule", _) => {
            values.refuse(
                JAAS,
                "AWS_MSK_IAM is not supported: use SCRAM-SHA-512, which MSK has too, or OAUTHBEARER with a \
                 token of MSK's signer, given to Sasl::oauthbearer in code",
            );
            None
        }
        _ => {
            values.refuse(
                JAAS,
                format_args!(
                    "the login module {module:?} is not known: PlainLoginModule, ScramLoginModule and \
                     OAuthBearerLoginModule are"
                ),
            );
            None
        }
    }
}

/// The options of Java's module that make unsecured tokens.
fn of_java(values: &mut Values<'_>, options: &BTreeMap<String, String>) -> Option<Sasl> {
    let mut token = Unsecured {
        lifetime: Duration::from_secs(3600),
        ..Unsecured::default()
    };
    let complaints = values.violations.len();
    for (name, value) in options {
        if let Some(claim) = name.strip_prefix("unsecuredLoginStringClaim_") {
            token.claims.push((claim.to_owned(), json(value)));
        } else if let Some(claim) = name.strip_prefix("unsecuredLoginNumberClaim_") {
            match value.parse::<f64>() {
                Ok(number) if number.is_finite() => {
                    token.claims.push((claim.to_owned(), number.to_string()));
                }
                _ => values.refuse(JAAS, format_args!("{name} is a number")),
            }
        } else if let Some(extension) = name.strip_prefix("unsecuredLoginExtension_") {
            token.extensions.push((extension.to_owned(), value.clone()));
        } else if name == "unsecuredLoginLifetimeSeconds" {
            match value.parse() {
                Ok(seconds @ 1..=31_536_000) => token.lifetime = Duration::from_secs(seconds),
                _ => values.refuse(JAAS, format_args!("{name} is a number of seconds")),
            }
        } else {
            values.refuse(
                JAAS,
                format_args!(
                    "the option {name} of OAuthBearerLoginModule is not taken: fetch tokens in code and give \
                     them to Sasl::oauthbearer"
                ),
            );
        }
    }
    if !token.claims.iter().any(|(claim, _)| claim == "sub") {
        values.refuse(
            JAAS,
            "OAuthBearerLoginModule needs unsecuredLoginStringClaim_sub, for development; for all else \
             give Sasl::oauthbearer a function that returns a token, in code",
        );
    }
    (values.violations.len() == complaints).then(|| Sasl::oauthbearer(token))
}

/// librdkafka's way: `principalClaimName=… principal=… lifeSeconds=… extension_name=…`.
fn of_librdkafka(values: &mut Values<'_>, text: &str) -> Option<Unsecured> {
    let mut claim = "sub";
    let mut principal = None;
    let mut token = Unsecured {
        lifetime: Duration::from_secs(3600),
        ..Unsecured::default()
    };
    let complaints = values.violations.len();
    for part in text.split_whitespace() {
        match part.split_once('=') {
            Some(("principal", value)) => principal = Some(value),
            Some(("principalClaimName", value)) => claim = value,
            Some(("lifeSeconds", value)) => match value.parse() {
                Ok(seconds @ 1..=31_536_000) => token.lifetime = Duration::from_secs(seconds),
                _ => values.refuse(OAUTH, "lifeSeconds is a number of seconds"),
            },
            Some((name, value)) if name.starts_with("extension_") => {
                let name = &name["extension_".len()..];
                token.extensions.push((name.to_owned(), value.to_owned()));
            }
            _ => values.refuse(
                OAUTH,
                "it has principal=…, principalClaimName=…, lifeSeconds=… and extension_NAME=…, with spaces \
                 between",
            ),
        }
    }
    match principal {
        Some(principal) => token.claims.push((claim.to_owned(), json(principal))),
        None => values.refuse(OAUTH, "it needs principal=…"),
    }
    (values.violations.len() == complaints).then_some(token)
}
