//! Requests that compute for long run on threads of their own.
//!
//! The threads of connections serve many clients. A body of megabytes takes a second to read, merge and
//! check, and a large object some time to be written in another format; meanwhile these threads would answer
//! nobody, and neither deadlines nor signals would be seen. So such a request is answered by a thread that
//! may block, and its connection waits for it as for anything else. Small requests, which are nearly all,
//! stay where they are. Which bodies are large says [`weight`](crate::request::weight).
//!
//! Work computes in turns, and while it waits, for a commit or another server, others have its turn: somebody
//! whose work waits for long keeps nobody from theirs. What has begun is in memory, so its number is bounded
//! too.

mod fair_semaphore;

use std::{
    future::poll_fn,
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZero,
    panic,
    pin::pin,
    sync::Arc,
    task::Poll,
    thread,
};

use futures_util::future::{Either, select};
use orch_auth::user::{GROUP_MASTERS, UserInfo};
use tokio::{runtime::Handle, sync::oneshot, task::spawn_blocking};

use self::fair_semaphore::{FairSemaphore, Flow, Permit};

/// How many pieces of work have begun at most, for each turn. One user has as many as there are turns.
const PLACES: usize = 4;

/// Where large work of one caller runs.
#[derive(Clone)]
pub struct LargeWork {
    /// One for each piece of work that has begun. The others wait, with no more than their bodies in memory.
    places: Arc<FairSemaphore>,
    /// The places of those who come first: others may have taken all of theirs, and wait for long.
    first_places: Arc<FairSemaphore>,
    /// One for each piece of work that computes.
    turns: Arc<FairSemaphore>,
    /// Whose work this is.
    flow: Flow,
}

impl LargeWork {
    /// Room for half of the processors, at least for one: the other half answers everybody else.
    pub fn on_this_machine() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self::with_turns((processors / 2).max(1))
    }

    fn with_turns(turns: usize) -> Self {
        let places = || FairSemaphore::new(turns * PLACES, turns);
        let (places, first_places) = (places(), places());
        LargeWork { places, first_places, turns: FairSemaphore::new(turns, turns), flow: Flow::First }
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
        LargeWork { flow, ..self.clone() }
    }

    /// Runs what `start` returns, when it is its turn, on a thread that may block. Where the caller stops
    /// waiting, the work ends when it next waits itself.
    pub async fn run<F: Future<Output: Send + 'static>>(
        &self,
        start: impl FnOnce() -> F + Send + 'static,
    ) -> F::Output {
        let places = if self.flow == Flow::First { &self.first_places } else { &self.places };
        let place = places.acquire(self.flow).await;
        let turn = self.turns.acquire(self.flow).await;
        let turns = self.clone();
        let (runtime, (waiting, gone)) = (Handle::current(), oneshot::channel::<()>());
        let work = spawn_blocking(move || {
            let done = runtime.block_on(async move {
                match select(pin!(turns.in_turns(turn, start())), gone).await {
                    Either::Left((done, _)) => Some(done),
                    Either::Right(_) => None,
                }
            });
            drop(place);
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

    /// Runs work that has a turn now, and takes one again each time it goes on after it has waited.
    async fn in_turns<T>(&self, turn: Permit, work: impl Future<Output = T>) -> T {
        let (mut work, mut turn) = (pin!(work), turn);
        loop {
            // What the work waits for wakes this task.
            if let Poll::Ready(done) = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
                return done;
            }
            drop(turn);
            woken().await;
            turn = self.turns.acquire(self.flow).await;
        }
    }
}

/// Returns when the task is woken next.
async fn woken() {
    let mut is_woken = false;
    poll_fn(|_| if std::mem::replace(&mut is_woken, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Mutex,
            atomic::{AtomicBool, AtomicUsize, Ordering},
            mpsc,
        },
        time::Duration,
    };

    use tokio::{task::yield_now, time::timeout};

    use super::*;

    fn one_at_a_time() -> LargeWork {
        LargeWork::with_turns(1)
    }

    /// Keeps the thread, as work does that computes.
    fn compute(time: Duration) {
        let (_kept, never) = mpsc::channel::<()>();
        let _ = never.recv_timeout(time);
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
                compute(Duration::from_millis(20));
                running.fetch_sub(1, Ordering::SeqCst);
                others
            })
        };
        assert_eq!(tokio::join!(counted(Arc::clone(&running)), counted(running)), (0, 0));
    }

    /// With one turn for all, work that waits for ever stops nobody but its own user.
    #[tokio::test]
    async fn work_that_waits_keeps_nobody_from_theirs() {
        let work = one_at_a_time();
        let of = |user: u64| LargeWork { flow: Flow::User(user), ..work.clone() };
        let (waits, others, own) = (of(1), of(2), of(1));
        let mut endless = pin!(waits.run(std::future::pending::<()>));
        let mut own = pin!(own.run(|| async { 1 }));
        assert!(timeout(Duration::from_millis(50), &mut endless).await.is_err());
        assert!(
            timeout(Duration::from_millis(50), &mut own).await.is_err(),
            "there is a place for each user"
        );
        for other in [&others, &work] {
            assert_eq!(timeout(Duration::from_secs(10), other.run(|| async { 7 })).await, Ok(7));
        }
    }

    /// Those who come first are many too: what has begun ends before more begins.
    #[tokio::test]
    async fn no_more_work_begins_than_there_are_places() {
        let (work, begun) = (one_at_a_time(), Arc::new(AtomicUsize::new(0)));
        let runs = (0..20).map(|_| {
            let begun = Arc::clone(&begun);
            work.run(move || async move {
                let others = begun.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(2)).await;
                begun.fetch_sub(1, Ordering::SeqCst);
                others
            })
        });
        let others = futures_util::future::join_all(runs).await;
        assert!(others.iter().all(|others| *others < PLACES), "{others:?}");
        assert!(others.iter().any(|others| *others > 0), "others begin while one waits: {others:?}");
    }

    /// Each time that work waits, it is the turn of others who can go on.
    #[tokio::test]
    async fn work_goes_on_in_turns() {
        let work = one_at_a_time();
        let order = Arc::new(Mutex::new(Vec::new()));
        let runs = [1_u64, 2].map(|user| {
            let (work, order) = (LargeWork { flow: Flow::User(user), ..work.clone() }, Arc::clone(&order));
            async move {
                work.run(move || async move {
                    for _ in 0..20 {
                        order.lock().unwrap().push(user);
                        compute(Duration::from_millis(2));
                        yield_now().await;
                    }
                })
                .await;
            }
        });
        futures_util::future::join_all(runs).await;
        let order = order.lock().unwrap();
        let changes = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes > 20, "{order:?}");
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_ends_and_gives_its_place_back() {
        // Of one user, for whom there is one place.
        let work = LargeWork { flow: Flow::User(1), ..one_at_a_time() };
        let ended = Arc::new(AtomicBool::new(false));
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
        LargeWork::on_this_machine().run(|| async { panic!("a bug") }).await;
    }
}
