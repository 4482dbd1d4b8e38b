//! From JSON to a schema.

use std::collections::HashSet;

use super::schema::{
    Avro, Enum, Field, Fixed, Id, Kind, Name, Part, Primitive, Record, check_name,
};
use crate::json::{Json, Members};

/// What types take for themselves; everything else is a property.
const OF_TYPES: [&str; 10] = [
    "doc",
    "fields",
    "items",
    "name",
    "namespace",
    "size",
    "symbols",
    "values",
    "type",
    "aliases",
];
const OF_FIELDS: [&str; 6] = ["default", "doc", "name", "order", "type", "aliases"];

impl Avro {
    /// Reads the JSON text of a schema, which may use the names of referenced schemas: their texts come before it,
    /// each after those that it uses.
    pub(crate) fn parse<'t>(
        text: &str,
        references: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, String> {
        let mut avro = Self {
            parts: Vec::new(),
            root: 0,
            names: std::collections::HashMap::new(),
            own: 0,
        };
        for reference in references {
            let root = avro.read(&Json::parse(reference).map_err(|error| error.to_string())?)?;
            if avro.parts[root].name().is_none() {
                return Err("a schema that is referred to has no name".to_owned());
            }
        }
        avro.own = avro.parts.len();
        let json = match text.trim_start().starts_with(['{', '[', '"']) {
            true => Json::parse(text).map_err(|error| error.to_string())?,
            // Java reads the bare name of a type, too.
            false => Json::String(text.trim().to_owned()),
        };
        avro.root = avro.read(&json)?;
        Ok(avro)
    }

    /// Reads one schema, and finds what its names stand for.
    fn read(&mut self, json: &Json) -> Result<Id, String> {
        let first = self.parts.len();
        let root = self.schema(json, None)?;
        for id in first..self.parts.len() {
            if let Kind::Unresolved(full, written) = &self.parts[id].kind {
                let found = self.names.get(full).or_else(|| self.names.get(written));
                let found = found.ok_or_else(|| {
                    format!("{full:?} is no type: it is neither defined here nor in a reference")
                })?;
                self.parts[id].kind = Kind::Named(*found);
            }
        }
        for id in first..self.parts.len() {
            if let Kind::Union(branches) = &self.parts[id].kind {
                self.check_union(branches)?;
            }
        }
        Ok(root)
    }

    fn add(&mut self, kind: Kind, properties: Members) -> Id {
        self.parts.push(Part { kind, properties });
        self.parts.len() - 1
    }

    /// As deep as the JSON is, which is bounded.
    fn schema(&mut self, json: &Json, namespace: Option<&str>) -> Result<Id, String> {
        match json {
            Json::String(name) => self.by_name(name, namespace),
            Json::Array(branches) => {
                let branches = branches
                    .iter()
                    .map(|branch| self.schema(branch, namespace))
                    .collect::<Result<_, _>>()?;
                Ok(self.add(Kind::Union(branches), Members::new()))
            }
            Json::Object(members) => self.complex(members, namespace),
            other => Err(format!(
                "{} is no schema: a name, an object or an array is wanted",
                other.kind()
            )),
        }
    }

    fn by_name(&mut self, name: &str, namespace: Option<&str>) -> Result<Id, String> {
        let kind = match Primitive::from_name(name) {
            Some(primitive) => Kind::Primitive(primitive),
            None => Kind::Unresolved(Name::new(name, namespace)?.full(), name.to_owned()),
        };
        Ok(self.add(kind, Members::new()))
    }

    fn complex(&mut self, members: &Members, namespace: Option<&str>) -> Result<Id, String> {
        let type_name = text(members, "type")?.ok_or("a schema has no type")?;
        let properties = |besides: &[&str]| {
            let others = members.iter().filter(|(name, _)| {
                !OF_TYPES.contains(&name.as_str()) && !besides.contains(&name.as_str())
            });
            others
                .map(|(name, json)| (name.clone(), json.clone()))
                .collect::<Members>()
        };
        if let Some(primitive) = Primitive::from_name(type_name) {
            return Ok(self.add(Kind::Primitive(primitive), properties(&[])));
        }
        match type_name {
            "array" => {
                let items = members.get("items").ok_or("an array has no items")?;
                let items = self.schema(items, namespace)?;
                Ok(self.add(Kind::Array(items), properties(&[])))
            }
            "map" => {
                let values = members.get("values").ok_or("a map has no values")?;
                let values = self.schema(values, namespace)?;
                Ok(self.add(Kind::Map(values), properties(&[])))
            }
            "record" | "error" => self.record(members, namespace, properties(&[])),
            "enum" => self.symbols(members, namespace, properties(&["default"])),
            "fixed" => self.fixed(members, namespace, properties(&[])),
            name => self.by_name(name, namespace),
        }
    }

    fn record(
        &mut self,
        members: &Members,
        namespace: Option<&str>,
        properties: Members,
    ) -> Result<Id, String> {
        let name = name(members, namespace)?;
        let full = name.full();
        let fields = members.get("fields").and_then(Json::as_array);
        let fields = fields.ok_or_else(|| format!("record {full:?} has no array of fields"))?;
        let (mut read, mut known) = (Vec::new(), HashSet::new());
        for field in fields {
            let field = self
                .field(field, name.namespace.as_deref())
                .map_err(|reason| format!("record {full:?}: {reason}"))?;
            if !known.insert(field.name.clone()) {
                return Err(format!("record {full:?} has two fields {:?}", field.name));
            }
            read.push(field);
        }
        let record = Record {
            aliases: aliases(members, name.namespace.as_deref())?,
            doc: text(members, "doc")?.map(str::to_owned),
            error: members.get("type").and_then(Json::as_str) == Some("error"),
            fields: read,
            name,
        };
        self.define(full, Kind::Record(record), properties)
    }

