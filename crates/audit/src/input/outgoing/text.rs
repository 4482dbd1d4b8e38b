//! A record a line.

use super::{BadOutgoing, OutgoingRecord, Rules};

pub(super) fn read(
    line: u64,
    content: &[u8],
    rules: &Rules,
) -> Result<OutgoingRecord, BadOutgoing> {
    let bad = |what| BadOutgoing { line, what };
    let (key, value) = match &rules.delimiter {
        None => (None, content),
        Some(delimiter) => {
            let at = memchr::memmem::find(content, delimiter).ok_or_else(|| {
                let shown = String::from_utf8_lossy(delimiter);
                bad(format!("there is no `{shown}` between key and value"))
            })?;
            (Some(&content[..at]), &content[at + delimiter.len()..])
        }
    };
    let key = key.map(|key| rules.key(key)).transpose().map_err(bad)?;
    Ok(OutgoingRecord {
        line,
        key: key.flatten(),
        value: rules.value(value).map_err(bad)?,
        ..OutgoingRecord::default()
    })
}
