//! Writes Rust from a schema: one file per API, and one that lists them.

use std::fmt::Write as _;

use crate::schema::{Api, Field, Message, Schema, Struct, Type, Versions, find};

const NOTICE: &str =
    "// Written by copart-protocol-codegen from the files in schema/. Change those, not this.\n\n";

/// The fields of one struct and what is needed to write code for them.
struct Layout<'a> {
    name: &'a str,
    doc: &'a str,
    fields: &'a [Field],
    /// Versions in which the struct is on the wire at all.
    held: Versions,
    message: &'a Message,
    structs: &'a [Struct],
}

pub(crate) fn files(schema: &Schema) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for api in &schema.apis {
        files.push((format!("{}.rs", module_name(&api.name)), api_file(api)));
    }
    for message in &schema.messages {
        files.push((
            format!("{}.rs", module_name(&message.name)),
            message_file(message),
        ));
    }
    files.push(("mod.rs".to_owned(), table_of_contents(schema)));
    files
}

fn api_file(api: &Api) -> String {
    let mut out = format!(
        "//! {}: {}\n{NOTICE}use super::prelude::*;\n",
        api.name,
        sentence(&api.doc)
    );
    let mut written = Vec::new();
    for (message, doc) in [
        (
            &api.request,
            format!("Asks for {} (key {}).", api.name, api.key),
        ),
        (&api.response, format!("Answers [`{}`].", api.request.name)),
    ] {
        body(&mut out, message, &doc, &api.structs, &mut written);
    }
    out
}

fn message_file(message: &Message) -> String {
    let mut out = format!("//! {}\n{NOTICE}use super::prelude::*;\n", message.doc);
    body(
        &mut out,
        message,
        &message.doc,
        &message.structs,
        &mut Vec::new(),
    );
    let Versions { low, high } = message.versions;
    let _ = write!(
        out,
        "\nimpl Body for {name} {{\n\
         const NAME: &'static str = \"{name}\";\n\
         const VERSIONS: VersionRange = VersionRange::new({low}, {high});\n\
         const FLEXIBLE_FROM: i16 = {flexible};\n\
         }}\n",
        name = message.name,
        flexible = flexible_from(message),
    );
    out
}

/// A message and the structs in it that no earlier message of the file has.
fn body<'a>(
    out: &mut String,
    message: &'a Message,
    doc: &str,
    structs: &'a [Struct],
    written: &mut Vec<&'a str>,
) {
    Layout {
        name: &message.name,
        doc,
        fields: &message.fields,
        held: message.versions,
        message,
        structs,
    }
    .emit(out);
    let mut waiting: Vec<&Field> = message.fields.iter().rev().collect();
    while let Some(field) = waiting.pop() {
        let Type::Struct(name) = &field.ty else {
            continue;
        };
        if written.contains(&name.as_str()) {
            continue;
        }
        written.push(name);
        let inner = find(structs, name);
        Layout {
            name,
            doc: &format!("In [`{}`].", message.name),
            fields: &inner.fields,
            held: inner.versions,
            message,
            structs,
        }
        .emit(out);
        waiting.extend(inner.fields.iter().rev());
    }
}

