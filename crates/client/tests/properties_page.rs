//! The book's table of keys is the code's. `COPART_UPDATE_DOCS=1` writes it.

use std::fmt::Write;
use std::path::Path;

use copart::{Properties, PropertyClients, Treatment};

const BEGIN: &str = "<!-- keys: begin -->\n";
const END: &str = "<!-- keys: end -->";

fn table() -> String {
    let mut table = String::new();
    for (heading, keys) in Properties::known_keys() {
        let _ = write!(
            table,
            "\n### {heading}\n\n| key | of | | |\n|---|---|---|---|\n"
        );
        for key in keys {
            let clients = match key.clients {
                PropertyClients::Java => "Java",
                PropertyClients::Librdkafka => "librdkafka",
                PropertyClients::Both => "both",
            };
            let treatment = match key.treatment {
                Treatment::Taken => "taken",
                Treatment::WithoutEffect => "no effect",
                Treatment::Refused => "refused",
            };
            let _ = writeln!(
                table,
                "| `{}` | {clients} | {treatment} | {} |",
                key.name, key.note
            );
        }
    }
    table.push('\n');
    table
}

#[test]
fn the_book_has_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/properties.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (shown, after) = rest.split_once(END).expect("the table ends");
    let table = table();
    if std::env::var_os("COPART_UPDATE_DOCS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert!(
            shown == table,
            "docs/src/properties.md is out of date: run this test with COPART_UPDATE_DOCS=1"
        );
    }
}
