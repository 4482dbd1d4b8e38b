//! Walks YAML event by event. Nothing is kept but the path to where it is, aliases are refused
//! (no lock file has them, and they make small files large), and depth is bounded.

use saphyr_parser::{Event, Parser};

use super::Malformed;

/// Collections within collections; lock files have five.
const MAX_DEPTH: usize = 64;

/// A value, or the beginning of a mapping.
pub(super) struct Visit<'v> {
    /// The names above it and its own. Members of sequences have none.
    pub(super) path: &'v [String],
    /// `None` for a mapping.
    pub(super) value: Option<&'v str>,
    /// The line of its name.
    pub(super) line: u64,
}

enum Level {
    /// A mapping, and whether its next scalar is a name.
    Mapping {
        name_next: bool,
    },
    Sequence,
}

/// Calls `each` for everything that has a name.
pub(super) fn walk(text: &str, each: &mut dyn FnMut(Visit<'_>)) -> Result<(), Malformed> {
    let mut levels: Vec<Level> = Vec::new();
    // A name for each mapping that is at a value; and where names stand.
    let mut path: Vec<String> = Vec::new();
    let mut line = 1;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| {
            Malformed::new(e.marker().line() as u64, format!("no YAML: {}", e.info()))
        })?;
        let here = span.start.line() as u64;
        let ended = match event {
            Event::Scalar(value, ..) => {
                if let Some(Level::Mapping { name_next }) = levels.last_mut()
                    && *name_next
                {
                    *name_next = false;
                    path.push(value.into_owned());
                    line = here;
                    false
                } else {
                    if matches!(levels.last(), Some(Level::Mapping { .. })) {
                        each(Visit {
                            path: &path,
                            value: Some(&value),
                            line,
                        });
                    }
                    true
                }
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if levels.len() >= MAX_DEPTH {
                    return Err(Malformed::new(here, "collections are nested too deep"));
                }
                let is_mapping = matches!(event, Event::MappingStart(..));
                match levels.last() {
                    Some(Level::Mapping { name_next: true }) => {
                        return Err(Malformed::new(here, "a name is no text"));
                    }
                    Some(Level::Mapping { .. }) if is_mapping => each(Visit {
                        path: &path,
                        value: None,
                        line,
                    }),
                    _ => {}
                }
                levels.push(if is_mapping {
                    Level::Mapping { name_next: true }
                } else {
                    Level::Sequence
                });
                false
            }
            Event::MappingEnd | Event::SequenceEnd => {
                levels.pop();
                true
            }
            Event::Alias(_) => return Err(Malformed::new(here, "aliases are not read")),
            _ => false,
        };
        // A value ended: what follows in a mapping is a name.
        if ended && let Some(Level::Mapping { name_next }) = levels.last_mut() {
            *name_next = true;
            path.pop();
        }
    }
    Ok(())
}
