//! A report as one page for a browser, with plots.
//!
//! The page is one file that needs no network: style, script and plots are in it, and its content
//! security policy forbids anything else, by the hashes of the two. It is complete without the
//! script, which makes tables sort and filter. Its size is bounded whatever the input: tables have
//! [`ROOM`] rows, and plots draw neighbours as one where there are many.
//!
//! It is written without a template crate: what there is to get wrong is escaping, and
//! [`markup`] leaves no way to write text without it.

pub(super) mod check;
pub(super) mod copartition;
pub(super) mod infer;
pub(super) mod lint;
mod markup;
pub(super) mod movement;
mod plot;
pub(super) mod skew;
mod table;
pub(super) mod verify;

use std::io::{self, Write};

use super::document::{Document, Mark, Part, Section};
use markup::Markup;
use plot::Plot;

/// Rows of a table that are shown.
pub(super) const ROOM: usize = 500;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The only style and the only script that a browser takes. A test compares the hashes.
const POLICY: &str = "default-src 'none'; style-src 'sha256-PBF3jUIb7pwYkZrrY7FCzmvs07PIXQBbpMYWbqURB9A='; script-src 'sha256-yHBS3mARRH4vnYTnHSzSNsAuU0J1ZfLVFNHAroNlcvM='; base-uri 'none'; form-action 'none'";

/// What a page has besides the document.
#[derive(Default)]
pub(super) struct Pictures {
    /// What matters most, each with its number.
    tiles: Vec<(&'static str, String)>,
    plots: Vec<Plot>,
}

/// Writes the page of a command, such as `skew`.
pub(super) fn write(
    command: &'static str,
    document: Document,
    pictures: Pictures,
    out: &mut dyn Write,
) -> io::Result<()> {
    Page {
        command: format!("copart {command}"),
        document,
        pictures,
    }
    .write(out)
}

/// A page before it is written.
struct Page {
    /// The command, such as `copart skew`.
    command: String,
    document: Document,
    pictures: Pictures,
}

impl Page {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut page = Markup::default();
        page.constant("<!doctype html>\n");
        page.open("html", &[("lang", &"en")]);
        self.head(&mut page);
        page.constant("<body><a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n");
        self.header(&mut page);
        page.constant("<main id=\"answer\">\n");
        for warning in &self.document.warnings {
            page.open("p", &[("class", &"warning"), ("role", &"note")]);
            page.constant("<strong>Warning:</strong> ")
                .text(warning)
                .close("p");
        }
        self.tiles(&mut page);
        if !self.pictures.plots.is_empty() {
            page.open("div", &[("class", &"plots")]);
            for (id, plot) in self.pictures.plots.iter().enumerate() {
                plot.draw(id, &mut page);
                page.constant("\n");
            }
            page.close("div");
        }
        for (id, section) in self.document.sections.iter().enumerate() {
            self::section(id, section, &mut page);
        }
        page.constant("</main>\n<footer>copart ")
            .text(env!("CARGO_PKG_VERSION"))
            .constant(". Numbers are those of the JSON report; keys that are not printable are in hexadecimal.</footer>\n<script>")
            .constant(SCRIPT)
            .constant("</script></body></html>\n");
        out.write_all(page.into_string().as_bytes())
    }

    fn head(&self, page: &mut Markup) {
        page.constant("<head><meta charset=\"utf-8\">");
        page.constant("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        page.open(
            "meta",
            &[
                ("http-equiv", &"Content-Security-Policy"),
                ("content", &POLICY),
            ],
        );
        page.constant("<meta name=\"color-scheme\" content=\"light dark\">");
        page.constant("<meta name=\"referrer\" content=\"no-referrer\">");
        let title = format!("{}: {}", self.command, self.document.headline);
        page.element("title", &[], &title);
        page.constant("<style>")
            .constant(STYLE)
            .constant("</style></head>\n");
    }

    fn header(&self, page: &mut Markup) {
        let class = match self.document.mark {
            Mark::Neutral => "verdict",
            Mark::Good => "verdict good",
            Mark::Bad => "verdict bad",
            Mark::Unknown => "verdict unknown",
        };
        let headline = &self.document.headline;
        let (word, rest) = headline.split_once(':').unwrap_or((headline, ""));
        page.open("header", &[]);
        page.element("h1", &[], &self.command);
        page.open("p", &[("class", &class)]);
        page.element("strong", &[], word).text(rest).close("p");
        for sentence in &self.document.lead {
            page.element("p", &[("class", &"lead")], sentence);
        }
        page.close("header").constant("\n");
    }

    fn tiles(&self, page: &mut Markup) {
        if self.pictures.tiles.is_empty() {
            return;
        }
        page.open("dl", &[("class", &"tiles")]);
        for (name, value) in &self.pictures.tiles {
            page.open("div", &[]);
            page.element("dt", &[], name).element("dd", &[], value);
            page.close("div");
        }
        page.close("dl").constant("\n");
    }
}

fn section(id: usize, section: &Section, page: &mut Markup) {
    let heading = format!("section-{id}");
    page.open("section", &[("aria-labelledby", &heading)]);
    page.element("h2", &[("id", &heading)], &section.title);
    for part in &section.parts {
        match part {
            Part::Table(table) => table::write(table, &section.title, page),
            Part::Sentence(sentence) => {
                for line in sentence.lines() {
                    page.element("p", &[], line);
                }
            }
            Part::Verbatim(lines) => {
                page.open(
                    "pre",
                    &[
                        ("tabindex", &"0"),
                        ("role", &"region"),
                        ("aria-label", &"configuration"),
                    ],
                );
                page.element(
                    "code",
                    &[],
                    &lines.join(
                        "
",
                    ),
                );
                page.close("pre");
            }
        }
    }
    page.close("section").constant("\n");
}

#[cfg(test)]
mod tests;
