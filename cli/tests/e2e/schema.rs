//! `copart schema`, with a registry whose answers are written down here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::support::{Ran, pipe, run};

/// Method and path of a request, and what is answered.
type Answer = (&'static str, u16, &'static str);

const AVRO: &str = r#"{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}"#;

/// As Confluent's registry answers.
const ANSWERS: &[Answer] = &[
    (
        "GET /subjects",
        200,
        r#"["orders-value","orders-key","users-value"]"#,
    ),
    ("GET /subjects/orders-value/versions", 200, "[1,3]"),
    ("GET /subjects/orders-key/versions", 200, "[1]"),
    ("GET /subjects/users-value/versions", 200, "[1]"),
    (
        "GET /subjects/orders-value/versions/latest",
        200,
        r#"{"subject":"orders-value","version":3,"id":7,"guid":"89791762-2336-186f-9674-99b90a8e2386","schema":"{\"type\":\"record\",\"name\":\"Order\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"}]}"}"#,
    ),
    (
        "GET /subjects/orders-key/versions/latest",
        200,
        r#"{"subject":"orders-key","version":1,"id":2,"schema":"\"long\""}"#,
    ),
    (
        "GET /subjects/users-value/versions/latest",
        200,
        r#"{"subject":"users-value","version":1,"id":4,"schemaType":"PROTOBUF","schema":"syntax = \"proto3\";\n","references":[{"name":"money.proto","subject":"money","version":1}]}"#,
    ),
    ("GET /schemas/ids/7", 200, r#"{"schema":"\"string\""}"#),
    (
        "POST /subjects/orders-value/versions",
        200,
        r#"{"id":8,"version":4}"#,
    ),
    (
        "POST /subjects/orders-value/versions?normalize=true",
        200,
        r#"{"id":7}"#,
    ),
    (
        "POST /subjects/orders-value",
        404,
        r#"{"error_code":40403,"message":"Schema not found"}"#,
    ),
    (
        "POST /subjects/users-value/versions",
        409,
        r#"{"error_code":409,"message":"Schema being registered is incompatible"}"#,
    ),
    (
        "POST /compatibility/subjects/orders-value/versions?verbose=true",
        200,
        r#"{"is_compatible":true,"messages":[]}"#,
    ),
    (
        "POST /compatibility/subjects/orders-value/versions/1?verbose=true",
        200,
        r#"{"is_compatible":false,"messages":["READER_FIELD_MISSING_DEFAULT_VALUE: total"]}"#,
    ),
];

/// A registry, and what it was asked.
pub(crate) struct Registry {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Clone)]
struct Asked {
    line: String,
    authorization: Option<String>,
    body: Value,
}

