//! Reads TOML tables field by field and collects everything that is wrong, with its line: who
//! writes a contract is told all of it at once.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::contract::Problem;
use crate::lock::line_at;

/// What is read from, and what was found to be wrong.
pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) problems: Vec<Problem>,
}

impl Document<'_> {
    pub(super) fn complain(&mut self, line: u64, what: impl Into<String>) {
        self.problems.push(Problem {
            line,
            what: what.into(),
        });
    }
}

/// One table. Fields that nobody asked for are unknown, which [`Fields::end`] says.
pub(super) struct Fields<'t, 'v> {
    table: &'v DeTable<'t>,
    /// What the table is, for messages: `topic orders`.
    pub(super) name: String,
    /// Where it begins.
    pub(super) line: u64,
    asked: Vec<&'static str>,
}

/// A value and the line it is on.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) line: u64,
}

impl<'t, 'v> Fields<'t, 'v> {
    pub(super) fn new(table: &'v DeTable<'t>, name: impl Into<String>, line: u64) -> Self {
        Self {
            table,
            name: name.into(),
            line,
            asked: Vec::new(),
        }
    }

    fn get(&mut self, field: &'static str) -> Option<&'v Spanned<DeValue<'t>>> {
        self.asked.push(field);
        self.table.get(field)
    }

    /// A field of one type; another type is complained of.
    fn typed<T>(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
        wanted: &str,
        read: impl FnOnce(&'v DeValue<'t>) -> Option<T>,
    ) -> Option<At<T>> {
        let spanned = self.get(field)?;
        let line = line_at(document.text, spanned.span().start);
        let value = read(spanned.get_ref());
        if value.is_none() {
            document.complain(
                line,
                format!(
                    "{}: `{field}` must be {wanted}, and is {}",
                    self.name,
                    kind(spanned.get_ref())
                ),
            );
        }
        value.map(|value| At { value, line })
    }

    pub(super) fn string(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
    ) -> Option<At<String>> {
        self.typed(document, field, "text in quotes", |value| {
            value.as_str().map(str::to_owned)
        })
    }

    pub(super) fn boolean(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
    ) -> Option<At<bool>> {
        self.typed(document, field, "true or false", DeValue::as_bool)
    }

    /// A whole number within a range.
    pub(super) fn number(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Option<At<i64>> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        self.typed(document, field, &wanted, |value| {
            let number = value.as_integer()?;
            let number =
                i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()?;
            range.contains(&number).then_some(number)
        })
    }

    /// Text that means something.
    pub(super) fn parsed<T>(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<At<T>> {
        let At { value, line } = self.string(document, field)?;
        match parse(&value) {
            Ok(value) => Some(At { value, line }),
            Err(what) => {
                document.complain(line, format!("{}: `{field}`: {what}", self.name));
                None
            }
        }
    }

    /// A table of its own.
    pub(super) fn table(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
    ) -> Option<Fields<'t, 'v>> {
        let found = self.typed(document, field, "a table", DeValue::as_table)?;
        Some(Fields::new(found.value, format!("`{field}`"), found.line))
    }

    /// A list of tables; what else is in it is complained of.
    pub(super) fn tables(
        &mut self,
        document: &mut Document<'_>,
        field: &'static str,
    ) -> Vec<Fields<'t, 'v>> {
        let Some(list) = self.typed(document, field, "a list of tables", DeValue::as_array) else {
            return Vec::new();
        };
        let mut tables = Vec::new();
        for (member, index) in list.value.iter().zip(1..) {
            let line = line_at(document.text, member.span().start);
            match member.get_ref().as_table() {
                Some(table) => {
                    tables.push(Fields::new(
                        table,
                        format!("{}: `{field}` {index}", self.name),
                        line,
                    ));
                }
                None => document.complain(
                    line,
                    format!(
                        "{}: `{field}` {index} must be a table, and is {}",
                        self.name,
                        kind(member.get_ref())
                    ),
                ),
            }
        }
        tables
    }

    /// Says which fields nobody asked for.
    pub(super) fn end(&self, document: &mut Document<'_>) {
        for (name, _) in self.table {
            let field = name.get_ref().as_ref();
            if self.asked.contains(&field) {
                continue;
            }
            let line = line_at(document.text, name.span().start);
            let near = self
                .asked
                .iter()
                .map(|known| (strsim::damerau_levenshtein(field, known), known))
                .filter(|(distance, _)| *distance <= 3)
                .min();
            let hint = match near {
                Some((_, known)) => format!("; did you mean `{known}`?"),
                None => format!("; there are {}", self.asked.join(", ")),
            };
            document.complain(
                line,
                format!("{}: no field is called `{field}`{hint}", self.name),
            );
        }
    }
}

/// What a value is, for people.
fn kind(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => "text".into(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(_) => "a number with a point".into(),
        DeValue::Boolean(_) => "true or false".into(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}
