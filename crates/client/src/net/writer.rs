//! The task that writes requests.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use copart_protocol::frame::Frame;
use tokio::io::{AsyncWriteExt, WriteHalf};

use super::connection::{Shared, io_error};
use super::transport::BoxStream;

/// Pieces in one system call. A Produce request has two for each batch.
const MAX_SLICES: usize = 64;

pub(super) async fn run(mut stream: WriteHalf<BoxStream>, shared: Arc<Shared>) {
    let mut frames = VecDeque::new();
    let mut unanswered = Vec::new();
    loop {
        shared.take_queued(&mut frames, &mut unanswered);
        if frames.is_empty() {
            if shared.is_poisoned() {
                // Says goodbye where the transport has a way to, and does not insist.
                let _ = stream.shutdown().await;
                return;
            }
            shared.writable.notified().await;
            continue;
        }
        let written = tokio::select! {
            written = write_all(&mut stream, &mut frames) => written,
            // A peer that does not read must not keep the task, and with it the socket, forever.
            () = poisoned(&shared) => return,
        };
        match written {
            Ok(()) => {
                for reply in unanswered.drain(..) {
                    let _ = reply.send(Ok(Bytes::new()));
                }
            }
            Err(error) => {
                let error = io_error("writing", &error);
                for reply in unanswered.drain(..) {
                    let _ = reply.send(Err(error.clone().maybe_written(true)));
                }
                shared.poison(error);
                return;
            }
        }
    }
}

async fn poisoned(shared: &Shared) {
    loop {
        shared.writable.notified().await;
        if shared.is_poisoned() {
            return;
        }
        // A request was queued meanwhile. The loop looks at the queue after each write, so nothing is lost.
    }
}

/// Writes all frames, several in one call, and flushes.
async fn write_all(
    stream: &mut WriteHalf<BoxStream>,
    frames: &mut VecDeque<Frame>,
) -> io::Result<()> {
    while !frames.is_empty() {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut filled = 0;
        for frame in frames.iter() {
            filled += frame.chunks_vectored(&mut slices[filled..]);
            if filled == MAX_SLICES {
                break;
            }
        }
        let mut written = stream.write_vectored(&slices[..filled]).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        while let Some(front) = frames.front_mut() {
            if written < front.remaining() {
                front.advance(written);
                break;
            }
            written -= front.remaining();
            frames.pop_front();
        }
    }
    stream.flush().await
}
