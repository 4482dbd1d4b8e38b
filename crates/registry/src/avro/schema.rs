//! What an Avro schema is made of.

use std::collections::HashMap;

use crate::json::{Json, Members};

/// A schema: all its parts in one place, so that types which contain themselves are nothing special.
#[derive(Clone, Debug)]
pub(crate) struct Avro {
    pub(super) parts: Vec<Part>,
    pub(super) root: Id,
    /// By full name, those of referenced schemas too.
    pub(super) names: HashMap<String, Id>,
    /// The parts before this one are of referenced schemas.
    pub(super) own: Id,
}

/// The place of a part.
pub(super) type Id = usize;

/// A type, and what else its author wrote there.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) properties: Members,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Primitive(Primitive),
    Array(Id),
    Map(Id),
    Union(Vec<Id>),
    Record(Record),
    Enum(Enum),
    Fixed(Fixed),
    /// A type by its name, which is defined elsewhere: here.
    Named(Id),
    /// The same while not all is read. The full name, and the one that was written.
    Unresolved(String, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
}

impl Primitive {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "int" => Self::Int,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            "bytes" => Self::Bytes,
            "string" => Self::String,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes => "bytes",
            Self::String => "string",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: Name,
    pub(super) aliases: Vec<Name>,
    pub(super) doc: Option<String>,
    /// It was written as `error`.
    pub(super) error: bool,
    pub(super) fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) of: Id,
    pub(super) doc: Option<String>,
    pub(super) default: Option<Json>,
    /// Unless it is ascending.
    pub(super) order: Option<&'static str>,
    pub(super) aliases: Vec<String>,
    pub(super) properties: Members,
}

#[derive(Clone, Debug)]
pub(super) struct Enum {
    pub(super) name: Name,
    pub(super) aliases: Vec<Name>,
    pub(super) doc: Option<String>,
    pub(super) symbols: Vec<String>,
    pub(super) default: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub(super) name: Name,
    pub(super) aliases: Vec<Name>,
    pub(super) doc: Option<String>,
    pub(super) size: u32,
}

/// A name and the namespace that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Name {
    /// A name as it was written, in a namespace unless it has one itself.
    pub(super) fn new(written: &str, namespace: Option<&str>) -> Result<Self, String> {
        let (namespace, name) = match written.rsplit_once('.') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (namespace, written),
        };
        check_name(name)?;
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        for part in namespace.iter().flat_map(|namespace| namespace.split('.')) {
            check_name(part)?;
        }
        Ok(Self {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }

    pub(super) fn full(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// How it is written where `namespace` is the one around.
    pub(super) fn within(&self, namespace: Option<&str>) -> String {
        let is_type = Primitive::from_name(&self.name).is_some()
            || matches!(
                self.name.as_str(),
                "record" | "enum" | "array" | "map" | "union" | "fixed"
            );
        if self.namespace.as_deref() == namespace && !is_type {
            self.name.clone()
        } else {
            self.full()
        }
    }
}

/// May a type, a field or a symbol have this name?
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let mut characters = name.chars();
    // Letters and digits of all scripts, as in Java.
    let right = match characters.next() {
        Some(first) => {
            (first.is_alphabetic() || first == '_')
                && characters.all(|c| c.is_alphanumeric() || c == '_')
        }
        None => false,
    };
    if right {
        return Ok(());
    }
    Err(format!(
        "{name:?} is no name: a letter or underscore is wanted, and then letters, digits and underscores"
    ))
}

impl Part {
    /// What it is, in Avro's words.
    pub(super) fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Primitive(primitive) => primitive.name(),
            Kind::Array(_) => "array",
            Kind::Map(_) => "map",
            Kind::Union(_) => "union",
            Kind::Record(_) => "record",
            Kind::Enum(_) => "enum",
            Kind::Fixed(_) => "fixed",
            Kind::Named(_) | Kind::Unresolved(..) => "name",
        }
    }

    pub(super) fn name(&self) -> Option<&Name> {
        match &self.kind {
            Kind::Record(record) => Some(&record.name),
            Kind::Enum(symbols) => Some(&symbols.name),
            Kind::Fixed(fixed) => Some(&fixed.name),
            _ => None,
        }
    }
}

impl Avro {
    /// The place of a part itself, where a name stands for it.
    pub(super) fn target(&self, id: Id) -> Id {
        match self.parts[id].kind {
            Kind::Named(target) => target,
            _ => id,
        }
    }

    pub(super) fn part(&self, id: Id) -> &Part {
        &self.parts[self.target(id)]
    }
}
