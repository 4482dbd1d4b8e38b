//! An answer on its way to the client: bytes, and parts of files that never come into memory.
//!
//! A frame of `copart-protocol` holds bytes. Where a part of a file belongs, it holds a slice of [`STAND_IN`] of that
//! length, which nobody reads: lengths in the frame are right, and no memory is behind it. Where the slice
//! begins says which part it is.

use std::collections::VecDeque;
use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::{Buf, Bytes};
use copart_protocol::frame::Frame;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::timeout;

use crate::log::FilePart;

/// Zeros that nobody reads: the allocator has them from the system, which puts no memory behind them until then.
static STAND_IN: LazyLock<Bytes> =
    LazyLock::new(|| Bytes::from(vec![0; LARGEST_PART + MOST_PARTS]));

/// A part of a file cannot be longer.
const LARGEST_PART: usize = 64 << 20;

/// A part of a file should not be shorter: a frame copies short bytes, and a system call costs more.
const SMALLEST_PART: usize = 16 << 10;

/// An answer cannot have more of them.
const MOST_PARTS: usize = 64 << 10;

/// Parts of files for one answer.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<FilePart>);

impl Parts {
    /// Whether a part of this length should be one. The kernel must be able to send it, too.
    pub(crate) fn fit(&self, len: usize) -> bool {
        cfg!(target_os = "linux")
            && self.0.len() < MOST_PARTS
            && (SMALLEST_PART..=LARGEST_PART).contains(&len)
    }

    /// Takes a part that fits, and returns what holds its place in the frame.
    pub(crate) fn add(&mut self, part: FilePart) -> Bytes {
        let index = self.0.len();
        let stand_in = STAND_IN.slice(index..index + part.len);
        self.0.push(part);
        stand_in
    }
}

/// An answer on its way to the client.
#[derive(Debug)]
pub(crate) struct Outgoing {
    frame: Frame,
    parts: Parts,
}

enum Piece {
    Bytes(Bytes),
    File(FilePart),
}

impl From<Frame> for Outgoing {
    fn from(frame: Frame) -> Self {
        let parts = Parts::default();
        Self { frame, parts }
    }
}

impl Outgoing {
    /// Puts parts of files where the frame has their stand-ins.
    pub(crate) fn with_parts(self, parts: Parts) -> Self {
        Self { parts, ..self }
    }

    /// Sends all of it, as long as the client takes some now and then.
    pub(super) async fn send(
        mut self,
        output: &mut OwnedWriteHalf,
        patience: Duration,
    ) -> io::Result<()> {
        if self.parts.0.is_empty() {
            return send_bytes(output, &mut self.frame, patience).await;
        }
        let mut pieces = self.into_pieces()?;
        while let Some(piece) = pieces.pop_front() {
            match piece {
                Piece::Bytes(bytes) => {
                    let more = !pieces.is_empty();
                    send_before(output, bytes, more, patience).await?;
                }
                Piece::File(part) => send_file(output, part, patience).await?,
            }
        }
        Ok(())
    }

    fn into_pieces(self) -> io::Result<VecDeque<Piece>> {
        let place = STAND_IN.as_ptr_range();
        let piece = |segment: &Bytes| {
            if !place.contains(&segment.as_ptr()) {
                return Ok(Piece::Bytes(segment.clone()));
            }
            let index = segment.as_ptr() as usize - place.start as usize;
            let part = self.parts.0.get(index);
            part.filter(|part| part.len == segment.len())
                .map(|part| Piece::File(part.clone()))
                .ok_or_else(|| io::Error::other("a stand-in without its part"))
        };
        self.frame.segments().map(piece).collect()
    }
}

async fn send_bytes(
    output: &mut OwnedWriteHalf,
    bytes: &mut impl Buf,
    patience: Duration,
) -> io::Result<()> {
    while bytes.has_remaining() {
        let left = bytes.remaining();
        progress(patience, left, output.write_buf(bytes)).await?;
    }
    Ok(())
}

