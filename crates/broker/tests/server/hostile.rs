//! What strangers send.

use std::time::Duration;

use copart_broker::{Broker, Limits};
use copart_protocol::ErrorCode;
use copart_protocol::messages::metadata::MetadataRequest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::client::{Client, batch, fetch_request};

/// Sends bytes, and waits until the broker closes the connection.
async fn is_closed(broker: &Broker, bytes: &[u8]) {
    let mut client = Client::to(broker, 1).await;
    client.stream.write_all(bytes).await.expect("open");
    let mut rest = Vec::new();
    let read = client.stream.read_to_end(&mut rest);
    tokio::time::timeout(Duration::from_secs(20), read)
        .await
        .expect("closed in time")
        .unwrap_or_default();
    assert_eq!(rest, b"", "no answer to {bytes:?}");
}

#[tokio::test]
async fn nonsense_closes_the_connection_and_nothing_else() {
    let limits = Limits {
        receive_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let builder = Broker::builder().topic("t", 1).limits(limits);
    let broker = builder.start().await.expect("starts");
    let mut bystander = Client::to(&broker, 1).await;
    let with_size = |content: &[u8]| {
        let mut frame = (content.len() as i32).to_be_bytes().to_vec();
        frame.extend_from_slice(content);
        frame
    };
    let metadata_v12 = [0, 3, 0, 12, 0, 0, 0, 1, 0xff, 0xff, 0];
    for bytes in [
        &0x7fff_ffff_i32.to_be_bytes()[..],
        &(-1_i32).to_be_bytes(),
        &0_i32.to_be_bytes(),
        b"GET / HTTP/1.1\r\n\r\n",
        &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
        // A large request that never comes.
        &[5, 0, 0, 0, 0, 0],
        &with_size(&[0, 3]),
        // An API that nobody knows, and versions that we do not have.
        &with_size(&[0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff]),
        &with_size(&[0, 0, 0, 1, 0, 0, 0, 1, 0xff, 0xff]),
        &with_size(&[0, 3, 0x7f, 0xff, 0, 0, 0, 1, 0xff, 0xff]),
        // Counts that the bytes behind them cannot hold.
        &with_size(&[&metadata_v12[..], &[0xff, 0xff, 0xff, 0xff, 0x0f]].concat()),
        &with_size(&[0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]),
        &with_size(
            &[
                &metadata_v12[..],
                &[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f],
            ]
            .concat(),
        ),
    ] {
        is_closed(&broker, bytes).await;
    }
    bystander.call(12, &MetadataRequest::default()).await;
    assert_eq!(
        bystander.produce("t", 0, batch(&["x"])).await.error_code,
        ErrorCode::NONE
    );
}

#[tokio::test]
async fn too_many_elements_are_refused() {
    let limits = Limits {
        max_request_elements: 10,
        ..Limits::default()
    };
    let builder = Broker::builder().topic("t", 1).limits(limits);
    let broker = builder.start().await.expect("starts");
    let mut client = Client::to(&broker, 1).await;
    client.call(12, &fetch_request("t", &[(0, 0); 9], 0)).await;
    client.send(12, &fetch_request("t", &[(0, 0); 10], 0)).await;
    assert!(client.receive_frame().await.is_none());
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed() {
    let limits = Limits {
        max_connections: 3,
        ..Limits::default()
    };
    let broker = Broker::builder()
        .limits(limits)
        .start()
        .await
        .expect("starts");
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = Client::to(&broker, 1).await;
        client.call(12, &MetadataRequest::default()).await;
        clients.push(client);
    }
    let mut one_more = Client::to(&broker, 1).await;
    assert!(one_more.receive_frame().await.is_none());
    clients.pop();
    for attempt in 0.. {
        let mut client = Client::to(&broker, 1).await;
        client
            .stream
            .write_all(&[0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff])
            .await
            .ok();
        if client.receive_frame().await.is_some() {
            break;
        }
        assert!(attempt < 500, "the place was not given back");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_reader_that_does_not_read_holds_up_only_itself() {
    let limits = Limits {
        send_timeout: Duration::from_millis(300),
        max_responses_in_memory: 1 << 20,
        ..Limits::default()
    };
    let builder = Broker::builder().topic("t", 1).limits(limits);
    let broker = builder.start().await.expect("starts");
    let mut client = Client::to(&broker, 1).await;
    let value = "x".repeat(400_000);
    for _ in 0..16 {
        client.produce("t", 0, batch(&[&value])).await;
    }
    // More than the sockets' buffers and the budget hold.
    let mut stuck = Client::to(&broker, 1).await;
    let mut request = fetch_request("t", &[(0, 0)], 0);
    request.topics[0].partitions[0].partition_max_bytes = 50 << 20;
    for _ in 0..10 {
        stuck.send(12, &request).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(client.values("t", 0, 0).await.len(), 16);
    tokio::time::sleep(Duration::from_millis(600)).await;
    let mut received = 0;
    while let Ok(read) = stuck.stream.read(&mut vec![0; 1 << 20]).await {
        if read == 0 {
            break;
        }
        received += read;
    }
    assert!(received < 10 * 16 * 400_000, "given up after a while");
}
