//! Where the streams of an HTTP/2 connection run.
//!
//! Most are tasks of their own, so that one client can keep several processors busy. Plain reads are tried at once, where they
//! come: nearly all are answered from memory, in less time than it takes to hand them to another task and back. Watches run
//! in the task of their connection: a change that is told to a hundred watches of one client wakes one task, which takes all
//! of them in one turn and then writes what they said in one piece. As a hundred tasks they would be spread over all
//! threads, which then wait for one another at the connection.

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

use crate::listener::{
    pace::{Bounded, Pace},
    turns::{Member, Turns},
};

/// Takes the streams of one connection. Clones are handles on the same one.
#[derive(Clone)]
pub struct Streams(Arc<Shared>);

/// Where a stream runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In a task of its own.
    #[default]
    Apart,
    /// Where it comes, as far as it gets without waiting; then in a task of its own.
    AtOnce,
    /// In the task of its connection.
    WithConnection,
}

/// What is known of the next stream.
#[derive(Default)]
struct Next {
    runs: Place,
    pace: Arc<Pace>,
}

struct Shared {
    /// How long a stream may wait for its client.
    patience: Duration,
    next: Mutex<Next>,
    arrived: Mutex<Vec<(Member, Arc<Pace>)>>,
    waker: AtomicWaker,
}

/// Runs the streams that stay with their connection.
pub struct Running {
    shared: Arc<Shared>,
    streams: Turns,
}

impl Streams {
    /// None yet. Each may wait so long for its client.
    pub fn new(patience: Duration) -> Self {
        let (next, arrived, waker) = (Mutex::default(), Mutex::default(), AtomicWaker::new());
        Streams(Arc::new(Shared { patience, next, arrived, waker }))
    }

    /// Where the next stream runs, and the pace of its body. HTTP/2 calls the service and hands on its stream at once.
    pub fn next_is(&self, runs: Place, pace: Arc<Pace>) {
        *lock(&self.0.next) = Next { runs, pace };
    }

    /// What runs them, in the task of the connection.
    pub fn running(&self) -> Running {
        Running { shared: Arc::clone(&self.0), streams: Turns::default() }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let Next { runs, pace } = std::mem::take(&mut *lock(&self.0.next));
        let mut stream = Bounded::new(stream, Arc::clone(&pace), self.0.patience);
        if runs == Place::WithConnection {
            lock(&self.0.arrived).push((Box::pin(stream), pace));
            self.0.waker.wake();
            return;
        }
        // What it waits for wakes nobody yet: a task looks at it anew.
        let mut nobody = Context::from_waker(Waker::noop());
        if runs == Place::Apart || Pin::new(&mut stream).poll(&mut nobody).is_pending() {
            tokio::spawn(stream);
        }
    }
}

impl Running {
    /// Lets those that were woken run, each once. Whether there were any. The task of `context` is woken when there are more.
    pub fn run(&mut self, context: &mut Context<'_>) -> bool {
        self.shared.waker.register(context.waker());
        let arrived = std::mem::take(&mut *lock(&self.shared.arrived));
        for (stream, pace) in arrived {
            self.streams.push(stream, pace);
        }
        // What they may do in a turn is not to be cut short by their number.
        let mut turn = pin!(unconstrained(poll_fn(|context| Poll::Ready(self.streams.take(context)))));
        matches!(turn.as_mut().poll(context), Poll::Ready(true))
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
    async fn those_that_stay_run_with_their_connection_and_end_with_it() {
        let streams = Streams::new(LONG);
        let (told, mut hears) = oneshot::channel();
        let (kept, mut lost) = oneshot::channel::<()>();
        let mut running = streams.running();
        let mut context = Context::from_waker(Waker::noop());
        streams.next_is(Place::WithConnection, Arc::default());
        streams.execute(async move { told.send(1).unwrap() });
        streams.next_is(Place::WithConnection, Arc::default());
        streams.execute(async move {
            pending::<()>().await;
            drop(kept);
        });
        tokio::task::yield_now().await;
        assert!(hears.try_recv().is_err(), "nobody runs it yet");
        assert!(running.run(&mut context));
        assert_eq!(hears.try_recv(), Ok(1));
        assert!(!running.run(&mut context), "nobody was woken since");
        assert_eq!(lost.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        drop(running);
        assert_eq!(lost.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }

    #[tokio::test]
    async fn the_others_run_by_themselves() {
        let streams = Streams::new(LONG);
        streams.next_is(Place::WithConnection, Arc::default());
        streams.next_is(Place::Apart, Arc::default());
        let (told, hears) = oneshot::channel();
        streams.execute(async move { told.send(2).unwrap() });
        assert_eq!(hears.await, Ok(2));
    }

    #[tokio::test]
    async fn a_read_goes_on_in_a_task_where_it_has_to_wait() {
        let streams = Streams::new(LONG);
        for waits in [false, true] {
            let (told, mut hears) = oneshot::channel();
            streams.next_is(Place::AtOnce, Arc::default());
            streams.execute(async move {
                if waits {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                told.send(4).unwrap();
            });
            let at_once = hears.try_recv();
            assert_eq!(at_once.is_ok(), !waits);
            assert_eq!(if waits { hears.await.ok() } else { at_once.ok() }, Some(4));
        }
    }

    #[tokio::test]
    async fn one_that_arrives_wakes_the_connection() {
        let streams = Streams::new(LONG);
        let mut running = streams.running();
        let running = tokio::spawn(poll_fn(move |context| {
            running.run(context);
            Poll::<()>::Pending
        }));
        tokio::task::yield_now().await;
        let (told, hears) = oneshot::channel();
        streams.next_is(Place::WithConnection, Arc::default());
        streams.execute(async move { told.send(3).unwrap() });
        assert_eq!(hears.await, Ok(3));
        running.abort();
    }
}
