//! `sasl.jaas.config`: a login module of Java's, with its options.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::CharIndices;

/// One entry of a JAAS configuration: `Module flag name="value" …;`
#[derive(PartialEq, Eq)]
pub(super) struct Login {
    pub(super) module: String,
    pub(super) options: BTreeMap<String, String>,
}

/// # Errors
/// What is wrong, without the text itself: it has a password in it.
pub(super) fn parse(text: &str) -> Result<Login, String> {
    let mut words = Words {
        text,
        chars: text.char_indices().peekable(),
    };
    let module = words.expect("the name of a login module")?;
    let flag = words.expect("required, behind the login module")?;
    if !["required", "requisite", "sufficient", "optional"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&flag))
    {
        return Err("behind the login module stands required".into());
    }
    let mut options = BTreeMap::new();
    loop {
        match words.next()? {
            None => return Err("it ends with a semicolon".into()),
            Some(Word::Semicolon) => break,
            Some(Word::Equals) => return Err("a name is missing before =".into()),
            Some(Word::Text(name)) => {
                if words.next()? != Some(Word::Equals) {
                    return Err("behind the name of an option stands =".into());
                }
                let value = words.expect("the value of an option")?;
                options.insert(name, value);
            }
        }
    }
    if words.next()?.is_some() {
        return Err("it has one login module, and nothing behind its semicolon".into());
    }
    Ok(Login { module, options })
}

#[derive(PartialEq, Eq)]
enum Word {
    Text(String),
    Equals,
    Semicolon,
}

struct Words<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl Words<'_> {
    fn expect(&mut self, what: &str) -> Result<String, String> {
        match self.next()? {
            Some(Word::Text(text)) => Ok(text),
            _ => Err(format!("it needs {what}")),
        }
    }

    fn next(&mut self) -> Result<Option<Word>, String> {
        while self.chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let Some((start, c)) = self.chars.next() else {
            return Ok(None);
        };
        match c {
            '=' => Ok(Some(Word::Equals)),
            ';' => Ok(Some(Word::Semicolon)),
            '"' | '\'' => self.quoted(c).map(|text| Some(Word::Text(text))),
            _ => {
                let is_inside = |c: char| !c.is_whitespace() && !matches!(c, '=' | ';');
                while self.chars.next_if(|&(_, c)| is_inside(c)).is_some() {}
                let end = self.chars.peek().map_or(self.text.len(), |&(at, _)| at);
                Ok(Some(Word::Text(self.text[start..end].to_owned())))
            }
        }
    }

    /// As Java's tokenizer reads a string: with backslashes.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        while let Some((_, c)) = self.chars.next() {
            match c {
                _ if c == quote => return Ok(text),
                '\\' => match self.chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err("a quotation mark is not closed".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_options() {
        let login = parse(
            "org.apache.kafka.common.security.plain.PlainLoginModule required\n \
             username=\"ann\" password = 'a\\'b; =\"' serviceName=kafka ;",
        );
        let Ok(login) = login else {
            panic!("it is right")
        };
        assert!(login.module.ends_with(".PlainLoginModule"));
        let options: Vec<_> = login.options.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(
            options,
            [
                ("password", "a'b; =\""),
                ("serviceName", "kafka"),
                ("username", "ann")
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        for (text, hint) in [
            ("", "name of a login module"),
            ("M", "required"),
            ("M often;", "required"),
            ("M required", "semicolon"),
            ("M required password=s3cret", "semicolon"),
            ("M required password s3cret;", "stands ="),
            ("M required =s3cret;", "name is missing"),
            ("M required password=;", "value of an option"),
            ("M required password=\"s3cret;", "not closed"),
            ("M required; N required;", "one login module"),
        ] {
            let Err(error) = parse(text) else {
                panic!("{text}")
            };
            assert!(error.contains(hint) && !error.contains("s3cret"), "{error}");
        }
    }
}
