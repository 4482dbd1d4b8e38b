//! Fields that were renamed.
//!
//! apache-avro looks for a reader's field in the writer's record by its name,
//! not by its aliases. As Java does (`Schema.applyAliases`), the writer's schema
//! is rewritten beforehand: a field that the reader knows under an alias takes
//! the reader's name.

use std::collections::HashMap;

use apache_avro::Schema;
use apache_avro::schema::{Name, NamespaceRef, RecordSchema};

/// The parts of a schema that are schemas.
fn parts(schema: &Schema) -> Vec<&Schema> {
    match schema {
        Schema::Array(array) => vec![array.items.as_ref()],
        Schema::Map(map) => vec![map.types.as_ref()],
        Schema::Union(union) => union.variants().iter().collect(),
        Schema::Record(record) => record.fields.iter().map(|field| &field.schema).collect(),
        _ => Vec::new(),
    }
}

/// Whether a name stands for a type that is defined elsewhere in the schema.
pub(super) fn refers(schema: &Schema) -> bool {
    matches!(schema, Schema::Ref { .. }) || parts(schema).into_iter().any(refers)
}

/// Renames fields of `writer` that `reader` has under an alias.
pub(super) fn apply(writer: &mut Schema, reader: &Schema) {
    let mut records = HashMap::new();
    collect(reader, None, &mut records);
    // The outermost records are the same thing, whatever their names.
    if let (Schema::Record(writer), Schema::Record(reader)) = (&*writer, reader) {
        records.insert(writer.name.clone(), reader);
    }
    rename(writer, None, &records);
}

/// The reader's records, by their names and their aliases.
fn collect<'a>(
    schema: &'a Schema,
    namespace: NamespaceRef<'_>,
    records: &mut HashMap<Name, &'a RecordSchema>,
) {
    let Schema::Record(record) = schema else {
        for part in parts(schema) {
            collect(part, namespace, records);
        }
        return;
    };
    let name = record.name.fully_qualified_name(namespace).into_owned();
    for alias in record.aliases.iter().flatten() {
        let alias = alias.fully_qualified_name(name.namespace()).into_owned();
        records.entry(alias).or_insert(record);
    }
    for field in &record.fields {
        collect(&field.schema, name.namespace(), records);
    }
    records.insert(name, record);
}

fn rename(
    schema: &mut Schema,
    namespace: NamespaceRef<'_>,
    readers: &HashMap<Name, &RecordSchema>,
) {
    match schema {
        Schema::Array(array) => rename(&mut array.items, namespace, readers),
        Schema::Map(map) => rename(&mut map.types, namespace, readers),
        Schema::Union(union) => {
            let mut variants = union.variants().to_vec();
            for variant in &mut variants {
                rename(variant, namespace, readers);
            }
            // Renamed fields leave the union's types what they were.
            if let Ok(renamed) = apache_avro::schema::UnionSchema::new(variants) {
                *union = renamed;
            }
        }
        Schema::Record(record) => {
            let name = record.name.fully_qualified_name(namespace).into_owned();
            for field in &mut record.fields {
                rename(&mut field.schema, name.namespace(), readers);
            }
            if let Some(reader) = readers.get(&name) {
                rename_fields(record, reader);
            }
        }
        _ => {}
    }
}

fn rename_fields(writer: &mut RecordSchema, reader: &RecordSchema) {
    for wanted in &reader.fields {
        if writer.fields.iter().any(|field| field.name == wanted.name) {
            continue;
        }
        let renamed = writer.fields.iter_mut().find(|field| {
            // A field that the reader has under its own name stays what it is.
            wanted.aliases.contains(&field.name)
                && !reader.fields.iter().any(|other| other.name == field.name)
        });
        if let Some(field) = renamed {
            field.name.clone_from(&wanted.name);
        }
    }
    let places = writer.fields.iter().enumerate();
    writer.lookup = places
        .map(|(place, field)| (field.name.clone(), place))
        .collect();
}
