//! Writing HTML so that nothing in a report can be taken for markup.
//!
//! Tags and attribute names are part of the program; everything else goes through [`escaped`].

use std::fmt::{Display, Write as _};

/// A page that is being written.
#[derive(Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Begins an element.
    pub(super) fn open(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &dyn Display)],
    ) -> &mut Self {
        self.tag(tag, attributes);
        self.0.push('>');
        self
    }

    /// Ends an element.
    pub(super) fn close(&mut self, tag: &'static str) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "</{tag}>");
        self
    }

    /// An element of SVG without content.
    pub(super) fn empty(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &dyn Display)],
    ) -> &mut Self {
        self.tag(tag, attributes);
        self.0.push_str("/>");
        self
    }

    /// An element that holds text alone.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &dyn Display)],
        text: &str,
    ) -> &mut Self {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// A part of the program: markup, the style sheet, the script.
    pub(super) fn constant(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A piece of the page that was written apart.
    pub(super) fn append(&mut self, piece: Self) -> &mut Self {
        self.0.push_str(&piece.0);
        self
    }

    fn tag(&mut self, tag: &'static str, attributes: &[(&'static str, &dyn Display)]) {
        let _ = write!(self.0, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"{}\"", escaped(&value.to_string()));
        }
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Text as it may stand between tags and in quoted attributes. Control characters, which HTML has
/// no way to write, and those that change the direction of text become Rust escapes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                escaped.extend(c.escape_unicode());
            }
            c if c.is_control() => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        let mut page = Markup::default();
        let hostile = "</script><img src=x onerror='alert(1)'>&amp;\"\u{202e}\0\r";
        page.element("td", &[("title", &hostile)], hostile);
        let safe = "&lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;&quot;\\u{202e}\\u{0}\\r";
        assert_eq!(
            page.into_string(),
            format!("<td title=\"{safe}\">{safe}</td>")
        );
    }
}
