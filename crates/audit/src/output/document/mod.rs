//! A report as sentences and tables, which outputs for people render each in their own way.

pub(super) mod markdown;
pub(super) mod text;

use data_encoding::HEXLOWER;

use crate::text::number;
use crate::weighed::HeavyKey;

/// The whole of it.
pub(super) struct Document {
    /// The answer in a sentence; begins with the word for the verdict.
    pub(super) headline: String,
    pub(super) mark: Mark,
    /// What was read and how, a sentence each.
    pub(super) lead: Vec<String>,
    pub(super) sections: Vec<Section>,
    pub(super) warnings: Vec<String>,
}

/// The end of a headline whose run was interrupted.
pub(super) const fn partly(partial: bool) -> &'static str {
    if partial {
        " (partial: interrupted before the end of the input)"
    } else {
        ""
    }
}

/// How good the news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// An answer that is neither good nor bad.
    Neutral,
    Good,
    Bad,
    Unknown,
}

/// Something with a title.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) parts: Vec<Part>,
}

/// What a section is made of, in the order in which it is read.
pub(super) enum Part {
    Sentence(String),
    Table(Table),
    /// Lines to be shown as they are, in a fixed-width font.
    Verbatim(Vec<String>),
}

impl Section {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            parts: Vec::new(),
        }
    }

    pub(super) fn say(mut self, sentence: impl Into<String>) -> Self {
        self.parts.push(Part::Sentence(sentence.into()));
        self
    }

    pub(super) fn table(mut self, table: Table) -> Self {
        self.parts.push(Part::Table(table));
        self
    }

    pub(super) fn verbatim<'l>(mut self, lines: impl Iterator<Item = &'l str>) -> Self {
        self.parts
            .push(Part::Verbatim(lines.map(str::to_owned).collect()));
        self
    }

    /// Says several things, a sentence each.
    pub(super) fn say_all(self, sentences: impl IntoIterator<Item = String>) -> Self {
        sentences.into_iter().fold(self, Self::say)
    }
}

pub(super) struct Table {
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Rows that there was no room for.
    pub(super) left_out: usize,
}

impl Table {
    /// Of the first `room` of `rows`.
    pub(super) fn new<const N: usize>(
        heads: [&str; N],
        rows: impl ExactSizeIterator<Item = [Cell; N]>,
        room: usize,
    ) -> Self {
        let left_out = rows.len().saturating_sub(room);
        Self {
            heads: heads.map(str::to_owned).into(),
            rows: rows.take(room).map(Vec::from).collect(),
            left_out,
        }
    }

    /// The same of rows that were counted by making them.
    pub(super) fn of<const N: usize>(heads: [&str; N], rows: Vec<[Cell; N]>, room: usize) -> Self {
        Self::new(heads, rows.into_iter(), room)
    }

    /// Whether a column holds numbers, which are aligned right.
    pub(super) fn is_number(&self, column: usize) -> bool {
        let first = self.rows.first().and_then(|row| row.get(column));
        first.is_some_and(Cell::is_number)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Text(String),
    /// A name, which may hold anything.
    Code(String),
    Number(u64),
    /// A share from 0 to 1; none where there is nothing to take it of.
    Share(Option<f64>),
    Decimal(f64),
    /// A key's bytes in hexadecimal, and whether there are more.
    Key(String, bool),
}

impl Cell {
    pub(super) fn text(text: impl ToString) -> Self {
        Self::Text(text.to_string())
    }

    /// All bytes of a key.
    pub(super) fn key(hex: &str) -> Self {
        Self::Key(hex.to_owned(), false)
    }

    /// The beginning of a key's hexadecimal form.
    pub(super) fn hex(hex: &str) -> Self {
        Self::Code(cut(hex, HEX_WIDTH))
    }

    /// A share of a whole; none of nothing.
    pub(super) fn of(part: u64, whole: u64) -> Self {
        Self::Share((whole > 0).then(|| part as f64 / whole as f64))
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Share(_) | Self::Decimal(_))
    }

    /// The number, for sorting.
    pub(super) fn value(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number as f64),
            Self::Share(share) => *share,
            Self::Decimal(decimal) => Some(*decimal),
            // Partitions are text where a place may be none.
            Self::Text(text) => text.parse().ok(),
            Self::Code(_) | Self::Key(..) => None,
        }
    }

    /// As text that holds no key and no name.
    pub(super) fn plain(&self) -> String {
        match self {
            Self::Text(text) | Self::Code(text) => text.clone(),
            Self::Number(n) => number(*n),
            Self::Share(share) => self::share(*share),
            Self::Decimal(n) => decimal(*n),
            Self::Key(hex, _) => hex.clone(),
        }
    }
}

/// The bytes of a key in hexadecimal.
pub(super) fn bytes(hex: &str) -> Vec<u8> {
    HEXLOWER.decode(hex.as_bytes()).unwrap_or_default()
}

/// A share for people; never 0 or 100 % unless it is.
pub(super) fn share(share: Option<f64>) -> String {
    match share {
        None => "none".into(),
        Some(s) if s <= 0.0 => "0 %".into(),
        Some(s) if s >= 1.0 => "100 %".into(),
        Some(s) if s < 0.001 => "<0.1 %".into(),
        Some(s) if s > 0.999 => ">99.9 %".into(),
        Some(s) => format!("{:.1} %", 100.0 * s),
    }
}

/// A number with so many digits as say something.
pub(super) fn decimal(n: f64) -> String {
    match n.abs() {
        _ if n == 0.0 => "0".into(),
        a if !(0.001..1e12).contains(&a) => format!("{n:.2e}"),
        a if a < 10.0 => format!("{n:.3}"),
        a if a < 1000.0 => format!("{n:.1}"),
        _ => number(n.round() as u64),
    }
}

/// The keys of most records, with the titles of their places.
pub(super) fn heavy_table(heavy: &[HeavyKey], places: &[String], room: usize) -> Table {
    let heads = ["key", "hex", "records", "share"].map(str::to_owned);
    Table {
        heads: heads.into_iter().chain(places.iter().cloned()).collect(),
        rows: heavy
            .iter()
            .take(room)
            .map(|key| {
                let records = if key.records_at_least == key.records_at_most {
                    Cell::Number(key.records_at_least)
                } else {
                    Cell::text(format!(
                        "{} to {}",
                        number(key.records_at_least),
                        number(key.records_at_most)
                    ))
                };
                let fixed = [
                    Cell::Key(key.key_hex.clone(), key.truncated),
                    Cell::Code(cut(&key.key_hex, HEX_WIDTH)),
                    records,
                    Cell::Share(Some(key.share)),
                ];
                let places = key.places.iter().map(Cell::text);
                fixed.into_iter().chain(places).collect()
            })
            .collect(),
        left_out: heavy.len().saturating_sub(room),
    }
}

/// Characters of a key's hexadecimal form that are shown beside it.
pub(super) const HEX_WIDTH: usize = 24;

/// At most so many characters.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (n, text) in [
            (0.0, "0"),
            (0.000_12, "1.20e-4"),
            (1.5, "1.500"),
            (12.34, "12.3"),
            (12_345.6, "12,346"),
            (1e300, "1.00e300"),
        ] {
            assert_eq!(decimal(n), text);
        }
        for (n, text) in [
            (Some(0.0), "0 %"),
            (Some(0.0005), "<0.1 %"),
            (Some(0.5), "50.0 %"),
            (Some(0.9995), ">99.9 %"),
            (Some(1.0), "100 %"),
            (None, "none"),
        ] {
            assert_eq!(share(n), text);
        }
    }
}
