use std::collections::BTreeMap;
use std::time::Duration;

use quick_xml::Reader;

use super::super::testing::{Case as Input, written};
use super::*;

/// An element as it was read back.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn all<'e>(&'e self, name: &str) -> impl Iterator<Item = &'e Self> {
        let all = self.children.iter().filter(|child| child.name == name);
        all.collect::<Vec<_>>().into_iter()
    }

    fn one(&self, name: &str) -> &Self {
        let mut all = self.all(name);
        let first = all
            .next()
            .unwrap_or_else(|| panic!("no {name} in {self:#?}"));
        assert!(all.next().is_none());
        first
    }

    /// What became of each case: its name, and the element in it.
    fn outcomes(&self) -> Vec<(&str, &str)> {
        self.all("testcase")
            .map(|case| {
                let outcome = case.children.first().map_or("passed", |c| &c.name);
                (case.attributes["name"].as_str(), outcome)
            })
            .collect()
    }
}

fn read(xml: &str) -> Element {
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(element(&start)),
            Event::Empty(start) => {
                let child = element(&start);
                open.last_mut().unwrap().children.push(child);
            }
            Event::End(_) => {
                let child = open.pop().unwrap();
                open.last_mut().unwrap().children.push(child);
            }
            Event::Text(text) => open
                .last_mut()
                .unwrap()
                .text
                .push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let text = format!("&{};", &*reference);
                let plain = quick_xml::escape::unescape(&text).unwrap().into_owned();
                open.last_mut().unwrap().text.push_str(&plain);
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(open.len(), 1);
    open.pop().unwrap().children.pop().unwrap()
}

fn element(start: &quick_xml::events::BytesStart<'_>) -> Element {
    let attributes = start.attributes().map(|attribute| {
        let attribute = attribute.unwrap();
        let value = quick_xml::escape::unescape(&attribute.value).unwrap();
        (attribute.key.as_ref().to_owned(), value.into_owned())
    });
    Element {
        name: start.name().as_ref().to_owned(),
        attributes: attributes.collect(),
        ..Element::default()
    }
}

fn suites(report: &VerifyReport) -> Vec<Element> {
    let root = read(&written(write, report));
    assert_eq!(root.name, "testsuites");
    for suite in &root.children {
        let number = |name: &str| suite.attributes.get(name).map_or(0, |n| n.parse().unwrap());
        let with = |name: &str| {
            let cases = suite.all("testcase");
            cases.filter(|case| case.all(name).count() == 1).count()
        };
        assert_eq!(number("tests"), suite.all("testcase").count());
        assert_eq!(number("failures"), with("failure"));
        assert_eq!(number("errors"), with("error"));
        assert_eq!(number("skipped"), with("skipped"));
    }
    root.children
}

#[test]
fn a_suite_for_each_count_and_a_case_for_each_client() {
    let report = Input::text("TT0124\n\n-\n")
        .null("-")
        .clients("java,kafkajs,librdkafka")
        .counts(&[15, 1])
        .run();
    let suites = suites(&report);
    assert_eq!(suites.len(), 2);
    assert_eq!(suites[0].attributes["name"], "keys.txt at 15 partitions");
    assert_eq!(
        suites[0].outcomes(),
        [
            ("keys with bytes: kafkajs as java", "passed"),
            ("keys with bytes: librdkafka as java", "failure"),
            ("empty keys: all clients", "failure"),
            ("null keys: all clients", "skipped"),
        ]
    );
    assert_eq!(
        suites[1].outcomes()[1].1,
        "passed",
        "all are on partition 0"
    );
    let case = suites[0].all("testcase").nth(1).unwrap();
    let failure = case.one("failure");
    assert_eq!(failure.attributes["type"], "other-hash");
    assert_eq!(
        failure.attributes["message"],
        "1 of 1 keys (100 %) are placed differently at 15 partitions"
    );
    for part in [
        "100 % of keys at 15",
        "\n    partitioner=murmur2_random\n",
        "\nrecord 1, key in hexadecimal 545430313234 (TT0124): \
         java 10 (hash 0xaa07cf36), librdkafka 9 (hash 0xf208558b)",
    ] {
        assert!(failure.text.contains(part), "{part} in {}", failure.text);
    }
    let empty = suites[0].all("testcase").nth(2).unwrap().one("failure");
    assert_eq!(empty.attributes["type"], "empty-key-rule");
    assert_eq!(
        empty.attributes["message"],
        "1 empty key: java 6, kafkajs 6, librdkafka unpinned"
    );
}

