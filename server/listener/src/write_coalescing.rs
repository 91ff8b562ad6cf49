//! A stream that sends in one piece what many write at about the same time.
//!
//! An HTTP/2 connection flushes in each of its turns, and its streams wake it one by one: for many small answers it would make a
//! TLS record and a system call for each. Here a flush only promises. The task that flushes wakes itself, which puts it behind
//! all tasks that are ready, and sends when it comes back, with what the streams that are tasks of their own have added. It comes
//! back to a read, which is the first thing that an HTTP/2 connection does in its turn; where nobody else is ready, that is at
//! once. After its watches have spoken it comes back without waiting for others (`drain`): they all have.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// As much as four TLS records hold, which go in one system call; what is written beyond it is sent without waiting for
/// anybody.
const SENT_BYTES: usize = 64 * 1024;

/// Buffers that nobody needs at the moment and that are kept for the next who does.
const KEPT_BUFFERS: usize = 8;

/// Puts small writes together. The task that writes to it must also read from it.
#[derive(Debug)]
pub struct Coalesced<S> {
    stream: S,
    buffers: Arc<Buffers>,
    /// Written and not yet sent, from `sent` on.
    pending: Vec<u8>,
    sent: usize,
    /// A flush has promised that it will be sent.
    promised: bool,
}

/// Buffers for [`Coalesced`] streams. The last one given back is lent first: it is still in the processor's caches, while one
/// that comes from the allocator nearly never is.
#[derive(Debug, Default)]
pub struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    fn lend(&self) -> Vec<u8> {
        self.lock().pop().unwrap_or_else(|| Vec::with_capacity(SENT_BYTES))
    }

    fn give(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut kept = self.lock();
        if buffer.capacity() >= SENT_BYTES && kept.len() < KEPT_BUFFERS {
            kept.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncWrite + Unpin> Coalesced<S> {
    /// Around this stream. Those that share `buffers` lend them to each other.
    pub fn new(stream: S, buffers: Arc<Buffers>) -> Self {
        Coalesced { stream, buffers, pending: Vec::new(), sent: 0, promised: false }
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.pending.len() {
            let rest = &self.pending[self.sent..];
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        // A connection that has nothing to say holds no memory for it.
        self.buffers.give(std::mem::take(&mut self.pending));
        self.sent = 0;
        self.promised = false;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Coalesced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.pending.len() + bytes.len() > SENT_BYTES {
            if !self.pending.is_empty() {
                ready!(self.poll_send(context))?;
            }
            if bytes.len() >= SENT_BYTES {
                return Pin::new(&mut self.stream).poll_write(context, bytes);
            }
        }
        if self.pending.capacity() == 0 {
            self.pending = self.buffers.lend();
        }
        self.pending.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.pending.is_empty() {
            return Pin::new(&mut self.stream).poll_flush(context);
        }
        if !self.promised {
            self.promised = true;
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Coalesced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.promised {
            // Where the client takes nothing now, the task is woken when it does.
            if let Poll::Ready(Err(error)) = self.poll_send(context) {
                return Poll::Ready(Err(error));
            }
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What the other side can read now.
    fn arrived(other: &mut DuplexStream, context: &mut Context<'_>) -> Vec<u8> {
        let mut bytes = vec![0; 2 * SENT_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let _ = Pin::new(other).poll_read(context, &mut buffer);
        buffer.filled().to_vec()
    }

    #[test]
    fn what_is_flushed_goes_with_the_next_read() {
        let woken = Arc::new(Woken::default());
        let waker = Arc::clone(&woken).into();
        let mut context = Context::from_waker(&waker);
        let (ours, mut theirs) = duplex(4 * SENT_BYTES);
        let mut stream = Coalesced::new(ours, Arc::default());
        for (number, part) in ["a", "b", "c"].iter().enumerate() {
            assert!(Pin::new(&mut stream).poll_write(&mut context, part.as_bytes()).is_ready());
            assert!(Pin::new(&mut stream).poll_flush(&mut context).is_ready());
            assert_eq!(woken.0.load(Ordering::Relaxed), 1, "one promise is enough: {number}");
        }
        assert_eq!(arrived(&mut theirs, &mut context), b"");
        let mut byte = [0];
        assert!(Pin::new(&mut stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte)).is_pending());
        assert_eq!(arrived(&mut theirs, &mut context), b"abc");
    }

    #[tokio::test]
    async fn a_buffer_is_lent_to_the_next_who_writes() {
        let buffers = Arc::new(Buffers::default());
        for _ in 0..3 {
            let (ours, _theirs) = duplex(SENT_BYTES);
            let mut stream = Coalesced::new(ours, Arc::clone(&buffers));
            stream.write_all(b"a").await.unwrap();
            assert_eq!((buffers.lock().len(), stream.pending.capacity()), (0, SENT_BYTES));
            stream.shutdown().await.unwrap();
            assert_eq!((buffers.lock().len(), stream.pending.capacity()), (1, 0));
        }
    }

    #[tokio::test]
    async fn nothing_is_lost_or_mixed_up() {
        let (ours, mut theirs) = duplex(3000);
        let sent: Vec<u8> = (0..400_000_u32).map(|number| (number % 251) as u8).collect();
        let expected = sent.clone();
        let writing = tokio::spawn(async move {
            let mut stream = Coalesced::new(ours, Arc::default());
            let mut rest = &sent[..];
            for length in [1, 100, SENT_BYTES - 1, SENT_BYTES, 5, SENT_BYTES + 1, 70_000] {
                let (part, more) = rest.split_at(length);
                stream.write_all(part).await.unwrap();
                stream.flush().await.unwrap();
                rest = more;
            }
            stream.write_all(rest).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let mut received = Vec::new();
        theirs.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, expected);
        writing.await.unwrap();
    }
}
