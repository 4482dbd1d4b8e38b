use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use super::*;
use crate::output::testing::{Case, written};

fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)))
}

/// Otherwise browsers would show the page without its style or run no script.
#[test]
fn the_policy_has_the_hashes_of_style_and_script() {
    for (kind, text) in [("style-src", STYLE), ("script-src", SCRIPT)] {
        let wanted = format!("{kind} {};", hash(text));
        assert!(POLICY.contains(&wanted), "{wanted} is not in the policy");
    }
    assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
}

#[test]
fn hostile_keys_and_names_stay_text() {
    let mut report = Case::hostile().counts(&[1009]).run();
    report.input.name = "</title><script>alert(1)</script>".into();
    let page = written(verify::write, &report);
    assert_eq!(page.matches("<script>").count(), 1, "ours alone");
    assert!(!page.contains("<script>&\"'") && !page.contains("</details>"));
    assert!(page.contains("&lt;script&gt;&amp;&quot;&#39;"));
    assert!(!page.contains('\u{202e}'));
}

#[test]
fn a_page_has_what_people_and_screen_readers_need() {
    let page = written(
        verify::write,
        &Case::text("TT0124\n100:48069\n\n")
            .clients("kafkajs@1.16,kafkajs")
            .counts(&[12, 16])
            .run(),
    );
    for part in [
        "<html lang=\"en\">",
        "<title>copart verify: disagree: ",
        "<main id=\"answer\">",
        "role=\"img\"",
        "aria-labelledby=\"plot-0-title plot-0-text\"",
        "<desc id=\"plot-0-text\">",
        "<th scope=\"col\" class=\"n\">partitions</th>",
        "<strong>disagree</strong>",
        "LegacyPartitioner",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // No network: nothing is loaded, and the only addresses would be text.
    for part in ["src=", "url(", "@import", "<link", "http://", "https://"] {
        assert!(!page.contains(part), "{part}");
    }
}
