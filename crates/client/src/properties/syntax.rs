//! The text of a properties file, as `java.util.Properties` reads it. librdkafka's `key=value` lines are a part
//! of that.

/// Reads pairs in the order in which they stand, each with the line that it begins in, from 1. Complaints are
/// collected.
pub(super) fn parse(text: &str, violations: &mut Vec<String>) -> Vec<(usize, String, String)> {
    let mut pairs = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let mut logical = line.trim_start().to_owned();
        if logical.is_empty() || logical.starts_with(['#', '!']) {
            continue;
        }
        // A backslash at the end that is not itself escaped: the next line goes on.
        while logical.bytes().rev().take_while(|&b| b == b'\\').count() % 2 == 1 {
            logical.pop();
            match lines.next() {
                Some((_, next)) => logical.push_str(next.trim_start()),
                None => break,
            }
        }
        let (key, value) = split(&logical);
        let mut unescaped = |text: &str| {
            unescape(text).unwrap_or_else(|| {
                violations.push(format!(
                    "line {}: \\u is followed by four hexadecimal digits",
                    number + 1
                ));
                String::new()
            })
        };
        let (key, value) = (unescaped(key), unescaped(value));
        pairs.push((number + 1, key, value));
    }
    pairs
}

/// The key ends at the first `=`, `:` or white space that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line
        .char_indices()
        .find(|&(_, c)| {
            if escaped {
                escaped = false;
                return false;
            }
            escaped = c == '\\';
            matches!(c, '=' | ':') || c.is_ascii_whitespace()
        })
        .map_or(line.len(), |(at, _)| at);
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (key, rest.trim_start())
}

/// `None` if there is a `\u` without its digits.
fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut units = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                None => break,
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    if digits.len() != 4 {
                        return None;
                    }
                    units.push(u16::from_str_radix(&digits, 16).ok()?);
                    continue;
                }
                Some(other) => other,
            },
            c => c,
        };
        flush(&mut units, &mut plain);
        plain.push(c);
    }
    flush(&mut units, &mut plain);
    Some(plain)
}

/// Java writes what is beyond 16 bits as two units.
fn flush(units: &mut Vec<u16>, plain: &mut String) {
    plain.push_str(&String::from_utf16_lossy(units));
    units.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(usize, String, String)> {
        let mut violations = Vec::new();
        let pairs = parse(text, &mut violations);
        assert!(violations.is_empty(), "{violations:?}");
        pairs
    }

    #[test]
    fn reads_as_java_does() {
        let text = "# comment\n! another\n\na=1\n  b : 2 \nc 3\nd\n\
                    e=x\\\n   y\\\\\nf\\=g=h\\u0041\\uD83D\\uDE00\\t=\n";
        let expected = [
            (4, "a", "1"),
            (5, "b", "2 "),
            (6, "c", "3"),
            (7, "d", ""),
            (8, "e", "xy\\"),
            (10, "f=g", "hA😀\t="),
        ];
        let pairs = pairs(text);
        let pairs: Vec<_> = pairs.iter().map(|(n, k, v)| (*n, &**k, &**v)).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn bad_escapes_are_violations() {
        for text in ["a=\\u12", "a=\\uxyzw"] {
            let mut violations = Vec::new();
            parse(text, &mut violations);
            assert_eq!(violations.len(), 1, "{text}");
            assert!(violations[0].starts_with("line 1: "), "{violations:?}");
        }
    }
}