/// Waits for one step of sending: how many bytes went out.
async fn progress(
    patience: Duration,
    left: usize,
    step: impl Future<Output = io::Result<usize>>,
) -> io::Result<usize> {
    match timeout(patience, step).await {
        Ok(Ok(0)) => Err(io::ErrorKind::WriteZero.into()),
        Ok(result) => result,
        Err(_) => {
            let reason = format!("{left} bytes of it are not taken");
            Err(io::Error::new(io::ErrorKind::TimedOut, reason))
        }
    }
}

/// Sends bytes; if there is more behind them, they need not go out in a packet of their own.
#[cfg(target_os = "linux")]
async fn send_before(
    output: &mut OwnedWriteHalf,
    mut bytes: Bytes,
    more: bool,
    patience: Duration,
) -> io::Result<()> {
    use rustix::net::{SendFlags, send};
    use tokio::io::Interest;

    if !more {
        return send_bytes(output, &mut bytes, patience).await;
    }
    let socket = output.as_ref();
    while bytes.has_remaining() {
        let step = socket.async_io(Interest::WRITABLE, || {
            Ok(send(socket, &bytes, SendFlags::MORE | SendFlags::NOSIGNAL)?)
        });
        let sent = progress(patience, bytes.len(), step).await?;
        bytes.advance(sent);
    }
    Ok(())
}

