//! SARIF 2.1.0, for code scanning: a rule for each reason why clients differ, a result for each
//! finding.
//!
//! A result is an error when it decides the answer and a note when it shows at other partition
//! counts only. The answer itself is in the run's properties.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::problems::{Problem, Rule, Severity, counts_affected, line, problems};
use super::uri;
use super::wording::headline;
use crate::verify::VerifyReport;

pub(super) const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(crate) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let results: Vec<_> = problems(report)
        .iter()
        .map(|problem| result(report, problem))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(Rule::all().map(of_rule).collect()) },
            "invocations": [{
                "executionSuccessful": !report.partial,
                "exitCode": report.exit_code(),
                "toolExecutionNotifications": notifications(&report.warnings),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": report.verdict,
                "summary": headline(report),
                "partial": report.partial,
                "input": report.input,
                "clients": report.clients.iter().map(|c| &c.name).collect::<Vec<_>>(),
                "counts": report.counts.iter().map(|count| json!({
                    "partitions": count.partitions,
                    "verdict": count.verdict,
                    "keyed": count.keyed,
                    "empty": count.empty.agreement,
                    "null": count.null.agreement,
                })).collect::<Vec<_>>(),
            },
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// The program, with the rules it goes by.
pub(super) fn driver(rules: Vec<Value>) -> Value {
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

fn of_rule(rule: Rule) -> Value {
    self::rule(rule.id(), rule.describe(), rule.help())
}

/// A rule's description.
pub(super) fn rule(id: &str, describe: &str, help: &str) -> Value {
    let short = capitalised(describe);
    json!({
        "id": id,
        "fullDescription": { "text": format!("{short} {help}") },
        "shortDescription": { "text": short },
        "help": { "text": help },
    })
}

/// A rule's description is a sentence to its readers.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}

/// Warnings, as the tool's own notes on its run.
pub(super) fn notifications(warnings: &[String]) -> Vec<Value> {
    warnings
        .iter()
        .map(|warning| json!({ "level": "warning", "message": { "text": warning } }))
        .collect()
}

fn result(report: &VerifyReport, problem: &Problem<'_>) -> Value {
    let mut result = json!({
        "ruleId": problem.rule.id(),
        "ruleIndex": Rule::all().position(|rule| rule == problem.rule),
        "level": match problem.severity {
            Severity::Error => "error",
            Severity::Note => "note",
        },
        "message": { "text": problem.full_message() },
        "partialFingerprints": { "copartProblem/v1": fingerprint(problem) },
    });
    if let Some(path) = &report.input.path {
        let mut place = json!({ "artifactLocation": { "uri": uri::of_path(path) } });
        if let Some(line) = line(report, problem) {
            place["region"] = json!({ "startLine": line });
        }
        result["locations"] = json!([{ "physicalLocation": place }]);
    }
    if let Some(finding) = problem.finding {
        let counts = counts_affected(report, finding).map(|count| count.partitions);
        result["properties"] = json!({
            "clients": finding.clients,
            "reference": finding.reference,
            "partitionCounts": counts.collect::<Vec<_>>(),
        });
        if let Some(example) = problem.example {
            result["properties"]["record"] = json!(example.record);
            result["properties"]["keyHex"] = json!(example.key_hex);
        }
    }
    result
}

/// What stays the same when keys come and go, so that a result is recognised in the next run.
fn fingerprint(problem: &Problem<'_>) -> String {
    let mut parts = vec![problem.rule.id()];
    if let Some(finding) = problem.finding {
        parts.push(&finding.reference);
        let mut clients: Vec<_> = finding.clients.iter().map(String::as_str).collect();
        clients.sort_unstable();
        parts.extend(clients);
    }
    parts.join("|")
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::super::testing::{Case, parsed, written};
    use super::*;
    use crate::verify::UnpinnedPolicy;

    fn cases() -> Vec<Case> {
        vec![
            Case::text("TT0124\n\n-\nx\r\n")
                .null("-")
                .clients("java,ruby-kafka,librdkafka,goka,kafka-go")
                .counts(&[15, 16]),
            Case::text("a\n").clients("java,kafkajs"),
            // Only at counts that were not asked for.
            Case::text("100:48069\nTT0124\nx\ny\nz\n")
                .clients("java,hash=murmur2,reduce=unsigned")
                .counts(&[16]),
            Case::text(""),
            Case::text("a\n")
                .unpinned(UnpinnedPolicy::Fail)
                .clients("kafka-go,pykafka"),
            Case::text("a\n").interrupted(),
            Case::hostile(),
        ]
    }

    /// The schema that OASIS publishes, from the source of a crate that ships it.
    pub(in crate::output) fn published_schema() -> Value {
        let cargo = |args: &[&str]| {
            Command::new(env!("CARGO"))
                .args(args)
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .unwrap()
        };
        // What other platforms need is not here when the machine is offline.
        let version = String::from_utf8(cargo(&["-vV"]).stdout).unwrap();
        let host = version
            .lines()
            .find_map(|l| l.strip_prefix("host: "))
            .unwrap();
        let metadata = cargo(&[
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--filter-platform",
            host,
        ]);
        assert!(metadata.status.success(), "{metadata:?}");
        let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let package = packages
            .iter()
            .find(|p| p["name"] == "serde-sarif")
            .unwrap();
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
        let schema = std::fs::read(manifest.with_file_name("src").join("schema.json")).unwrap();
        let mut schema = serde_json::from_slice(&schema).unwrap();
        without_broken_pattern(&mut schema);
        schema
    }

    /// The schema's pattern for languages has a bracket that is never opened, which a strict
    /// regular expression may not have. No log of ours names a language.
    fn without_broken_pattern(schema: &mut Value) {
        match schema {
            Value::Object(members) => {
                members.retain(|name, value| {
                    name != "pattern" || !value.as_str().is_some_and(|p| p.ends_with("{2}]?$"))
                });
                members.values_mut().for_each(without_broken_pattern);
            }
            Value::Array(items) => items.iter_mut().for_each(without_broken_pattern),
            _ => {}
        }
    }

    #[test]
    fn every_log_is_valid_under_the_published_schema() {
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&published_schema())
            .unwrap();
        for case in cases() {
            let mut report = case.run();
            report.input.path = Some("some dir/ä:%.txt".into());
            let log = parsed(&written(write, &report));
            let errors: Vec<_> = validator
                .iter_errors(&log)
                .map(|e| format!("{}: {e}", e.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{errors:#?}\n{log:#}");
            serde_json::from_value::<serde_sarif::sarif::Sarif>(log.clone()).unwrap();
            // It would see a mistake.
            let mut bad = log;
            bad["runs"][0]["results"] = json!([{ "ruleId": "x" }]);
            assert!(!validator.is_valid(&bad));
        }
    }

    #[test]
    fn results_rules_and_the_answer_hold_together() {
        for case in cases() {
            let report = case.run();
            let log = parsed(&written(write, &report));
            let run = &log["runs"][0];
            let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
            let results = run["results"].as_array().unwrap();
            for result in results {
                let index = result["ruleIndex"].as_u64().unwrap() as usize;
                assert_eq!(rules[index]["id"], result["ruleId"]);
            }
            let errors = results.iter().any(|result| result["level"] == "error");
            let exit_code = run["invocations"][0]["exitCode"].as_u64().unwrap();
            assert_eq!(errors, exit_code != 0, "{log:#}");
            assert_eq!(run["properties"]["verdict"], report.verdict.name());
            let warnings = &run["invocations"][0]["toolExecutionNotifications"];
            assert_eq!(warnings.as_array().unwrap().len(), report.warnings.len());
            assert_eq!(
                run["invocations"][0]["executionSuccessful"],
                !report.partial
            );
        }
    }

    #[test]
    fn a_result_is_at_the_first_line_that_shows_it() {
        let mut report = Case::text("user-17\n100:48069\n")
            .clients("java,kafkajs@1.16")
            .counts(&[12])
            .run();
        let log = parsed(&written(write, &report));
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "float-arithmetic");
        assert_eq!(result["level"], "error");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "keys.txt");
        assert_eq!(place["region"]["startLine"], 2);
        assert_eq!(result["properties"]["record"], 2);
        assert_eq!(result["properties"]["partitionCounts"], json!([12]));
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.contains("50 % of keys at 12"), "{message}");

        // Of a compressed file or a CSV file nobody knows the line.
        report.input.records_are_lines = false;
        let log = parsed(&written(write, &report));
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert!(place["region"].is_null());
        report.input.path = None;
        let log = parsed(&written(write, &report));
        assert!(log["runs"][0]["results"][0]["locations"].is_null());
    }

    #[test]
    fn a_finding_is_recognised_when_the_keys_change() {
        let fingerprints = |keys| -> Vec<Value> {
            let report = Case::text(keys).clients("java,librdkafka,ruby-kafka").run();
            let log = parsed(&written(write, &report));
            let results = log["runs"][0]["results"].as_array().unwrap().iter();
            results.map(|r| r["partialFingerprints"].clone()).collect()
        };
        assert_eq!(fingerprints("a\nb\n"), fingerprints("c\nd\ne\n"));
        assert_ne!(fingerprints("a\n"), fingerprints("a\n\n"));
    }
}
