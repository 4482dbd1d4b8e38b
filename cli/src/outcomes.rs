//! Commands about several items: each has its own outcome.

use std::fmt::Display;

use copart::protocol::ErrorCode;
use copart_audit::{Error, ErrorKind};

use crate::exit::Exit;
use crate::plain;

/// Says what failed, item by item, and ends with the gravest of the exit codes.
pub(crate) fn settle<K, T>(
    results: impl IntoIterator<Item = (K, copart::Result<T>)>,
    mut done: impl FnMut(&K, T) -> Result<(), Error>,
) -> Result<Exit, Error>
where
    K: Display,
{
    let mut exit = Exit::AGREE;
    for (key, outcome) in results {
        match outcome {
            Ok(value) => done(&key, value)?,
            Err(error) => exit = worse(exit, complain(error)),
        }
    }
    Ok(exit)
}

/// As [`settle`], of what was deleted. What was not there, as `missing` says, is no failure.
pub(crate) fn settle_deleted<K: Display>(
    results: impl IntoIterator<Item = (K, copart::Result<()>)>,
    missing: Option<ErrorCode>,
) -> Result<Exit, Error> {
    let results = results.into_iter().map(|(key, outcome)| match outcome {
        Err(error) if missing.is_some() && error.code() == missing => (key, Ok("does not exist")),
        outcome => (key, outcome.map(|()| "deleted")),
    });
    settle(results, |key, what| {
        plain::line(format_args!("{key}: {what}"))
    })
}

/// Says what failed.
pub(crate) fn complain(error: copart::Error) -> Exit {
    let error = Error::from(error);
    errorln!("copart: {error}");
    match error.kind() {
        ErrorKind::Cluster => Exit::CLUSTER,
        _ => Exit::USAGE,
    }
}

/// A cluster that is out of reach is graver than a name that is wrong.
pub(crate) fn worse(a: Exit, b: Exit) -> Exit {
    match (a, b) {
        (Exit::CLUSTER, _) | (_, Exit::AGREE) => a,
        (_, b) => b,
    }
}
