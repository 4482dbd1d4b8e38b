//! Connections to a peer that a test plays, in memory and on a paused clock.

use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use copart_protocol::frame::{self, Frame};
use copart_protocol::header::Incoming;
use copart_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use copart_protocol::messages::metadata::{MetadataRequest, MetadataResponse};
use copart_protocol::messages::sasl_authenticate::{
    SaslAuthenticateRequest, SaslAuthenticateResponse,
};
use copart_protocol::messages::sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};
use copart_protocol::{AnyRequest, ApiKey, versions};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::transport::{BoxFuture, BoxStream, Transport};
use super::{Address, Connection, ConnectionConfig, Dialer};
use crate::{ErrorKind, Sasl};

/// Hands out streams that were prepared.
struct Prepared(Mutex<Vec<DuplexStream>>);

impl Transport for Prepared {
    fn connect<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>> {
        let stream = self.0.lock().unwrap().pop();
        Box::pin(async move {
            let stream = stream.ok_or(io::ErrorKind::ConnectionRefused)?;
            Ok(Box::new(stream) as BoxStream)
        })
    }

    fn name(&self) -> &'static str {
        "plaintext"
    }
}

struct Peer {
    stream: DuplexStream,
    buffer: BytesMut,
}

struct Asked {
    id: i32,
    version: i16,
    request: AnyRequest,
}

impl Peer {
    async fn next_content(&mut self) -> Option<Bytes> {
        loop {
            if let Some(content) = frame::take(&mut self.buffer, 1 << 20).expect("framed") {
                return Some(content);
            }
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }

    async fn next(&mut self) -> Option<Asked> {
        let content = self.next_content().await?;
        let Incoming::Known {
            api,
            header,
            mut body,
        } = Incoming::read(content).expect("readable")
        else {
            panic!("unknown request");
        };
        let version = header.api_version;
        let request = AnyRequest::decode_from(api, version, &mut body).expect("readable");
        Some(Asked {
            id: header.correlation_id,
            version,
            request,
        })
    }

    async fn answer<R: copart_protocol::Request>(&mut self, asked: &Asked, response: &R::Response) {
        let frame = Frame::response::<R>(asked.version, asked.id, response).expect("fits");
        self.write(&frame.into_bytes()).await;
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream
            .write_all(bytes)
            .await
            .expect("the client reads");
    }

    /// Plays the broker's part of ApiVersions.
    async fn versions(&mut self) {
        let asked = self.next().await.expect("ApiVersions");
        let apis = [
            ApiKey::ApiVersions,
            ApiKey::Metadata,
            ApiKey::SaslHandshake,
            ApiKey::SaslAuthenticate,
        ];
        let response = ApiVersionsResponse {
            api_keys: apis.map(versions::listed).to_vec(),
            ..ApiVersionsResponse::default()
        };
        self.answer::<ApiVersionsRequest>(&asked, &response).await;
    }
}

fn dialer(sasl: Option<Sasl>) -> (Dialer, Peer) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let dialer = Dialer {
        transport: Arc::new(Prepared(Mutex::new(vec![near]))),
        sasl,
        config: ConnectionConfig {
            client_id: "test".into(),
            max_response: 1 << 20,
            request_timeout: Duration::from_secs(30),
        },
        connect_timeout: Duration::from_secs(10),
    };
    let peer = Peer {
        stream: far,
        buffer: BytesMut::new(),
    };
    (dialer, peer)
}

fn address() -> Address {
    Address::new("b1", 9092)
}

async fn connected() -> (Connection, Peer) {
    let (dialer, mut peer) = dialer(None);
    let address = address();
    let (connection, ()) = tokio::join!(dialer.dial(&address, Some(1)), peer.versions());
    (connection.expect("connected"), peer)
}

fn metadata(connection: &Connection, timeout: u64) -> super::Answer<MetadataRequest> {
    connection
        .send(
            13,
            &MetadataRequest::default(),
            Duration::from_secs(timeout),
        )
        .expect("open")
}

