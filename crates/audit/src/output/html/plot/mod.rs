//! Plots as inline SVG.
//!
//! They have no view box, so text keeps its size on a phone: positions across are shares of the
//! width, positions down are pixels. Each has a title, a description that says what it shows, and
//! the numbers are in a table of the same page.

mod bars;
mod flow;
mod heat;

pub(super) use bars::{Bar, Bars};
pub(super) use flow::{Flows, Ribbon};
pub(super) use heat::Heat;

use super::markup::Markup;

/// A plot that can be drawn.
pub(super) enum Plot {
    Bars(Bars),
    Heat(Heat),
    Flows(Flows),
}

impl Plot {
    fn title(&self) -> &str {
        match self {
            Self::Bars(bars) => &bars.title,
            Self::Heat(heat) => &heat.title,
            Self::Flows(flows) => &flows.title,
        }
    }

    fn legend(&self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Bars(bars) => bars.legend(),
            Self::Heat(_) => Vec::new(),
            Self::Flows(_) => vec![("stay", "stays"), ("move", "moves")],
        }
    }

    /// Draws it, as number `id` on the page.
    pub(super) fn draw(&self, id: usize, page: &mut Markup) {
        let (title_id, description_id) = (format!("plot-{id}-title"), format!("plot-{id}-text"));
        let (body, height, description) = match self {
            Self::Bars(bars) => bars.draw(),
            Self::Heat(heat) => heat.draw(),
            Self::Flows(flows) => flows.draw(),
        };
        page.open("figure", &[]);
        page.element("figcaption", &[("id", &title_id)], self.title());
        let legend = self.legend();
        if !legend.is_empty() {
            page.open("ul", &[("class", &"keys")]);
            for (class, name) in legend {
                page.element("li", &[("class", &class)], name);
            }
            page.close("ul");
        }
        page.open(
            "svg",
            &[
                ("role", &"img"),
                ("aria-labelledby", &format!("{title_id} {description_id}")),
                ("height", &height),
            ],
        );
        page.element("desc", &[("id", &description_id)], &description);
        page.append(body);
        page.close("svg");
        page.element("p", &[("class", &"note")], &description);
        page.close("figure");
    }
}

/// So many per cent, with no more digits than can be seen.
fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

/// `count` things in at most `room` groups of neighbours: how many are in a group.
fn group_size(count: usize, room: usize) -> usize {
    count.div_ceil(room).max(1)
}