#[test]
fn no_answer_is_an_error() {
    let outcomes = |input: Input| -> Vec<(String, String)> {
        let suites = suites(&input.run());
        let outcomes = suites[0].outcomes().into_iter();
        outcomes
            .map(|(n, o)| (n.to_owned(), o.to_owned()))
            .collect()
    };
    let expected = |outcomes: &[(&str, &str)]| -> Vec<(String, String)> {
        let outcomes = outcomes.iter();
        outcomes
            .map(|&(n, o)| (n.to_owned(), o.to_owned()))
            .collect()
    };
    assert_eq!(
        outcomes(Input::text("").clients("java,kafkajs")),
        expected(&[("an answer", "error")])
    );
    assert_eq!(
        outcomes(Input::text("-\n").null("-").clients("java,kafkajs")),
        expected(&[
            ("null keys: all clients", "skipped"),
            ("an answer", "error")
        ])
    );
    assert_eq!(
        outcomes(Input::text("a\n").clients("kafka-go,pykafka")),
        expected(&[
            ("keys with bytes: pykafka as kafka-go", "skipped"),
            ("an answer", "error")
        ])
    );
    assert_eq!(
        outcomes(
            Input::text("a\n")
                .clients("kafka-go,pykafka")
                .unpinned(UnpinnedPolicy::Fail)
        ),
        expected(&[("keys with bytes: pykafka as kafka-go", "failure")])
    );
    assert_eq!(
        outcomes(Input::text("a\n").clients("java,kafkajs").interrupted()),
        expected(&[("an answer", "error"), ("the whole input", "error")])
    );
}

#[test]
fn whatever_a_key_holds_comes_back() {
    let report = Input::hostile().counts(&[65_536]).run();
    let xml = written(write, &report);
    assert!(
        xml.chars()
            .all(|c| matches!(c, '\n' | ' '..) && c < '\u{fffe}')
    );
    let suites = read(&xml).children;
    let failure = suites[0].all("testcase").next().unwrap().one("failure");
    let lines: Vec<_> = failure
        .text
        .lines()
        .filter(|line| line.starts_with("record "))
        .collect();
    let expected = report.counts[0].mismatches.iter().take(SHOWN);
    let expected: Vec<_> = expected
        .map(|mismatch| mismatch_line(mismatch, &["java", "librdkafka"]))
        .collect();
    assert_eq!(lines, expected);
    assert!(lines[0].contains("(]]>)"), "{}", lines[0]);
}

#[test]
fn a_file_name_with_characters_that_xml_lacks() {
    let mut report = Input::text("a\n").run();
    report.input.name = "a\u{1}<\"\n\u{ffff}\t]]>".into();
    let suites = suites(&report);
    assert_eq!(
        suites[0].attributes["name"],
        "a\\u{1}<\"\n\\u{ffff}\t]]> at 1009 partitions"
    );
}

#[test]
fn time_stamps() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00"),
        (68_169_599, "1972-02-28T23:59:59"),
        (68_169_600, "1972-02-29T00:00:00"),
        (951_782_400, "2000-02-29T00:00:00"),
        (1_704_067_199, "2023-12-31T23:59:59"),
        (4_107_542_400, "2100-03-01T00:00:00"),
    ] {
        let now = UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(timestamp(now), expected);
        let mut out = Vec::new();
        write_at(&Input::text("a\n").run(), now, &mut out).unwrap();
        let suite = &read(&String::from_utf8(out).unwrap()).children[0];
        assert_eq!(suite.attributes["timestamp"], expected);
    }
}

#[test]
fn a_failure_says_what_to_do_about_its_own_client() {
    let report = Input::text("TT0124\n\n")
        .clients("java,ruby-kafka,librdkafka/consistent,hash=crc32,reduce=unsigned")
        .counts(&[15])
        .run();
    let suites = suites(&report);
    let fixed = |case: usize| -> Vec<&str> {
        let failure = suites[0].all("testcase").nth(case).unwrap().one("failure");
        let lines = failure.text.lines();
        lines.filter(|line| line.starts_with("To make ")).collect()
    };
    assert_eq!(fixed(0), ["To make ruby-kafka place keys as java:"]);
    assert_eq!(fixed(1), ["To make librdkafka place keys as java:"]);
    assert!(fixed(2).is_empty(), "nobody knows the user's own");
}
