//! Where the streams of an HTTP/2 connection run.
//!
//! Most are tasks of their own, so that one client can keep several processors busy. Watches run in the task of their
//! connection: a change that is told to a hundred watches of one client wakes one task, which takes all of them in one turn
//! and then writes what they said in one piece. As a hundred tasks they would be spread over all threads, which then wait
//! for one another at the connection.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::{StreamExt, stream::FuturesUnordered, task::AtomicWaker};
use hyper::rt::Executor;

type Stream = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Takes the streams of one connection. Clones are handles on the same one.
#[derive(Clone, Default)]
pub struct Streams(Arc<Shared>);

#[derive(Default)]
struct Shared {
    stays: AtomicBool,
    arrived: Mutex<Vec<Stream>>,
    waker: AtomicWaker,
}

/// Runs the streams that stay with their connection; never ends.
pub struct Running {
    shared: Arc<Shared>,
    streams: FuturesUnordered<Stream>,
}

impl Streams {
    /// Whether the next stream stays with its connection. HTTP/2 calls the service and hands on its stream at once.
    pub fn next_stays(&self, stays: bool) {
        self.0.stays.store(stays, Ordering::Relaxed);
    }

    /// What runs them; to be polled by the task of the connection, before the connection.
    pub fn run(&self) -> Running {
        Running { shared: Arc::clone(&self.0), streams: FuturesUnordered::new() }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        if self.0.stays.swap(false, Ordering::Relaxed) {
            self.0.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(stream));
            self.0.waker.wake();
        } else {
            tokio::spawn(stream);
        }
    }
}

impl Future for Running {
    type Output = Infallible;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Infallible> {
        self.shared.waker.register(context.waker());
        let arrived =
            std::mem::take(&mut *self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        self.streams.extend(arrived);
        while let Poll::Ready(Some(())) = self.streams.poll_next_unpin(context) {}
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn those_that_stay_run_with_their_connection_and_end_with_it() {
        let streams = Streams::default();
        let (told, mut hears) = oneshot::channel();
        let (kept, mut lost) = oneshot::channel::<()>();
        let mut running = Box::pin(streams.run());
        streams.next_stays(true);
        streams.execute(async move { told.send(1).unwrap() });
        streams.next_stays(true);
        streams.execute(async move {
            pending::<()>().await;
            drop(kept);
        });
        tokio::task::yield_now().await;
        assert!(hears.try_recv().is_err(), "nobody runs it yet");
        assert!(tokio::time::timeout(Duration::ZERO, &mut running).await.is_err());
        assert_eq!(hears.try_recv(), Ok(1));
        assert_eq!(lost.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        drop(running);
        assert_eq!(lost.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }

    #[tokio::test]
    async fn the_others_run_by_themselves() {
        let streams = Streams::default();
        streams.next_stays(true);
        streams.next_stays(false);
        let (told, hears) = oneshot::channel();
        streams.execute(async move { told.send(2).unwrap() });
        assert_eq!(hears.await, Ok(2));
    }

    #[tokio::test]
    async fn one_that_arrives_wakes_the_connection() {
        let streams = Streams::default();
        let running = tokio::spawn(streams.run());
        tokio::task::yield_now().await;
        let (told, hears) = oneshot::channel();
        streams.next_stays(true);
        streams.execute(async move { told.send(3).unwrap() });
        assert_eq!(hears.await, Ok(3));
        running.abort();
    }
}
