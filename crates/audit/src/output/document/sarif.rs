//! SARIF 2.1.0, for code scanning.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::super::sarif::{SCHEMA, capitalised};
use super::super::uri;
use super::{Document, Problem, Severity};

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let results: Vec<_> = document
        .problems
        .iter()
        .map(|problem| result(document, problem))
        .collect();
    let mut properties = json!({
        "verdict": document.verdict,
        "summary": document.answer(),
        "partial": document.partial,
    });
    if let (Some(own), Some(more)) = (properties.as_object_mut(), document.properties.as_object()) {
        own.extend(
            more.iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(document) },
            "invocations": [{
                "executionSuccessful": !document.partial,
                "exitCode": document.exit_code,
                "toolExecutionNotifications": document.warnings.iter().map(|warning| {
                    json!({ "level": "warning", "message": { "text": warning } })
                }).collect::<Vec<_>>(),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": properties,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn driver(document: &Document) -> Value {
    let rules: Vec<_> = document
        .rules
        .iter()
        .map(|rule| {
            let short = capitalised(rule.describe);
            json!({
                "id": rule.id,
                "fullDescription": { "text": format!("{short} {}", rule.help) },
                "shortDescription": { "text": short },
                "help": { "text": rule.help },
            })
        })
        .collect();
    let mut driver = json!({
        "name": "copart",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    // As soon as the manifest has an address.
    if !env!("CARGO_PKG_REPOSITORY").is_empty() {
        driver["informationUri"] = json!(env!("CARGO_PKG_REPOSITORY"));
    }
    driver
}

fn result(document: &Document, problem: &Problem) -> Value {
    let mut result = json!({
        "ruleId": problem.rule,
        "ruleIndex": document.rule(problem.rule).0,
        "level": match problem.severity {
            Severity::Error => "error",
            Severity::Note => "note",
        },
        "message": { "text": problem.message },
        "partialFingerprints": {
            "copartProblem/v1": format!("{}|{}", problem.rule, problem.fingerprint),
        },
    });
    let path = document
        .inputs
        .get(problem.input)
        .and_then(|input| input.path.as_ref());
    if let Some(path) = path {
        let mut place = json!({ "artifactLocation": { "uri": uri::of_path(path) } });
        if let Some(line) = problem.line {
            place["region"] = json!({ "startLine": line });
        }
        result["locations"] = json!([{ "physicalLocation": place }]);
    }
    result
}
