//! What a cluster says, in the terms of an audit.

use copart::ErrorKind;
use copart::protocol::ErrorCode;

use crate::Error;

/// No broker was reached.
pub(super) fn unreached(error: copart::Error) -> Error {
    match error.kind() {
        ErrorKind::Config => Error::usage(format!("--bootstrap: {error}")),
        _ => Error::cluster(format!("the cluster can't be read: {error}"), error),
    }
}

/// Something about a topic failed.
pub(super) fn in_topic(topic: &str, error: copart::Error) -> Error {
    match (error.kind(), error.code()) {
        (_, Some(code)) if is_answer(code) => refused(topic, code),
        (ErrorKind::UnknownTopic, _) => missing(topic),
        _ => Error::cluster(format!("topic {topic} can't be read: {error}"), error),
    }
}

/// A broker answered with an error that waiting does not mend.
pub(super) fn refused(topic: &str, code: ErrorCode) -> Error {
    let what = match code {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION | ErrorCode::UNKNOWN_TOPIC_ID => {
            return missing(topic);
        }
        ErrorCode::INVALID_TOPIC_EXCEPTION => {
            return Error::usage(format!("`{topic}` is no name that a topic can have"));
        }
        ErrorCode::TOPIC_AUTHORIZATION_FAILED => {
            "access is refused; it takes the permissions DESCRIBE and READ on the topic"
        }
        _ => "it can't be read",
    };
    Error::cluster(format!("topic {topic}: {what}: {code}"), code)
}

fn is_answer(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
            | ErrorCode::UNKNOWN_TOPIC_ID
            | ErrorCode::INVALID_TOPIC_EXCEPTION
            | ErrorCode::TOPIC_AUTHORIZATION_FAILED
    )
}

fn missing(topic: &str) -> Error {
    Error::usage(format!("the cluster has no topic {topic}"))
}

/// A partition can't be read on.
pub(super) fn in_partition(topic: &str, error: copart::Error) -> Error {
    match (error.kind(), error.code()) {
        (_, Some(code)) => refused(topic, code),
        // What the broker sent makes no sense, and it says where.
        (ErrorKind::Protocol, None) => Error::input(error.to_string()),
        _ => Error::cluster(format!("topic {topic} can't be read: {error}"), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_has_its_kind_and_says_what_to_do() {
        for (code, kind, hint) in [
            (
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                crate::ErrorKind::Usage,
                "has no topic t",
            ),
            (
                ErrorCode::INVALID_TOPIC_EXCEPTION,
                crate::ErrorKind::Usage,
                "no name",
            ),
            (
                ErrorCode::TOPIC_AUTHORIZATION_FAILED,
                crate::ErrorKind::Cluster,
                "DESCRIBE and READ",
            ),
            (
                ErrorCode::KAFKA_STORAGE_ERROR,
                crate::ErrorKind::Cluster,
                "KAFKA_STORAGE_ERROR",
            ),
        ] {
            let error = refused("t", code);
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(hint), "{error}");
        }
    }
}
