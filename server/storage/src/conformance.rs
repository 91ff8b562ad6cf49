//! What every store must do, as a suite that each implementation runs: [`run`].
//!
//! A failure is a panic that names the case; where the case is random, its message has the seed.

#![expect(clippy::unwrap_used, reason = "the suite is a test: a panic is its report")]

mod commits;
mod history;
mod random;
mod restarts;
mod watches;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{ManualClock, Timestamp};
use crate::error::StoreError;
use crate::event::Event;
use crate::key::{Key, ResourceName};
use crate::memory::{Snapshot, Watch};
use crate::object::Object;
use crate::revision::Revision;
use crate::storage::Storage;
use crate::store::BoxFuture;
use crate::write::{Body, Committed, Write};

/// How long a store under test keeps history.
pub const RETENTION: Duration = Duration::from_mins(5);

/// Makes stores for the suite.
pub trait Fixture: Sync {
    /// Where the data of one store is.
    type Place: Sync;

    /// A new place that holds nothing.
    fn place(&self) -> Self::Place;

    /// Starts a store on what `place` holds; history is kept for [`RETENTION`] by `clock`, and the place is
    /// free again after [`Storage::shutdown`].
    fn open<'a>(&'a self, place: &'a Self::Place, clock: Arc<ManualClock>) -> BoxFuture<'a, Storage>;
}

/// Runs all cases, each on a store of its own. Needs a runtime with several threads. `seed` decides the random
/// ones.
pub async fn run<F: Fixture>(fixture: &F, seed: u64) {
    commits::run(fixture).await;
    watches::run(fixture).await;
    history::run(fixture).await;
    restarts::run(fixture).await;
    random::run(fixture, seed).await;
}

/// A store of one case, and the means to restart it.
struct Case<'f, F: Fixture> {
    fixture: &'f F,
    place: F::Place,
    clock: Arc<ManualClock>,
    storage: Storage,
}

impl<'f, F: Fixture> Case<'f, F> {
    async fn new(fixture: &'f F) -> Self {
        let place = fixture.place();
        let clock = Arc::new(ManualClock::at(Timestamp(1_700_000_000_000)));
        let storage = fixture.open(&place, Arc::clone(&clock)).await;
        Self { fixture, place, clock, storage }
    }

    async fn restart(&mut self) {
        self.storage.shutdown().await.unwrap();
        self.storage = self.fixture.open(&self.place, Arc::clone(&self.clock)).await;
    }
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
    storage.commit(Write::Create { key, body: body(text) }).await
}

async fn replace(
    storage: &Storage,
    key: Key,
    expected: Revision,
    text: &str,
) -> Result<Committed, StoreError> {
    storage.commit(Write::Replace { key, expected, body: body(text) }).await
}

async fn remove(storage: &Storage, key: Key, expected: Revision) -> Result<Committed, StoreError> {
    storage.commit(Write::Remove { key, expected, body: body("gone") }).await
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
