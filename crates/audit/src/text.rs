//! Keys and numbers as text for people.

use std::fmt::Write as _;

/// A key on one line and at most `width` characters: printable text as it is in quotes only where
/// it would mislead, anything else escaped.
pub(crate) fn key(key: Option<&[u8]>, width: usize) -> String {
    let Some(bytes) = key else {
        return "(null)".into();
    };
    if bytes.is_empty() {
        return "(empty)".into();
    }
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            // A space at an end would not be seen, and control characters would be too well.
            if c.is_control() || (c.is_whitespace() && c != ' ') {
                let _ = write!(shown, "{}", c.escape_default());
            } else {
                shown.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
        if shown.chars().count() > width {
            break;
        }
    }
    if shown.starts_with(' ') || shown.ends_with(' ') || shown.starts_with('(') {
        shown = format!("\"{shown}\"");
    }
    if shown.chars().count() > width {
        let kept: String = shown.chars().take(width.saturating_sub(1)).collect();
        shown = kept + "…";
    }
    shown
}

/// A number with its thousands set apart.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_without_misleading() {
        for (bytes, shown) in [
            (Some(&b"user-1"[..]), "user-1"),
            (Some("München".as_bytes()), "München"),
            (Some(b"a\nb\x00"), "a\\nb\\u{0}"),
            (Some(b"\xff\x01x"), "\\xff\\u{1}x"),
            (Some(b" x "), "\" x \""),
            (Some(b"(null)"), "\"(null)\""),
            (Some(b""), "(empty)"),
            (None, "(null)"),
            (Some(b"0123456789abcdef"), "0123456789a…"),
        ] {
            assert_eq!(key(bytes, 12), shown);
        }
    }

    #[test]
    fn thousands() {
        for (n, shown) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(number(n), shown);
        }
    }
}
