//! Tables that the script makes sort and filter.

use super::markup::Markup;
use crate::output::document::{Cell, Table, bytes};
use crate::output::wording::printable_bytes;
use crate::text::number;

/// Characters of a key that are shown.
const KEY_WIDTH: usize = 80;

pub(super) fn write(table: &Table, title: &str, page: &mut Markup) {
    // Wider than a phone, it is moved by touch or by keys.
    page.open(
        "div",
        &[
            ("class", &"scroll"),
            ("role", &"region"),
            ("aria-label", &title),
            ("tabindex", &"0"),
        ],
    );
    page.open("table", &[("class", &"data")]);
    if table.left_out > 0 {
        let caption = format!(
            "The first {} of {} rows; the json and csv outputs have all.",
            number(table.rows.len() as u64),
            number((table.rows.len() + table.left_out) as u64)
        );
        page.element("caption", &[], &caption);
    }
    page.constant("<thead><tr>");
    for (column, head) in table.heads.iter().enumerate() {
        if table.is_number(column) {
            page.element("th", &[("scope", &"col"), ("class", &"n")], head);
        } else {
            page.element("th", &[("scope", &"col")], head);
        }
    }
    page.constant("</tr></thead><tbody>\n");
    for row in &table.rows {
        page.open("tr", &[]);
        for (column, cell) in row.iter().enumerate() {
            self::cell(column, cell, table.is_number(column), page);
        }
        page.close("tr").constant("\n");
    }
    page.constant("</tbody></table></div>\n");
}

fn cell(column: usize, cell: &Cell, right: bool, page: &mut Markup) {
    let tag = if column == 0 { "th" } else { "td" };
    let value = cell.value().map(|value| value.to_string());
    let mut attributes: Vec<(&'static str, &dyn std::fmt::Display)> = Vec::new();
    if column == 0 {
        attributes.push(("scope", &"row"));
    }
    if right {
        attributes.push(("class", &"n"));
    }
    if let Some(value) = &value {
        attributes.push(("data-v", value));
    }
    page.open(tag, &attributes);
    match cell {
        Cell::Code(name) => {
            page.element("code", &[], name);
        }
        Cell::Key(hex, truncated) => key(hex, *truncated, page),
        cell => {
            page.text(&cell.plain());
        }
    }
    page.close(tag);
}

/// A key as text, or in hexadecimal when it is not printable or would mislead.
fn key(hex: &str, truncated: bool, page: &mut Markup) {
    if hex.is_empty() {
        page.text("(empty)");
        return;
    }
    let (prefix, shown) = match printable_bytes(&bytes(hex)) {
        Some(text) => ("", text),
        None => ("hex ", hex.to_owned()),
    };
    let cut = shown.chars().count() > KEY_WIDTH;
    let kept: String = shown.chars().take(KEY_WIDTH).collect();
    page.text(prefix).element("code", &[], &kept);
    page.text(if cut || truncated { "…" } else { "" });
}
