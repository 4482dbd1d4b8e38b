//! TLS from properties. Files are read at once, so that what is wrong with them is told with all the rest.

use super::values::Values;

/// What is needed of files and values, as PEM.
#[derive(Clone, Default)]
pub(super) struct TlsSettings {
    /// `None`: those of the system.
    pub(super) roots: Option<Vec<u8>>,
    /// Certificates and key.
    pub(super) identity: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) any_host_name: bool,
}

const TRUST_TYPE: &str = "ssl.truststore.type";
const TRUST_FILE: &str = "ssl.truststore.location";
const TRUST_PEM: &str = "ssl.truststore.certificates";
const KEY_TYPE: &str = "ssl.keystore.type";
const KEY_FILE: &str = "ssl.keystore.location";
const KEY_CHAIN: &str = "ssl.keystore.certificate.chain";
const KEY_KEY: &str = "ssl.keystore.key";
const HOST_NAME: &str = "ssl.endpoint.identification.algorithm";

/// Reads files only if TLS is `needed`.
pub(super) fn read(values: &mut Values<'_>, needed: bool) -> TlsSettings {
    let roots = roots(values, needed);
    let identity = identity(values, needed);
    let any_host_name = match values.text(&[HOST_NAME]) {
        None => false,
        Some((_, value)) if value.trim().eq_ignore_ascii_case("https") => false,
        Some((_, value))
            if value.trim().is_empty() || value.trim().eq_ignore_ascii_case("none") =>
        {
            true
        }
        Some((name, value)) => {
            values.refuse(name, format_args!("is https, empty or none, not {value:?}"));
            false
        }
    };
    if values.flag(&["enable.ssl.certificate.verification"]) == Some(false) {
        values.refuse(
            "enable.ssl.certificate.verification",
            "false would accept anybody as a broker: give the authority that signed the broker's \
             certificate in ssl.ca.location",
        );
    }
    if let Some((name, value)) = values.filled(&["ssl.enabled.protocols"])
        && !value
            .split(',')
            .any(|protocol| matches!(protocol.trim(), "TLSv1.3" | "TLSv1.2"))
    {
        values.refuse(
            name,
            format_args!("has to have TLSv1.3 or TLSv1.2 in it; {value:?} is not safe any more"),
        );
    }
    TlsSettings {
        roots,
        identity,
        any_host_name,
    }
}

fn roots(values: &mut Values<'_>, needed: bool) -> Option<Vec<u8>> {
    let pem_store = store_type(values, TRUST_TYPE);
    let mut ways = Vec::new();
    if let Some((name, path)) = values.filled(&[TRUST_FILE]) {
        check_store(values, name, pem_store, TRUST_TYPE);
        ways.push((name, file(values, name, path, needed)));
    }
    if let Some((name, pem)) = values.filled(&[TRUST_PEM]) {
        check_store(values, name, pem_store, TRUST_TYPE);
        ways.push((name, Some(pem.as_bytes().to_vec())));
    }
    if let Some((name, path)) = values.filled(&["ssl.ca.location"]) {
        // What librdkafka calls the system's own.
        let pem = match path {
            "probe" => None,
            path => file(values, name, path, needed),
        };
        ways.push((name, pem));
    }
    if let Some((name, pem)) = values.filled(&["ssl.ca.pem"]) {
        ways.push((name, Some(pem.as_bytes().to_vec())));
    }
    one_way(values, ways)
}

fn identity(values: &mut Values<'_>, needed: bool) -> Option<(Vec<u8>, Vec<u8>)> {
    let pem_store = store_type(values, KEY_TYPE);
    let mut chains = Vec::new();
    let mut keys = Vec::new();
    if let Some((name, path)) = values.filled(&[KEY_FILE]) {
        check_store(values, name, pem_store, KEY_TYPE);
        // One file has both.
        let pem = file(values, name, path, needed);
        chains.push((name, pem.clone()));
        keys.push((name, pem));
    }
    for (names, from_file, is_key) in [
        ([KEY_CHAIN], false, false),
        (["ssl.certificate.location"], true, false),
        (["ssl.certificate.pem"], false, false),
        ([KEY_KEY], false, true),
        (["ssl.key.location"], true, true),
        (["ssl.key.pem"], false, true),
    ] {
        let Some((name, value)) = values.filled(&names) else {
            continue;
        };
        if [KEY_CHAIN, KEY_KEY].contains(&name) {
            check_store(values, name, pem_store, KEY_TYPE);
        }
        let pem = match from_file {
            true => file(values, name, value, needed),
            false => Some(value.as_bytes().to_vec()),
        };
        let into = if is_key { &mut keys } else { &mut chains };
        into.push((name, pem));
    }
    match (chains.first().map(|c| c.0), keys.first().map(|k| k.0)) {
        (Some(name), None) => values.refuse(name, "the key is missing: ssl.key.location has it"),
        (None, Some(name)) => {
            values.refuse(
                name,
                "the certificates are missing: ssl.certificate.location has them",
            );
        }
        _ => {}
    }
    let key = one_way(values, keys);
    if key.as_deref().is_some_and(is_encrypted) {
        values.refuse(
            "ssl.key.password",
            "keys are read without a password: `openssl pkcs8 -in KEY -out PLAIN` takes it off",
        );
        return None;
    }
    Some((one_way(values, chains)?, key?))
}

fn is_encrypted(pem: &[u8]) -> bool {
    [
        &b"BEGIN ENCRYPTED PRIVATE KEY"[..],
        b"Proc-Type: 4,ENCRYPTED",
    ]
    .iter()
    .any(|mark| pem.windows(mark.len()).any(|window| window == *mark))
}

/// Whether a store is PEM. `None` if nothing is said.
fn store_type(values: &mut Values<'_>, name: &'static str) -> Option<bool> {
    let (_, value) = values.filled(&[name])?;
    let pem = value.trim().eq_ignore_ascii_case("PEM");
    if !pem {
        let kind = if name == KEY_TYPE {
            "client's key"
        } else {
            "authorities"
        };
        values.refuse(
            name,
            format_args!(
                "{value} is not read: export the {kind} as PEM (`keytool -importkeystore -deststoretype \
                 PKCS12`, then `openssl pkcs12 -nodes`), and set {name}=PEM"
            ),
        );
    }
    Some(pem)
}

/// Java takes a store for JKS unless it is told otherwise; librdkafka takes its own for PKCS12.
fn check_store(values: &mut Values<'_>, name: &str, pem_store: Option<bool>, type_key: &str) {
    if pem_store.is_none() {
        values.refuse(
            name,
            format_args!(
                "only PEM is read, and a store is JKS (Java) or PKCS12 (librdkafka) unless {type_key}=PEM says \
                 otherwise"
            ),
        );
    }
}

fn file(values: &mut Values<'_>, name: &str, path: &str, needed: bool) -> Option<Vec<u8>> {
    if !needed {
        return None;
    }
    match std::fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            values.refuse(name, format_args!("{path}: {error}"));
            None
        }
    }
}

fn one_way(values: &mut Values<'_>, ways: Vec<(&'static str, Option<Vec<u8>>)>) -> Option<Vec<u8>> {
    let mut ways = ways.into_iter();
    let (first, pem) = ways.next()?;
    for (other, _) in ways {
        values.refuse(
            other,
            format_args!("{first} gives the same thing; keep one"),
        );
    }
    pem
}
