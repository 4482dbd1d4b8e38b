//! From a compiled file to a text in Protobuf's language: the same text for all writings that mean the same.

use std::collections::HashSet;
use std::fmt::Write as _;

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto};
use prost_reflect::{
    DynamicMessage, EnumDescriptor, ExtensionDescriptor, FieldDescriptor, FileDescriptor, Kind,
    MessageDescriptor, ServiceDescriptor, Syntax, Value,
};

use super::Protobuf;

/// Field numbers end here: `max` in ranges.
const MAX_FIELD: u32 = 536_870_911;

impl Protobuf {
    /// The file without comments, with full names of types.
    pub(crate) fn text(&self) -> String {
        let mut printer = Printer {
            out: String::new(),
            level: 0,
            proto3: self.file.syntax() == Syntax::Proto3,
        };
        printer.file(&self.file);
        printer.out
    }
}

struct Printer {
    out: String,
    level: usize,
    proto3: bool,
}

impl Printer {
    fn line(&mut self, text: &str) {
        for _ in 0..self.level {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn block(&mut self, head: &str, inner: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.level += 1;
        inner(self);
        self.level -= 1;
        self.line("}");
    }

    fn options(&mut self, options: &DynamicMessage) {
        for (name, value) in pairs(options) {
            self.line(&format!("option {name} = {value};"));
        }
    }

    fn file(&mut self, file: &FileDescriptor) {
        let proto = file.file_descriptor_proto();
        self.line(&format!(
            "syntax = \"{}\";",
            if self.proto3 { "proto3" } else { "proto2" }
        ));
        if !file.package_name().is_empty() {
            self.line(&format!("package {};", file.package_name()));
        }
        for (index, import) in (0_i32..).zip(&proto.dependency) {
            let kind = if proto.public_dependency.contains(&index) {
                "public "
            } else if proto.weak_dependency.contains(&index) {
                "weak "
            } else {
                ""
            };
            self.line(&format!("import {kind}{};", quoted(import)));
        }
        self.options(&file.options());
        for message in file.messages() {
            if !is_group(&message) {
                self.message(&message);
            }
        }
        for of in file.enums() {
            self.of_enum(&of);
        }
        self.extensions(file.extensions());
        for service in file.services() {
            self.service(&service);
        }
    }

    fn message(&mut self, message: &MessageDescriptor) {
        self.block(&format!("message {}", message.name()), |printer| {
            printer.inside(message);
        });
    }

    fn inside(&mut self, message: &MessageDescriptor) {
        let proto = message.descriptor_proto();
        self.options(&message.options());
        let mut oneofs = HashSet::new();
        for field in message.fields_in_order() {
            match field
                .containing_oneof()
                .filter(|oneof| !oneof.is_synthetic())
            {
                None => self.field(&field),
                Some(oneof) if oneofs.insert(oneof.name().to_owned()) => {
                    self.block(&format!("oneof {}", oneof.name()), |printer| {
                        printer.options(&oneof.options());
                        for field in oneof.fields() {
                            printer.field(&field);
                        }
                    });
                }
                Some(_) => {}
            }
        }
        for range in &proto.extension_range {
            let (start, end) = (range.start(), range.end() - 1);
            self.line(&format!(
                "extensions {};",
                span(start, end, MAX_FIELD as i32)
            ));
        }
        for range in &proto.reserved_range {
            let (start, end) = (range.start(), range.end() - 1);
            self.line(&format!("reserved {};", span(start, end, MAX_FIELD as i32)));
        }
        for name in &proto.reserved_name {
            self.line(&format!("reserved {};", quoted(name)));
        }
        for child in message.child_messages() {
            if !child.is_map_entry() && !is_group(&child) {
                self.message(&child);
            }
        }
        for of in message.child_enums() {
            self.of_enum(&of);
        }
        self.extensions(message.child_extensions());
    }

    fn field(&mut self, field: &FieldDescriptor) {
        let proto = field.field_descriptor_proto();
        let in_oneof = field
            .containing_oneof()
            .is_some_and(|it| !it.is_synthetic());
        let kind = field.kind();
        if field.is_map()
            && let Some(entry) = kind.as_message()
        {
            let key = type_name(entry.map_entry_key_field().field_descriptor_proto());
            let value = type_name(entry.map_entry_value_field().field_descriptor_proto());
            let head = format!("map<{key}, {value}> {} = {}", field.name(), field.number());
            let settings = settings(proto, &field.options());
            return self.line(&format!("{head}{settings};"));
        }
        let group = kind.as_message().filter(|_| field.is_group()).cloned();
        self.one(proto, &field.options(), in_oneof, group.as_ref());
    }

    fn one(
        &mut self,
        proto: &FieldDescriptorProto,
        options: &DynamicMessage,
        in_oneof: bool,
        group: Option<&MessageDescriptor>,
    ) {
        let label = match proto.label() {
            Label::Repeated => "repeated ",
            Label::Required => "required ",
            Label::Optional if in_oneof => "",
            Label::Optional if self.proto3 && !proto.proto3_optional() => "",
            Label::Optional => "optional ",
        };
        let settings = settings(proto, options);
        if let Some(group) = group {
            let head = format!(
                "{label}group {} = {}{settings}",
                group.name(),
                proto.number()
            );
            return self.block(&head, |printer| printer.inside(group));
        }
        self.line(&format!(
            "{label}{} {} = {}{settings};",
            type_name(proto),
            proto.name(),
            proto.number()
        ));
    }

    fn extensions(&mut self, extensions: impl Iterator<Item = ExtensionDescriptor>) {
        for extension in extensions {
            let extended = extension.containing_message();
            self.block(&format!("extend .{}", extended.full_name()), |printer| {
                let kind = extension.kind();
                let group = kind.as_message().filter(|_| extension.is_group());
                let proto = extension.field_descriptor_proto();
                printer.one(proto, &extension.options(), false, group);
            });
        }
    }

    fn of_enum(&mut self, of: &EnumDescriptor) {
        self.block(&format!("enum {}", of.name()), |printer| {
            printer.options(&of.options());
            for value in of.enum_descriptor_proto().value.iter() {
                let options = of.get_value_by_name(value.name()).map(|it| it.options());
                let options = options.as_ref().map(pairs).unwrap_or_default();
                let options = bracketed(options);
                printer.line(&format!("{} = {}{options};", value.name(), value.number()));
            }
            for range in &of.enum_descriptor_proto().reserved_range {
                let reserved = span(range.start(), range.end(), i32::MAX);
                printer.line(&format!("reserved {reserved};"));
            }
            for name in of.reserved_names() {
                printer.line(&format!("reserved {};", quoted(name)));
            }
        });
    }

    fn service(&mut self, service: &ServiceDescriptor) {
        self.block(&format!("service {}", service.name()), |printer| {
            printer.options(&service.options());
            for method in service.methods() {
                let stream = |is: bool| if is { "stream " } else { "" };
                let head = format!(
                    "rpc {}({}.{}) returns ({}.{})",
                    method.name(),
                    stream(method.is_client_streaming()),
                    method.input().full_name(),
                    stream(method.is_server_streaming()),
                    method.output().full_name()
                );
                let options = method.options();
                if pairs(&options).is_empty() {
                    printer.line(&format!("{head};"));
                } else {
                    printer.block(&head, |printer| printer.options(&options));
                }
            }
        });
    }
}

/// Fields as they are in the file; prost-reflect has them by number.
trait FieldsInOrder {
    fn fields_in_order(&self) -> Vec<FieldDescriptor>;
}

impl FieldsInOrder for MessageDescriptor {
    fn fields_in_order(&self) -> Vec<FieldDescriptor> {
        let proto: &DescriptorProto = self.descriptor_proto();
        let names = proto.field.iter().map(FieldDescriptorProto::name);
        names
            .filter_map(|name| self.get_field_by_name(name))
            .collect()
    }
}

/// Is the message a group's, which is printed where its field is?
fn is_group(message: &MessageDescriptor) -> bool {
    let is_of =
        |field: &FieldDescriptor| field.is_group() && field.kind().as_message() == Some(message);
    let extends = |extension: ExtensionDescriptor| {
        extension.is_group() && extension.kind().as_message() == Some(message)
    };
    match message.parent_message() {
        Some(parent) => {
            parent.fields().any(|field| is_of(&field)) || parent.child_extensions().any(extends)
        }
        None => message.parent_file().extensions().any(extends),
    }
}

fn type_name(proto: &FieldDescriptorProto) -> String {
    let name = match proto.r#type() {
        Type::Double => "double",
        Type::Float => "float",
        Type::Int64 => "int64",
        Type::Uint64 => "uint64",
        Type::Int32 => "int32",
        Type::Fixed64 => "fixed64",
        Type::Fixed32 => "fixed32",
        Type::Bool => "bool",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Uint32 => "uint32",
        Type::Sfixed32 => "sfixed32",
        Type::Sfixed64 => "sfixed64",
        Type::Sint32 => "sint32",
        Type::Sint64 => "sint64",
        Type::Group | Type::Message | Type::Enum => return proto.type_name().to_owned(),
    };
    name.to_owned()
}

/// What is in brackets behind a field.
fn settings(proto: &FieldDescriptorProto, options: &DynamicMessage) -> String {
    let mut settings = Vec::new();
    if let Some(default) = &proto.default_value {
        let value = match proto.r#type() {
            Type::String => quoted(default),
            // It is escaped already.
            Type::Bytes => format!("\"{default}\""),
            _ => default.clone(),
        };
        settings.push(("default".to_owned(), value));
    }
    if let Some(name) = &proto.json_name
        && *name != json_name(proto.name())
    {
        settings.push(("json_name".to_owned(), quoted(name)));
    }
    settings.extend(pairs(options));
    bracketed(settings)
}