impl Layout<'_> {
    fn emit(&self, out: &mut String) {
        let derived = self.fields.iter().all(rust_default);
        let default = if derived { "Default, " } else { "" };
        let _ = write!(
            out,
            "\n/// {}\n#[derive(Clone, Debug, {default}PartialEq)]\npub struct {} {{\n",
            self.doc, self.name
        );
        for field in self.fields {
            if let Some(note) = self.note(field) {
                let _ = writeln!(out, "/// {note}");
            }
            let _ = writeln!(out, "pub {}: {},", ident(field), rust_type(field));
        }
        out.push_str("}\n");
        if !derived {
            self.default_impl(out);
        }
        if self.fields.iter().all(|f| self.is_plain(f)) {
            let fields: Vec<_> = self.fields.iter().map(ident).collect();
            let _ = write!(
                out,
                "\nplain!({}, min {}, {});\n",
                self.name,
                self.min_size(),
                fields.join(", ")
            );
        } else {
            self.wire_impl(out);
        }
    }

    /// What a user of the struct must know about versions.
    fn note(&self, field: &Field) -> Option<String> {
        let mut notes = Vec::new();
        if !self.always(field) {
            notes.push(format!("Versions {}.", field.versions));
        }
        if let Some(nullable) = field.nullable.filter(|n| !n.covers(&field.versions)) {
            notes.push(format!("Null in versions {}.", nullable));
        }
        (!notes.is_empty()).then(|| notes.join(" "))
    }

    /// Whether the field is one `put` and one `get`, whatever the version.
    fn is_plain(&self, field: &Field) -> bool {
        self.always(field)
            && field.tag.is_none()
            && field.ty != Type::Records
            && self.null_from(field).is_none()
    }

    fn always(&self, field: &Field) -> bool {
        field.versions.covers(&self.held)
    }

    fn default_impl(&self, out: &mut String) {
        let _ = write!(
            out,
            "\nimpl Default for {} {{\nfn default() -> Self {{\nSelf {{\n",
            self.name
        );
        for field in self.fields {
            let _ = writeln!(out, "{}: {},", ident(field), default_value(field));
        }
        out.push_str("}\n}\n}\n");
    }

    fn wire_impl(&self, out: &mut String) {
        let mut tagged: Vec<&Field> = self.fields.iter().filter(|f| f.tag.is_some()).collect();
        tagged.sort_by_key(|f| f.tag);
        let flexible = self.held.iter().any(|v| self.message.is_flexible(v));
        let _ = write!(
            out,
            "\nimpl Wire for {} {{\nconst MIN_SIZE: usize = {};\n\nfn write(&self, w: &mut Writer) -> Result<()> {{\n",
            self.name,
            self.min_size()
        );
        for field in self.fields.iter().filter(|f| f.tag.is_none()) {
            let _ = writeln!(out, "{}", self.write_field(field));
        }
        match (tagged.is_empty(), flexible) {
            (false, _) => {
                out.push_str("w.tags(|t| {\n");
                for field in &tagged {
                    let _ = writeln!(out, "{}", self.write_tagged(field));
                }
                out.push_str("Ok(())\n})\n}\n\n");
            }
            (true, true) => out.push_str("w.no_tags();\nOk(())\n}\n\n"),
            (true, false) => out.push_str("Ok(())\n}\n\n"),
        }

        let binding = match (tagged.is_empty(), flexible) {
            (false, _) => "let mut value = Self {",
            (true, true) => "let value = Self {",
            (true, false) => "Ok(Self {",
        };
        let _ = write!(
            out,
            "fn read(r: &mut Reader) -> Result<Self> {{\n{binding}\n"
        );
        for field in self.fields {
            let value = if field.tag.is_some() {
                default_value(field)
            } else {
                self.read_field(field)
            };
            let _ = writeln!(out, "{}: {value},", ident(field));
        }
        match (tagged.is_empty(), flexible) {
            (false, _) => {
                out.push_str("};\nr.tags(|r, tag| {\nmatch tag {\n");
                for field in &tagged {
                    // A tag in a version before its own is a stranger there, to be skipped.
                    let since = if self.first_flexible() < field.versions.low {
                        format!(" if r.version() >= {}", field.versions.low)
                    } else {
                        String::new()
                    };
                    let get = match &field.ty {
                        Type::Struct(name) if field.is_nullable() && !field.array => {
                            format!("{name}::read_nullable_tagged(r)")
                        }
                        _ => "r.get()".to_owned(),
                    };
                    let _ = writeln!(
                        out,
                        "{}{since} => value.{} = {get}?,",
                        field.tag.unwrap_or_default(),
                        ident(field)
                    );
                }
                out.push_str("_ => return Ok(false),\n}\nOk(true)\n})?;\nOk(value)\n}\n}\n");
            }
            (true, true) => out.push_str("};\nr.skip_tags()?;\nOk(value)\n}\n}\n"),
            (true, false) => out.push_str("})\n}\n}\n"),
        }
    }

    /// The first version in which this struct can have tagged fields.
    fn first_flexible(&self) -> i16 {
        let first = self.message.flexible.unwrap_or(i16::MAX);
        first.max(self.held.low)
    }

    fn min_size(&self) -> usize {
        let sizes = self.held.intersect(&self.message.versions).iter().map(|v| {
            let flexible = self.message.is_flexible(v);
            let fields: usize = self
                .fields
                .iter()
                .map(|field| field.min_size(v, flexible, self.structs))
                .sum();
            fields + usize::from(flexible)
        });
        sizes.min().unwrap_or_default()
    }

    /// Versions from which null may be written, if not all that have the field.
    fn null_from(&self, field: &Field) -> Option<i16> {
        let nullable = field.nullable?;
        let present = field.versions.intersect(&self.held);
        assert!(
            nullable.high >= present.high,
            "{}.{}: null in early versions only",
            self.name,
            field.name
        );
        (nullable.low > present.low).then_some(nullable.low)
    }

    fn write_field(&self, field: &Field) -> String {
        let id = ident(field);
        let put = match self.null_from(field) {
            Some(from) => format!(
                "w.put_nullable_from({from}, \"{}\", &self.{id})?;",
                field.name
            ),
            None => format!("w.put(&self.{id})?;"),
        };
        if self.always(field) {
            return put;
        }
        let range = rust_range(&field.versions);
        if self.null_from(field).is_some() {
            let absent = self.absent(field);
            return format!("if w.has({range}) {{\n{put}\n}}{absent}");
        }
        match (field.ignorable, rust_default(field)) {
            (true, _) => format!("w.put_in({range}, &self.{id})?;"),
            (false, true) => format!("w.need_in({range}, \"{}\", &self.{id})?;", field.name),
            (false, false) => format!(
                "w.need_in_or({range}, \"{}\", &self.{id}, &{})?;",
                field.name,
                default_value(field)
            ),
        }
    }

    /// The branch for versions without the field.
    fn absent(&self, field: &Field) -> String {
        if field.ignorable {
            return String::new();
        }
        let id = ident(field);
        format!(
            " else {{\nw.absent(\"{}\", &self.{id}, &{})?;\n}}",
            field.name,
            default_value(field)
        )
    }

    fn write_tagged(&self, field: &Field) -> String {
        assert!(
            self.null_from(field).is_none(),
            "{}: tagged and null later",
            field.name
        );
        if matches!(field.ty, Type::Struct(_)) && field.is_nullable() && !field.array {
            assert!(
                !field.ignorable,
                "{}: nullable struct, tagged and ignorable",
                field.name
            );
            return format!(
                "t.need_struct({}, {}, \"{}\", &self.{}, &{})?;",
                field.tag.unwrap_or_default(),
                rust_range(&field.versions),
                field.name,
                ident(field),
                default_value(field)
            );
        }
        let verb = if field.ignorable { "put" } else { "need" };
        let (or, default) = if rust_default(field) {
            ("", String::new())
        } else {
            ("_or", format!(", &{}", default_value(field)))
        };
        let name = if field.ignorable {
            String::new()
        } else {
            format!("\"{}\", ", field.name)
        };
        format!(
            "t.{verb}{or}({}, {}, {name}&self.{}{default})?;",
            field.tag.unwrap_or_default(),
            rust_range(&field.versions),
            ident(field)
        )
    }

    fn read_field(&self, field: &Field) -> String {
        let get = match (self.null_from(field), &field.ty) {
            (Some(from), _) => format!("r.get_nullable_from({from})?"),
            (None, Type::Records) => "r.records()?".to_owned(),
            (None, _) => "r.get()?".to_owned(),
        };
        if self.always(field) {
            return get;
        }
        let range = rust_range(&field.versions);
        if self.null_from(field).is_some() || field.ty == Type::Records {
            let default = default_value(field);
            return format!("if r.has({range}) {{ {get} }} else {{ {default} }}");
        }
        if rust_default(field) {
            format!("r.get_in({range})?")
        } else {
            format!("r.get_in_or({range}, {})?", default_value(field))
        }
    }
}

