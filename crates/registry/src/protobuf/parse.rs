//! From a text, or a descriptor in base64, to a file that was compiled.

use data_encoding::BASE64;
use prost::Message;
use prost_reflect::FileDescriptor;
use prost_reflect::prost_types::FileDescriptorProto;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use super::nesting;
use super::print::json_name;

/// A file, compiled with all that it imports.
#[derive(Clone, Debug)]
pub(crate) struct Protobuf {
    pub(super) file: FileDescriptor,
}

/// A file that is imported: under which name, and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import<'t> {
    pub(crate) name: &'t str,
    pub(crate) text: &'t str,
}

/// Compiles a Protobuf schema as registries have it: a text in Protobuf's language, or a `FileDescriptorProto` in
/// base64. The files that it imports, and those that they import, are given by name; those of `google/protobuf` are
/// known.
///
/// # Errors
/// What is wrong, in one line.
///
/// ```
/// let money = "syntax = \"proto3\"; message Money { int64 cents = 1; }";
/// let order = "syntax = \"proto3\"; import \"money.proto\"; message Order { Money total = 1; }";
/// let file = copart_registry::protobuf_file(order, &[("money.proto", money)])?;
/// assert_eq!(file.messages().next().map(|message| message.full_name().to_owned()), Some("Order".to_owned()));
/// # Ok::<(), String>(())
/// ```
pub fn protobuf_file(text: &str, imports: &[(&str, &str)]) -> Result<FileDescriptor, String> {
    let imports: Vec<_> = imports
        .iter()
        .map(|&(name, text)| Import { name, text })
        .collect();
    Ok(Protobuf::parse(text, &imports)?.file)
}

/// The files of one compilation.
struct Files {
    main: (String, FileDescriptorProto),
    /// By name, with their texts.
    imports: Vec<(String, String)>,
}

impl FileResolver for Files {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == self.main.0 {
            return Ok(File::from_file_descriptor_proto(self.main.1.clone()));
        }
        let import = self.imports.iter().find(|(known, _)| known == name);
        let (_, text) = import.ok_or_else(|| protox::Error::file_not_found(name))?;
        Ok(File::from_file_descriptor_proto(read(text, name)?))
    }
}

/// A text in Protobuf's language, or, as some clients send it, a `FileDescriptorProto` in base64.
fn read(text: &str, name: &str) -> Result<FileDescriptorProto, protox::Error> {
    if let Ok(bytes) = BASE64.decode(text.trim().as_bytes())
        && let Ok(mut file) = FileDescriptorProto::decode(&bytes[..])
    {
        file.name = Some(name.to_owned());
        file.source_code_info = None;
        return Ok(file);
    }
    nesting::check(text).map_err(protox::Error::new)?;
    let file = File::from_source(name, text)?;
    let mut file = FileDescriptorProto::from(file);
    file.source_code_info = None;
    Ok(file)
}

impl Protobuf {
    pub(crate) fn parse(text: &str, imports: &[Import<'_>]) -> Result<Self, String> {
        let mut name = "schema.proto".to_owned();
        while imports.iter().any(|import| import.name == name) {
            name.insert(0, '_');
        }
        let main = read(text, &name).map_err(|error| reasons(&error))?;
        let mut resolver = ChainFileResolver::new();
        resolver.add(Files {
            main: (name.clone(), main),
            imports: imports
                .iter()
                .map(|import| (import.name.to_owned(), import.text.to_owned()))
                .collect(),
        });
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_source_info(false);
        compiler.open_file(&name).map_err(|error| reasons(&error))?;
        let pool = compiler.descriptor_pool();
        let file = pool.get_file_by_name(&name);
        Ok(Self {
            file: file.ok_or("the compiler has no such file")?,
        })
    }

    /// The text without comments, if all is in it; else what was written.
    pub(crate) fn kept_text(&self, written: &str, imports: &[Import<'_>]) -> String {
        let text = self.text();
        let again = Self::parse(&text, imports);
        let same = again.is_ok_and(|again| {
            bare(self.file.file_descriptor_proto()) == bare(again.file.file_descriptor_proto())
        });
        if same { text } else { written.to_owned() }
    }

    /// As the clients that do not read Protobuf's language want it: a `FileDescriptorProto` in base64.
    pub(crate) fn serialized(&self) -> String {
        BASE64.encode(&self.file.encode_to_vec())
    }
}

/// An error and those that led to it, in one line.
fn reasons(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(reason) = source {
        let reason_text = reason.to_string();
        if !text.contains(&reason_text) {
            text = format!("{text}: {reason_text}");
        }
        source = reason.source();
    }
    text
}

/// A file without what is the same whether it is said or not.
fn bare(file: &FileDescriptorProto) -> FileDescriptorProto {
    let mut file = file.clone();
    file.name = None;
    file.source_code_info = None;
    if file.syntax() == "proto2" {
        file.syntax = None;
    }
    let mut messages: Vec<_> = file.message_type.iter_mut().collect();
    let mut fields: Vec<_> = file.extension.iter_mut().collect();
    while let Some(message) = messages.pop() {
        fields.extend(message.field.iter_mut());
        fields.extend(message.extension.iter_mut());
        messages.extend(message.nested_type.iter_mut());
    }
    for field in fields {
        if field.json_name == Some(json_name(field.name())) {
            field.json_name = None;
        }
    }
    file
}
