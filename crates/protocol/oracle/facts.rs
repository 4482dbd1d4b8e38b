//! What the schema says, in the lines that `java/Facts.java` prints for the jar.

use std::collections::BTreeSet;

use copart_protocol::{ApiKey, ErrorCode};
use copart_protocol_codegen::schema::{Field, Message, Schema, Struct, Type, find};

/// Defaults that differ from Kafka's on purpose: the end of the path, and why.
const OWN_DEFAULTS: [(&str, &str, &str); 3] = [
    // Kafka's is the empty string where its schema names none; a broker that has no message sends null.
    ("error_message", "\"\"", "null"),
    // Kafka's is null, but its brokers always send lists, and its admin client fails on null.
    ("eligible_leader_replicas", "null", "[]"),
    ("last_known_elr", "null", "[]"),
];

/// Both sets with the lines taken out that differ on purpose, and those of messages that the schema lacks.
pub(crate) fn comparable(schema: &Schema, jar: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let ours = lines(schema);
    let known: BTreeSet<&str> = ours
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    let mut theirs = BTreeSet::new();
    for line in jar.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let ours_too = match words[0] {
            "error" => true,
            "api" => ApiKey::from_key(words[1].parse().unwrap_or(-1)).is_some(),
            // Names of classes are not on the wire, and ours are our own.
            "struct" => false,
            _ => known.contains(words[1]),
        };
        if ours_too {
            theirs.insert(line.to_owned());
        }
    }
    let mut left = BTreeSet::new();
    for line in ours {
        if let Some(kafkas) = with_kafkas_default(&line).filter(|line| theirs.contains(line)) {
            theirs.remove(&kafkas);
        } else {
            left.insert(line);
        }
    }
    (left, theirs)
}

fn with_kafkas_default(line: &str) -> Option<String> {
    let words: Vec<_> = line.split(' ').collect();
    let ["default", message, path, value] = words[..] else {
        return None;
    };
    OWN_DEFAULTS
        .iter()
        .find(|(name, _, own)| path.rsplit('.').next() == Some(name) && value == *own)
        .map(|(_, kafkas, _)| format!("default {message} {path} {kafkas}"))
}

fn lines(schema: &Schema) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for api in &schema.apis {
        let key = ApiKey::from_key(api.key).expect("every API of the schema");
        let (range, listed) = (key.versions(), key.listed());
        out.insert(format!(
            "api {} {} {} {} {}",
            api.key, api.name, range.min, range.max, listed.max
        ));
        for version in range.min..=range.max {
            out.insert(format!(
                "header {} {version} {} {}",
                api.name,
                key.request_header_version(version),
                key.response_header_version(version)
            ));
        }
        for message in [&api.request, &api.response] {
            Walk::new(message, &api.structs, &mut out).message();
        }
    }
    for message in &schema.messages {
        Walk::new(message, &message.structs, &mut out).message();
    }
    for code in ErrorCode::ALL {
        let kind = if code.is_retriable() {
            "retriable"
        } else {
            "final"
        };
        let name = code.name().expect("listed codes have names");
        out.insert(format!("error {} {name} {kind}", code.0));
    }
    out
}

struct Walk<'a> {
    message: &'a Message,
    structs: &'a [Struct],
    out: &'a mut BTreeSet<String>,
}

impl<'a> Walk<'a> {
    fn new(message: &'a Message, structs: &'a [Struct], out: &'a mut BTreeSet<String>) -> Self {
        Self {
            message,
            structs,
            out,
        }
    }

    fn message(&mut self) {
        let versions: Vec<i16> = self.message.versions.iter().collect();
        let message = self.message;
        self.fields(&message.fields, "", &versions);
    }

    /// The fields of a struct that is there in `versions`.
    fn fields(&mut self, fields: &[Field], parent: &str, versions: &[i16]) {
        let name = &self.message.name;
        for field in fields {
            let path = if parent.is_empty() {
                field.name.clone()
            } else {
                format!("{parent}.{}", field.name)
            };
            self.out
                .insert(format!("default {name} {path} {}", default(field)));
            let (present, lacking): (Vec<i16>, Vec<i16>) = versions
                .iter()
                .partition(|version| field.versions.contains(**version));
            if !lacking.is_empty() {
                let verb = if field.ignorable {
                    "ignored"
                } else {
                    "refused"
                };
                self.out.insert(format!("drop {name} {path} {verb}"));
            }
            for version in &present {
                let position = fields
                    .iter()
                    .filter(|f| f.tag.is_none() && f.versions.contains(*version))
                    .position(|f| f.name == field.name)
                    .map_or("-".to_owned(), |position| position.to_string());
                let nullable = field.ty == Type::Records
                    || field.nullable.is_some_and(|n| n.contains(*version));
                self.out.insert(format!(
                    "field {name} {version} {position} {path} {} {} {}",
                    type_name(field),
                    if nullable { "null" } else { "-" },
                    field.tag.map_or("-".to_owned(), |tag| tag.to_string()),
                ));
            }
            if let Type::Struct(inner) = &field.ty {
                let structs = self.structs;
                self.fields(&find(structs, inner).fields, &path, &present);
            }
        }
    }
}

fn type_name(field: &Field) -> String {
    let element = match &field.ty {
        Type::Bool => "bool",
        Type::Int8 => "int8",
        Type::Int16 | Type::Error => "int16",
        Type::Uint16 => "uint16",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Float64 => "float64",
        Type::Uuid => "uuid",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Records => "records",
        Type::Struct(_) => "struct",
    };
    let array = if field.array { "[]" } else { "" };
    format!("{array}{element}")
}

fn default(field: &Field) -> String {
    match (&field.default, &field.ty) {
        (Some(value), _) => value.clone(),
        (None, _) if field.array => "[]".to_owned(),
        (None, Type::Bool) => "false".to_owned(),
        (None, Type::String | Type::Bytes) => "\"\"".to_owned(),
        (None, Type::Records) => "null".to_owned(),
        (None, Type::Struct(_)) => "{}".to_owned(),
        (None, Type::Uuid) => copart_protocol::Uuid::ZERO.to_string(),
        (None, _) => "0".to_owned(),
    }
}
