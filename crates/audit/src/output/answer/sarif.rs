//! SARIF 2.1.0, for code scanning.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::super::sarif::{SCHEMA, capitalised};
use super::super::uri;
use super::{Answer, Problem, Severity};

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let results: Vec<_> = answer
        .problems
        .iter()
        .map(|problem| result(answer, problem))
        .collect();
    let mut properties = json!({
        "verdict": answer.verdict,
        "summary": answer.sentence(),
        "partial": answer.partial,
    });
    if let (Some(own), Some(more)) = (properties.as_object_mut(), answer.properties.as_object()) {
        own.extend(
            more.iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(answer) },
            "invocations": [{
                "executionSuccessful": !answer.partial,
                "exitCode": answer.exit_code,
                "toolExecutionNotifications": answer.warnings.iter().map(|warning| {
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

fn driver(answer: &Answer) -> Value {
    let rules: Vec<_> = answer
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

fn result(answer: &Answer, problem: &Problem) -> Value {
    let mut result = json!({
        "ruleId": problem.rule,
        "ruleIndex": answer.rule(problem.rule).0,
        "level": match problem.severity {
            Severity::Error => "error",
            Severity::Note => "note",
        },
        "message": { "text": problem.message },
        "partialFingerprints": {
            "copartProblem/v1": format!("{}|{}", problem.rule, problem.fingerprint),
        },
    });
    let path = answer
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
