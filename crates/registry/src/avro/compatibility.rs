//! Can data of one schema be read with another? The rules of Avro for Java (`SchemaCompatibility`).

use std::collections::HashMap;

use super::schema::{Avro, Enum, Field, Id, Kind, Name, Primitive, Record};
use crate::incompatibility::Incompatibility;

/// How many pairs of types are compared at most. Schemas that are written by people have hundreds.
const MAX_PAIRS: usize = 200_000;
/// How deep types may be within types. Each level takes stack.
const MAX_DEPTH: usize = 200;
/// How many reasons are given.
const MAX_REASONS: usize = 100;

/// What keeps data of `writer` from being read with `reader`: nothing, if it can be read.
///
/// # Errors
/// If the schemas are too large to be compared.
pub(crate) fn incompatibilities(
    reader: &Avro,
    writer: &Avro,
) -> Result<Vec<Incompatibility>, String> {
    let mut comparison = Comparison {
        reader,
        writer,
        pairs: HashMap::new(),
        findings: Vec::new(),
        depth: 0,
    };
    let root = comparison.compare(reader.root, writer.root)?;
    let mut reasons = Vec::new();
    if !comparison.findings[root].compatible {
        let mut seen = vec![false; comparison.findings.len()];
        comparison.collect(root, ("/", 0), &mut seen, &mut reasons);
    }
    Ok(reasons)
}

struct Comparison<'s> {
    reader: &'s Avro,
    writer: &'s Avro,
    /// Every pair is compared once; within itself it counts as compatible.
    pairs: HashMap<(Id, Id), usize>,
    findings: Vec<Finding>,
    depth: usize,
}

/// What became of a pair.
#[derive(Default)]
struct Finding {
    compatible: bool,
    /// What is wrong with the two themselves, and where in them.
    own: Vec<Incompatibility>,
    /// Parts whose faults are faults of this one, and where they are.
    parts: Vec<(String, usize)>,
}

impl Finding {
    fn fault(&mut self, place: &str, error_type: &'static str, message: String) {
        self.compatible = false;
        self.own.push(Incompatibility {
            error_type,
            path: place.to_owned(),
            message,
        });
    }
}

impl<'s> Comparison<'s> {
    fn compare(&mut self, reader: Id, writer: Id) -> Result<usize, String> {
        let (reader, writer) = (self.reader.target(reader), self.writer.target(writer));
        if let Some(known) = self.pairs.get(&(reader, writer)) {
            return Ok(*known);
        }
        if self.pairs.len() >= MAX_PAIRS || self.depth >= MAX_DEPTH {
            return Err("the schemas are too large, or too deep, to be compared".to_owned());
        }
        let at = self.findings.len();
        self.findings.push(Finding {
            compatible: true,
            ..Finding::default()
        });
        self.pairs.insert((reader, writer), at);
        self.depth += 1;
        let finding = self.find(reader, writer)?;
        self.depth -= 1;
        self.findings[at] = finding;
        Ok(at)
    }

    fn is_compatible(&mut self, reader: Id, writer: Id) -> Result<bool, String> {
        let at = self.compare(reader, writer)?;
        Ok(self.findings[at].compatible)
    }

    /// The faults of a part are the faults of the whole.
    fn part(
        &mut self,
        finding: &mut Finding,
        place: String,
        reader: Id,
        writer: Id,
    ) -> Result<(), String> {
        let at = self.compare(reader, writer)?;
        if !self.findings[at].compatible {
            finding.compatible = false;
            finding.parts.push((place, at));
        }
        Ok(())
    }

    fn find(&mut self, reader: Id, writer: Id) -> Result<Finding, String> {
        use Primitive::{Bytes, Double, Float, Int, Long, String as Text};
        let mut finding = Finding {
            compatible: true,
            ..Finding::default()
        };
        let (schema, written): (&'s Avro, &'s Avro) = (self.reader, self.writer);
        let (of_reader, of_writer) = (&schema.parts[reader], &written.parts[writer]);
        match (&of_reader.kind, &of_writer.kind) {
            (Kind::Primitive(one), Kind::Primitive(other)) if one == other => {}
            (Kind::Primitive(Long), Kind::Primitive(Int))
            | (Kind::Primitive(Float), Kind::Primitive(Int | Long))
            | (Kind::Primitive(Double), Kind::Primitive(Int | Long | Float))
            | (Kind::Primitive(Bytes), Kind::Primitive(Text))
            | (Kind::Primitive(Text), Kind::Primitive(Bytes)) => {}
            (Kind::Array(one), Kind::Array(other)) => {
                self.part(&mut finding, "items".to_owned(), *one, *other)?;
            }
            (Kind::Map(one), Kind::Map(other)) => {
                self.part(&mut finding, "values".to_owned(), *one, *other)?;
            }
            (Kind::Fixed(one), Kind::Fixed(other)) => {
                names(&mut finding, (&one.name, &one.aliases), &other.name);
                if one.size != other.size {
                    let message = format!("expected: {}, found: {}", other.size, one.size);
                    finding.fault("size", "FIXED_SIZE_MISMATCH", message);
                }
            }
            (Kind::Enum(one), Kind::Enum(other)) => {
                names(&mut finding, (&one.name, &one.aliases), &other.name);
                symbols(&mut finding, one, other);
            }
            (Kind::Record(one), Kind::Record(other)) => {
                names(&mut finding, (&one.name, &one.aliases), &other.name);
                self.fields(&mut finding, (one, writer), other)?;
            }
            (Kind::Union(_), Kind::Union(branches)) => {
                for (index, branch) in branches.iter().enumerate() {
                    if !self.is_compatible(reader, *branch)? {
                        self.no_branch(&mut finding, &index.to_string(), *branch);
                    }
                }
            }
            (_, Kind::Union(branches)) => {
                for (index, branch) in branches.iter().enumerate() {
                    self.part(&mut finding, index.to_string(), reader, *branch)?;
                }
            }
            (Kind::Union(branches), _) => {
                for branch in branches {
                    if self.is_compatible(*branch, writer)? {
                        return Ok(finding);
                    }
                }
                self.no_branch(&mut finding, "", writer);
            }
            _ => {
                let (one, other) = (of_reader.type_name(), of_writer.type_name());
                let message = format!(
                    "reader type: {} not compatible with writer type: {}",
                    one.to_uppercase(),
                    other.to_uppercase()
                );
                finding.fault("", "TYPE_MISMATCH", message);
            }
        }
        Ok(finding)
    }

