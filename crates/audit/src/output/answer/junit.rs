//! JUnit XML: one test suite, a test case for each thing that was checked.

use std::io::{self, Write};
use std::time::SystemTime;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::super::junit::{Xml, legal, text, timestamp};
use super::{Answer, Case, Outcome};

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let timestamp = timestamp(SystemTime::now());
    let mut xml: Xml<'_> = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("testsuites")
        .write_inner_content(|xml| suite(answer, &timestamp, xml))?;
    writeln!(xml.into_inner())
}

fn suite(answer: &Answer, timestamp: &str, xml: &mut Xml<'_>) -> io::Result<()> {
    let interrupted = answer.partial.then(|| Case {
        name: "the whole input".into(),
        outcome: Outcome::Error(
            "interrupted",
            "interrupted before the end of the input; the rest may differ".into(),
        ),
    });
    let cases: Vec<&Case> = answer.cases.iter().chain(&interrupted).collect();
    let counted = |wanted: fn(&Outcome) -> bool| {
        let cases = cases.iter().filter(|case| wanted(&case.outcome));
        cases.count().to_string()
    };
    let names: Vec<_> = answer
        .inputs
        .iter()
        .map(|input| input.name.as_str())
        .collect();
    let package = format!("copart.{}", answer.command);
    let skipped = counted(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let mut suite = xml
        .create_element("testsuite")
        .with_attribute(("name", legal(&names.join(", ")).as_str()))
        .with_attribute(("package", package.as_str()))
        .with_attribute(("id", "0"))
        .with_attribute(("timestamp", timestamp))
        .with_attribute(("hostname", "localhost"))
        .with_attribute(("tests", cases.len().to_string().as_str()))
        .with_attribute((
            "failures",
            counted(|o| matches!(o, Outcome::Failed(..))).as_str(),
        ))
        .with_attribute((
            "errors",
            counted(|o| matches!(o, Outcome::Error(..))).as_str(),
        ))
        .with_attribute(("time", "0"));
    if skipped != "0" {
        suite = suite.with_attribute(("skipped", skipped.as_str()));
    }
    suite.write_inner_content(|xml| {
        xml.create_element("properties")
            .write_inner_content(|xml| {
                xml.create_element("property")
                    .with_attribute(("name", "verdict"))
                    .with_attribute(("value", answer.verdict))
                    .write_empty()?;
                Ok(())
            })?;
        for case in &cases {
            self::case(case, &package, xml)?;
        }
        text(xml, "system-out", &answer.sentence())?;
        text(xml, "system-err", &answer.warnings.join("\n"))
    })?;
    Ok(())
}

fn case(case: &Case, class: &str, xml: &mut Xml<'_>) -> io::Result<()> {
    let element = xml
        .create_element("testcase")
        .with_attribute(("name", legal(&case.name).as_str()))
        .with_attribute(("classname", class))
        .with_attribute(("time", "0"));
    let (name, kind, message) = match &case.outcome {
        Outcome::Passed => {
            element.write_empty()?;
            return Ok(());
        }
        Outcome::Skipped(why) => {
            element.write_inner_content(|xml| text(xml, "skipped", why))?;
            return Ok(());
        }
        Outcome::Failed(kind, message) => ("failure", kind, message),
        Outcome::Error(kind, message) => ("error", kind, message),
    };
    let first = message.lines().next().unwrap_or_default();
    element.write_inner_content(|xml| {
        xml.create_element(name)
            .with_attribute(("type", *kind))
            .with_attribute(("message", legal(first).as_str()))
            .write_text_content(BytesText::new(&legal(message)))?;
        Ok(())
    })?;
    Ok(())
}