    fn field(&mut self, json: &Json, namespace: Option<&str>) -> Result<Field, String> {
        let members = json
            .as_object()
            .ok_or_else(|| format!("a field is {}, and should be an object", json.kind()))?;
        let name = text(members, "name")?.ok_or("a field has no name")?;
        check_name(name)?;
        let of = members
            .get("type")
            .ok_or_else(|| format!("field {name:?} has no type"))?;
        let of = self
            .schema(of, namespace)
            .map_err(|reason| format!("field {name:?}: {reason}"))?;
        let order = match text(members, "order")?
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            None | Some("ascending") => None,
            Some("descending") => Some("descending"),
            Some("ignore") => Some("ignore"),
            Some(other) => {
                return Err(format!(
                    "field {name:?} has the order {other:?}: ascending, descending or ignore is wanted"
                ));
            }
        };
        let properties = members
            .iter()
            .filter(|(name, _)| !OF_FIELDS.contains(&name.as_str()));
        Ok(Field {
            name: name.to_owned(),
            of,
            doc: text(members, "doc")?.map(str::to_owned),
            default: members.get("default").cloned(),
            order,
            aliases: once_each(texts(members, "aliases")?),
            properties: properties
                .map(|(name, json)| (name.clone(), json.clone()))
                .collect(),
        })
    }

    fn symbols(
        &mut self,
        members: &Members,
        namespace: Option<&str>,
        properties: Members,
    ) -> Result<Id, String> {
        let name = name(members, namespace)?;
        let full = name.full();
        if !members.contains_key("symbols") {
            return Err(format!("enum {full:?} has no symbols"));
        }
        let symbols = texts(members, "symbols")?;
        let mut known = HashSet::new();
        for symbol in &symbols {
            check_name(symbol).map_err(|reason| format!("enum {full:?}: {reason}"))?;
            if !known.insert(symbol) {
                return Err(format!("enum {full:?} has the symbol {symbol:?} twice"));
            }
        }
        let default = text(members, "default")?;
        if let Some(default) = default
            && !symbols.iter().any(|symbol| symbol == default)
        {
            return Err(format!(
                "enum {full:?} has the default {default:?}, which is none of its symbols"
            ));
        }
        let symbols = Enum {
            aliases: aliases(members, name.namespace.as_deref())?,
            doc: text(members, "doc")?.map(str::to_owned),
            default: default.map(str::to_owned),
            symbols,
            name,
        };
        self.define(full, Kind::Enum(symbols), properties)
    }

    fn fixed(
        &mut self,
        members: &Members,
        namespace: Option<&str>,
        properties: Members,
    ) -> Result<Id, String> {
        let name = name(members, namespace)?;
        let full = name.full();
        let size = match members.get("size") {
            Some(Json::Number(size)) => size.as_u64().filter(|size| *size <= i32::MAX as u64),
            _ => None,
        };
        let size = size.ok_or_else(|| format!("fixed {full:?} has no size that can be"))?;
        let fixed = Fixed {
            aliases: aliases(members, name.namespace.as_deref())?,
            doc: text(members, "doc")?.map(str::to_owned),
            size: size as u32,
            name,
        };
        self.define(full, Kind::Fixed(fixed), properties)
    }

    fn define(&mut self, full: String, kind: Kind, properties: Members) -> Result<Id, String> {
        if Primitive::from_name(&full).is_some() {
            return Err(format!("{full:?} is Avro's own name"));
        }
        let id = self.add(kind, properties);
        if self.names.insert(full.clone(), id).is_some() {
            return Err(format!("{full:?} is defined twice"));
        }
        Ok(id)
    }

    /// A value must tell which branch it is of.
    fn check_union(&self, branches: &[Id]) -> Result<(), String> {
        let mut known = HashSet::new();
        for branch in branches {
            let part = self.part(*branch);
            if matches!(part.kind, Kind::Union(_)) {
                return Err("a union is right within a union".to_owned());
            }
            let name = part
                .name()
                .map_or_else(|| part.type_name().to_owned(), Name::full);
            if let Some(twice) = known.replace(name) {
                return Err(format!("a union has {twice:?} twice"));
            }
        }
        Ok(())
    }
}

fn text<'m>(members: &'m Members, name: &str) -> Result<Option<&'m str>, String> {
    match members.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!(
            "{name:?} is {}, and should be a string",
            other.kind()
        )),
    }
}

fn texts(members: &Members, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{name:?} is no array of strings");
    match members.get(name) {
        None => Ok(Vec::new()),
        Some(Json::Array(elements)) => elements
            .iter()
            .map(|element| element.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn name(members: &Members, namespace: Option<&str>) -> Result<Name, String> {
    let name = text(members, "name")?.ok_or("a named type has no name")?;
    Name::new(name, text(members, "namespace")?.or(namespace))
}

fn aliases(members: &Members, namespace: Option<&str>) -> Result<Vec<Name>, String> {
    let aliases = texts(members, "aliases")?;
    let names = aliases.iter().map(|alias| Name::new(alias, namespace));
    Ok(once_each(names.collect::<Result<_, _>>()?))
}

fn once_each<T: Clone + Eq + std::hash::Hash>(mut all: Vec<T>) -> Vec<T> {
    let mut known = HashSet::new();
    all.retain(|one| known.insert(one.clone()));
    all
}
