//! Where a broker listens.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind, Result};

/// A host and a port. Printed and read as `host:port`, with brackets around an IPv6 address.
///
/// ```
/// use copart::Address;
/// let address: Address = "[::1]:9092".parse()?;
/// assert_eq!((address.host(), address.port()), ("::1", 9092));
/// assert_eq!(address.to_string(), "[::1]:9092");
/// # Ok::<(), copart::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// The address of `host`, a name or an IP address without brackets.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// The name or the IP address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What a broker says of itself or another one; its port is a signed number of 32 bits.
    pub(crate) fn advertised(host: &str, port: i32) -> Option<Self> {
        let port = u16::try_from(port).ok().filter(|&port| port != 0)?;
        (!host.is_empty()).then(|| Self::new(host, port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = |reason: &str| {
            Error::new(
                ErrorKind::Config,
                format!("{text:?} is not host:port: {reason}"),
            )
        };
        // A listener's name or a protocol in front is a common slip: "PLAINTEXT://b1:9092".
        if text.contains("://") {
            return Err(refused("leave out what is before and with ://"));
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => rest
                .split_once("]:")
                .ok_or_else(|| refused("a ] and a port must follow the address"))?,
            None => match text.rsplit_once(':') {
                Some((host, _)) if host.contains(':') => {
                    return Err(refused(
                        "write an IPv6 address in brackets, as in [::1]:9092",
                    ));
                }
                Some(parts) => parts,
                None => return Err(refused("the port is missing")),
            },
        };
        if host.is_empty() {
            return Err(refused("the host is missing"));
        }
        match port.parse() {
            Ok(0) | Err(_) => Err(refused("a port is a number from 1 to 65535")),
            Ok(port) => Ok(Self::new(host, port)),
        }
    }
}

/// Reads a list of addresses with commas between them, as `bootstrap.servers` has it. Errors are collected.
pub(crate) fn parse_list(text: &str, violations: &mut Vec<String>) -> Vec<Address> {
    let mut addresses = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        match part.parse::<Address>() {
            Ok(address) if addresses.contains(&address) => {}
            Ok(address) => addresses.push(address),
            Err(error) => violations.push(error.reason().to_owned()),
        }
    }
    if addresses.is_empty() && violations.is_empty() {
        violations.push("no bootstrap address: give host:port, several with commas between".into());
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_both_kinds_of_ip() {
        for (text, host, port) in [
            ("b1:9092", "b1", 9092),
            ("127.0.0.1:1", "127.0.0.1", 1),
            ("[2001:db8::1]:65535", "2001:db8::1", 65535),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!((address.host(), address.port()), (host, port));
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, hint) in [
            ("b1", "port is missing"),
            (":9092", "host is missing"),
            ("b1:0", "1 to 65535"),
            ("b1:kafka", "1 to 65535"),
            ("::1:9092", "brackets"),
            ("[::1]", "must follow"),
            ("SSL://b1:9092", "://"),
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains(hint) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn lists_report_every_bad_part() {
        let mut violations = Vec::new();
        let addresses = parse_list(" a:1, a:1,b, :2 ,c:3,", &mut violations);
        assert_eq!(addresses, [Address::new("a", 1), Address::new("c", 3)]);
        assert_eq!(violations.len(), 2);
        violations.clear();
        assert!(parse_list(" , ", &mut violations).is_empty());
        assert_eq!(violations.len(), 1);
    }
}
