//! The task that reads answers.

use std::sync::Arc;

use bytes::BytesMut;
use copart_protocol::frame;
use tokio::io::{AsyncReadExt, ReadHalf};

use super::connection::{Shared, io_error};
use super::transport::BoxStream;
use crate::{Error, ErrorKind};

/// Room that is made before a read. A frame's announced size is never reserved as such: the buffer grows
/// with what really arrives.
const ROOM: usize = 16 * 1024;

pub(super) async fn run(mut stream: ReadHalf<BoxStream>, shared: Arc<Shared>) {
    let mut buffer = BytesMut::new();
    loop {
        match frame::take(&mut buffer, shared.config.max_response) {
            Ok(Some(content)) => {
                if let Err(error) = shared.answer(content) {
                    return shared.poison(error);
                }
                continue;
            }
            Ok(None) => {}
            Err(error) => return shared.poison(Error::from(error)),
        }
        // The larger the frame has already become, the larger the steps.
        buffer.reserve(ROOM.max(buffer.len()));
        let read = tokio::select! {
            biased;
            () = shared.stop_reader.notified() => {
                if shared.is_poisoned() {
                    return;
                }
                continue;
            }
            read = stream.read_buf(&mut buffer) => read,
        };
        match read {
            Ok(0) => {
                let reason = if buffer.is_empty() {
                    "the broker closed the connection"
                } else {
                    "the broker closed the connection in the middle of an answer"
                };
                return shared.poison(Error::new(ErrorKind::Disconnected, reason));
            }
            Ok(_) => {}
            Err(error) => return shared.poison(io_error("reading", &error)),
        }
    }
}