fn table_of_contents(schema: &Schema) -> String {
    let mut out = format!(
        "//! The messages: a module for each API, with its request, its response and what they hold.\n//!\n\
         //! Fields have Kafka's names. A field that not all versions carry says which ones do; in the others it\n\
         //! has its default after decoding, and encoding drops any other value where Kafka does too, or is an\n\
         //! error that names the field.\n//!\n\
         //! Tagged fields that the schema does not have are skipped: a message does not carry them on.\n{NOTICE}"
    );
    out.push_str(
        "#![allow(missing_docs, reason = \"the fields are Kafka's, which documents them\")]\n\n",
    );
    let mut modules: Vec<String> = schema
        .apis
        .iter()
        .map(|api| module_name(&api.name))
        .chain(schema.messages.iter().map(|m| module_name(&m.name)))
        .collect();
    modules.sort();
    for module in modules {
        let _ = writeln!(out, "pub mod {module};");
    }
    out.push_str(
        "\n/// What each generated file needs.\nmod prelude {\n\
         pub(super) use crate::wire::{Reader, Wire, Writer, plain};\n\
         pub(super) use crate::{Body, ErrorCode, Result, Uuid, VersionRange};\n\
         pub(super) use bytes::Bytes;\n}\n\n",
    );
    out.push_str("crate::api::apis! {\n");
    for api in &schema.apis {
        let Versions { low, high } = api.request.versions;
        let listed = api.advertise.unwrap_or(api.request.versions);
        let flexible = flexible_from(&api.request);
        let _ = writeln!(
            out,
            "    /// {}\n    {} = {}, {}::{{{}, {}}},\n        {low}..={high}, flexible {flexible}, listed {}..={};",
            api.doc,
            api.name,
            api.key,
            module_name(&api.name),
            api.request.name,
            api.response.name,
            listed.low,
            listed.high,
        );
    }
    out.push_str("}\n");
    out
}

