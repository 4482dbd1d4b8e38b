//! From a schema to JSON, in the order that Avro for Java prints.

use std::collections::HashSet;

use super::schema::{Avro, Field, Id, Kind, Name, Part};
use crate::json::{Json, Members};

/// Where the printer is.
struct Printer<'s> {
    avro: &'s Avro,
    /// Types that are printed, or are another schema's: from now on by their names.
    known: HashSet<Id>,
    /// Whether properties are sorted.
    normal: bool,
    /// How deep in JSON it is.
    depth: usize,
    /// Whether it was deeper than may be.
    too_deep: bool,
}

/// The deepest JSON that is printed: it shall be read again. A type that is used before it is defined is printed where it
/// is used, so that what is read may be flat and what is printed deep.
const MAX_DEPTH: usize = 110;

fn string(text: &str) -> Json {
    Json::String(text.to_owned())
}

impl Avro {
    /// The schema without white space, in Avro's order. Types of referenced schemas are names in it.
    ///
    /// A normal form has its properties sorted, too.
    ///
    /// # Errors
    /// If that is nested deeper than JSON may be.
    pub(crate) fn text(&self, normal: bool) -> Result<String, String> {
        let known = self.names.values().copied().filter(|id| *id < self.own);
        self.print(known.collect(), normal)
    }

    /// The same with all that it refers to put in.
    pub(crate) fn whole_text(&self) -> Result<String, String> {
        self.print(HashSet::new(), true)
    }

    fn print(&self, known: HashSet<Id>, normal: bool) -> Result<String, String> {
        let mut printer = Printer {
            avro: self,
            known,
            normal,
            depth: 0,
            too_deep: false,
        };
        let json = printer.schema(self.root, None);
        if printer.too_deep {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        Ok(json.to_string())
    }
}

impl Printer<'_> {
    fn schema(&mut self, id: Id, namespace: Option<&str>) -> Json {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return Json::Null;
        }
        self.depth += 1;
        let json = self.one(id, namespace);
        self.depth -= 1;
        json
    }

    fn one(&mut self, id: Id, namespace: Option<&str>) -> Json {
        let id = self.avro.target(id);
        let part = &self.avro.parts[id];
        if let Some(name) = part.name()
            && !self.known.insert(id)
        {
            return Json::String(name.within(namespace));
        }
        let mut members = Members::new();
        members.insert("type".to_owned(), string(part.type_name()));
        match &part.kind {
            Kind::Primitive(_) if part.properties.is_empty() => return string(part.type_name()),
            Kind::Primitive(_) => self.properties(&part.properties, &mut members),
            Kind::Union(branches) => {
                let branches = branches
                    .iter()
                    .map(|branch| self.schema(*branch, namespace));
                return Json::Array(branches.collect());
            }
            Kind::Array(items) => {
                members.insert("items".to_owned(), self.schema(*items, namespace));
                self.properties(&part.properties, &mut members);
            }
            Kind::Map(values) => {
                members.insert("values".to_owned(), self.schema(*values, namespace));
                self.properties(&part.properties, &mut members);
            }
            Kind::Record(record) => {
                if record.error {
                    members.insert("type".to_owned(), string("error"));
                }
                head(&record.name, record.doc.as_deref(), namespace, &mut members);
                let within = record.name.namespace.as_deref();
                let fields = record.fields.iter().map(|field| self.field(field, within));
                members.insert("fields".to_owned(), Json::Array(fields.collect()));
                self.tail(part, &record.aliases, &record.name, &mut members);
            }
            Kind::Enum(symbols) => {
                head(
                    &symbols.name,
                    symbols.doc.as_deref(),
                    namespace,
                    &mut members,
                );
                let all = symbols.symbols.iter().map(|symbol| string(symbol));
                members.insert("symbols".to_owned(), Json::Array(all.collect()));
                if let Some(default) = &symbols.default {
                    members.insert("default".to_owned(), string(default));
                }
                self.tail(part, &symbols.aliases, &symbols.name, &mut members);
            }
            Kind::Fixed(fixed) => {
                head(&fixed.name, fixed.doc.as_deref(), namespace, &mut members);
                members.insert("size".to_owned(), Json::Number(fixed.size.into()));
                self.tail(part, &fixed.aliases, &fixed.name, &mut members);
            }
            // All names are resolved when a schema is read, and lead to no others.
            Kind::Named(_) | Kind::Unresolved(..) => {}
        }
        Json::Object(members)
    }

    fn field(&mut self, field: &Field, namespace: Option<&str>) -> Json {
        let mut members = Members::new();
        members.insert("name".to_owned(), string(&field.name));
        // An array of fields, and the field.
        self.depth += 2;
        members.insert("type".to_owned(), self.schema(field.of, namespace));
        self.depth -= 2;
        if let Some(doc) = &field.doc {
            members.insert("doc".to_owned(), string(doc));
        }
        if let Some(default) = &field.default {
            members.insert("default".to_owned(), default.clone());
        }
        if let Some(order) = field.order {
            members.insert("order".to_owned(), string(order));
        }
        if !field.aliases.is_empty() {
            let aliases = field.aliases.iter().map(|alias| string(alias));
            members.insert("aliases".to_owned(), Json::Array(aliases.collect()));
        }
        self.properties(&field.properties, &mut members);
        Json::Object(members)
    }

    fn tail(&self, part: &Part, aliases: &[Name], name: &Name, members: &mut Members) {
        self.properties(&part.properties, members);
        if !aliases.is_empty() {
            let namespace = name.namespace.as_deref();
            let aliases = aliases
                .iter()
                .map(|alias| Json::String(alias.within(namespace)));
            members.insert("aliases".to_owned(), Json::Array(aliases.collect()));
        }
    }

    fn properties(&self, properties: &Members, members: &mut Members) {
        let mut properties = properties.clone();
        if self.normal {
            properties.sort_unstable_keys();
        }
        for (name, property) in properties {
            let property = if self.normal {
                property.sorted()
            } else {
                property
            };
            members.insert(name, property);
        }
    }
}

fn head(name: &Name, doc: Option<&str>, namespace: Option<&str>, members: &mut Members) {
    members.insert("name".to_owned(), string(&name.name));
    if name.namespace.as_deref() != namespace {
        let own = name.namespace.as_deref().unwrap_or_default();
        members.insert("namespace".to_owned(), string(own));
    }
    if let Some(doc) = doc {
        members.insert("doc".to_owned(), string(doc));
    }
}
