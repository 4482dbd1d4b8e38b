//! Which names topics may have.

/// The longest name: a directory's name has it, and a number.
const MAX_NAME: usize = 249;

/// Is this a name that Kafka would take? If not, why?
pub(crate) fn check_topic_name(name: &str) -> Result<(), String> {
    let reason = match name {
        "" => "a topic's name cannot be empty".to_owned(),
        "." | ".." => format!("a topic's name cannot be {name:?}"),
        _ if name.len() > MAX_NAME => format!(
            "a topic's name has at most {MAX_NAME} characters, this one {}",
            name.chars().count()
        ),
        _ => {
            let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            match name.chars().find(|&c| !legal(c)) {
                None => return Ok(()),
                Some(c) => format!(
                    "the name {name:?} has {c:?} in it; a topic's name has ASCII letters, digits, \
                     dots, underscores and hyphens only"
                ),
            }
        }
    };
    Err(reason)
}

/// Names that are equal to Kafka's metrics, where a dot is an underscore.
pub(super) fn collide(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'.' { b'_' } else { byte };
    one.len() == other.len() && one.bytes().map(plain).eq(other.bytes().map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kafkas_rules() {
        for good in ["a", "A.b_c-9", "...", &"x".repeat(249)] {
            assert_eq!(check_topic_name(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "a b",
            "ä",
            "a/b",
            "a\0",
            "a:b",
            &"x".repeat(250),
        ] {
            check_topic_name(bad).expect_err(bad);
        }
        assert!(collide("a.b_c", "a_b.c"));
        assert!(!collide("a.b", "a-b"));
        assert!(!collide("a.b", "a.bc"));
    }
}
