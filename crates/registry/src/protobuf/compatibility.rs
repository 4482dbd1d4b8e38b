//! Can data of one file be read with another? The rules of Confluent's registry, which looks at what is on the wire:
//! fields are the same by their numbers, and their names do not matter.

use std::collections::{BTreeMap, HashSet};

use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor, Syntax};

use super::Protobuf;
use crate::incompatibility::Incompatibility;

/// How many reasons are given.
const MAX_REASONS: usize = 100;
/// How deep messages of other files are looked into.
const MAX_DEPTH: usize = 64;

/// What keeps data of `writer` from being read with `reader`: nothing, if it can be read.
pub(crate) fn incompatibilities(reader: &Protobuf, writer: &Protobuf) -> Vec<Incompatibility> {
    let mut comparison = Comparison {
        reasons: Vec::new(),
        seen: HashSet::new(),
        files: (reader.file.name().to_owned(), writer.file.name().to_owned()),
    };
    if reader.file.package_name() != writer.file.package_name() {
        comparison.add("PACKAGE_CHANGED", "/", writer.file.package_name());
    }
    comparison.messages(
        "",
        reader.file.messages().collect(),
        writer.file.messages().collect(),
        0,
    );
    comparison.reasons.truncate(MAX_REASONS);
    comparison.reasons
}

struct Comparison {
    reasons: Vec<Incompatibility>,
    /// Messages that are compared already.
    seen: HashSet<(String, String)>,
    /// The names of the two files.
    files: (String, String),
}

/// What is on the wire for a field's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Number,
    Signed,
    Fixed32,
    Fixed64,
    Float,
    Double,
    Bytes,
}

/// As Confluent's registry groups fields.
#[derive(Clone, Debug)]
enum Shape {
    Scalar(Wire),
    Message(MessageDescriptor),
    Map(FieldDescriptor, FieldDescriptor),
}

fn shape(field: &FieldDescriptor) -> Shape {
    let wire = match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            return Shape::Map(entry.map_entry_key_field(), entry.map_entry_value_field());
        }
        Kind::Message(message) => return Shape::Message(message),
        Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64 | Kind::Bool | Kind::Enum(_) => {
            Wire::Number
        }
        Kind::Sint32 | Kind::Sint64 => Wire::Signed,
        Kind::Fixed32 | Kind::Sfixed32 => Wire::Fixed32,
        Kind::Fixed64 | Kind::Sfixed64 => Wire::Fixed64,
        Kind::Float => Wire::Float,
        Kind::Double => Wire::Double,
        Kind::String | Kind::Bytes => Wire::Bytes,
    };
    Shape::Scalar(wire)
}

/// The label, where one is written.
fn label(field: &FieldDescriptor) -> Option<Cardinality> {
    let implicit = field.parent_file().syntax() == Syntax::Proto3
        && !field.field_descriptor_proto().proto3_optional();
    match field.cardinality() {
        Cardinality::Optional if implicit || oneof(field).is_some() => None,
        label => Some(label),
    }
}

fn oneof(field: &FieldDescriptor) -> Option<String> {
    let oneof = field.containing_oneof()?;
    (!oneof.is_synthetic()).then(|| oneof.name().to_owned())
}

