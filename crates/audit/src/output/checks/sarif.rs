//! Checks as SARIF 2.1.0.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Case, Checks, Outcome};
use crate::output::sarif::{SCHEMA, driver, notifications, rule};
use crate::output::uri;

pub(in super::super) fn write(checks: &Checks, out: &mut dyn Write) -> io::Result<()> {
    let rules = checks.rules.iter();
    let rules = rules.map(|r| rule(r.id, r.describe, r.help)).collect();
    let mut properties = checks.properties.clone();
    properties["summary"] = json!(checks.headline);
    properties["partial"] = json!(checks.partial);
    let results = checks.complaints();
    let results: Vec<_> = results.iter().map(|case| result(checks, case)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(rules) },
            "invocations": [{
                "executionSuccessful": !checks.partial,
                "exitCode": checks.exit_code,
                "toolExecutionNotifications": notifications(&checks.warnings),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": properties,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn result(checks: &Checks, case: &Case) -> Value {
    let (index, rule) = checks.rule(case);
    let mut result = json!({
        "ruleId": rule.id,
        "ruleIndex": index,
        "level": match case.outcome {
            Outcome::Noted | Outcome::Passed => "note",
            Outcome::Failed | Outcome::Error => "error",
        },
        "message": { "text": case.message },
        "partialFingerprints": {
            "copartProblem/v1": format!("{}|{}|{}", checks.command, rule.id, case.subject),
        },
    });
    let input = checks.inputs.get(case.input);
    if let Some(path) = input.and_then(|input| input.path.as_ref()) {
        let mut place = json!({ "artifactLocation": { "uri": uri::of_path(path) } });
        if let Some(line) = case.line {
            place["region"] = json!({ "startLine": line });
        }
        result["locations"] = json!([{ "physicalLocation": place }]);
    }
    result
}