    fn no_branch(&self, finding: &mut Finding, place: &str, writer: Id) {
        let missing = self.writer.part(writer).type_name().to_uppercase();
        let message = format!("reader union lacking writer type: {missing}");
        finding.fault(place, "MISSING_UNION_BRANCH", message);
    }

    fn fields(
        &mut self,
        finding: &mut Finding,
        (reader, writer_id): (&Record, Id),
        writer: &Record,
    ) -> Result<(), String> {
        let by_name: HashMap<&str, &Field> = writer
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field))
            .collect();
        for (index, field) in reader.fields.iter().enumerate() {
            let names = std::iter::once(&field.name).chain(&field.aliases);
            let mut found = names.filter_map(|name| by_name.get(name.as_str()));
            let place = format!("fields/{index}");
            match (found.next(), found.next()) {
                (Some(one), Some(other)) if one.name != other.name => {
                    return Err(format!(
                        "field {:?} of record {:?} is, by its aliases, both {:?} and {:?}",
                        field.name,
                        reader.name.full(),
                        one.name,
                        other.name
                    ));
                }
                (Some(one), _) => {
                    self.part(finding, format!("{place}/type"), field.of, one.of)?;
                }
                (None, _) if field.default.is_some() => {}
                // Java compares an enum that has a default of its own with the whole record, which never fits.
                (None, _)
                    if matches!(
                        &self.reader.part(field.of).kind,
                        Kind::Enum(Enum {
                            default: Some(_),
                            ..
                        })
                    ) =>
                {
                    self.part(finding, format!("{place}/type"), field.of, writer_id)?;
                }
                (None, _) => {
                    let missing = field.name.clone();
                    finding.fault(&place, "READER_FIELD_MISSING_DEFAULT_VALUE", missing);
                }
            }
        }
        Ok(())
    }

    /// Each pair's faults once, where they were met first.
    fn collect(
        &self,
        at: usize,
        (place, depth): (&str, usize),
        seen: &mut [bool],
        reasons: &mut Vec<Incompatibility>,
    ) {
        if depth > MAX_DEPTH
            || reasons.len() >= MAX_REASONS
            || std::mem::replace(&mut seen[at], true)
        {
            return;
        }
        let below = |part: &str| match (place, part) {
            (place, "") => place.to_owned(),
            ("/", part) => format!("/{part}"),
            (place, part) => format!("{place}/{part}"),
        };
        let finding = &self.findings[at];
        for fault in &finding.own {
            reasons.push(Incompatibility {
                path: below(&fault.path),
                ..fault.clone()
            });
        }
        for (part, of) in &finding.parts {
            self.collect(*of, (&below(part), depth + 1), seen, reasons);
        }
        reasons.truncate(MAX_REASONS);
    }
}

/// Namespaces do not matter, as in Java; a reader's alias stands for the writer's full name, unless it is one without a
/// namespace of a reader that has one.
fn names(finding: &mut Finding, (reader, aliases): (&Name, &[Name]), writer: &Name) {
    let counts = writer.namespace.is_some() || reader.namespace.is_none();
    if reader.name != writer.name && !(counts && aliases.contains(writer)) {
        finding.fault(
            "name",
            "NAME_MISMATCH",
            format!("expected: {}", writer.full()),
        );
    }
}

fn symbols(finding: &mut Finding, reader: &Enum, writer: &Enum) {
    let known: std::collections::HashSet<&String> = reader.symbols.iter().collect();
    let mut missing: Vec<&str> = writer
        .symbols
        .iter()
        .filter(|symbol| !known.contains(symbol))
        .map(String::as_str)
        .collect();
    if missing.is_empty() || reader.default.is_some() {
        return;
    }
    missing.sort_unstable();
    let message = format!("[{}]", missing.join(", "));
    finding.fault("symbols", "MISSING_ENUM_SYMBOLS", message);
}
