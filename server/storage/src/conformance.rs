//! What every store must do, as a suite that each implementation runs: [`run`].
//!
//! A failure is a panic that names the case; where the case is random, its message has the seed.

#![expect(clippy::unwrap_used, reason = "the suite is a test: a panic is its report")]

/// Runs cases, each on a store of its own. One that does not end fails with its name.
macro_rules! run_cases {
    ($fixture:ident: $($case:ident),+ $(,)?) => {
        $(
            let run = async {
                let mut case = $crate::conformance::Case::new($fixture).await;
                $case(&mut case).await;
                case.end().await;
            };
            $crate::conformance::in_time(stringify!($case), run).await;
        )+
    };
}

mod commits;
mod conditions;
mod dice;
mod history;
pub mod model;
mod races;
mod random;
mod restarts;
mod watches;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::clock::{ManualClock, Timestamp};
use crate::engine::{Snapshot, Watch};
use crate::error::StoreError;
use crate::event::Event;
use crate::index::{Indexer, Term};
use crate::key::{Key, ResourceName};
use crate::object::Object;
use crate::revision::Revision;
use crate::storage::Storage;
use crate::store::BoxFuture;
use crate::write::{Body, Change, Committed, Write};

/// How long a store under test keeps history.
pub const RETENTION: Duration = Duration::from_mins(5);

/// How long a case may take. The slowest one takes some seconds: what takes longer than this waits for ever.
const LIMIT: Duration = Duration::from_mins(5);

async fn in_time(case: &str, run: impl Future<Output = ()>) {
    tokio::time::timeout(LIMIT, run).await.unwrap_or_else(|_| panic!("{case} has not ended in {LIMIT:?}"));
}

/// Makes stores for the suite.
pub trait Fixture: Sync {
    /// Where the data of one store is kept.
    type Location: Sync;

    /// A new location, without data.
    fn location(&self) -> Self::Location;

    /// Whether writes that wait at the same time are committed in the order in which they were handed over.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Starts a store on the data at `location`. History is kept for [`RETENTION`] by `clock`, and the store
    /// lets go of the location at [`Storage::shutdown`].
    fn open<'a>(&'a self, location: &'a Self::Location, clock: Arc<ManualClock>) -> BoxFuture<'a, Storage>;
}

/// Runs all cases, each on a store of its own. Needs a runtime with several threads. `seed` decides the
/// random ones.
pub async fn run<F: Fixture>(fixture: &F, seed: u64) {
    commits::run(fixture).await;
    conditions::run(fixture).await;
    races::run(fixture).await;
    watches::run(fixture).await;
    history::run(fixture).await;
    restarts::run(fixture).await;
    in_time(&format!("the random one with seed {seed}"), random::run(fixture, seed)).await;
}

/// A store of one case, and the means to restart it.
struct Case<'f, F: Fixture> {
    fixture: &'f F,
    location: F::Location,
    clock: Arc<ManualClock>,
    storage: Storage,
}

impl<'f, F: Fixture> Case<'f, F> {
    async fn new(fixture: &'f F) -> Self {
        let location = fixture.location();
        let clock = Arc::new(ManualClock::at(Timestamp(1_700_000_000_000)));
        let storage = fixture.open(&location, Arc::clone(&clock)).await;
        storage.index_by(&words_indexer());
        Self { fixture, location, clock, storage }
    }

    /// Ends the store: one that goes on forgets history at its own time, which other cases would notice.
    async fn end(self) {
        self.storage.shutdown().await.unwrap();
    }

    async fn restart(&mut self) {
        self.storage.shutdown().await.unwrap();
        self.storage = self.fixture.open(&self.location, Arc::clone(&self.clock)).await;
        self.storage.index_by(&words_indexer());
    }
}

/// The terms of a value are its words, as far as the `@` before the revision.
struct Words;

/// The only index of [`Words`].
const WORDS_INDEX: u16 = 3;

/// No object of this resource has terms.
const WITHOUT_INDEX: &str = "unindexed";

impl Indexer for Words {
    fn covers(&self, resource: &ResourceName) -> bool {
        resource.as_str() != WITHOUT_INDEX
    }

    fn terms(&self, _: &ResourceName, value: &[u8]) -> Option<Vec<Term>> {
        Some(words(value).map(term).collect())
    }
}

fn words_indexer() -> Arc<dyn Indexer> {
    Arc::new(Words)
}

fn words(value: &[u8]) -> impl Iterator<Item = &str> {
    let text = str::from_utf8(value).unwrap();
    text.split('@').next().unwrap_or_default().split_whitespace()
}

fn term(word: &str) -> Term {
    Term { index: WORDS_INDEX, value: word.into() }
}

/// The resource that most cases use.
fn resource() -> ResourceName {
    ResourceName::new("configmaps")
}

fn key(namespace: &str, name: &str) -> Key {
    Key::new(resource(), namespace, name)
}

/// `text`, then `@` and the revision.
fn body(text: &str) -> Body {
    let bytes = format!("{text}@").into_bytes();
    let end = bytes.len();
    Body::new(bytes, end)
}

fn stamped(text: &str, revision: Revision) -> String {
    format!("{text}@{revision}")
}

async fn create(storage: &Storage, key: Key, text: &str) -> Result<Committed, StoreError> {
    storage.commit(Change::Create { key, body: body(text) }).await
}

async fn replace(
    storage: &Storage,
    key: Key,
    expected: Revision,
    text: &str,
) -> Result<Committed, StoreError> {
    storage.commit(Change::Replace { key, expected, body: body(text) }).await
}

async fn remove(storage: &Storage, key: Key, expected: Revision) -> Result<Committed, StoreError> {
    storage.commit(Change::Remove { key, expected, body: body("gone") }).await
}

/// Hands a write to the store without waiting for its end.
async fn submit(storage: &Storage, write: impl Into<Write>) -> BoxFuture<'_, Result<Committed, StoreError>> {
    let mut commit = storage.commit(write);
    match std::future::poll_fn(|cx| Poll::Ready(commit.as_mut().poll(cx))).await {
        Poll::Ready(done) => Box::pin(std::future::ready(done)),
        Poll::Pending => commit,
    }
}

fn text(object: &Object) -> String {
    String::from_utf8(object.value().unwrap().to_vec()).unwrap()
}

/// Namespace and name to revision and value.
type Listing = BTreeMap<(String, String), (Revision, String)>;

fn listing(snapshot: &Snapshot) -> Listing {
    let entries = snapshot.iter().map(|object| {
        let key = object.key();
        ((key.namespace.to_string(), key.name.to_string()), (object.revision(), text(object)))
    });
    entries.collect()
}

/// The revisions that a watch returns, up to and including `last`.
async fn read_to(watch: &mut Watch, last: Revision) -> Vec<Arc<Event>> {
    let mut events: Vec<Arc<Event>> = Vec::new();
    while events.last().is_none_or(|event| event.revision() < last) {
        events.extend(watch.next().await.unwrap());
    }
    events
}

fn revisions(events: &[Arc<Event>]) -> Vec<u64> {
    events.iter().map(|event| event.revision().get()).collect()
}

/// Runs `count` futures on as many tasks.
async fn in_parallel<T: Send + 'static>(
    count: usize,
    start: impl Fn(usize) -> BoxFuture<'static, T>,
) -> Vec<T> {
    let tasks: Vec<_> = (0..count).map(|index| tokio::spawn(start(index))).collect();
    let mut results = Vec::with_capacity(count);
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}
