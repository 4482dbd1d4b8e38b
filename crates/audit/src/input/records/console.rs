//! What Kafka's `kafka-console-consumer` prints, with `print.partition=true print.key=true` and
//! whatever else: timestamp, partition, offset, delivery count, epoch, headers, key and value, in
//! that order (KIP-431), each marked or in its place.

/// The fields of one line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line<'l> {
    pub(super) partition: Option<i64>,
    pub(super) offset: Option<i64>,
    pub(super) timestamp: Option<i64>,
    pub(super) headers: Option<&'l [u8]>,
    /// What was printed as the key; `None` when the line ends before it.
    pub(super) key: Option<&'l [u8]>,
}

/// Reads a line. `None`: it does not begin as a record does, so it is the rest of a value that
/// holds line ends.
pub(super) fn line<'l>(
    text: &'l [u8],
    separator: &[u8],
    with_headers: bool,
) -> Result<Option<Line<'l>>, String> {
    let mut line = Line::default();
    let mut rest = Some(text);
    let mut marked = false;
    while let Some(left) = rest {
        let (field, after) = split(left, separator);
        let Some((mark, value)) = mark(field) else {
            break;
        };
        let number = || {
            str::from_utf8(value)
                .ok()
                .and_then(|value| value.parse::<i64>().ok())
        };
        match mark {
            // The key may look like a mark too; each mark comes once.
            Mark::Partition if line.partition.is_none() => {
                let number = number()
                    .ok_or_else(|| format!("`{}` is no partition", field.escape_ascii()))?;
                line.partition = Some(number);
            }
            Mark::Offset if line.offset.is_none() => line.offset = number(),
            Mark::Timestamp if line.timestamp.is_none() && line.partition.is_none() => {
                line.timestamp = number();
            }
            Mark::NoTimestamp | Mark::Other if line.key.is_none() => {}
            _ => break,
        }
        marked = true;
        rest = after;
    }
    if !marked {
        return Ok(None);
    }
    if with_headers && let Some(left) = rest {
        let (headers, after) = split(left, separator);
        line.headers = Some(headers);
        rest = after;
    }
    line.key = rest.map(|left| split(left, separator).0);
    Ok(Some(line))
}

#[derive(Clone, Copy)]
enum Mark {
    Timestamp,
    NoTimestamp,
    Partition,
    Offset,
    /// `Delivery:` of share groups and `Epoch:`.
    Other,
}

fn mark(field: &[u8]) -> Option<(Mark, &[u8])> {
    if field == b"NO_TIMESTAMP" {
        return Some((Mark::NoTimestamp, b""));
    }
    [
        (&b"CreateTime:"[..], Mark::Timestamp),
        (b"LogAppendTime:", Mark::Timestamp),
        (b"Partition:", Mark::Partition),
        (b"Offset:", Mark::Offset),
        (b"Delivery:", Mark::Other),
        (b"Epoch:", Mark::Other),
    ]
    .iter()
    .find_map(|(prefix, mark)| Some((*mark, field.strip_prefix(*prefix)?)))
}

/// A field and what follows its separator.
fn split<'l>(text: &'l [u8], separator: &[u8]) -> (&'l [u8], Option<&'l [u8]>) {
    match memchr::memmem::find(text, separator) {
        Some(at) => (&text[..at], Some(&text[at + separator.len()..])),
        None => (text, None),
    }
}

/// The console consumer's headers: `name:value,name:value`, or `NO_HEADERS`.
pub(super) fn headers(text: &[u8], out: &mut Vec<(Vec<u8>, Vec<u8>)>) {
    if text == b"NO_HEADERS" {
        return;
    }
    for header in text.split(|&b| b == b',') {
        let at = memchr::memchr(b':', header).unwrap_or(header.len());
        let value = header.get(at + 1..).unwrap_or_default();
        out.push((header[..at].to_vec(), value.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_fields_then_headers_key_and_value() {
        let text =
            b"CreateTime:1700000000000\tPartition:2\tOffset:14\tapp:a,v:1\tuser\tvalue\tmore";
        let found = line(text, b"\t", true).unwrap().unwrap();
        assert_eq!(
            found,
            Line {
                partition: Some(2),
                offset: Some(14),
                timestamp: Some(1_700_000_000_000),
                headers: Some(b"app:a,v:1"),
                key: Some(b"user"),
            }
        );
        let found = line(b"NO_TIMESTAMP|Partition:0|k", b"|", false)
            .unwrap()
            .unwrap();
        assert_eq!((found.partition, found.key), (Some(0), Some(&b"k"[..])));
        let found = line(
            b"Partition:0\tOffset:1\tDelivery:NOT_PRESENT\tEpoch:3\tk",
            b"\t",
            false,
        );
        assert_eq!(found.unwrap().unwrap().key, Some(&b"k"[..]));
    }

    #[test]
    fn a_key_that_looks_like_a_mark_is_a_key() {
        let found = line(b"Partition:0\tPartition:7\tv", b"\t", false)
            .unwrap()
            .unwrap();
        assert_eq!(
            (found.partition, found.key),
            (Some(0), Some(&b"Partition:7"[..]))
        );
    }

    #[test]
    fn other_lines_belong_to_a_value() {
        assert_eq!(line(b"the rest of it", b"\t", false).unwrap(), None);
        assert!(
            line(b"Partition:x\tk", b"\t", false)
                .unwrap_err()
                .contains("no partition")
        );
        let without_key = line(b"Partition:1", b"\t", false).unwrap().unwrap();
        assert_eq!(without_key.key, None);
    }
}