#[tokio::test(start_paused = true)]
async fn requests_are_pipelined_and_answers_in_order() {
    let (connection, mut peer) = connected().await;
    let answers: Vec<_> = (0..3).map(|_| metadata(&connection, 30)).collect();
    for controller_id in 0..3 {
        let asked = peer.next().await.expect("a request");
        let response = MetadataResponse {
            controller_id,
            ..MetadataResponse::default()
        };
        peer.answer::<MetadataRequest>(&asked, &response).await;
    }
    for (expected, answer) in (0..).zip(answers) {
        assert_eq!(answer.await.expect("answered").controller_id, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_answer_does_not_disturb_the_next() {
    let (connection, mut peer) = connected().await;
    drop(metadata(&connection, 30));
    let second = metadata(&connection, 30);
    for controller_id in 0..2 {
        let asked = peer.next().await.expect("both go out");
        let response = MetadataResponse {
            controller_id,
            ..MetadataResponse::default()
        };
        peer.answer::<MetadataRequest>(&asked, &response).await;
    }
    assert_eq!(second.await.expect("answered").controller_id, 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_out_of_step_ends_the_connection_for_all() {
    let (connection, mut peer) = connected().await;
    let (first, second) = (metadata(&connection, 30), metadata(&connection, 30));
    let mut asked = peer.next().await.expect("a request");
    asked.id += 1;
    peer.answer::<MetadataRequest>(&asked, &MetadataResponse::default())
        .await;
    for answer in [first, second] {
        let error = answer.await.expect_err("out of step");
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(
            error.possibly_written() && error.to_string().contains("out of step"),
            "{error}"
        );
    }
    assert!(!connection.is_open());
    let later = connection.send(13, &MetadataRequest::default(), Duration::from_secs(1));
    assert!(!later.err().expect("closed").possibly_written());
}

#[tokio::test(start_paused = true)]
async fn silence_ends_the_connection_in_time() {
    let (connection, _peer) = connected().await;
    let start = Instant::now();
    let (short, long) = (metadata(&connection, 2), metadata(&connection, 20));
    let error = short.await.expect_err("silence");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert!(error.to_string().contains("b1:9092 (node 1)"), "{error}");
    // It stood behind the first, so no answer can come.
    assert_eq!(long.await.expect_err("over").kind(), ErrorKind::Timeout);
    assert_eq!(start.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_kafka_is_named() {
    let far_too_large = (200u32 << 20).to_be_bytes();
    for (bytes, hint) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "HTTP"),
        (&[0x15, 3, 3, 0, 2, 2, 80], "TLS alert"),
        (&far_too_large, "limit"),
        (&[0xff; 8], "frame of -1 bytes"),
    ] {
        let (dialer, mut peer) = dialer(None);
        peer.write(bytes).await;
        let error = dialer.dial(&address(), None).await.expect_err("not Kafka");
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        assert!(error.to_string().contains(hint), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_hangs_up_at_once_may_want_tls() {
    let (dialer, peer) = dialer(None);
    drop(peer);
    let error = dialer.dial(&address(), None).await.expect_err("hung up");
    assert!(error.to_string().contains("expect TLS"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_takes_no_longer_than_the_time_to_connect() {
    let (dialer, _peer) = dialer(None);
    let start = Instant::now();
    assert!(dialer.dial(&address(), None).await.is_err());
    assert_eq!(start.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn api_versions_falls_back_to_what_the_broker_knows() {
    let (dialer, mut peer) = dialer(None);
    let address = address();
    let broker = async {
        let first = peer.next().await.expect("ApiVersions");
        assert_eq!(first.version, 4);
        // As brokers do: in version 0, and naming what they know of ApiVersions.
        let mut response = versions::unsupported_api_versions();
        response.api_keys[0].max_version = 2;
        let asked = Asked {
            version: 0,
            ..first
        };
        peer.answer::<ApiVersionsRequest>(&asked, &response).await;
        let second = peer.next().await.expect("ApiVersions again");
        assert_eq!(second.version, 2);
        let response = ApiVersionsResponse {
            api_keys: vec![versions::listed(ApiKey::Metadata)],
            ..ApiVersionsResponse::default()
        };
        peer.answer::<ApiVersionsRequest>(&second, &response).await;
    };
    let (connection, ()) = tokio::join!(dialer.dial(&address, None), broker);
    let connection = connection.expect("connected");
    assert!(
        connection
            .negotiate(ApiKey::Metadata, ApiKey::Metadata.versions())
            .is_ok()
    );
    let missing = connection.negotiate(ApiKey::Produce, ApiKey::Produce.versions());
    assert_eq!(
        missing.expect_err("not there").kind(),
        ErrorKind::UnsupportedVersion
    );
}

/// Plays the broker's part of PLAIN, with a session of that many seconds.
async fn authenticate(peer: &mut Peer, handshake: Asked, lifetime: i64) {
    assert!(matches!(handshake.request, AnyRequest::SaslHandshake(_)));
    peer.answer::<SaslHandshakeRequest>(&handshake, &SaslHandshakeResponse::default())
        .await;
    let asked = peer.next().await.expect("SaslAuthenticate");
    let AnyRequest::SaslAuthenticate(request) = &asked.request else {
        panic!("not SaslAuthenticate");
    };
    assert_eq!(&request.auth_bytes[..], b"\0ann\0secret");
    let response = SaslAuthenticateResponse {
        session_lifetime_ms: lifetime * 1000,
        ..SaslAuthenticateResponse::default()
    };
    peer.answer::<SaslAuthenticateRequest>(&asked, &response)
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_renewed_and_requests_wait_for_that() {
    let (dialer, mut peer) = dialer(Some(Sasl::plain("ann", "secret")));
    let address = address();
    let broker = async {
        peer.versions().await;
        let handshake = peer.next().await.expect("SaslHandshake");
        authenticate(&mut peer, handshake, 100).await;
    };
    let (connection, ()) = tokio::join!(dialer.dial(&address, None), broker);
    let connection = connection.expect("connected");
    let start = Instant::now();
    // Between 85 and 95 seconds later it asks by itself.
    let handshake = peer.next().await.expect("SaslHandshake again");
    let after = start.elapsed().as_secs();
    assert!((85..=95).contains(&after), "{after}");
    // Asked for in the middle of it: held back until it is over.
    let answer = metadata(&connection, 30);
    authenticate(&mut peer, handshake, 0).await;
    let asked = peer.next().await.expect("the request");
    assert!(matches!(asked.request, AnyRequest::Metadata(_)));
    peer.answer::<MetadataRequest>(&asked, &MetadataResponse::default())
        .await;
    answer.await.expect("answered");
    // No lifetime, so no more of that.
    assert!(
        tokio::time::timeout(Duration::from_secs(1000), peer.next())
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_closes_the_connection() {
    let (connection, mut peer) = connected().await;
    let clone = connection.clone();
    drop(connection);
    assert!(clone.is_open());
    drop(clone);
    assert!(peer.next().await.is_none());
}
