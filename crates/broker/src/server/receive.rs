//! Reading requests off a connection, without believing what their length fields say.

use std::fmt;
use std::io;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use copart_protocol::frame;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout, timeout_at};

use super::limits::{Limits, Memory, Share};

/// Requests up to this size are read several at a time, into one buffer.
const SMALL: usize = 16 << 10;
/// How much space a larger request gets at first. It is not resident before bytes arrive.
const AT_FIRST: usize = 1 << 20;

/// Reads requests.
#[derive(Debug)]
pub(crate) struct Receiver<R> {
    io: R,
    buffer: BytesMut,
    limits: Arc<Limits>,
    memory: Arc<Memory>,
}

/// A request's bytes, without the length in front.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) frame: Bytes,
    /// What it has of the shared memory, as long as it is worked on.
    pub(crate) share: Share,
}

/// Why a connection is read no further.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The client is gone.
    Io(io::Error),
    /// The client stopped in the middle of a request.
    Torn,
    /// It was silent for too long.
    Idle,
    /// A request took too long to arrive.
    Slow { received: usize },
    /// What arrived is no request.
    Frame(copart_protocol::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Torn => f.write_str("closed by the client in the middle of a request"),
            Self::Idle => f.write_str("no request for too long"),
            Self::Slow { received } => write!(
                f,
                "a request took too long to arrive, {received} bytes of it are here"
            ),
            Self::Frame(error) => write!(f, "{error}"),
        }
    }
}

impl<R: AsyncRead + Unpin> Receiver<R> {
    pub(crate) fn new(io: R, limits: Arc<Limits>, memory: Arc<Memory>) -> Self {
        Self {
            io,
            buffer: BytesMut::new(),
            limits,
            memory,
        }
    }

