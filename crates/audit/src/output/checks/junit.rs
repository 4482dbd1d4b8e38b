//! Checks as JUnit XML: one suite, a test case for each check.

use std::io::{self, Write};
use std::time::SystemTime;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::{Case, Checks, Outcome};
use crate::output::junit::{Xml, legal, text, timestamp};

pub(in super::super) fn write(checks: &Checks, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("testsuites")
        .write_inner_content(|xml| suite(checks, &timestamp(SystemTime::now()), xml))?;
    writeln!(xml.into_inner())
}

fn suite(checks: &Checks, timestamp: &str, xml: &mut Xml<'_>) -> io::Result<()> {
    let counted = |outcome| {
        let cases = checks.cases.iter();
        cases
            .filter(|case| case.outcome == outcome)
            .count()
            .to_string()
    };
    let package = format!("copart.{}", checks.command);
    let name = format!("{}: {}", checks.command, checks.names());
    xml.create_element("testsuite")
        .with_attribute(("name", legal(&name).as_str()))
        .with_attribute(("package", package.as_str()))
        .with_attribute(("id", "0"))
        .with_attribute(("timestamp", timestamp))
        .with_attribute(("hostname", "localhost"))
        .with_attribute(("tests", checks.cases.len().to_string().as_str()))
        .with_attribute(("failures", counted(Outcome::Failed).as_str()))
        .with_attribute(("errors", counted(Outcome::Error).as_str()))
        .with_attribute(("time", "0"))
        .write_inner_content(|xml| {
            xml.create_element("properties")
                .write_inner_content(|xml| {
                    for input in &checks.inputs {
                        xml.create_element("property")
                            .with_attribute(("name", "input"))
                            .with_attribute(("value", legal(&input.name).as_str()))
                            .write_empty()?;
                    }
                    Ok(())
                })?;
            for case in &checks.cases {
                self::case(case, &package, xml)?;
            }
            let noted = checks.complaints();
            let noted = noted.iter().filter(|case| case.outcome == Outcome::Noted);
            let notes: Vec<_> = std::iter::once(checks.headline.as_str())
                .chain(noted.map(|case| case.message.as_str()))
                .collect();
            text(xml, "system-out", &notes.join("\n"))?;
            text(xml, "system-err", &checks.warnings.join("\n"))
        })?;
    Ok(())
}

fn case(case: &Case, package: &str, xml: &mut Xml<'_>) -> io::Result<()> {
    let element = xml
        .create_element("testcase")
        .with_attribute(("name", legal(&case.name).as_str()))
        .with_attribute(("classname", package))
        .with_attribute(("time", "0"));
    let name = match case.outcome {
        Outcome::Passed | Outcome::Noted => {
            element.write_empty()?;
            return Ok(());
        }
        Outcome::Failed => "failure",
        Outcome::Error => "error",
    };
    element.write_inner_content(|xml| {
        let message = legal(&case.message);
        let first = message.lines().next().unwrap_or_default();
        xml.create_element(name)
            .with_attribute(("type", case.rule))
            .with_attribute(("message", first))
            .write_text_content(BytesText::new(&message))?;
        Ok(())
    })?;
    Ok(())
}
