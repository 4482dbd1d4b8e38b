//! From HTTP to requests of the registry, and back.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use copart_registry::{Answer, ApiError};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::service::{Received, Registry};
use crate::broker::Shared;
use crate::server::Share;

/// The largest body. A schema must fit into a record, and that is 1 MiB by default.
const MAX_BODY: usize = 4 << 20;

/// What is spoken, the best first.
const TYPES: [&str; 3] = [
    "application/vnd.schemaregistry.v1+json",
    "application/vnd.schemaregistry+json",
    "application/json",
];
/// What is read besides these.
const BYTES: &str = "application/octet-stream";

pub(super) async fn respond(
    broker: Arc<Shared>,
    registry: Arc<Registry>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let content_type = wanted(request.headers());
    let mut share = Share::default();
    let answer = match receive(&broker, request, &mut share).await {
        Ok(received) => registry.answer(broker.clone(), received).await,
        Err(error) => Answer::from(&error),
    };
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}

/// Reads a request, bounded in bytes and in time. Its memory is counted as it arrives.
async fn receive(
    broker: &Shared,
    request: Request<Incoming>,
    share: &mut Share,
) -> Result<Received, ApiError> {
    let (head, mut body) = request.into_parts();
    check_type(&head.headers)?;
    let deadline = Instant::now() + broker.limits.receive_timeout;
    let mut bytes = BytesMut::new();
    let reading = async {
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|error| http_error(400, format!("reading the body: {error}")))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if data.len() > MAX_BODY - bytes.len() {
                return Err(http_error(
                    413,
                    format!("the body is larger than {MAX_BODY} bytes"),
                ));
            }
            broker.requests.take(share, data.len()).await;
            bytes.extend_from_slice(&data);
        }
        Ok(())
    };
    match timeout_at(deadline, reading).await {
        Ok(read) => read?,
        Err(_) => return Err(http_error(408, "the body took too long".to_owned())),
    }
    Ok(Received {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        body: bytes.freeze(),
    })
}

fn http_error(status: u32, message: String) -> ApiError {
    ApiError {
        code: status,
        message,
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// As with Confluent's registry, a body is JSON under one of these names.
fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let full = text(headers, CONTENT_TYPE);
    let name = full.split(';').next().unwrap_or_default().trim();
    let known = TYPES.into_iter().chain([BYTES]);
    if name.is_empty()
        || known
            .into_iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    {
        return Ok(());
    }
    Err(http_error(
        415,
        format!(
            "the body is of the type {name:?}; {} or {} is wanted",
            TYPES[0], TYPES[2]
        ),
    ))
}

/// The type of the answer.
fn wanted(headers: &HeaderMap) -> &'static str {
    let accepts = text(headers, ACCEPT).to_ascii_lowercase();
    let names = || {
        accepts
            .split(',')
            .map(|it| it.split(';').next().unwrap_or_default().trim())
    };
    let found = TYPES
        .into_iter()
        .find(|known| names().any(|name| name == *known));
    found.unwrap_or(TYPES[0])
}
