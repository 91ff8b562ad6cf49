//! A stream that waits for the other side to take something, but not for ever.
//!
//! A client that stops reading fills the buffers on the way, and from then on holds what the server has for it: a snapshot, a
//! place in the history, a connection. As long as it takes anything at all it is slow, and may be; one that takes nothing for
//! the given time gets an error, which ends the connection.

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

/// Around the stream of a connection, below its encryption.
#[derive(Debug)]
pub struct Patient<S> {
    stream: S,
    patience: Duration,
    /// While the other side takes nothing.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    /// Waits so long for each write.
    pub fn new(stream: S, patience: Duration) -> Self {
        Patient { stream, patience, end: None }
    }

    fn bounded<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.end = None;
            return outcome;
        }
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        end.as_mut()
            .poll(context)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.bounded(context, outcome)
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

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
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

    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_given_up() {
        let (ours, _theirs) = duplex(10);
        let mut stream = Patient::new(ours, PATIENCE);
        stream.write_all(&[0; 10]).await.unwrap();
        let began = Instant::now();
        assert_eq!(stream.write_all(&[0]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), PATIENCE);
        // And stays so, without another wait.
        assert_eq!(stream.write_all(&[0]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_slow_is_waited_for() {
        let (ours, mut theirs) = duplex(10);
        let writing = tokio::spawn(async move {
            let mut stream = Patient::new(ours, PATIENCE);
            stream.write_all(&[7; 100]).await
        });
        let mut taken = 0;
        while taken < 100 {
            sleep(PATIENCE * 9 / 10).await;
            taken += theirs.read(&mut [0; 10]).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }
}
