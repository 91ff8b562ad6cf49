//! Where the streams of an HTTP/2 connection run.
//!
//! Most are tasks of their own, so that one client can use several processors. Plain reads are tried at once,
//! in the task of the connection: nearly all are answered from memory, in less time than it takes to hand
//! them to another task and back. Watches stay in the task of their connection: a change that concerns a
//! hundred watches of one client wakes one task, which runs all of them in one round and sends what they have
//! in one write. A hundred tasks would be spread over all threads, which then wait for one another at the
//! lock of the connection.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::task::AtomicWaker;
use hyper::rt::Executor;
use tokio::task::coop::unconstrained;

use crate::http2::{
    scheduler::{StreamFuture, StreamScheduler},
    stream_state::StreamState,
    stream_timeout::StreamTimeout,
};

/// Takes the streams of one connection from HTTP/2 and runs them. Clones are handles on the same one.
#[derive(Clone)]
pub struct StreamExecutor(Arc<Shared>);

/// Where a stream runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// In a task of its own.
    #[default]
    OwnTask,
    /// In the task of the connection until it has to wait, then in a task of its own.
    InlineFirst,
    /// In the task of the connection.
    ConnectionTask,
}

/// The streams that run in the task of the connection.
pub struct ConnectionStreams {
    shared: Arc<Shared>,
    scheduler: StreamScheduler,
}

struct Shared {
    /// How long a stream may wait for its client.
    stall_timeout: Duration,
    next: Mutex<NextStream>,
    /// New streams for the task of the connection.
    arrived: Mutex<Vec<(StreamFuture, Arc<StreamState>)>>,
    connection_task: AtomicWaker,
}

/// What was announced of the next stream.
#[derive(Default)]
struct NextStream {
    placement: Placement,
    state: Arc<StreamState>,
}

impl StreamExecutor {
    /// No streams yet. Each may wait so long for its client.
    pub fn new(stall_timeout: Duration) -> Self {
        let (next, arrived, connection_task) = (Mutex::default(), Mutex::default(), AtomicWaker::new());
        StreamExecutor(Arc::new(Shared { stall_timeout, next, arrived, connection_task }))
    }

    /// Says where the next stream runs, and which state its body shares. HTTP/2 calls the service and right
    /// after that hands over the stream of this call.
    pub fn announce(&self, placement: Placement, state: Arc<StreamState>) {
        *lock(&self.0.next) = NextStream { placement, state };
    }

    /// What runs the streams of [`Placement::ConnectionTask`].
    pub fn connection_streams(&self) -> ConnectionStreams {
        ConnectionStreams { shared: Arc::clone(&self.0), scheduler: StreamScheduler::default() }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for StreamExecutor {
    fn execute(&self, stream: F) {
        let NextStream { placement, state } = std::mem::take(&mut *lock(&self.0.next));
        let mut stream = StreamTimeout::new(stream, Arc::clone(&state), self.0.stall_timeout);
        if placement == Placement::ConnectionTask {
            lock(&self.0.arrived).push((Box::pin(stream), state));
            self.0.connection_task.wake();
            return;
        }
        // Nothing is woken by what it waits for in this first poll. If it has to wait, the new task polls it
        // again.
        let mut no_task = Context::from_waker(Waker::noop());
        if placement == Placement::OwnTask || Pin::new(&mut stream).poll(&mut no_task).is_pending() {
            tokio::spawn(stream);
        }
    }
}

impl ConnectionStreams {
    /// Polls each stream that was woken once. Whether there were any. The task of `context` is woken when
    /// there is more to do.
    pub fn run(&mut self, context: &mut Context<'_>) -> bool {
        self.shared.connection_task.register(context.waker());
        let arrived = std::mem::take(&mut *lock(&self.shared.arrived));
        for (stream, state) in arrived {
            self.scheduler.push(stream, state);
        }
        // The runtime's budget for one task is not to end a round early because there are many streams.
        let mut round =
            pin!(unconstrained(poll_fn(|context| Poll::Ready(self.scheduler.run_round(context)))));
        matches!(round.as_mut().poll(context), Poll::Ready(true))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::oneshot;

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn streams_of_the_connection_task_run_and_end_with_it() {
        let executor = StreamExecutor::new(LONG);
        let (sender, mut receiver) = oneshot::channel();
        let (kept, mut dropped) = oneshot::channel::<()>();
        let mut streams = executor.connection_streams();
        let mut context = Context::from_waker(Waker::noop());
        executor.announce(Placement::ConnectionTask, Arc::default());
        executor.execute(async move { sender.send(1).unwrap() });
        executor.announce(Placement::ConnectionTask, Arc::default());
        executor.execute(async move {
            pending::<()>().await;
            drop(kept);
        });
        tokio::task::yield_now().await;
        assert!(receiver.try_recv().is_err(), "nothing runs it yet");
        assert!(streams.run(&mut context));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert!(!streams.run(&mut context), "no stream was woken since");
        assert_eq!(dropped.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        drop(streams);
        assert_eq!(dropped.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }

    #[tokio::test]
    async fn the_last_announcement_counts() {
        let executor = StreamExecutor::new(LONG);
        executor.announce(Placement::ConnectionTask, Arc::default());
        executor.announce(Placement::OwnTask, Arc::default());
        let (sender, receiver) = oneshot::channel();
        executor.execute(async move { sender.send(2).unwrap() });
        assert_eq!(receiver.await, Ok(2));
    }

    #[tokio::test]
    async fn a_read_goes_on_in_a_task_when_it_has_to_wait() {
        let executor = StreamExecutor::new(LONG);
        for waits in [false, true] {
            let (sender, mut receiver) = oneshot::channel();
            executor.announce(Placement::InlineFirst, Arc::default());
            executor.execute(async move {
                if waits {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                sender.send(4).unwrap();
            });
            let at_once = receiver.try_recv();
            assert_eq!(at_once.is_ok(), !waits);
            assert_eq!(if waits { receiver.await.ok() } else { at_once.ok() }, Some(4));
        }
    }

    #[tokio::test]
    async fn a_new_stream_wakes_the_connection_task() {
        let executor = StreamExecutor::new(LONG);
        let mut streams = executor.connection_streams();
        let task = tokio::spawn(poll_fn(move |context| {
            streams.run(context);
            Poll::<()>::Pending
        }));
        tokio::task::yield_now().await;
        let (sender, receiver) = oneshot::channel();
        executor.announce(Placement::ConnectionTask, Arc::default());
        executor.execute(async move { sender.send(3).unwrap() });
        assert_eq!(receiver.await, Ok(3));
        task.abort();
    }
}