    /// The next request, or `None` when the client has closed the connection. Not cancel-safe.
    pub(crate) async fn next(&mut self) -> Result<Option<Received>, Broken> {
        if self.buffer.is_empty() {
            // An idle connection keeps no buffer: its next bytes are the length of a request.
            self.buffer = BytesMut::new();
            let mut prefix = [0; frame::PREFIX];
            match timeout(self.limits.idle_timeout, self.io.read(&mut prefix)).await {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(read)) => self.buffer.extend_from_slice(&prefix[..read]),
                Ok(Err(error)) => return Err(Broken::Io(error)),
                Err(_) => return Err(Broken::Idle),
            }
        }
        let deadline = Instant::now() + self.limits.receive_timeout;
        loop {
            if let Some(prefix) = self.buffer.first_chunk() {
                let size =
                    frame::size(*prefix, self.limits.max_request_bytes).map_err(Broken::Frame)?;
                if size > SMALL {
                    return self.large(size, deadline).await.map(Some);
                }
                if self.buffer.len() >= frame::PREFIX + size {
                    self.buffer.advance(frame::PREFIX);
                    return Ok(Some(Received {
                        frame: self.buffer.split_to(size).freeze(),
                        share: Share::default(),
                    }));
                }
            }
            self.buffer.reserve(SMALL);
            let read = timeout_at(deadline, self.io.read_buf(&mut self.buffer));
            let read = read.await.map_err(|_| Broken::Slow {
                received: self.buffer.len(),
            });
            match read? {
                Ok(0) => return Err(Broken::Torn),
                Ok(_) => {}
                Err(error) => return Err(Broken::Io(error)),
            }
        }
    }

    /// A request with a buffer of its own, which grows as bytes arrive.
    async fn large(&mut self, size: usize, deadline: Instant) -> Result<Received, Broken> {
        self.buffer.advance(frame::PREFIX);
        let mut share = Share::default();
        let mut body = BytesMut::with_capacity(size.min(AT_FIRST));
        let there = self.buffer.len().min(size);
        body.extend_from_slice(&self.buffer[..there]);
        self.buffer.advance(there);
        let mut paid = 0;
        while body.len() < size {
            let received = body.len();
            let slow = move |_| Broken::Slow { received };
            if received >= paid {
                timeout_at(deadline, self.memory.take(&mut share, Memory::UNIT))
                    .await
                    .map_err(slow)?;
                paid += Memory::UNIT;
            }
            if received == body.capacity() {
                body.reserve(received.min(size - received));
            }
            let most = (size - received).min(paid - received);
            let mut limited = (&mut self.io).take(most as u64);
            let read = timeout_at(deadline, limited.read_buf(&mut body))
                .await
                .map_err(slow)?;
            match read {
                Ok(0) => return Err(Broken::Torn),
                Ok(_) => {}
                Err(error) => return Err(Broken::Io(error)),
            }
        }
        Ok(Received {
            frame: body.freeze(),
            share,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;

    use super::*;

    fn receiver(limits: Limits) -> (tokio::io::DuplexStream, Receiver<tokio::io::DuplexStream>) {
        let (client, server) = tokio::io::duplex(1 << 20);
        let memory = Arc::new(Memory::new(limits.max_requests_in_memory));
        (client, Receiver::new(server, Arc::new(limits), memory))
    }

    fn framed(content: &[u8]) -> Vec<u8> {
        let mut frame = (content.len() as u32).to_be_bytes().to_vec();
        frame.extend_from_slice(content);
        frame
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_all_sizes_in_one_stream() {
        let contents: Vec<Vec<u8>> = [1, 0, 3000, SMALL, SMALL + 1, 5, AT_FIRST * 3 + 7, 2]
            .iter()
            .map(|&len| (0..len).map(|i| (i * 7 + len) as u8).collect())
            .collect();
        for chunk in [1 << 20, 4096, 1021] {
            let (mut client, mut receiver) = receiver(Limits::default());
            let sent: Vec<u8> = contents
                .iter()
                .flat_map(|content| framed(content))
                .collect();
            let write = async {
                for part in sent.chunks(chunk) {
                    client.write_all(part).await.expect("open");
                }
                drop(client);
            };
            let read = async {
                for content in &contents {
                    let received = receiver.next().await.expect("valid").expect("there");
                    assert!(received.frame == content[..], "{} bytes", content.len());
                }
                assert!(
                    receiver
                        .next()
                        .await
                        .expect("closed between requests")
                        .is_none()
                );
            };
            tokio::join!(write, read);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_length_alone_takes_no_memory() {
        let (mut client, mut receiver) = receiver(Limits::default());
        let memory = receiver.memory.clone();
        client
            .write_all(&(90u32 << 20).to_be_bytes())
            .await
            .expect("open");
        let broken = tokio::join!(receiver.next(), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let mut rest = Share::default();
            let all_but_one = Limits::default().max_requests_in_memory - Memory::UNIT;
            memory.take(&mut rest, all_but_one).await;
        })
        .0;
        assert!(
            matches!(broken, Err(Broken::Slow { received: 0 })),
            "{broken:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn refuses_what_is_no_request() {
        for (bytes, reason) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], "HTTP"),
            (&[0x16, 3, 1, 0, 0][..], "TLS"),
            (&[0x7f, 0xff, 0xff, 0xff][..], "more than the limit"),
            (&[0xff; 4][..], "-1 bytes"),
        ] {
            let (mut client, mut receiver) = receiver(Limits::default());
            client.write_all(bytes).await.expect("open");
            let broken = receiver.next().await.expect_err("refused").to_string();
            assert!(broken.contains(reason), "{broken}");
        }
        let (client, mut idle) = receiver(Limits::default());
        assert!(matches!(idle.next().await, Err(Broken::Idle)));
        drop(client);
        let (mut client, mut torn) = receiver(Limits::default());
        client.write_all(&[0, 0, 1, 0, 9]).await.expect("open");
        drop(client);
        assert!(matches!(torn.next().await, Err(Broken::Torn)));
    }
}
