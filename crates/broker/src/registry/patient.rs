//! A connection whose other side must take what is sent.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Fails when the other side takes nothing of an answer for this long.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write waits.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waits: None,
        }
    }

    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let patience = self.patience;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waits.as_mut().poll(context));
        waits.as_mut().reset(Instant::now() + patience);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_takes_fails() {
        let (one, mut other) = tokio::io::duplex(8);
        let mut patient = Patient::new(one, Duration::from_secs(10));
        patient.write_all(b"12345678").await.expect("there is room");
        let writing = tokio::spawn(async move { patient.write_all(b"9abcdefghij").await });
        tokio::time::sleep(Duration::from_secs(9)).await;
        let mut some = [0; 4];
        other.read_exact(&mut some).await.expect("it is there");
        // It began to wait anew.
        tokio::time::sleep(Duration::from_secs(9)).await;
        assert!(!writing.is_finished());
        tokio::time::sleep(Duration::from_secs(2)).await;
        let error = writing.await.expect("no panic").expect_err("too slow");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
