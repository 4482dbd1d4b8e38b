//! How deep a file is nested, before anything recurses into it.

/// The deepest nesting that is looked at. Compilers of Protobuf stop at 32 messages within each other.
const MAX_DEPTH: usize = 100;

/// Is the text nested as people nest it?
///
/// # Errors
/// It is deeper, and whoever parses it by recursion would run out of stack.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' | b'(' | b'<' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
                }
            }
            b'}' | b']' | b')' | b'>' => depth = depth.saturating_sub(1),
            quote @ (b'"' | b'\'') => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => drop(bytes.next()),
                        // A string ends with its line at the latest.
                        b'\n' => break,
                        byte if byte == quote => break,
                        _ => {}
                    }
                }
            }
            b'/' if bytes.peek() == Some(&b'/') => {
                bytes.by_ref().find(|byte| *byte == b'\n');
            }
            b'/' if bytes.peek() == Some(&b'*') => {
                bytes.next();
                while let Some(byte) = bytes.next() {
                    if byte == b'*' && bytes.peek() == Some(&b'/') {
                        bytes.next();
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nesting_counts() {
        let deep = "{".repeat(MAX_DEPTH + 1);
        check(&deep).expect_err("too deep");
        for fine in [
            format!("// {deep}\nmessage A {{}}"),
            format!("/* {deep} */"),
            format!("option a = \"\\\"{deep}\";"),
            "{}".repeat(1000),
        ] {
            check(&fine).expect("not nested");
        }
        check(&format!("\"open\n{deep}")).expect_err("the string has ended");
    }
}
