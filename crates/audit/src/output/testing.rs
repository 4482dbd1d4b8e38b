//! Small reports for the tests of outputs, made by the real engine.

use std::sync::atomic::AtomicBool;
use std::{fs, io};

use copart_partitioners::PartitionCount;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use crate::clients::Client;
use crate::input::{InputOptions, KeyEncoding, Source};
use crate::pipeline::Run;
use crate::verify::{UnpinnedPolicy, VerifyOptions, VerifyReport, default_probes, verify};

/// An input and what is asked about it.
pub(super) struct Case {
    content: String,
    input: InputOptions,
    clients: &'static str,
    counts: &'static [u32],
    unpinned: UnpinnedPolicy,
    show: usize,
    interrupted: bool,
}

impl Case {
    /// A file of lines.
    pub(super) fn text(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            input: InputOptions::default(),
            clients: "java,librdkafka",
            counts: &[1009],
            unpinned: UnpinnedPolicy::Report,
            show: 10,
            interrupted: false,
        }
    }

    /// Keys of any bytes, a line each.
    pub(super) fn bytes(keys: &[&[u8]]) -> Self {
        let lines: String = keys.iter().map(|key| HEXLOWER.encode(key) + "\n").collect();
        let mut case = Self::text(&lines);
        case.input.encoding = KeyEncoding::Hex;
        case
    }

    /// Keys that try to break out of whatever form they are written in.
    pub(super) fn hostile() -> Self {
        Self::bytes(HOSTILE)
    }

    /// A line that is this text is a null key.
    pub(super) fn null(mut self, text: &str) -> Self {
        self.input.null_value = Some(text.to_owned());
        self
    }

    pub(super) fn clients(mut self, clients: &'static str) -> Self {
        self.clients = clients;
        self
    }

    pub(super) fn counts(mut self, counts: &'static [u32]) -> Self {
        self.counts = counts;
        self
    }

    pub(super) fn unpinned(mut self, policy: UnpinnedPolicy) -> Self {
        self.unpinned = policy;
        self
    }

    /// As if Ctrl-C had come before the first block.
    pub(super) fn interrupted(mut self) -> Self {
        self.interrupted = true;
        self
    }

    /// Verifies. The path in the report is `keys.txt`, not that of the temporary file.
    pub(super) fn run(self) -> VerifyReport {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.txt");
        fs::write(&path, &self.content).unwrap();
        let counts: Vec<_> = self
            .counts
            .iter()
            .map(|&n| PartitionCount::new(n).unwrap())
            .collect();
        let options = VerifyOptions {
            clients: Client::parse_list(self.clients).unwrap(),
            probes: default_probes(&counts),
            counts,
            unpinned: self.unpinned,
            show: self.show,
        };
        let run = Run {
            threads: 2,
            interrupted: &AtomicBool::new(self.interrupted),
        };
        let source = Source::open(&path, &self.input).unwrap();
        let mut report = verify(&source, &options, &run).unwrap();
        report.input.path = Some("keys.txt".into());
        report.input.name = "keys.txt".into();
        report
    }
}

pub(super) const HOSTILE: &[&[u8]] = &[
    b"]]>",
    b"%0A::error::x",
    b"::error file=x::y",
    b"two\nlines",
    b"\r\n::warning::z",
    b"<script>&\"'",
    b"a|b`c``d",
    b"</details>",
    b"\x00\x01\x1b[31m",
    b"\xff\xfe\xfd",
    "\u{ffff}\u{202e}".as_bytes(),
    b"=1+1,\"quoted\"",
    b"@everyone #1",
];

/// What an output writes for a report.
pub(super) fn written(
    write: impl Fn(&VerifyReport, &mut dyn io::Write) -> io::Result<()>,
    report: &VerifyReport,
) -> String {
    let mut out = Vec::new();
    write(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A JSON text as a value.
pub(super) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The schema with every object closed, so that a member it does not describe is an error.
pub(super) fn closed(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                // Conditions look at some members and have nothing against others.
                if !matches!(name.as_str(), "if" | "then" | "else") {
                    closed(member);
                }
            }
            if members.contains_key("properties") {
                members.insert("unevaluatedProperties".into(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}