impl Comparison {
    fn add(&mut self, error_type: &'static str, path: &str, message: &str) {
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(Incompatibility {
                error_type,
                path: path.to_owned(),
                message: message.to_owned(),
            });
        }
    }

    fn messages(
        &mut self,
        path: &str,
        reader: Vec<MessageDescriptor>,
        writer: Vec<MessageDescriptor>,
        depth: usize,
    ) {
        for old in writer.iter().filter(|message| !message.is_map_entry()) {
            let path = format!("{path}/{}", old.name());
            match reader.iter().find(|new| new.name() == old.name()) {
                None => self.add("MESSAGE_REMOVED", &path, old.full_name()),
                Some(new) => self.message(&path, new, old, depth),
            }
        }
    }

    fn message(
        &mut self,
        path: &str,
        reader: &MessageDescriptor,
        writer: &MessageDescriptor,
        depth: usize,
    ) {
        let pair = (reader.full_name().to_owned(), writer.full_name().to_owned());
        if depth > MAX_DEPTH || !self.seen.insert(pair) {
            return;
        }
        let by_number = |message: &MessageDescriptor| -> BTreeMap<u32, FieldDescriptor> {
            message
                .fields()
                .map(|field| (field.number(), field))
                .collect()
        };
        let (new, old) = (by_number(reader), by_number(writer));
        self.oneofs(path, reader, &old);
        let gone: HashSet<String> = writer
            .oneofs()
            .filter(|oneof| {
                !reader.oneofs().any(|new| new.name() == oneof.name())
                    && !oneof
                        .fields()
                        .any(|field| new.contains_key(&field.number()))
            })
            .map(|oneof| oneof.name().to_owned())
            .collect();
        for (number, field) in &old {
            let path = format!("{path}/{number}");
            match (new.get(number), oneof(field)) {
                (Some(now), _) => self.field(&path, now, field, depth),
                // All of a oneof may go at once.
                (None, Some(oneof)) if gone.contains(&oneof) => {}
                (None, Some(_)) => self.add("ONEOF_FIELD_REMOVED", &path, field.name()),
                (None, None) if field.is_required() => {
                    self.add("REQUIRED_FIELD_REMOVED", &path, field.name());
                }
                (None, None) => {}
            }
        }
        for (number, field) in &new {
            if !old.contains_key(number) && field.is_required() {
                self.add(
                    "REQUIRED_FIELD_ADDED",
                    &format!("{path}/{number}"),
                    field.name(),
                );
            }
        }
        self.messages(
            path,
            reader.child_messages().collect(),
            writer.child_messages().collect(),
            depth + 1,
        );
    }

    /// Fields that could be set together, and cannot now.
    fn oneofs(
        &mut self,
        path: &str,
        reader: &MessageDescriptor,
        old: &BTreeMap<u32, FieldDescriptor>,
    ) {
        for now in reader.oneofs().filter(|oneof| !oneof.is_synthetic()) {
            let (mut groups, mut moved) = (HashSet::new(), 0);
            for field in now.fields() {
                let Some(before) = old.get(&field.number()) else {
                    continue;
                };
                match oneof(before) {
                    Some(name) => groups.insert(Ok(name)),
                    None => {
                        moved += 1;
                        groups.insert(Err(field.number()))
                    }
                };
            }
            if groups.len() > 1 {
                let error_type = match moved {
                    0 | 1 => "FIELD_MOVED_TO_EXISTING_ONEOF",
                    _ => "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
                };
                self.add(error_type, &format!("{path}/{}", now.name()), now.name());
            }
        }
    }

    fn field(&mut self, path: &str, new: &FieldDescriptor, old: &FieldDescriptor, depth: usize) {
        match (shape(new), shape(old)) {
            (Shape::Scalar(one), Shape::Scalar(other)) if one != other => {
                self.add("FIELD_SCALAR_KIND_CHANGED", path, new.name());
            }
            (Shape::Scalar(wire), Shape::Scalar(_)) => {
                let labels = label(new).zip(label(old));
                if wire != Wire::Bytes && labels.is_some_and(|(one, other)| one != other) {
                    self.add("FIELD_NUMERIC_LABEL_CHANGED", path, new.name());
                }
            }
            (Shape::Map(key, value), Shape::Map(old_key, old_value)) => {
                self.field(path, &key, &old_key, depth);
                self.field(path, &value, &old_value, depth);
            }
            (Shape::Message(one), Shape::Message(other)) => {
                self.field_message(path, &one, &other, depth);
            }
            _ => self.add("FIELD_KIND_CHANGED", path, new.name()),
        }
    }

    fn field_message(
        &mut self,
        path: &str,
        new: &MessageDescriptor,
        old: &MessageDescriptor,
        depth: usize,
    ) {
        let local = |message: &MessageDescriptor| {
            let name = message.full_name();
            let package = message.package_name();
            let within = name
                .strip_prefix(package)
                .and_then(|name| name.strip_prefix('.'));
            within.unwrap_or(name).to_owned()
        };
        if local(new) != local(old) {
            return self.add("FIELD_NAMED_TYPE_CHANGED", path, new.full_name());
        }
        // Those of these two files are compared where they are.
        let own =
            new.parent_file().name() == self.files.0 && old.parent_file().name() == self.files.1;
        if !own {
            let before = self.reasons.len();
            self.message(path, new, old, depth + 1);
            if self.reasons.len() > before {
                self.add("FIELD_NAMED_TYPE_CHANGED", path, new.full_name());
            }
        }
    }
}
