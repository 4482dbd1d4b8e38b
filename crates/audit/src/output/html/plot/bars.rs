use super::{group_size, percent};
use crate::output::document::{cut, decimal};
use crate::output::html::markup::Markup;
use crate::text::number;

/// Bars that are drawn; of more, each is the highest of some neighbours.
const ROOM: usize = 96;

const HEIGHT: f64 = 180.0;
const TOP: f64 = 18.0;
const LABELS: usize = 12;

/// Characters of a name below its bar, for half the width of a phone.
const NAME: usize = 22;

/// A bar for each partition, or whatever else has a label.
pub(in super::super) struct Bars {
    pub(in super::super) title: String,
    /// What is counted, such as `records`.
    pub(in super::super) unit: &'static str,
    /// What a bar stands for, such as `partition`.
    pub(in super::super) each: &'static str,
    /// The names of the parts that bars are stacked of, and their classes; one without a name is
    /// not in the legend.
    pub(in super::super) parts: &'static [(&'static str, &'static str)],
    pub(in super::super) bars: Vec<Bar>,
    /// Whether a line is drawn at the mean.
    pub(in super::super) mean: bool,
}

pub(in super::super) struct Bar {
    /// What stands below it.
    pub(in super::super) label: String,
    /// What it is called, where that is longer.
    pub(in super::super) name: Option<String>,
    /// From the bottom up.
    pub(in super::super) parts: Vec<u64>,
}

impl Bar {
    fn name(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.label)
    }

    fn total(&self) -> u64 {
        self.parts
            .iter()
            .fold(0, |sum, &part| sum.saturating_add(part))
    }
}

impl Bars {
    pub(super) fn legend(&self) -> Vec<(&'static str, &'static str)> {
        let parts = self
            .parts
            .iter()
            .filter(|(_, name)| !name.is_empty())
            .copied();
        parts.chain(self.mean.then_some(("mean", "mean"))).collect()
    }

    fn mean(&self) -> f64 {
        let total: f64 = self.bars.iter().map(|bar| bar.total() as f64).sum();
        total / self.bars.len().max(1) as f64
    }

    pub(super) fn draw(&self) -> (Markup, f64, String) {
        let group = group_size(self.bars.len(), ROOM);
        // The one that has most stands for its group, so that no hot one is hidden.
        let shown: Vec<&Bar> = self
            .bars
            .chunks(group)
            .filter_map(|bars| bars.iter().rev().max_by_key(|bar| bar.total()))
            .collect();
        let most = shown
            .iter()
            .map(|bar| bar.total())
            .max()
            .unwrap_or(0)
            .max(1) as f64;
        let step = 100.0 / shown.len().max(1) as f64;
        let (width, bottom) = ((step * 0.8).min(8.0), TOP + HEIGHT);
        let mut page = Markup::default();
        for (at, bar) in shown.iter().enumerate() {
            let left = step * at as f64 + (step - width) / 2.0;
            page.open("g", &[]);
            page.element("title", &[], &self.tooltip(bar));
            let mut y = bottom;
            for (&part, (class, _)) in bar.parts.iter().zip(self.parts) {
                let height = HEIGHT * part as f64 / most;
                y -= height;
                page.empty(
                    "rect",
                    &[
                        ("class", class),
                        ("x", &percent(left)),
                        ("width", &percent(width)),
                        ("y", &format!("{y:.1}")),
                        ("height", &format!("{height:.1}")),
                    ],
                );
            }
            page.close("g");
            if at.is_multiple_of(shown.len().div_ceil(LABELS)) {
                let middle = percent(step * (at as f64 + 0.5));
                let attributes: [(&'static str, &dyn std::fmt::Display); 3] = [
                    ("x", &middle),
                    ("y", &(bottom + 16.0)),
                    ("text-anchor", &"middle"),
                ];
                // One or two have room for what they are called.
                let label = match shown.len() {
                    1 | 2 => cut(bar.name(), NAME),
                    _ => bar.label.clone(),
                };
                page.element("text", &attributes, &label);
            }
        }
        page.empty(
            "line",
            &[
                ("class", &"axis"),
                ("x1", &"0"),
                ("x2", &"100%"),
                ("y1", &bottom),
                ("y2", &bottom),
            ],
        );
        page.element(
            "text",
            &[("x", &"0"), ("y", &"10")],
            &format!("{} {}", number(most as u64), self.unit),
        );
        if self.mean {
            let y = format!("{:.1}", bottom - HEIGHT * self.mean() / most);
            page.empty(
                "line",
                &[
                    ("class", &"meanline"),
                    ("x1", &"0"),
                    ("x2", &"100%"),
                    ("y1", &y),
                    ("y2", &y),
                ],
            );
        }
        (page, bottom + 24.0, self.description(group))
    }

    fn tooltip(&self, bar: &Bar) -> String {
        let parts: Vec<_> = bar
            .parts
            .iter()
            .zip(self.parts)
            .map(|(&part, (_, name))| match *name {
                "" => format!("{} {}", number(part), self.unit),
                name => format!("{name} {}", number(part)),
            })
            .collect();
        format!("{} {}: {}", self.each, bar.name(), parts.join(", "))
    }

    fn description(&self, group: usize) -> String {
        let by_total = |bar: &&Bar| bar.total();
        let (Some(most), Some(least)) = (
            self.bars.iter().rev().max_by_key(by_total),
            self.bars.iter().min_by_key(by_total),
        ) else {
            return format!("There is no {}.", self.each);
        };
        if least.total() == most.total() {
            return format!(
                "Each {} has {} {}.",
                self.each,
                number(most.total()),
                self.unit
            );
        }
        let mut said = format!(
            "{} in all; {} {} has most, {}, and {} has least, {}.",
            format_args!(
                "{} {}",
                number(self.bars.iter().map(Bar::total).sum()),
                self.unit
            ),
            self.each,
            most.name(),
            number(most.total()),
            least.name(),
            number(least.total())
        );
        if self.mean {
            said.push_str(&format!(" The mean is {}.", decimal(self.mean())));
        }
        if group > 1 {
            said.push_str(&format!(" Each bar is the highest of {group} neighbours."));
        }
        said
    }
}
