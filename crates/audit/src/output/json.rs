//! The whole report as one JSON document, as the schemas below `docs/src/schema/` have it.

use std::io::{self, Write};

use serde::Serialize;

pub(crate) fn write(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{Case, HOSTILE, closed, parsed, written};
    use super::*;
    use crate::verify::UnpinnedPolicy;

    fn schema() -> Value {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/src/schema/copart.verify-1.schema.json"
        );
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    fn cases() -> Vec<Case> {
        let long = "x".repeat(2000);
        vec![
            Case::text("TT0124\n\n-\nMünchen\n")
                .null("-")
                .clients(
                    "java,ruby-kafka,librdkafka,goka,kafka-go,brod/hash,hash=crc32,reduce=mask",
                )
                .counts(&[1, 15, 16]),
            Case::text("a\nb\n").clients("java,kafkajs"),
            Case::text(""),
            Case::text("-\n")
                .null("-")
                .unpinned(UnpinnedPolicy::Skip)
                .clients("java,kafkajs"),
            Case::text("a\n")
                .unpinned(UnpinnedPolicy::Fail)
                .clients("kafka-go,pykafka"),
            Case::text("a\n").interrupted(),
            Case::text(&long),
            Case::hostile(),
        ]
    }

    #[test]
    fn every_report_is_valid_and_every_member_described() {
        let mut schema = schema();
        let open = jsonschema::validator_for(&schema).unwrap();
        closed(&mut schema);
        let closed = jsonschema::validator_for(&schema).unwrap();
        for case in cases() {
            let report = parsed(&written(write, &case.run()));
            for validator in [&open, &closed] {
                let errors: Vec<_> = validator
                    .iter_errors(&report)
                    .map(|e| format!("{}: {e}", e.instance_path()))
                    .collect();
                assert!(errors.is_empty(), "{errors:#?}\n{report:#}");
            }
        }
    }

    /// The schema must not be so loose that it accepts anything.
    #[test]
    fn the_schema_refuses_what_is_no_report() {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        let good = parsed(&written(
            write,
            &Case::text("TT0124\n\n").counts(&[15]).run(),
        ));
        assert!(validator.is_valid(&good));
        for (pointer, bad) in [
            ("/schema", json!("copart.verify/2")),
            ("/verdict", json!("maybe")),
            ("/partial", json!(0)),
            ("/input/keys", json!(-1)),
            ("/clients/0/name", json!(null)),
            ("/counts/0/partitions", json!(0)),
            ("/counts/0/keyed/agree", json!("1")),
            ("/counts/0/empty/placements/0/outcome", json!("lost")),
            ("/counts/0/mismatches/0/key_hex", json!("XY")),
            ("/counts/0/mismatches/0/record", json!(0)),
            ("/counts/0/mismatches/0/placements/0/partition", json!("3")),
            ("/counts/0/pairs/0/b", json!(0.5)),
            ("/findings/0/reason", json!("weather")),
            ("/findings/0/fixes/0/setting", json!("x")),
            ("/probes/counts/0/keyed", json!({})),
            ("/warnings", json!({})),
        ] {
            let mut report = good.clone();
            *report
                .pointer_mut(pointer)
                .unwrap_or_else(|| panic!("{pointer}: {good:#}")) = bad;
            assert!(!validator.is_valid(&report), "{pointer}");
        }
        for member in ["schema", "verdict", "input", "counts", "findings", "probes"] {
            let mut report = good.clone();
            report.as_object_mut().unwrap().remove(member);
            assert!(!validator.is_valid(&report), "without {member}");
        }
    }

    #[test]
    fn keys_come_back_byte_for_byte() {
        let report = parsed(&written(write, &Case::hostile().counts(&[65_536]).run()));
        let mismatches = report["counts"][0]["mismatches"].as_array().unwrap();
        assert_eq!(mismatches.len(), 10, "as many as were asked for");
        for mismatch in mismatches {
            let record = mismatch["record"].as_u64().unwrap() as usize;
            let key = data_encoding::HEXLOWER
                .decode(mismatch["key_hex"].as_str().unwrap().as_bytes())
                .unwrap();
            assert_eq!(key, HOSTILE[record - 1]);
        }
    }
}
