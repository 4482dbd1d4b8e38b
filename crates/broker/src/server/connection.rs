//! One connection: requests in, answers out in the same order.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;

use super::answer::Answer;
use super::limits::Share;
use super::receive::Receiver;
use crate::api;
use crate::broker::{Node, Shared};

/// Serves a connection until one side ends it. Dropping it closes the connection.
pub(super) async fn serve(
    broker: Arc<Shared>,
    node: Arc<Node>,
    stream: TcpStream,
    peer: SocketAddr,
) {
    // Answers are written whole; waiting for more to send with them gains nothing.
    let _ = stream.set_nodelay(true);
    let (input, output) = stream.into_split();
    let limits = broker.limits.clone();
    let receiver = Receiver::new(input, limits.clone(), broker.requests.clone());
    let (queue, answers) = mpsc::channel(limits.max_in_flight);
    let read = read_requests(&broker, &node, peer.ip(), receiver, queue);
    let write = write_answers(limits.send_timeout, output, answers);
    // A client that closed its side reads no answers: whoever ends first ends the connection.
    let reason = tokio::select! {
        reason = read => reason,
        reason = write => reason,
        () = node.stopped() => None,
    };
    if let Some(reason) = reason {
        tracing::info!(node = node.id, %peer, "closed a connection: {reason}");
    }
}

/// Takes requests one by one, until the client or an error ends that; an error is returned.
async fn read_requests(
    broker: &Arc<Shared>,
    node: &Arc<Node>,
    peer: IpAddr,
    mut receiver: Receiver<impl tokio::io::AsyncRead + Unpin>,
    queue: mpsc::Sender<(Answer, Share)>,
) -> Option<String> {
    let mut mode = node.mode();
    loop {
        let received = match receiver.next().await {
            Ok(Some(received)) => received,
            Ok(None) => return None,
            Err(super::receive::Broken::Io(error)) if is_normal(&error) => return None,
            Err(super::receive::Broken::Idle) => return None,
            Err(broken) => return Some(broken.to_string()),
        };
        node.admit(&mut mode).await;
        let answer = api::answer(broker, node, peer, received.frame).await;
        let closes = matches!(answer, Answer::Close(_));
        let share = match answer {
            // What was asked for is done, and nothing refers to the request any more.
            Answer::Send(..) | Answer::Silence | Answer::Close(_) => Share::default(),
            Answer::Later(_) => received.share,
        };
        if queue.send((answer, share)).await.is_err() {
            return None;
        }
        if closes {
            // The answers before it go out first; the writer ends the connection.
            return std::future::pending().await;
        }
    }
}

async fn write_answers(
    patience: Duration,
    mut output: OwnedWriteHalf,
    mut answers: mpsc::Receiver<(Answer, Share)>,
) -> Option<String> {
    while let Some((mut answer, request)) = answers.recv().await {
        while let Answer::Later(later) = answer {
            answer = later.await;
        }
        drop(request);
        match answer {
            Answer::Send(outgoing, _share) => match outgoing.send(&mut output, patience).await {
                Ok(()) => {}
                Err(error) if is_normal(&error) => return None,
                Err(error) => return Some(format!("sending an answer: {error}")),
            },
            Answer::Silence | Answer::Later(_) => {}
            Answer::Close(reason) => return Some(reason),
        }
    }
    None
}

/// Clients come and go; that is nothing to report.
fn is_normal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
    )
}
