//! Taking connections of the registry's clients.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::http::respond;
use super::patient::Patient;
use super::service::Registry;
use crate::broker::Shared;

/// How many connections there may be. Clients use one or two each.
const MAX_CONNECTIONS: usize = 1000;
/// The most bytes of a request's head, and of a body that nobody has asked for yet.
const MAX_BUFFER: usize = 64 << 10;

/// Takes connections until it is dropped, and then closes them all.
pub(crate) async fn listen(broker: Arc<Shared>, registry: Arc<Registry>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended
                    && error.is_panic()
                {
                    tracing::error!("a connection to the Schema Registry ended with a panic: {error}");
                }
                continue;
            }
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("cannot take a connection to the Schema Registry: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            tracing::warn!(
                %peer,
                "refused a connection to the Schema Registry: there are {MAX_CONNECTIONS} already"
            );
            continue;
        };
        let (broker, registry) = (broker.clone(), registry.clone());
        connections.spawn(async move {
            serve(broker, registry, stream).await;
            drop(place);
        });
    }
}

async fn serve(broker: Arc<Shared>, registry: Arc<Registry>, stream: TcpStream) {
    // Answers are written whole; waiting for more to send with them gains nothing.
    let _ = stream.set_nodelay(true);
    let limits = broker.limits.clone();
    let stream = TokioIo::new(Patient::new(stream, limits.send_timeout));
    let service = service_fn(|request| respond(broker.clone(), registry.clone(), request));
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_timeout)
        .max_buf_size(MAX_BUFFER)
        .serve_connection(stream, service);
    // A client that leaves, or is none: nothing to report.
    let _ = serving.await;
}
