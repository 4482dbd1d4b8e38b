//! Reads what `#[derive(Debug)]` prints, to compare values of types that only share their fields' names.

use std::collections::BTreeMap;

use copart_protocol::Uuid;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Fields(BTreeMap<String, Tree>),
    List(Vec<Tree>),
    None,
    Scalar(String),
}

/// `Some(x)` and newtypes are read as what they hold.
pub(crate) fn read(debug: &str) -> Tree {
    let mut parser = Parser { rest: debug };
    let tree = parser.value();
    assert_eq!(parser.rest, "", "all of it was read");
    tree
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Tree {
        if self.eat("[") {
            let mut list = Vec::new();
            while !self.eat("]") {
                list.push(self.value());
                self.eat(", ");
            }
            return Tree::List(list);
        }
        // A map, of unknown tagged fields only.
        if self.eat("{}") {
            return Tree::None;
        }
        if self.rest.starts_with('"') || self.rest.starts_with("b\"") {
            return Tree::Scalar(self.quoted());
        }
        if self.eat("error code ") {
            return Tree::Scalar(self.word());
        }
        let word = self.word();
        if self.eat(" { ") {
            let mut fields = BTreeMap::new();
            while !self.eat(" }") {
                let name = self.word();
                assert!(self.eat(": "), "a field's value at {:?}", self.rest);
                fields.insert(name, self.value());
                self.eat(", ");
            }
            return Tree::Fields(fields);
        }
        // `NAME (6)` is an error code, `Name(…)` a newtype or an enum's variant.
        if self.eat(" (") || self.eat("(") {
            let inner = self.value();
            assert!(self.eat(")"), "the end of {word} at {:?}", self.rest);
            return inner;
        }
        match word.as_str() {
            "None" => Tree::None,
            _ => Tree::Scalar(base64(&word).unwrap_or(word)),
        }
    }

    fn word(&mut self) -> String {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_.+-".contains(c)));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word.trim_start_matches("r#").to_owned()
    }

    fn quoted(&mut self) -> String {
        let start = self.rest.find('"').expect("a quote") + 1;
        let mut escaped = false;
        let end = self.rest[start..]
            .find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })
            .expect("a closing quote");
        let (text, rest) = self.rest.split_at(start + end + 1);
        self.rest = rest;
        text.to_owned()
    }
}

/// The hyphenated form of an id in the form that ours is printed in.
fn base64(word: &str) -> Option<String> {
    if word.len() != 36 || word.as_bytes()[8] != b'-' {
        return None;
    }
    let number = u128::from_str_radix(&word.replace('-', ""), 16).ok()?;
    Some(Uuid(number.to_be_bytes()).to_string())
}
