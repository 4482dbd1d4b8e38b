//! Rust: copart's own partitioners, by the name of whichever client they follow.

use std::fmt::Write as _;

use super::{Call, MADE, Suite, identifier};

pub(super) fn call(client: &str, partitioner: Option<&str>) -> Call {
    let name = match partitioner {
        Some(partitioner) => format!("{client}/{partitioner}"),
        None => client.to_owned(),
    };
    Call {
        imports: vec!["use copart_partitioners::{PartitionCount, Placement, catalogue};".into()],
        place: format!("catalogue::find({name:?}).unwrap().profile.place(Some(key), count)"),
        what: format!("As {name} does."),
    }
}

pub(super) fn file(suites: &[Suite]) -> String {
    let call = &suites[0].call;
    let mut text = format!(
        "// {MADE}\n{}\n\n/// {}\nfn place(key: &[u8], count: u32) -> Placement {{\n    let count = PartitionCount::new(count).unwrap();\n    {}\n}}\n",
        call.imports.join("\n"),
        call.what,
        call.place
    );
    for suite in suites {
        let _ = write!(
            text,
            "\n#[test]\nfn partitions_of_{}() {{\n    for (key, partition) in [\n",
            identifier(&suite.topic).to_lowercase()
        );
        for (hex, partition) in &suite.rows {
            let bytes: String =
                hex.as_bytes()
                    .chunks_exact(2)
                    .fold(String::new(), |mut bytes, pair| {
                        let _ = write!(bytes, "\\x{}{}", char::from(pair[0]), char::from(pair[1]));
                        bytes
                    });
            let _ = writeln!(text, "        (&b\"{bytes}\"[..], {partition}),");
        }
        let _ = write!(
            text,
            "    ] {{\n        assert_eq!(place(key, {}), Placement::Pinned(partition), \"{{key:02x?}}\");\n    }}\n}}\n",
            suite.partitions
        );
    }
    text
}
