//! DescribeUserScramCredentials: which users have SCRAM credentials, without the secrets.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeUserScramCredentials (key 50).
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeUserScramCredentialsRequest {
    pub users: Option<Vec<UserName>>,
}

impl Default for DescribeUserScramCredentialsRequest {
    fn default() -> Self {
        Self {
            users: Some(Vec::new()),
        }
    }
}

plain!(DescribeUserScramCredentialsRequest, min 2, users);

/// In [`DescribeUserScramCredentialsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserName {
    pub name: String,
}

plain!(UserName, min 2, name);

/// Answers [`DescribeUserScramCredentialsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeUserScramCredentialsResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub results: Vec<DescribeUserScramCredentialsResult>,
}

plain!(DescribeUserScramCredentialsResponse, min 9, throttle_time_ms, error_code, error_message, results);

/// In [`DescribeUserScramCredentialsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeUserScramCredentialsResult {
    pub user: String,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub credential_infos: Vec<CredentialInfo>,
}

plain!(DescribeUserScramCredentialsResult, min 6, user, error_code, error_message, credential_infos);

/// In [`DescribeUserScramCredentialsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CredentialInfo {
    pub mechanism: i8,
    pub iterations: i32,
}

plain!(CredentialInfo, min 6, mechanism, iterations);
