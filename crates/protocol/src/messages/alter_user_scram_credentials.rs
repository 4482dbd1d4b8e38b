//! AlterUserScramCredentials: sets and removes SCRAM credentials.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AlterUserScramCredentials (key 51).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterUserScramCredentialsRequest {
    pub deletions: Vec<ScramCredentialDeletion>,
    pub upsertions: Vec<ScramCredentialUpsertion>,
}

plain!(AlterUserScramCredentialsRequest, min 3, deletions, upsertions);

/// In [`AlterUserScramCredentialsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScramCredentialDeletion {
    pub name: String,
    pub mechanism: i8,
}

plain!(ScramCredentialDeletion, min 3, name, mechanism);

/// In [`AlterUserScramCredentialsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScramCredentialUpsertion {
    pub name: String,
    pub mechanism: i8,
    pub iterations: i32,
    pub salt: Bytes,
    pub salted_password: Bytes,
}

plain!(ScramCredentialUpsertion, min 9, name, mechanism, iterations, salt, salted_password);

/// Answers [`AlterUserScramCredentialsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterUserScramCredentialsResponse {
    pub throttle_time_ms: i32,
    pub results: Vec<AlterUserScramCredentialsResult>,
}

plain!(AlterUserScramCredentialsResponse, min 6, throttle_time_ms, results);

/// In [`AlterUserScramCredentialsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterUserScramCredentialsResult {
    pub user: String,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(AlterUserScramCredentialsResult, min 5, user, error_code, error_message);
