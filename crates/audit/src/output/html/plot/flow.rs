use std::collections::BTreeMap;

use super::{group_size, percent};
use crate::output::html::markup::Markup;
use crate::text::number;

/// Places that are drawn on each side; of more, neighbours are one.
const ROOM: usize = 24;

/// Where the ribbons begin and end, in per cent of the width: labels and nodes are beside them.
const LEFT: f64 = 18.0;
const RIGHT: f64 = 82.0;
const NODE: f64 = 2.0;

/// Between two nodes, in pixels.
const GAP: f64 = 4.0;

/// What goes from places on the left to places on the right, as ribbons.
pub(in super::super) struct Flows {
    pub(in super::super) title: String,
    pub(in super::super) unit: &'static str,
    pub(in super::super) from: Vec<String>,
    pub(in super::super) to: Vec<String>,
    pub(in super::super) ribbons: Vec<Ribbon>,
}

/// A part of what is drawn.
pub(in super::super) struct Ribbon {
    /// Index of a place on the left.
    pub(in super::super) from: usize,
    /// Index of a place on the right.
    pub(in super::super) to: usize,
    pub(in super::super) amount: u64,
    /// Whether it goes elsewhere.
    pub(in super::super) moves: bool,
}

struct Side {
    group: usize,
    amounts: Vec<u64>,
    /// Where each node's next ribbon begins, in pixels.
    at: Vec<f64>,
}

impl Side {
    fn new(places: usize) -> Self {
        let group = group_size(places, ROOM);
        let nodes = places.div_ceil(group);
        Self {
            group,
            amounts: vec![0; nodes],
            at: vec![0.0; nodes],
        }
    }

    fn lay_out(&mut self, scale: f64) {
        let mut y = 0.0;
        for (at, &amount) in self.at.iter_mut().zip(&self.amounts) {
            *at = y;
            y += amount as f64 * scale + GAP;
        }
    }

    fn label(&self, node: usize, names: &[String]) -> String {
        let first = node * self.group;
        let last = (first + self.group).min(names.len()) - 1;
        if first == last {
            names[first].clone()
        } else {
            format!("{}–{}", names[first], names[last])
        }
    }
}

impl Flows {
    pub(super) fn draw(&self) -> (Markup, f64, String) {
        let (mut left, mut right) = (Side::new(self.from.len()), Side::new(self.to.len()));
        let mut ribbons: BTreeMap<(usize, usize, bool), u64> = BTreeMap::new();
        for ribbon in &self.ribbons {
            let (from, to) = (ribbon.from / left.group, ribbon.to / right.group);
            for amount in [
                &mut left.amounts[from],
                &mut right.amounts[to],
                ribbons.entry((from, to, ribbon.moves)).or_default(),
            ] {
                *amount = amount.saturating_add(ribbon.amount);
            }
        }
        let nodes = left.at.len().max(right.at.len()) as f64;
        let height = (nodes * 24.0).clamp(160.0, 560.0);
        let total = left
            .amounts
            .iter()
            .map(|&amount| amount as f64)
            .sum::<f64>()
            .max(1.0);
        let scale = (height - GAP * (nodes - 1.0)) / total;
        left.lay_out(scale);
        right.lay_out(scale);
        let mut page = Markup::default();
        self.side(
            &left,
            &self.from,
            (0.0, "start"),
            LEFT - NODE,
            scale,
            &mut page,
        );
        self.side(&right, &self.to, (100.0, "end"), RIGHT, scale, &mut page);
        // Paths know no shares of the width, so they are stretched.
        page.open(
            "svg",
            &[
                ("x", &percent(LEFT)),
                ("width", &percent(RIGHT - LEFT)),
                ("height", &height),
                ("viewBox", &format!("0 0 100 {height}")),
                ("preserveAspectRatio", &"none"),
            ],
        );
        for (&(from, to, moves), &amount) in &ribbons {
            let thick = amount as f64 * scale;
            let (a, b) = (left.at[from], right.at[to]);
            left.at[from] += thick;
            right.at[to] += thick;
            let path = format!(
                "M0 {a:.2}C50 {a:.2} 50 {b:.2} 100 {b:.2}V{:.2}C50 {:.2} 50 {:.2} 0 {:.2}Z",
                b + thick,
                b + thick,
                a + thick,
                a + thick
            );
            let class = if moves { "ribbon move" } else { "ribbon stay" };
            page.open("path", &[("class", &class), ("d", &path)]);
            let (from, to) = (left.label(from, &self.from), right.label(to, &self.to));
            let text = format!("{from} to {to}: {} {}", number(amount), self.unit);
            page.element("title", &[], &text);
            page.close("path");
        }
        page.close("svg");
        (page, height, self.description(left.group.max(right.group)))
    }

    fn side(
        &self,
        side: &Side,
        names: &[String],
        (x, anchor): (f64, &str),
        node_x: f64,
        scale: f64,
        page: &mut Markup,
    ) {
        // Labels that would lie on one another are left out.
        let mut free = f64::MIN;
        for (node, (&y, &amount)) in side.at.iter().zip(&side.amounts).enumerate() {
            if amount == 0 {
                continue;
            }
            let height = amount as f64 * scale;
            let label = side.label(node, names);
            page.open(
                "rect",
                &[
                    ("class", &"other"),
                    ("x", &percent(node_x)),
                    ("width", &percent(NODE)),
                    ("y", &format!("{y:.2}")),
                    ("height", &format!("{:.2}", height.max(0.5))),
                ],
            );
            page.element(
                "title",
                &[],
                &format!("{label}: {} {}", number(amount), self.unit),
            );
            page.close("rect");
            let middle = y + height / 2.0 + 4.0;
            if middle - free >= 12.0 {
                free = middle;
                page.element(
                    "text",
                    &[
                        ("x", &percent(x)),
                        ("y", &format!("{middle:.1}")),
                        ("text-anchor", &anchor),
                    ],
                    &label,
                );
            }
        }
    }

    fn description(&self, group: usize) -> String {
        let sum = |moves| -> u64 {
            let ribbons = self.ribbons.iter().filter(|ribbon| ribbon.moves == moves);
            ribbons.map(|ribbon| ribbon.amount).sum()
        };
        let mut said = format!(
            "On the left where {} are before, on the right where they are after: {} stay and {} move.",
            self.unit,
            number(sum(false)),
            number(sum(true))
        );
        if group > 1 {
            said.push_str(&format!(
                " Up to {group} neighbouring places are drawn as one."
            ));
        }
        said
    }
}
