//! The Schema Registry, over HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use copart_broker::{Broker, Builder, Limits};
use copart_protocol::ErrorCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::{Client, PATIENCE, batch};
use super::restart::start_after_drop;

fn builder() -> Builder {
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    Broker::builder().registry(any)
}

fn address(broker: &Broker) -> String {
    let url = broker.registry().expect("it has one");
    url.strip_prefix("http://").expect("HTTP").to_owned()
}

/// Sends bytes, and returns all that comes until the connection is closed.
async fn exchange(broker: &Broker, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address(broker))
        .await
        .expect("it listens");
    // It may be refused before it is read to its end.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = timeout(PATIENCE, read).await.expect("closed in time");
    String::from_utf8(answer).expect("text")
}

fn request(line: &str, body: &str) -> Vec<u8> {
    format!(
        "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/vnd.schemaregistry.v1+json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

async fn ask(broker: &Broker, line: &str, body: &str) -> (u16, String) {
    let answer = exchange(broker, &request(line, body)).await;
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
    (status.expect("a status"), body.to_owned())
}

const STRING: &str = r#"{"schema": "\"string\""}"#;

async fn register(broker: &Broker, subject: &str, body: &str) -> String {
    let line = format!("POST /subjects/{subject}/versions");
    let (status, body) = ask(broker, &line, body).await;
    assert_eq!(status, 200, "{body}");
    body
}

#[tokio::test]
async fn what_is_registered_survives_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let broker = builder()
        .data(directory.path())
        .start()
        .await
        .expect("starts");
    assert!(
        register(&broker, "a-value", STRING)
            .await
            .contains("\"id\":1")
    );
    register(&broker, "b-value", r#"{"schema": "\"int\""}"#).await;
    let (status, _) = ask(
        &broker,
        "PUT /config/b-value",
        r#"{"compatibility": "FULL"}"#,
    )
    .await;
    assert_eq!(status, 200);
    let (_, subjects) = ask(&broker, "DELETE /subjects/a-value", "").await;
    assert_eq!(subjects, "[1]");
    // As after a crash.
    drop(broker);
    let broker = start_after_drop(builder().data(directory.path())).await;
    let (_, subjects) = ask(&broker, "GET /subjects?deleted=true", "").await;
    assert_eq!(subjects, r#"["a-value","b-value"]"#);
    let (_, subjects) = ask(&broker, "GET /subjects", "").await;
    assert_eq!(subjects, r#"["b-value"]"#);
    let (_, config) = ask(&broker, "GET /config/b-value", "").await;
    assert_eq!(config, r#"{"compatibilityLevel":"FULL"}"#);
    assert!(
        register(&broker, "c-value", r#"{"schema": "\"bytes\""}"#)
            .await
            .contains("\"id\":3")
    );
    broker.stop().await.expect("stops");
}

#[tokio::test]
async fn its_topic_has_the_records_of_confluents_and_no_client_writes_it() {
    let broker = builder().start().await.expect("starts");
    register(&broker, "a-value", STRING).await;
    let mut client = Client::to(&broker, 1).await;
    let values = client.values("_schemas", 0, 0).await;
    let value = r#"{"subject":"a-value","version":1,"id":1,"schema":"\"string\"","deleted":false}"#;
    assert_eq!(values, [(0, value.to_owned())]);
    let refused = client.produce("_schemas", 0, batch(&["x"])).await;
    assert_eq!(refused.error_code, ErrorCode::INVALID_TOPIC_EXCEPTION);

    // Without a registry here it is a topic as any other: another registry may keep its schemas in it.
    let other = Broker::builder()
        .topic("_schemas", 1)
        .start()
        .await
        .expect("starts");
    assert_eq!(other.registry(), None);
    let mut client = Client::to(&other, 1).await;
    let taken = client.produce("_schemas", 0, batch(&["x"])).await;
    assert_eq!(taken.error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn it_works_with_any_node_and_without_some() {
    let mut broker = builder().nodes(3).start().await.expect("starts");
    register(&broker, "a-value", STRING).await;
    for node in [1, 2] {
        broker.stop_node(node).await.expect("stops");
        register(&broker, &format!("without-{node}"), STRING).await;
    }
    for node in [1, 2] {
        broker.start_node(node).await.expect("starts");
    }
    let (_, subjects) = ask(&broker, "GET /schemas/ids/1/subjects", "").await;
    assert_eq!(subjects, r#"["a-value","without-1","without-2"]"#);
}

#[tokio::test]
async fn many_clients_get_one_id_for_one_schema() {
    let broker = std::sync::Arc::new(builder().start().await.expect("starts"));
    let asking: Vec<_> = (0..24)
        .map(|number| {
            let broker = broker.clone();
            tokio::spawn(async move {
                let fields = format!(
                    "{{\\\"type\\\":\\\"fixed\\\",\\\"name\\\":\\\"F{}\\\",\\\"size\\\":1}}",
                    number % 4
                );
                let body = format!(r#"{{"schema": "{fields}"}}"#);
                let answer = register(&broker, &format!("s{number}"), &body).await;
                let (id, _) = answer.split_once(',').expect("several members");
                (number % 4, id.to_owned())
            })
        })
        .collect();
    let mut ids = std::collections::BTreeSet::new();
    for asked in asking {
        ids.insert(asked.await.expect("no panic"));
    }
    assert_eq!(ids.len(), 4, "{ids:?}");
}

#[tokio::test]
async fn requests_are_bounded() {
    let limits = Limits {
        receive_timeout: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(600),
        ..Limits::default()
    };
    let broker = builder().limits(limits).start().await.expect("starts");
    let announced = "POST /subjects/a/versions HTTP/1.1\r\nhost: x\r\n";
    // Longer than any schema, told or not.
    let body = "x".repeat(5 << 20);
    let (status, _) = ask(&broker, "POST /subjects/a/versions", &body).await;
    assert_eq!(status, 413);
    let chunked = format!(
        "{announced}transfer-encoding: chunked\r\nconnection: close\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let answer = exchange(&broker, chunked.as_bytes()).await;
    assert!(answer.contains(" 413 "), "{answer:?}");
    // A schema that fits into a request, and not into a record.
    let doc = "x".repeat(2 << 20);
    let schema = format!(
        r#"{{"schema": "{{\"type\":\"fixed\",\"name\":\"F\",\"size\":1,\"doc\":\"{doc}\"}}"}}"#
    );
    let (status, body) = ask(&broker, "POST /subjects/a/versions", &schema).await;
    assert_eq!(status, 422, "{body}");
    assert!(body.contains("42209"), "{body}");
    // A body that does not come.
    let slow = format!("{announced}connection: close\r\ncontent-length: 100\r\n\r\n{{");
    let answer = exchange(&broker, slow.as_bytes()).await;
    assert!(answer.contains(" 408 "), "{answer:?}");
    // A head that does not come, one that is too long, and what is none.
    assert_eq!(
        exchange(&broker, b"GET /subjects HTTP/1.1\r\nx: ").await,
        ""
    );
    let long = format!(
        "GET /subjects HTTP/1.1\r\nx: {}\r\n\r\n",
        "y".repeat(1 << 20)
    );
    let answer = exchange(&broker, long.as_bytes()).await;
    assert!(!answer.contains(" 200 "), "{answer:?}");
    let answer = exchange(&broker, b"\0\x01\x02\r\n\r\n").await;
    assert!(!answer.contains(" 200 "), "{answer:?}");

    let typed = "PUT /config HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}";
    let answer = exchange(&broker, typed.as_bytes()).await;
    assert!(answer.contains(" 415 "), "{answer:?}");
    let (status, _) = ask(&broker, "GET /subjects/%ff/versions", "").await;
    assert_eq!(status, 400);
    let (status, _) = ask(&broker, "PATCH /config", "{}").await;
    assert_eq!(status, 405);
    let plain = "GET /subjects HTTP/1.1\r\nhost: x\r\nconnection: close\r\naccept: application/json\r\n\r\n";
    let answer = exchange(&broker, plain.as_bytes()).await;
    assert!(
        answer.contains("content-type: application/json\r\n"),
        "{answer}"
    );
    assert!(answer.ends_with("\r\n\r\n[]"), "{answer}");
    broker.stop().await.expect("stops");
}

#[tokio::test]
async fn a_topic_that_is_deleted_takes_its_schemas_with_it() {
    use copart_protocol::messages::delete_topics::DeleteTopicsRequest;
    let broker = builder().start().await.expect("starts");
    register(&broker, "a-value", STRING).await;
    let mut client = Client::to(&broker, 1).await;
    let request = DeleteTopicsRequest {
        topic_names: vec!["_schemas".to_owned()],
        timeout_ms: 10_000,
        ..DeleteTopicsRequest::default()
    };
    client.call(5, &request).await;
    let (_, subjects) = ask(&broker, "GET /subjects", "").await;
    assert_eq!(subjects, "[]");
    assert!(
        register(&broker, "b-value", STRING)
            .await
            .contains("\"id\":1")
    );
}
