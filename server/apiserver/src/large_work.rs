//! Requests that compute for long run on threads of their own.
//!
//! The threads of connections serve many clients. A body of megabytes takes a second to read, merge and
//! check, and a large object some time to be written in another format; meanwhile these threads would answer
//! nobody, and neither deadlines nor signals would be seen. So such a request is answered by a thread that
//! may block, and its connection waits for it as for anything else. Small requests, which are nearly all,
//! stay where they are. Which bodies are large says [`weight`](crate::request::weight).

mod turns;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZero,
    panic,
    pin::pin,
    sync::Arc,
    thread,
};

use futures_util::future::{Either, select};
use orch_auth::user::{GROUP_MASTERS, UserInfo};
use tokio::{runtime::Handle, sync::oneshot, task::spawn_blocking};

use self::turns::{Flow, Turns};

/// Where large work of one caller runs.
#[derive(Clone)]
pub struct LargeWork {
    /// One for each piece of work that runs. The others wait, with no more than their bodies in memory.
    turns: Arc<Turns>,
    /// Whose work this is.
    flow: Flow,
}

impl LargeWork {
    /// Room for half of the processors, at least for one: the other half answers everybody else.
    pub fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        LargeWork { turns: Turns::new((processors / 2).max(1)), flow: Flow::First }
    }

    /// The same for the work of this user, who takes turns with others.
    pub fn of(&self, user: &UserInfo) -> Self {
        let flow = if user.groups.iter().any(|group| group == GROUP_MASTERS) {
            Flow::First
        } else {
            let mut hasher = DefaultHasher::new();
            user.name.hash(&mut hasher);
            Flow::User(hasher.finish())
        };
        LargeWork { turns: Arc::clone(&self.turns), flow }
    }

    /// Runs what `start` returns, when it is its turn, on a thread that may block. Where the caller stops
    /// waiting, the work ends when it next waits itself.
    pub async fn run<F: Future<Output: Send + 'static>>(
        &self,
        start: impl FnOnce() -> F + Send + 'static,
    ) -> F::Output {
        let turn = self.turns.next(self.flow).await;
        let (runtime, (waiting, gone)) = (Handle::current(), oneshot::channel::<()>());
        let work = spawn_blocking(move || {
            let done = runtime.block_on(async move {
                match select(pin!(start()), gone).await {
                    Either::Left((done, _)) => Some(done),
                    Either::Right(_) => None,
                }
            });
            drop(turn);
            done
        });
        let done = work.await;
        drop(waiting);
        match done {
            Ok(done) => done.expect("somebody waits for it"),
            Err(error) => match error.try_into_panic() {
                // The request has the layer that answers panics.
                Ok(panic) => panic::resume_unwind(panic),
                // The runtime ends, and with it this task.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicBool, AtomicUsize, Ordering},
            mpsc,
        },
        time::Duration,
    };

    use tokio::{task::yield_now, time::timeout};

    use super::*;

    fn one_at_a_time() -> LargeWork {
        LargeWork { turns: Turns::new(1), flow: Flow::First }
    }

    #[tokio::test]
    async fn other_tasks_go_on_while_work_blocks_its_thread() {
        let (goes_on, waiting) = mpsc::channel();
        let work = one_at_a_time();
        let blocked = work.run(move || async move { waiting.recv() });
        let other = async {
            yield_now().await;
            goes_on.send("seen").unwrap();
        };
        assert_eq!(tokio::join!(blocked, other).0, Ok("seen"));
    }

    #[tokio::test]
    async fn no_more_work_runs_than_there_are_turns() {
        let (work, running) = (one_at_a_time(), Arc::new(AtomicUsize::new(0)));
        let counted = |running: Arc<AtomicUsize>| {
            work.run(move || async move {
                let others = running.fetch_add(1, Ordering::SeqCst);
                for _ in 0..100 {
                    yield_now().await;
                }
                running.fetch_sub(1, Ordering::SeqCst);
                others
            })
        };
        assert_eq!(tokio::join!(counted(Arc::clone(&running)), counted(running)), (0, 0));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_ends_and_gives_its_turn_back() {
        let (work, ended) = (one_at_a_time(), Arc::new(AtomicBool::new(false)));
        let guard = EndsWhenDropped(Arc::clone(&ended));
        let endless = work.run(move || async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        assert!(timeout(Duration::from_millis(50), endless).await.is_err());
        assert_eq!(timeout(Duration::from_secs(10), work.run(|| async { 7 })).await, Ok(7));
        assert!(ended.load(Ordering::SeqCst));
    }

    struct EndsWhenDropped(Arc<AtomicBool>);

    impl Drop for EndsWhenDropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    #[should_panic(expected = "a bug")]
    async fn a_panic_reaches_the_caller() {
        LargeWork::new().run(|| async { panic!("a bug") }).await;
    }
}
