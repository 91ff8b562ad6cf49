//! Runs controllers until the server stops.
//!
//! Each has a watching loop, a queue of keys and a few workers. What fails, or panics, runs again after a
//! delay that grows from milliseconds to a minute, and holds up no other key. A lost race is no failure: it
//! runs again soon.
//!
//! What a controller logs stands in the span `controller`, so that operators can choose one of them:
//! `--log-level='info,[controller{name=namespace}]=debug'`.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use futures_util::FutureExt;
use orch_auth::authorizer::Authorizer;
use orch_registry::{client::Client, core::Core, error::ApiError};
use orch_storage::Key;
use tokio::{
    sync::mpsc::{self, Receiver},
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tracing::{Instrument, Span};

use crate::{
    controller::{Action, AnyController, Context},
    leadership::Leadership,
    panic::message_of,
    queue::{Outcome, Queue},
    stats::{Monitor, Record},
    watching,
};

/// How many batches of keys the watching loop is ahead of the queue at most.
const AHEAD: usize = 16;

/// Controllers that are to run.
pub struct Runner {
    jobs: Vec<Job>,
}

/// Controllers that run. They stop when the server does, and at once when this is dropped.
pub struct Running {
    jobs: JoinSet<()>,
}

/// One controller.
struct Job {
    controller: Arc<dyn AnyController>,
    record: Arc<Record>,
}

/// The end of the work at one key.
struct Finished {
    key: Key,
    result: Result<Action, Failure>,
    took: Duration,
}

#[derive(Debug)]
enum Failure {
    Error(ApiError),
    Panic(String),
}

impl Failure {
    /// Whether somebody else was faster: an object was changed, made or removed after it was read.
    fn is_lost_race(&self) -> bool {
        use ApiError::{AlreadyExists, Conflict, NotFound};
        matches!(self, Failure::Error(Conflict { .. } | NotFound { .. } | AlreadyExists { .. }))
    }
}

impl Runner {
    /// Of these controllers, which have names of their own.
    pub fn new(controllers: Vec<Box<dyn AnyController>>) -> Self {
        let job = |controller: Box<dyn AnyController>| {
            let record = Arc::new(Record::new(controller.name()));
            Job { controller: controller.into(), record }
        };
        Runner { jobs: controllers.into_iter().map(job).collect() }
    }

    /// Looks at them; may be taken before they run.
    pub fn monitor(&self) -> Monitor {
        Monitor(self.jobs.iter().map(|job| Arc::clone(&job.record)).collect())
    }

    /// Runs them, each as far as this authorizer allows it to its account, and where there is `leadership`,
    /// as long as no other server does. A controller whose kind is not served has nothing to do.
    pub fn start(
        self,
        core: &Arc<Core>,
        authorizer: &Arc<dyn Authorizer>,
        leadership: Option<&Leadership>,
    ) -> Running {
        let mut jobs = JoinSet::new();
        for job in self.jobs {
            if job.controller.is_served(core.catalog()) {
                let identity = job.controller.account().identity(core.vocabulary(), authorizer);
                let client = Client::new(Arc::clone(core), job.record.name).acting_as(identity);
                match leadership {
                    None => jobs.spawn(async move { job.run(client).await }),
                    Some(leadership) => jobs.spawn(job.run_as_leader(client, leadership.clone())),
                };
            } else {
                job.record.watches.send_replace(true);
            }
        }
        Running { jobs }
    }
}

impl Running {
    /// Returns when the server has stopped and nothing of the controllers runs any more.
    pub async fn ended(mut self) {
        while let Some(ended) = self.jobs.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a controller ended");
            }
        }
    }
}

impl Job {
    /// Runs it whenever this server holds its lease, until the server stops.
    async fn run_as_leader(self, client: Client, leadership: Leadership) {
        let Some(candidate) = leadership.candidate(&client, self.record.name) else {
            tracing::error!(controller = self.record.name, "it does not run: leases are not served");
            return self.record.stand_by();
        };
        let mut stopping = client.core().stopping();
        loop {
            self.record.stand_by();
            tokio::select! {
                biased;
                // An error means that the sender is gone, and the server with it.
                _ = stopping.wait_for(|stopping| *stopping) => break,
                () = candidate.acquire() => {}
            }
            self.record.stands_by.store(false, Relaxed);
            tracing::info!(controller = self.record.name, "this server runs the controller");
            tokio::select! {
                () = self.run(client.clone().behind(candidate.fence())) => break,
                () = candidate.keep() => {
                    tracing::warn!(controller = self.record.name, "another server runs the controller");
                }
            }
        }
        candidate.release().await;
    }

