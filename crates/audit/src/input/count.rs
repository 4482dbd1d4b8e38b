//! The number of records that a key stands for, where the input is an aggregate.

use super::json::{Found, Pointer};

/// The largest such number: a trillion records. It keeps sums within 64 bits.
const MAX: u64 = 1_000_000_000_000;

/// Reads a column of CSV or TSV.
pub(super) fn parse(text: &[u8]) -> Result<u64, String> {
    let number = str::from_utf8(text)
        .ok()
        .and_then(|text| text.trim_ascii().parse().ok())
        .filter(|&number: &u64| number <= MAX);
    number.ok_or_else(|| {
        let shown = crate::text::key(Some(text), 40);
        format!("the count is {shown}; it must be a whole number from 0 to {MAX}")
    })
}

/// Finds it in a JSON line.
pub(super) fn of_json(pointer: &Pointer, line: &[u8], text: &mut String) -> Result<u64, String> {
    match pointer.find(line, text)? {
        Found::Text(text) => parse(text.as_bytes()),
        Found::Null | Found::Missing => Err(format!("there is no count at {pointer}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers_within_bounds() {
        for (text, number) in [
            ("0", Some(0)),
            (" 42 ", Some(42)),
            ("1000000000000", Some(MAX)),
            ("1000000000001", None),
            ("99999999999999999999999", None),
            ("-1", None),
            ("1.5", None),
            ("", None),
            ("1e3", None),
        ] {
            assert_eq!(parse(text.as_bytes()).ok(), number, "{text}");
        }
        let error = parse(b"a\nb").unwrap_err();
        assert!(error.contains("the count is a\\nb;"), "{error}");
    }
}
