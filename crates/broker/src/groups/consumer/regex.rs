//! Subscriptions by regular expression. Kafka has RE2/J; the `regex` crate has the same kind: no back-references, and
//! no input that takes for ever.

use std::collections::BTreeSet;

use copart_protocol::ErrorCode;
use regex::{Regex, RegexBuilder};

use crate::groups::env::{Cluster, GroupError, GroupResult};

/// The most bytes that an expression may take when it is compiled. A stranger has sent it.
const SIZE_LIMIT: usize = 1 << 20;

/// An expression that matches whole names.
pub(super) fn compile(expression: &str) -> GroupResult<Regex> {
    // On its own first, so that it cannot end the group around it.
    let alone = RegexBuilder::new(expression).size_limit(SIZE_LIMIT).build();
    let whole = alone.and_then(|_| {
        let whole = format!("^(?:{expression})$");
        RegexBuilder::new(&whole)
            .size_limit(SIZE_LIMIT)
            .dfa_size_limit(SIZE_LIMIT)
            .build()
    });
    whole.map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().trim();
        GroupError::new(
            ErrorCode::INVALID_REGULAR_EXPRESSION,
            format!(
                "SubscribedTopicRegex `{expression}` is not a valid regular expression: {last}"
            ),
        )
    })
}

/// The topics that it matches.
pub(super) fn resolve(expression: &str, cluster: &dyn Cluster) -> BTreeSet<String> {
    let mut topics = BTreeSet::new();
    // It was checked when it came; one that another broker has stored may be none here.
    if let Ok(regex) = compile(expression) {
        cluster.each_topic(&mut |name| {
            if regex.is_match(name) {
                topics.insert(name.to_owned());
            }
        });
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_whole_names() {
        let regex = compile("page-.*|clicks").expect("valid");
        for (name, matches) in [
            ("page-views", true),
            ("clicks", true),
            ("clicks2", false),
            ("a-page-views", false),
        ] {
            assert_eq!(regex.is_match(name), matches, "{name}");
        }
    }

    #[test]
    fn what_is_no_expression_is_told() {
        for expression in ["(", "a)(b", "[", "(a)\\1", "(?:a{1000}){1000}{1000}"] {
            let error = compile(expression).expect_err(expression);
            assert_eq!(error.code, ErrorCode::INVALID_REGULAR_EXPRESSION);
            assert!(error.message.is_some_and(|it| it.contains(expression)));
        }
    }
}