    async fn run(&self, client: Client) {
        let cx = Arc::new(Context::new(client));
        let (sender, changed) = mpsc::channel(AHEAD);
        let watching = async {
            let mut stopping = cx.client().core().stopping();
            tokio::select! {
                biased;
                // An error means that the sender is gone, and the server with it.
                _ = stopping.wait_for(|stopping| *stopping) => {}
                () = watching::run(&*self.controller, cx.client(), &self.record, sender) => {}
            }
        };
        tokio::join!(watching, self.work(&cx, changed));
    }

    /// Works at keys until no more come. What is being worked on then is given up.
    async fn work(&self, cx: &Arc<Context>, mut changed: Receiver<Vec<Key>>) {
        let mut queue = Queue::default();
        let mut workers = JoinSet::new();
        loop {
            queue.wake(Instant::now());
            while workers.len() < self.controller.workers()
                && let Some((key, waited)) = queue.take(Instant::now())
            {
                self.record.queue_time.observe(waited);
                workers.spawn(reconcile(Arc::clone(&self.controller), Arc::clone(cx), key));
            }
            self.record.depth.store(queue.depth(), Relaxed);
            self.record.waits_since(queue.oldest());
            self.record.failing.store(queue.failing(), Relaxed);
            tokio::select! {
                keys = changed.recv() => match keys {
                    Some(keys) => {
                        let now = Instant::now();
                        for key in keys {
                            queue.add(key, now);
                        }
                    }
                    None => break,
                },
                Some(finished) = workers.join_next() => {
                    let finished = finished.expect("workers are not cancelled, and they catch panics");
                    self.finish(&mut queue, finished);
                }
                () = reached(queue.next_due()) => {}
            }
        }
        workers.shutdown().await;
    }

    fn finish(&self, queue: &mut Queue, finished: Finished) {
        let Finished { key, result, took } = finished;
        let _span = span(self.record.name).entered();
        tracing::debug!(controller = self.record.name, %key, ?took, ?result, "a key was worked on");
        self.record.work_time.observe(took);
        let outcome = match &result {
            Ok(Action::Done) => Outcome::Done,
            Ok(Action::Again(delay)) => Outcome::Again(*delay),
            Err(failure) if failure.is_lost_race() => Outcome::LostRace,
            Err(_) => Outcome::Failed,
        };
        let failures = queue.finish(key.clone(), outcome, Instant::now());
        if let Err(failure) = result {
            self.record.retries.fetch_add(1, Relaxed);
            if matches!(failure, Failure::Panic(_)) {
                self.record.panics.fetch_add(1, Relaxed);
            }
            self.report(&key, failures, &failure);
        }
    }

    /// A key that fails on and on is logged ever less often.
    fn report(&self, key: &Key, failures: u32, failure: &Failure) {
        let controller = self.record.name;
        let is_logged = failures.is_power_of_two();
        match failure {
            Failure::Panic(message) if is_logged => {
                tracing::error!(controller, %key, failures, message, "a controller panicked");
            }
            Failure::Error(error) if is_logged && failures >= 4 => {
                tracing::warn!(controller, %key, failures, ?error, "a controller fails");
            }
            _ => {}
        }
    }
}

/// The span of a controller. It costs next to nothing unless the log is told to show it.
fn span(name: &'static str) -> Span {
    tracing::trace_span!("controller", name)
}

async fn reconcile(controller: Arc<dyn AnyController>, cx: Arc<Context>, key: Key) -> Finished {
    let begun = Instant::now();
    // An async block, so that a panic before the first await is caught as well.
    let work = async { controller.reconcile(&key, &cx).await }.instrument(span(controller.name()));
    let result = match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => result.map_err(Failure::Error),
        Err(panic) => Err(Failure::Panic(message_of(&*panic).to_owned())),
    };
    Finished { key, result, took: begun.elapsed() }
}

/// Waits for a time; forever if there is none.
async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
