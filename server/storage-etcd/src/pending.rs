//! Writes that wait until this server has published them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use orch_storage::{Committed, Key};
use tokio::sync::oneshot;

/// All of them.
pub(crate) struct Pending {
    /// Unlike that of any other server, and of this one before.
    server: String,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    by_number: HashMap<u64, oneshot::Sender<Committed>>,
    /// Removals without an entry in the journal, for which there was no room.
    removals: HashMap<Key, Vec<oneshot::Sender<Committed>>>,
}

/// One write that waits. Dropping it ends the wait.
pub(crate) struct Ticket<'a> {
    pending: &'a Pending,
    number: u64,
    published: oneshot::Receiver<Committed>,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self { server: uuid::Uuid::new_v4().simple().to_string(), waiting: Mutex::default() }
    }

    /// A write that will be told by its id.
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        let (publish, published) = oneshot::channel();
        let mut waiting = self.locked();
        waiting.last += 1;
        let number = waiting.last;
        waiting.by_number.insert(number, publish);
        Ticket { pending: self, number, published }
    }

    /// A removal that will be told by its key.
    pub(crate) fn removal(&self, key: &Key) -> oneshot::Receiver<Committed> {
        let (publish, published) = oneshot::channel();
        let mut waiting = self.locked();
        let waiters = waiting.removals.entry(key.clone()).or_default();
        // Of those that were refused, nobody waits.
        waiters.retain(|waiter| !waiter.is_closed());
        waiters.push(publish);
        published
    }

    /// Tells who waits for it that a write is published.
    pub(crate) fn published(&self, id: Option<&str>, committed: &Committed) {
        let mut waiting = self.locked();
        let waiters: Vec<_> = match id {
            Some(id) => {
                self.number(id).and_then(|number| waiting.by_number.remove(&number)).into_iter().collect()
            }
            None => waiting.removals.remove(committed.object.key()).unwrap_or_default(),
        };
        drop(waiting);
        for waiter in waiters {
            // It may have gone.
            let _ = waiter.send(committed.clone());
        }
    }

    /// Nothing will be published any more.
    pub(crate) fn close(&self) {
        let mut waiting = self.locked();
        waiting.by_number.clear();
        waiting.removals.clear();
    }

    fn number(&self, id: &str) -> Option<u64> {
        id.strip_prefix(&self.server)?.strip_prefix('.')?.parse().ok()
    }

    fn locked(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// The id of the write.
    pub(crate) fn id(&self) -> String {
        format!("{}.{}", self.pending.server, self.number)
    }

    /// Returns when the write is published; `None` if that will not happen any more.
    pub(crate) async fn published(&mut self) -> Option<Committed> {
        (&mut self.published).await.ok()
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.pending.locked().by_number.remove(&self.number);
    }
}
