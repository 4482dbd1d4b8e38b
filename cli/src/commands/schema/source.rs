//! A schema that is given: a file, its language, and what it refers to.

use std::io::Read;
use std::path::{Path, PathBuf};

use copart_audit::Error;
use copart_serializers::schema::{Reference, Schema, SchemaType};

#[derive(clap::Args)]
pub(super) struct SchemaArgs {
    /// File of the schema, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Language of the schema: avro, protobuf or json [default: by the file's name, .avsc, .proto or
    /// .json]
    #[arg(long = "type", value_name = "TYPE", value_parser = schema_type)]
    schema_type: Option<SchemaType>,

    /// A schema that this one refers to: the name that it has here (a type in Avro, an import in
    /// Protobuf, a $ref in JSON Schema), and its subject and version; can be given more than once
    #[arg(long, value_name = "NAME=SUBJECT:VERSION", value_parser = reference)]
    reference: Vec<Reference>,
}

fn schema_type(text: &str) -> Result<SchemaType, String> {
    SchemaType::from_name(&text.to_ascii_uppercase())
        .ok_or_else(|| "it is avro, protobuf or json".into())
}

fn reference(text: &str) -> Result<Reference, String> {
    // Names may have an equals sign, as URLs; subjects a colon.
    let parts = text.rsplit_once(':').and_then(|(rest, version)| {
        let (name, subject) = rest.rsplit_once('=')?;
        let version = version.parse().ok().filter(|&version: &i32| version > 0)?;
        (!name.is_empty() && !subject.is_empty()).then(|| Reference {
            name: name.to_owned(),
            subject: subject.to_owned(),
            version,
        })
    });
    parts.ok_or_else(|| "it is NAME=SUBJECT:VERSION, as in money.proto=money:1".into())
}

impl SchemaArgs {
    pub(super) fn read(&self) -> Result<Schema, Error> {
        let schema_type = self.schema_type()?;
        let text = if self.file == Path::new("-") {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map(|_| text)
        } else {
            std::fs::read_to_string(&self.file)
        };
        let text =
            text.map_err(|error| Error::input(format!("{}: {error}", self.file.display())))?;
        Ok(Schema::new(schema_type, text).with_references(self.reference.clone()))
    }

    fn schema_type(&self) -> Result<SchemaType, Error> {
        if let Some(given) = self.schema_type {
            return Ok(given);
        }
        match self
            .file
            .extension()
            .and_then(|extension| extension.to_str())
        {
            Some("avsc") => Ok(SchemaType::Avro),
            Some("proto") => Ok(SchemaType::Protobuf),
            Some("json") => Ok(SchemaType::Json),
            _ => Err(Error::usage(format!(
                "{}: the name does not say which language the schema is in; --type avro, protobuf or json does",
                self.file.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_a_version_of_a_subject() {
        let read = reference("https://x/?a=b.json=a:b:12").unwrap();
        assert_eq!(read.name, "https://x/?a=b.json");
        assert_eq!((read.subject.as_str(), read.version), ("a:b", 12));
        for wrong in ["a", "a=b", "a=b:0", "a=b:x", "=b:1", "a=:1"] {
            assert!(reference(wrong).is_err(), "{wrong}");
        }
    }
}
