//! Write coalescing: sends in one piece what the streams of an HTTP/2 connection write at about the same
//! time.
//!
//! An HTTP/2 connection flushes whenever it is polled, and its streams wake it one by one: for many small
//! answers it would make a TLS record and a system call for each. Here a flush only notes that there is
//! something to send. The task that flushes wakes itself, which puts it behind all tasks that are ready; when
//! it is polled again, the data goes out together with what the streams in tasks of their own have added. The
//! sending is done in a read, because a read is the first thing that an HTTP/2 connection does when it is
//! polled. Where no other task is ready, that is at once. After the streams of the connection's own task ran,
//! `lifecycle` polls it again without waiting for others: all of them have written.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is collected: as much as four TLS records hold, which go in one system call. What is beyond it is
/// sent without waiting.
const SENT_BYTES: usize = 64 * 1024;

/// How many unused buffers are kept.
const KEPT_BUFFERS: usize = 8;

/// Collects small writes. The task that writes to it must also read from it.
#[derive(Debug)]
pub struct CoalescingStream<S> {
    stream: S,
    buffers: Arc<BufferPool>,
    /// Written; what is from `sent` on was not sent yet.
    pending: Vec<u8>,
    sent: usize,
    /// There was a flush, so the next read sends.
    send_due: bool,
}

/// Buffers that connections share. The last one put back is taken first: it is still in the processor's
/// caches, while one that comes from the allocator nearly never is.
#[derive(Debug, Default)]
pub struct BufferPool(Mutex<Vec<Vec<u8>>>);

impl BufferPool {
    fn take(&self) -> Vec<u8> {
        self.lock().pop().unwrap_or_else(|| Vec::with_capacity(SENT_BYTES))
    }

    fn put_back(&self, mut buffer: Vec<u8>) {
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

impl<S: AsyncWrite + Unpin> CoalescingStream<S> {
    /// Around this stream. It holds a buffer of the pool only while it has something to send.
    pub fn new(stream: S, buffers: Arc<BufferPool>) -> Self {
        CoalescingStream { stream, buffers, pending: Vec::new(), sent: 0, send_due: false }
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
        // An idle connection holds no buffer.
        self.buffers.put_back(std::mem::take(&mut self.pending));
        self.sent = 0;
        self.send_due = false;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CoalescingStream<S> {
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
            self.pending = self.buffers.take();
        }
        self.pending.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.pending.is_empty() {
            return Pin::new(&mut self.stream).poll_flush(context);
        }
        if !self.send_due {
            self.send_due = true;
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for CoalescingStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.send_due {
            // A client that takes nothing now is no error: the task is woken when it does.
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
    fn flushed_data_is_sent_by_the_next_read() {
        let woken = Arc::new(Woken::default());
        let waker = Arc::clone(&woken).into();
        let mut context = Context::from_waker(&waker);
        let (ours, mut theirs) = duplex(4 * SENT_BYTES);
        let mut stream = CoalescingStream::new(ours, Arc::default());
        for (number, part) in ["a", "b", "c"].iter().enumerate() {
            assert!(Pin::new(&mut stream).poll_write(&mut context, part.as_bytes()).is_ready());
            assert!(Pin::new(&mut stream).poll_flush(&mut context).is_ready());
            assert_eq!(woken.0.load(Ordering::Relaxed), 1, "one wake-up is enough: {number}");
        }
        assert_eq!(arrived(&mut theirs, &mut context), b"");
        let mut byte = [0];
        assert!(Pin::new(&mut stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte)).is_pending());
        assert_eq!(arrived(&mut theirs, &mut context), b"abc");
    }

    #[tokio::test]
    async fn buffers_are_used_again() {
        let buffers = Arc::new(BufferPool::default());
        for _ in 0..3 {
            let (ours, _theirs) = duplex(SENT_BYTES);
            let mut stream = CoalescingStream::new(ours, Arc::clone(&buffers));
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
            let mut stream = CoalescingStream::new(ours, Arc::default());
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