/// The name in JSON that a field has without being told: in camel case.
pub(super) fn json_name(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for character in name.chars() {
        match character {
            '_' => upper = true,
            character if std::mem::take(&mut upper) => camel.push(character.to_ascii_uppercase()),
            character => camel.push(character),
        }
    }
    camel
}

fn bracketed(settings: Vec<(String, String)>) -> String {
    if settings.is_empty() {
        return String::new();
    }
    let settings: Vec<String> = settings
        .into_iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    format!(" [{}]", settings.join(", "))
}

/// Options that are set, as they are written.
fn pairs(options: &DynamicMessage) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut add = |name: String, kind: Kind, value: &Value| match value {
        Value::List(values) => {
            pairs.extend(
                values
                    .iter()
                    .map(|value| (name.clone(), literal(&kind, value))),
            );
        }
        value => pairs.push((name, literal(&kind, value))),
    };
    for (field, value) in options.fields() {
        add(field.name().to_owned(), field.kind(), value);
    }
    for (extension, value) in options.extensions() {
        add(
            format!("(.{})", extension.full_name()),
            extension.kind(),
            value,
        );
    }
    pairs
}

fn literal(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        (_, Value::Message(message)) => format!("{{ {} }}", message.to_text_format()),
        (_, Value::String(text)) => quoted(text),
        (Kind::Enum(of), Value::EnumNumber(number)) => match of.get_value(*number) {
            Some(known) => known.name().to_owned(),
            None => number.to_string(),
        },
        (_, other) => other.to_string(),
    }
}

fn span(start: i32, end: i32, max: i32) -> String {
    if start == end {
        return start.to_string();
    }
    if end >= max {
        return format!("{start} to max");
    }
    format!("{start} to {end}")
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            character if (character as u32) < 0x20 => {
                // It is written to a string, which does not fail.
                let _ = write!(quoted, "\\{:03o}", character as u32);
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
