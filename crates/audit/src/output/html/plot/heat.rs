use super::{group_size, percent};
use crate::output::html::markup::Markup;
use crate::text::number;

/// Rows and columns that are drawn; of more, neighbours are added up.
const ROOM: usize = 48;

/// Where the cells begin: beside the labels of the rows, below those of the columns.
const LEFT: f64 = 9.0;
const TOP: f64 = 34.0;

const LABELS: usize = 12;

/// Cells by row and column, darker where there is more.
pub(in super::super) struct Heat {
    pub(in super::super) title: String,
    pub(in super::super) unit: &'static str,
    pub(in super::super) rows: Vec<String>,
    pub(in super::super) columns: Vec<String>,
    /// What rows and columns are.
    pub(in super::super) axes: (&'static str, &'static str),
    /// (row, column, amount); what is not there is 0.
    pub(in super::super) cells: Vec<(usize, usize, u64)>,
    /// Whether cells on the diagonal have a colour of their own: what stays.
    pub(in super::super) diagonal: bool,
}

impl Heat {
    pub(super) fn draw(&self) -> (Markup, f64, String) {
        let (down, across) = (
            group_size(self.rows.len(), ROOM),
            group_size(self.columns.len(), ROOM),
        );
        let (rows, columns) = (
            self.rows.len().div_ceil(down),
            self.columns.len().div_ceil(across),
        );
        let mut sums = vec![0u64; rows * columns];
        for &(row, column, amount) in &self.cells {
            let sum = &mut sums[row / down * columns + column / across];
            *sum = sum.saturating_add(amount);
        }
        let most = sums.iter().copied().max().unwrap_or(0).max(1) as f64;
        let width = (100.0 - LEFT) / columns.max(1) as f64;
        let height = (360.0 / rows.max(1) as f64).clamp(8.0, 26.0);
        let mut page = Markup::default();
        page.element("text", &[("x", &"0"), ("y", &"12")], self.axes.0);
        page.element(
            "text",
            &[("x", &"100%"), ("y", &"12"), ("text-anchor", &"end")],
            self.axes.1,
        );
        for column in (0..columns).step_by(columns.div_ceil(LABELS).max(1)) {
            let x = percent(LEFT + width * (column as f64 + 0.5));
            page.element(
                "text",
                &[("x", &x), ("y", &(TOP - 6.0)), ("text-anchor", &"middle")],
                &self.columns[column * across],
            );
        }
        for row in 0..rows {
            let y = TOP + height * row as f64;
            if row.is_multiple_of(rows.div_ceil(LABELS)) {
                let middle = format!("{:.1}", y + height / 2.0 + 4.0);
                page.element(
                    "text",
                    &[("x", &"0"), ("y", &middle)],
                    &self.rows[row * down],
                );
            }
            for column in 0..columns {
                let amount = sums[row * columns + column];
                if amount == 0 {
                    continue;
                }
                let x = LEFT + width * column as f64;
                let stays = self.diagonal && down == across && row == column;
                // What is there is to be seen, be it ever so little.
                let strength = 0.12 + 0.88 * amount as f64 / most;
                page.open(
                    "rect",
                    &[
                        ("class", &if stays { "cell stay" } else { "cell move" }),
                        ("fill-opacity", &format!("{strength:.2}")),
                        ("x", &percent(x)),
                        ("width", &percent(width)),
                        ("y", &format!("{y:.1}")),
                        ("height", &format!("{height:.1}")),
                    ],
                );
                let (from, to) = (&self.rows[row * down], &self.columns[column * across]);
                page.element(
                    "title",
                    &[],
                    &format!("{from}, {to}: {} {}", number(amount), self.unit),
                );
                page.close("rect");
            }
        }
        let used = sums.iter().filter(|&&sum| sum > 0).count();
        let mut said = format!(
            "{} by {} cells, {used} of them with {}; the most in one is {}. A darker cell has more.",
            rows,
            columns,
            self.unit,
            number(most as u64)
        );
        if down * across > 1 {
            said.push_str(&format!(" Each cell adds up {down} by {across} of them."));
        }
        (page, TOP + height * rows as f64 + 4.0, said)
    }
}