fn flexible_from(message: &Message) -> String {
    match message.flexible {
        None => "i16::MAX".to_owned(),
        Some(from) => from.to_string(),
    }
}

/// Name of the module of an API or a message.
pub fn module_name(name: &str) -> String {
    let mut out = String::new();
    for (index, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn sentence(doc: &str) -> String {
    let mut chars = doc.chars();
    match chars.next() {
        // `SASL` keeps its capital, `Appends` does not.
        Some(first) if !chars.clone().next().is_some_and(|c| c.is_ascii_uppercase()) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => doc.to_owned(),
    }
}

fn ident(field: &Field) -> String {
    match field.name.as_str() {
        "match" | "type" => format!("r#{}", field.name),
        name => name.to_owned(),
    }
}

fn rust_type(field: &Field) -> String {
    let element = match &field.ty {
        Type::Bool => "bool",
        Type::Int8 => "i8",
        Type::Int16 => "i16",
        Type::Uint16 => "u16",
        Type::Int32 => "i32",
        Type::Int64 => "i64",
        Type::Float64 => "f64",
        Type::Uuid => "Uuid",
        Type::String => "String",
        Type::Bytes | Type::Records => "Bytes",
        Type::Error => "ErrorCode",
        Type::Struct(name) => name,
    };
    let whole = if field.array {
        format!("Vec<{element}>")
    } else {
        element.to_owned()
    };
    if field.is_nullable() {
        format!("Option<{whole}>")
    } else {
        whole
    }
}

/// Whether the Rust type's own default is the field's.
fn rust_default(field: &Field) -> bool {
    match &field.default {
        None => !field.is_nullable(),
        Some(value) => value == "null",
    }
}

fn default_value(field: &Field) -> String {
    let own = match (&field.ty, field.array) {
        (_, true) => "Vec::new()".to_owned(),
        (Type::Bool, _) => "false".to_owned(),
        (Type::Float64, _) => "0.0".to_owned(),
        (Type::Uuid, _) => "Uuid::ZERO".to_owned(),
        (Type::String, _) => "String::new()".to_owned(),
        (Type::Bytes | Type::Records, _) => "Bytes::new()".to_owned(),
        (Type::Error, _) => "ErrorCode::NONE".to_owned(),
        (Type::Struct(name), _) => format!("{name}::default()"),
        _ => "0".to_owned(),
    };
    match field.default.as_deref() {
        None if field.is_nullable() => format!("Some({own})"),
        None => own,
        Some("null") => "None".to_owned(),
        Some("2147483647") => "i32::MAX".to_owned(),
        Some("-2147483648") => "i32::MIN".to_owned(),
        Some("9223372036854775807") => "i64::MAX".to_owned(),
        Some(value) if field.ty == Type::String => format!("{value}.to_owned()"),
        Some(value) => value.to_owned(),
    }
}

fn rust_range(versions: &Versions) -> String {
    match (versions.low, versions.high) {
        (0, high) => format!("..={high}"),
        (low, i16::MAX) => format!("{low}.."),
        (low, high) => format!("{low}..={high}"),
    }
}