impl Registry {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that went away is no matter of the test's.
                let _ = answer(stream.unwrap(), &log);
            }
        });
        Self { url, asked }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn run(&self, args: &[&str]) -> Ran {
        run(&[&["schema"], args, &["--registry", &self.url]].concat())
    }

    fn last(&self) -> Asked {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

fn answer(stream: TcpStream, log: &Mutex<Vec<Asked>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let line = first.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let found = ANSWERS.iter().find(|(known, ..)| *known == line);
    let (status, text) = found.map_or(
        (404, r#"{"error_code":40401,"message":"Subject not found"}"#),
        |(_, status, text)| (*status, *text),
    );
    log.lock().unwrap().push(Asked {
        line,
        authorization,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    });
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(head.as_bytes())?;
    stream.write_all(text.as_bytes())
}

fn ok(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

fn json(ran: Ran) -> Value {
    serde_json::from_str(&ok(ran)).unwrap()
}

/// A file in a directory of its own.
fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn subjects_are_listed_with_their_newest_version() {
    let registry = Registry::start();
    assert_eq!(
        ok(registry.run(&["list"])),
        "SUBJECT       VERSIONS  TYPE      ID\n\
         orders-key    1         AVRO      2\n\
         orders-value  1,3       AVRO      7\n\
         users-value   1         PROTOBUF  4\n"
    );
    assert_eq!(
        ok(registry.run(&["list", "--prefix", "orders-v", "--output", "csv"])),
        "subject,version,type,id\norders-value,3,AVRO,7\n"
    );
    let listed = json(registry.run(&["list", "--output", "json"]));
    assert_eq!(listed["schema"], "copart.subjects/1");
    assert_eq!(listed["subjects"][1]["versions"], serde_json::json!([1, 3]));
}

#[test]
fn a_schema_is_shown_by_its_subject_or_its_id() {
    let registry = Registry::start();
    assert_eq!(
        ok(registry.run(&["get", "orders-value"])),
        format!("{AVRO}\n")
    );
    assert_eq!(ok(registry.run(&["get", "--id", "7"])), "\"string\"\n");
    let shown = json(registry.run(&["get", "users-value", "--output", "json"]));
    assert_eq!(shown["schema"], "copart.schema/1");
    assert_eq!(
        (&shown["id"], &shown["type"]),
        (&4.into(), &"PROTOBUF".into())
    );
    assert_eq!(shown["references"][0]["subject"], "money");
    // What there is not is named as the registry names it.
    let ran = registry.run(&["get", "nobody-value"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("Subject not found (error code 40401)"),
        "{ran:?}"
    );
}

#[test]
fn schemas_are_registered_with_what_they_refer_to() {
    let registry = Registry::start();
    let (_dir, path) = file("order.avsc", AVRO);
    assert_eq!(
        ok(registry.run(&["register", "orders-value", &path])),
        "orders-value: version 4, id 8\n"
    );
    assert_eq!(registry.last().body, serde_json::json!({ "schema": AVRO }));
    // The registry tells no version here, and does not find the schema by its own text.
    let ran = registry.run(&["register", "orders-value", &path, "--normalize"]);
    assert_eq!(ok(ran), "orders-value: id 7\n");

    let args = [
        "schema",
        "register",
        "users-value",
        "-",
        "--type",
        "protobuf",
    ];
    let more = [
        "--reference",
        "money.proto=money:1",
        "--registry",
        &registry.url,
    ];
    let ran = pipe(b"syntax = \"proto3\";", &[&args[..], &more].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("incompatible"), "{ran:?}");
    let sent = registry.last().body;
    assert_eq!(sent["schemaType"], "PROTOBUF");
    assert_eq!(sent["references"][0]["name"], "money.proto");

    let (_dir, path) = file("order.txt", AVRO);
    let ran = registry.run(&["register", "orders-value", &path]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--type"), "{ran:?}");
}

#[test]
fn what_is_not_compatible_exits_with_one() {
    let registry = Registry::start();
    let (_dir, path) = file("order.avsc", AVRO);
    let check = ["check", "orders-value", &path];
    assert_eq!(ok(registry.run(&check)), "orders-value: compatible\n");
    let first = [&check[..], &["--version", "1"]].concat();
    let ran = registry.run(&first);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(
        ran.out,
        "orders-value: not compatible\n  READER_FIELD_MISSING_DEFAULT_VALUE: total\n"
    );
    let ran = registry.run(&[&first[..], &["--output", "json"]].concat());
    assert_eq!(ran.code, 1);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["schema"], "copart.schema-check/1");
    assert_eq!(answer["compatible"], false);
}

#[test]
fn credentials_come_from_a_file() {
    let registry = Registry::start();
    let text = format!(
        "schema.registry.url={}\nbasic.auth.credentials.source=USER_INFO\nbasic.auth.user.info=ann:secret\n",
        registry.url
    );
    let (_dir, path) = file("registry.properties", &text);
    ok(run(&[
        "schema",
        "get",
        "--id",
        "7",
        "--registry-properties",
        &path,
    ]));
    assert_eq!(
        registry.last().authorization.as_deref(),
        Some("Basic YW5uOnNlY3JldA==")
    );
    assert_eq!(registry.last().line, "GET /schemas/ids/7");
    let (_dir, path) = file("registry.properties", "bearer.auth.token=t0ken\n");
    ok(registry.run(&["get", "--id", "7", "--registry-properties", &path]));
    assert_eq!(
        registry.last().authorization.as_deref(),
        Some("Bearer t0ken")
    );
}

#[test]
fn a_registry_that_is_not_there_exits_with_five() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let ran = run(&["schema", "list", "--registry", &url]);
    assert_eq!(ran.code, 5, "{ran:?}");
    let ran = run(&["schema", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--registry"), "{ran:?}");
    let ran = run(&["schema", "list", "--registry", "registry:8081"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("http://host:8081"), "{ran:?}");
}
