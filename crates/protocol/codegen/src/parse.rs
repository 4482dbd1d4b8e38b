//! Reads the schema language, which `schema/README.md` describes.

use crate::schema::{Api, Field, Message, Schema, Struct, Type, Versions};

/// A line that is not in the language.
#[derive(Debug)]
pub struct ParseError {
    line: usize,
    reason: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.line, self.reason)
    }
}

impl std::error::Error for ParseError {}

/// Reads one schema file.
pub fn parse(text: &str) -> Result<Schema, ParseError> {
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .filter_map(|(index, raw)| {
            let body = raw.trim();
            (!body.is_empty() && !body.starts_with('#')).then(|| Line {
                number: index + 1,
                indent: raw.len() - raw.trim_start().len(),
                body,
            })
        })
        .collect();
    Parser { lines, next: 0 }.schema()
}

#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    body: &'a str,
}

impl Line<'_> {
    fn error<T>(&self, reason: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            line: self.number,
            reason: format!("{} (in {:?})", reason.into(), self.body),
        })
    }
}

struct Parser<'a> {
    lines: Vec<Line<'a>>,
    next: usize,
}

impl<'a> Parser<'a> {
    fn schema(mut self) -> Result<Schema, ParseError> {
        let mut schema = Schema::default();
        while let Some(line) = self.take() {
            let words: Vec<_> = line.body.split_whitespace().collect();
            match words[..] {
                ["api", key, name] if line.indent == 0 => {
                    let Ok(key) = key.parse() else {
                        return line.error("the API key is not a number");
                    };
                    let api = self.api(key, name, &line)?;
                    schema.apis.push(api);
                }
                ["message", name, versions, ref rest @ ..] if line.indent == 0 => {
                    let flexible = match rest {
                        [] => None,
                        ["flexible", from] => Some(range(from, &line)?.low),
                        _ => return line.error("expected VERSIONS [flexible FROM+]"),
                    };
                    let doc = self.keyword("doc").unwrap_or_default();
                    let mut message = Message {
                        name: name.to_owned(),
                        doc,
                        versions: range(versions, &line)?,
                        flexible,
                        fields: Vec::new(),
                        structs: Vec::new(),
                    };
                    let mut structs = Vec::new();
                    message.fields =
                        self.fields(2, message.versions, message.versions, &mut structs)?;
                    message.structs = structs;
                    schema.messages.push(message);
                }
                _ => {
                    return line.error(
                        "expected `api KEY NAME` or `message NAME VERSIONS [flexible FROM+]`",
                    );
                }
            }
        }
        Ok(schema)
    }

    fn api(&mut self, key: i16, name: &str, at: &Line<'_>) -> Result<Api, ParseError> {
        let Some(doc) = self.keyword("doc") else {
            return at.error("a `doc` line must follow");
        };
        let advertise = match self.keyword("advertise") {
            Some(versions) => Some(range(&versions, at)?),
            None => None,
        };
        let mut structs = Vec::new();
        let request = self.body(name, "Request", at, &mut structs)?;
        let response = self.body(name, "Response", at, &mut structs)?;
        if (request.versions, request.flexible) != (response.versions, response.flexible) {
            return at.error("request and response do not have the same versions");
        }
        Ok(Api {
            key,
            name: name.to_owned(),
            doc,
            advertise,
            request,
            response,
            structs,
        })
    }

    fn body(
        &mut self,
        api: &str,
        kind: &str,
        at: &Line<'_>,
        structs: &mut Vec<Struct>,
    ) -> Result<Message, ParseError> {
        let Some(rest) = self.keyword(&kind.to_lowercase()) else {
            return at.error(format!("no `{}` line", kind.to_lowercase()));
        };
        let line = self.lines[self.next - 1];
        let words: Vec<_> = rest.split_whitespace().collect();
        let (versions, flexible) = match words[..] {
            [versions] => (versions, None),
            [versions, "flexible", from] => (versions, Some(range(from, &line)?.low)),
            _ => return line.error("expected VERSIONS [flexible FROM+]"),
        };
        let versions = range(versions, &line)?;
        Ok(Message {
            name: format!("{api}{kind}"),
            doc: String::new(),
            versions,
            flexible,
            fields: self.fields(2, versions, versions, structs)?,
            structs: Vec::new(),
        })
    }

