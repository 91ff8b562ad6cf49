//! A limit for how long a client may take nothing of what is sent to it.
//!
//! A client that stops reading fills the buffers on the way, and from then on holds what the server has for
//! it: a snapshot, a position in the history, a connection. As long as it takes anything at all it is only
//! slow, and may be. A write that makes no progress for the given time fails, which ends the connection.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// The stream of a connection, below its encryption, with a limit for each write.
#[derive(Debug)]
pub struct StallTimeout<S> {
    stream: S,
    timeout: Duration,
    /// Set while the other side takes nothing.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> StallTimeout<S> {
    /// Waits so long for each write.
    pub fn new(stream: S, timeout: Duration) -> Self {
        StallTimeout { stream, timeout, deadline: None }
    }

    /// The outcome of a write, or an error when it has waited for too long.
    fn limited<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.deadline = None;
            return outcome;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        deadline
            .as_mut()
            .poll(context)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.limited(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::Instant,
    };

    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_write_without_progress_fails() {
        let (ours, _theirs) = duplex(10);
        let mut stream = StallTimeout::new(ours, TIMEOUT);
        stream.write_all(&[0; 10]).await.unwrap();
        let began = Instant::now();
        assert_eq!(stream.write_all(&[0]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), TIMEOUT);
        // The next write fails without another wait.
        assert_eq!(stream.write_all(&[0]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_everything() {
        let (ours, mut theirs) = duplex(10);
        let writing = tokio::spawn(async move {
            let mut stream = StallTimeout::new(ours, TIMEOUT);
            stream.write_all(&[7; 100]).await
        });
        let mut taken = 0;
        while taken < 100 {
            sleep(TIMEOUT * 9 / 10).await;
            taken += theirs.read(&mut [0; 10]).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }
}
