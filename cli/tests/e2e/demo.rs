//! The tour, as a user takes it.

use serde_json::Value;

use crate::support::{Ran, repository, run, run_unread};

fn document(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

fn facts<'d>(document: &'d Value, name: &str) -> &'d Value {
    let steps = document["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    &step["facts"]
}

#[test]
fn all_steps_go_as_told_and_fit_the_page() {
    let ran = run(&["demo"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.err, "");
    let titles = ran.out.lines().filter(|line| {
        line.split_once(". ")
            .is_some_and(|(number, _)| number.parse::<u8>().is_ok())
    });
    assert_eq!(titles.count(), 8, "{}", ran.out);
    assert!(
        ran.out.contains("topic \"TopicA\" with 8 partitions:"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("NOT AS TOLD"), "{}", ran.out);
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn the_document_is_as_its_schema_says_and_a_seed_repeats_it() {
    let one = document(&run(&["demo", "--json", "--seed", "7"]));
    let path = repository().join("docs/src/schema/copart.demo-1.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(&one).map(|e| e.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    assert_eq!(one["as_told"], true);

    // Both services agree with themselves and not with each other, and all users were counted.
    let services = facts(&one, "services");
    let audit = facts(&one, "audit");
    assert_eq!(
        services["users_on_two_partitions"],
        audit["verify"]["disagree"]
    );
    let (before, after) = (facts(&one, "split"), facts(&one, "one_partitioner"));
    assert_eq!(before["records"], after["records"]);
    assert!(before["users_split"].as_u64().unwrap() > 0);
    assert_eq!(after["daily_counts_wrong"], 0);
    let growth = facts(&one, "growth");
    assert_eq!(growth["moved"], growth["foretold_to_move"]);

    let again = document(&run(&["demo", "--output", "json", "--seed", "7"]));
    let other = document(&run(&["demo", "--json", "--seed", "8"]));
    for name in [
        "group",
        "services",
        "split",
        "audit",
        "guard",
        "one_partitioner",
        "growth",
    ] {
        assert_eq!(facts(&one, name), facts(&again, name), "{name}");
        if name != "group" {
            assert_ne!(facts(&one, name), facts(&other, name), "{name}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let (code, messages) = run_unread(&["demo"]);
    assert_eq!((code, messages.as_str()), (Some(0), ""));
}