    /// The fields at exactly this indentation, up to a line with less. A field that names no versions is in
    /// all of its struct's, and a struct that two fields share is in both fields'.
    fn fields(
        &mut self,
        indent: usize,
        message: Versions,
        held: Versions,
        structs: &mut Vec<Struct>,
    ) -> Result<Vec<Field>, ParseError> {
        let mut fields = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            self.next += 1;
            if line.indent != indent {
                return line.error(format!("indented by {}, not {indent}", line.indent));
            }
            let field = field(&line, message)?;
            if let Type::Struct(name) = &field.ty {
                let held = field.versions.intersect(&held);
                let inner = self.fields(indent + 2, message, held, structs)?;
                let known = structs.iter_mut().find(|s| s.name == *name);
                match (known, inner.is_empty()) {
                    (None, true) => return line.error(format!("{name} has no fields")),
                    (Some(_), false) => return line.error(format!("{name} is defined twice")),
                    (Some(known), true) => known.versions = known.versions.span(&held),
                    (None, false) => structs.push(Struct {
                        name: name.clone(),
                        versions: held,
                        fields: inner,
                    }),
                }
            }
            fields.push(field);
        }
        Ok(fields)
    }

    fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.next).copied()
    }

    fn take(&mut self) -> Option<Line<'a>> {
        let line = self.peek();
        self.next += usize::from(line.is_some());
        line
    }

    /// What follows `word` if the next line starts with it.
    fn keyword(&mut self, word: &str) -> Option<String> {
        let line = self.peek().filter(|line| line.indent == 0)?;
        let rest = line.body.strip_prefix(word)?.strip_prefix(' ')?;
        self.next += 1;
        Some(rest.trim().to_owned())
    }
}

/// `name: type [VERSIONS] [= DEFAULT] [tag N] [ignorable]`
fn field(line: &Line<'_>, within: Versions) -> Result<Field, ParseError> {
    let Some((name, rest)) = line.body.split_once(": ") else {
        return line.error("expected `name: type`");
    };
    let mut words = rest.split_whitespace().peekable();
    let spelled = words.next().unwrap_or_default();
    let (spelled, nullable) = match spelled.split_once('?') {
        None => (spelled, None),
        Some((spelled, "")) => (spelled, Some(Versions::ALL)),
        Some((spelled, versions)) => (spelled, Some(range(versions, line)?)),
    };
    let (array, spelled) = match spelled.strip_prefix("[]") {
        Some(element) => (true, element),
        None => (false, spelled),
    };
    let ty = match spelled {
        "bool" => Type::Bool,
        "int8" => Type::Int8,
        "int16" => Type::Int16,
        "uint16" => Type::Uint16,
        "int32" => Type::Int32,
        "int64" => Type::Int64,
        "float64" => Type::Float64,
        "uuid" => Type::Uuid,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "records" => Type::Records,
        "error" => Type::Error,
        other if other.starts_with(|c: char| c.is_ascii_uppercase()) => {
            Type::Struct(other.to_owned())
        }
        other => return line.error(format!("no type {other:?}")),
    };
    let mut field = Field {
        name: name.to_owned(),
        ty,
        array,
        nullable,
        versions: within,
        default: None,
        tag: None,
        ignorable: false,
    };
    if words
        .peek()
        .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    {
        field.versions = range(words.next().unwrap_or_default(), line)?;
        let some = field.versions.intersect(&within);
        if some.low > some.high {
            return line.error(format!("no such version among {within}"));
        }
    }
    while let Some(word) = words.next() {
        match word {
            "=" => field.default = words.next().map(str::to_owned),
            "tag" => match words.next().and_then(|number| number.parse().ok()) {
                Some(number) => field.tag = Some(number),
                None => return line.error("`tag` needs a number"),
            },
            "ignorable" => field.ignorable = true,
            other => return line.error(format!("what is {other:?}?")),
        }
    }
    Ok(field)
}

/// `3`, `3-7` or `3+`
fn range(text: &str, line: &Line<'_>) -> Result<Versions, ParseError> {
    let parsed = if let Some(low) = text.strip_suffix('+') {
        low.parse().ok().map(|low| Versions {
            low,
            high: i16::MAX,
        })
    } else if let Some((low, high)) = text.split_once('-') {
        low.parse()
            .ok()
            .zip(high.parse().ok())
            .map(|(low, high)| Versions { low, high })
    } else {
        text.parse().ok().map(|version| Versions {
            low: version,
            high: version,
        })
    };
    match parsed {
        Some(versions) if versions.low <= versions.high => Ok(versions),
        _ => line.error(format!("{text:?} is not a range of versions")),
    }
}