#[cfg(target_os = "linux")]
async fn send_file(
    output: &mut OwnedWriteHalf,
    part: FilePart,
    patience: Duration,
) -> io::Result<()> {
    use rustix::fs::sendfile;
    use rustix::io::Errno;
    use tokio::io::Interest;

    let socket = output.as_ref();
    let mut position = part.position;
    let mut left = part.len;
    let Some(file) = part.file.system_file() else {
        return send_copy(output, part, patience).await;
    };
    while left > 0 {
        let step = socket.async_io(Interest::WRITABLE, || {
            let mut from = position;
            Ok(sendfile(socket, file, Some(&mut from), left)?)
        });
        match progress(patience, left, step).await {
            Ok(sent) => {
                position += sent as u64;
                left -= sent;
            }
            // Not every file system can do it.
            Err(error)
                if [Errno::INVAL, Errno::NOSYS]
                    .map(|errno| Some(errno.raw_os_error()))
                    .contains(&error.raw_os_error()) =>
            {
                let file = part.file.clone();
                let rest = FilePart {
                    file,
                    position,
                    len: left,
                };
                return send_copy(output, rest, patience).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
async fn send_before(
    output: &mut OwnedWriteHalf,
    mut bytes: Bytes,
    _more: bool,
    patience: Duration,
) -> io::Result<()> {
    send_bytes(output, &mut bytes, patience).await
}

#[cfg(not(target_os = "linux"))]
async fn send_file(
    output: &mut OwnedWriteHalf,
    part: FilePart,
    patience: Duration,
) -> io::Result<()> {
    send_copy(output, part, patience).await
}

/// Sends a part of a file by way of memory, little by little.
async fn send_copy(
    output: &mut OwnedWriteHalf,
    part: FilePart,
    patience: Duration,
) -> io::Result<()> {
    const STEP: usize = 256 << 10;
    let mut buffer = vec![0; part.len.min(STEP)];
    let mut sent = 0;
    while sent < part.len {
        let step = (part.len - sent).min(STEP);
        let position = part.position + sent as u64;
        crate::files::read_exact_at(&*part.file, &mut buffer[..step], position)?;
        send_bytes(output, &mut &buffer[..step], patience).await?;
        sent += step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use bytes::Bytes;
    use copart_protocol::messages::fetch::{
        FetchRequest, FetchResponse, FetchableTopicResponse, PartitionData,
    };
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::files::{DiskFiles, File, Files, MemoryFiles, Mode};

    const PATIENCE: Duration = Duration::from_secs(10);

    fn frame(records: &[Bytes]) -> Frame {
        let partition = |records: &Bytes| PartitionData {
            records: records.clone(),
            ..PartitionData::default()
        };
        let response = FetchResponse {
            responses: vec![FetchableTopicResponse {
                partitions: records.iter().map(partition).collect(),
                ..FetchableTopicResponse::default()
            }],
            ..FetchResponse::default()
        };
        Frame::response::<FetchRequest>(12, 7, &response).expect("fits")
    }

    async fn pair() -> (TcpStream, OwnedWriteHalf) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let address = listener.local_addr().expect("has one");
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (_, output) = accepted.expect("accepted").0.into_split();
        (client.expect("connected"), output)
    }

    /// What a client gets is what a frame with the bytes themselves would have been.
    async fn check(file: Arc<dyn File>, size: usize) {
        let content: Vec<u8> = (0..size).map(|i| (i * i / 251) as u8).collect();
        file.write_at(&content, 0).expect("written");
        let ranges = [(5, SMALLEST_PART), (0, size), (size - 40_000, 40_000)];
        let mut parts = Parts::default();
        let part = |(position, len): (usize, usize)| FilePart {
            file: file.clone(),
            position: position as u64,
            len,
        };
        let mut mixed = ranges.map(|range| parts.add(part(range))).to_vec();
        // As when a fetch session sends its partitions in another order.
        mixed.swap(0, 1);
        let between = Bytes::from(vec![9; 3000]);
        mixed.insert(1, between.clone());
        let mut whole = ranges
            .map(|(at, len)| Bytes::copy_from_slice(&content[at..at + len]))
            .to_vec();
        whole.swap(0, 1);
        whole.insert(1, between);
        let expected = frame(&whole).into_bytes();

        let (mut client, mut output) = pair().await;
        let outgoing = Outgoing::from(frame(&mixed)).with_parts(parts);
        let mut received = Vec::new();
        let (sent, read) = tokio::join!(
            async {
                let sent = outgoing.send(&mut output, PATIENCE).await;
                drop(output);
                sent
            },
            client.read_to_end(&mut received)
        );
        sent.expect("sent");
        read.expect("received");
        assert!(
            received == expected,
            "{} bytes, {} expected",
            received.len(),
            expected.len()
        );
    }

    #[tokio::test]
    async fn parts_of_files_take_the_place_of_their_stand_ins() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = DiskFiles
            .open(&dir.path().join("log"), Mode::CreateNew)
            .expect("created");
        // More than a socket's buffers hold.
        check(file, 20 << 20).await;
    }

    #[tokio::test]
    async fn files_that_the_system_does_not_know_are_copied() {
        let file = MemoryFiles::default()
            .open(Path::new("/log"), Mode::CreateNew)
            .expect("created");
        check(file, 3 << 20).await;
    }

    #[tokio::test]
    async fn a_file_that_was_cut_meanwhile_ends_the_connection() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = DiskFiles
            .open(&dir.path().join("log"), Mode::CreateNew)
            .expect("created");
        file.write_at(&[1; 100], 0).expect("written");
        let part = FilePart {
            file,
            position: 0,
            len: SMALLEST_PART,
        };
        let mut parts = Parts::default();
        let outgoing = Outgoing::from(frame(&[parts.add(part)])).with_parts(parts);
        let (_client, mut output) = pair().await;
        outgoing
            .send(&mut output, PATIENCE)
            .await
            .expect_err("bytes are missing");
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = DiskFiles
            .open(&dir.path().join("log"), Mode::CreateNew)
            .expect("created");
        file.set_size(40 << 20).expect("extended");
        let part = FilePart {
            file,
            position: 0,
            len: 40 << 20,
        };
        let mut parts = Parts::default();
        let outgoing = Outgoing::from(frame(&[parts.add(part)])).with_parts(parts);
        let (_client, mut output) = pair().await;
        let error = outgoing
            .send(&mut output, Duration::from_millis(50))
            .await
            .expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
