//! One connection: requests in, answers out in the same order.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Buf;
use copart_protocol::frame::Frame;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::answer::Answer;
use super::limits::{Limits, Share};
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
    let read = read_requests(&broker, &node, receiver, queue);
    let write = write_answers(&limits, output, answers);
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
        let answer = api::answer(broker, node, received.frame).await;
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
    limits: &Limits,
    mut output: impl AsyncWrite + Unpin,
    mut answers: mpsc::Receiver<(Answer, Share)>,
) -> Option<String> {
    while let Some((mut answer, request)) = answers.recv().await {
        while let Answer::Later(later) = answer {
            answer = later.await;
        }
        drop(request);
        match answer {
            Answer::Send(frame, _share) => match send(limits, &mut output, frame).await {
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

/// Sends a frame, as long as the client takes some of it now and then.
async fn send(
    limits: &Limits,
    output: &mut (impl AsyncWrite + Unpin),
    mut frame: Frame,
) -> io::Result<()> {
    while frame.has_remaining() {
        match timeout(limits.send_timeout, output.write_buf(&mut frame)).await {
            Ok(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                let reason = format!("{} bytes of it are not taken", frame.remaining());
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
        }
    }
    Ok(())
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
