//! Consumers that share topics as a group.

#[allow(dead_code, unused_imports, reason = "what drives it comes next")]
pub(crate) mod group;
