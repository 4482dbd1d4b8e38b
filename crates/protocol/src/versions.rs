//! Ranges of versions, and the agreement on one.

use std::collections::HashMap;
use std::fmt;

use crate::messages::api_versions::{ApiVersion, ApiVersionsResponse};
use crate::{ApiKey, Error, ErrorCode, ErrorKind, Result};

/// The versions from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VersionRange {
    /// The lowest.
    pub min: i16,
    /// The highest.
    pub max: i16,
}

impl VersionRange {
    /// From `min` to `max`.
    pub const fn new(min: i16, max: i16) -> Self {
        Self { min, max }
    }

    /// Whether `version` is in the range.
    pub const fn contains(&self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// The versions in both ranges, if there are any.
    pub fn intersect(&self, other: Self) -> Option<Self> {
        let both = Self::new(self.min.max(other.min), self.max.min(other.max));
        (both.min <= both.max).then_some(both)
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

/// What the broker at the other end of a connection said that it supports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrokerVersions {
    ranges: HashMap<i16, VersionRange>,
}

impl BrokerVersions {
    /// From an answer to ApiVersions. APIs that we do not know are kept, too.
    pub fn new(response: &ApiVersionsResponse) -> Self {
        Self {
            ranges: response
                .api_keys
                .iter()
                .map(|api| {
                    (
                        api.api_key,
                        VersionRange::new(api.min_version, api.max_version),
                    )
                })
                .collect(),
        }
    }

    /// The broker's range of an API, if it has it.
    pub fn range(&self, api: ApiKey) -> Option<VersionRange> {
        self.ranges.get(&(api as i16)).copied()
    }

    /// The highest version that both sides have.
    pub fn negotiate(&self, api: ApiKey) -> Result<i16> {
        self.negotiate_in(api, api.versions())
    }

    /// The highest version that both sides have and `wanted` allows.
    pub fn negotiate_in(&self, api: ApiKey, wanted: VersionRange) -> Result<i16> {
        let Some(theirs) = self.range(api) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("the broker does not have {api}, of which we would use versions {wanted}"),
            ));
        };
        let ours = api.versions().intersect(wanted);
        match ours.and_then(|ours| ours.intersect(theirs)) {
            Some(both) => Ok(both.max),
            None => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "no common version of {api}: we would use {wanted}, the broker has {theirs}"
                ),
            )),
        }
    }
}

/// The entry for `api` in a broker's list. Its range can begin below what the codec reads (see
/// [`ApiKey::listed`]).
pub fn listed(api: ApiKey) -> ApiVersion {
    let range = api.listed();
    ApiVersion {
        api_key: api as i16,
        min_version: range.min,
        max_version: range.max,
    }
}

/// The answer to an ApiVersions request whose version is above ours: it is not to be parsed, and this goes
/// out in version 0, the one layout that every client can read. It lists the range of ApiVersions, from which
/// the client picks the version of its next try.
pub fn unsupported_api_versions() -> ApiVersionsResponse {
    ApiVersionsResponse {
        error_code: ErrorCode::UNSUPPORTED_VERSION,
        api_keys: vec![listed(ApiKey::ApiVersions)],
        ..ApiVersionsResponse::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(ranges: &[(ApiKey, i16, i16)]) -> BrokerVersions {
        BrokerVersions::new(&ApiVersionsResponse {
            api_keys: ranges
                .iter()
                .map(|&(api, min_version, max_version)| ApiVersion {
                    api_key: api as i16,
                    min_version,
                    max_version,
                })
                .collect(),
            ..ApiVersionsResponse::default()
        })
    }

    #[test]
    fn takes_the_highest_common_version() {
        let broker = broker(&[(ApiKey::Fetch, 0, 11), (ApiKey::Metadata, 5, 99)]);
        assert_eq!(broker.negotiate(ApiKey::Fetch).expect("common"), 11);
        assert_eq!(broker.negotiate(ApiKey::Metadata).expect("common"), 13);
        let old = VersionRange::new(0, 6);
        assert_eq!(
            broker.negotiate_in(ApiKey::Metadata, old).expect("common"),
            6
        );
    }

    #[test]
    fn errors_name_both_ranges() {
        let broker = broker(&[(ApiKey::Fetch, 0, 3)]);
        let error = broker.negotiate(ApiKey::Fetch).expect_err("nothing common");
        assert_eq!(
            error.to_string(),
            "no common version of Fetch: we would use 4 to 18, the broker has 0 to 3 (unsupported)"
        );
        let error = broker.negotiate(ApiKey::EndTxn).expect_err("absent");
        assert!(
            error.to_string().contains("does not have EndTxn"),
            "{error}"
        );
    }

    #[test]
    fn lists_more_than_it_reads_where_old_clients_need_it() {
        assert_eq!(ApiKey::Produce.versions(), VersionRange::new(3, 13));
        assert_eq!(ApiKey::Produce.listed(), VersionRange::new(0, 13));
        assert_eq!(ApiKey::InitProducerId.versions(), VersionRange::new(0, 6));
        assert_eq!(ApiKey::InitProducerId.listed(), VersionRange::new(0, 5));
        assert_eq!(ApiKey::Fetch.listed(), ApiKey::Fetch.versions());
    }
}
