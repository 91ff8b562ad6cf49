//! Following a resource from a revision on.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::event_log::{EventLog, Hub, Part};
use super::shared::Shared;
use crate::error::StoreError;
use crate::event::Event;
use crate::key::ResourceName;
use crate::revision::Revision;

/// How many events one call to [`Watch::next`] returns at most.
const BATCH: usize = 128;

/// A reader of events: every event in its scope after the revision that it was started at, in order, each
/// once.
///
/// It holds no events of its own. A reader that is slower than history is kept gets
/// [`StoreError::Expired`] and must start over from a snapshot.
pub struct Watch {
    shared: Arc<Shared>,
    hub: Arc<Hub>,
    log: Arc<EventLog>,
    part: Part,
    cursor: Revision,
    /// Whether this watch begins after a revision that the store has not reached yet.
    is_ahead: bool,
    /// The registration of this watch with the log.
    registration: usize,
    /// The task that the log wakes.
    waker: Option<Waker>,
}

/// The end of what a watch reads: tells without a lock whether there is more.
pub struct Tail(Arc<EventLog>);

impl Tail {
    /// Whether there may be an event after `revision`. It is visible a moment later at most.
    pub fn has_after(&self, revision: Revision) -> bool {
        !self.0.ends_at(revision)
    }

    /// Whether there are more than `events` events after `revision`, or there were and some are forgotten.
    pub fn has_more_than(&self, events: usize, revision: Revision) -> bool {
        self.has_after(revision)
            && (self.0.covers(revision).is_err() || self.0.count(revision, Revision::MAX) > events)
    }
}

impl Watch {
    pub(super) fn new(
        shared: Arc<Shared>,
        resource: &ResourceName,
        part: Part,
        after: Revision,
    ) -> Result<Self, StoreError> {
        let hub = shared.hub(resource);
        let indexer = shared.state.load().indexer.clone();
        let (log, registration) = hub.subscribe(&part, indexer.as_ref(), after)?;
        let is_ahead = after > shared.revision();
        Ok(Self { shared, hub, log, part, cursor: after, is_ahead, registration, waker: None })
    }

    /// The next events, at least one; waits for them. [`StoreError::Expired`] if some were missed,
    /// [`StoreError::Closed`] when the store has shut down and all events were read. Dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>, StoreError> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Like [`next`](Watch::next), for futures that are written by hand.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<Arc<Event>>, StoreError>> {
        // In this order: an event after this wakes the task, an event before it is read below.
        if self.waker.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
            self.log.wakers.set(self.registration, context.waker());
            self.waker = Some(context.waker().clone());
        }
        let closed = self.shared.is_closed();
        match self.take() {
            Ok(events) if events.is_empty() && closed => Poll::Ready(Err(StoreError::Closed)),
            Ok(events) if events.is_empty() => Poll::Pending,
            events => Poll::Ready(events),
        }
    }

    /// The next events if there are any now, else none.
    pub fn take(&mut self) -> Result<Vec<Arc<Event>>, StoreError> {
        if !self.is_ahead && self.log.ends_at(self.cursor) {
            return Ok(Vec::new());
        }
        self.take_through(self.shared.revision())
    }

    /// Like [`take`](Watch::take), without events after `through`, which is not after the newest revision.
    /// Watches of several resources that are read through one revision show one state of the store.
    pub fn take_through(&mut self, through: Revision) -> Result<Vec<Arc<Event>>, StoreError> {
        self.catch_up()?;
        // No event was missed either: an event that is forgotten was once the newest.
        if self.log.ends_at(self.cursor) {
            return Ok(Vec::new());
        }
        let events = self.log.read(self.cursor, through, BATCH)?;
        if let Some(newest) = events.last() {
            self.cursor = newest.revision();
        }
        Ok(events)
    }

    /// Ends a watch that began after a revision which the store had not reached, where history has begun anew
    /// beyond it: removals were then given lower revisions than their own, and the watch would miss them.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.is_ahead {
            // In this order: history is begun anew before its states are shown.
            let newest = self.shared.revision();
            self.shared.covers(self.cursor)?;
            self.is_ahead = newest < self.cursor;
        }
        Ok(())
    }

    /// The end of what is watched.
    pub fn tail(&self) -> Tail {
        Tail(Arc::clone(&self.log))
    }

    /// The newest revision up to which everything in scope has been returned. A watch that is started after
    /// it continues this one. This is what a bookmark tells.
    pub fn progress(&mut self) -> Revision {
        let newest = self.shared.revision();
        if newest > self.cursor && self.log.read(self.cursor, newest, 1).is_ok_and(|events| events.is_empty())
        {
            self.cursor = newest;
        }
        self.cursor
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.log.wakers.unregister(self.registration);
        self.hub.release(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake};

    use super::*;
    use crate::index::{Indexer, Term};
    use crate::key::{Key, Scope};
    use crate::storage::Storage;
    use crate::write::{Body, Change};

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn create(storage: &Storage, resource: &str, namespace: &str, name: &str) {
        let key = Key::new(ResourceName::new(resource), namespace, name);
        storage.commit(Change::Create { key, body: Body::new(Vec::new(), 0) }).await.unwrap();
    }

    /// A watch that waits costs nothing until something happens in its scope.
    #[tokio::test]
    async fn sleeps_until_its_scope_changes() {
        let storage = Storage::in_memory();
        let pods = ResourceName::new("pods");
        for scope in [Scope::Namespace("a".into()), Scope::Name("a".into(), "x".into())] {
            let mut watch = storage.watch(&pods, scope, storage.current_revision()).unwrap();
            let woken = Arc::new(Woken::default());
            let waker = Arc::clone(&woken).into();
            let mut context = Context::from_waker(&waker);
            let mut next = pin!(watch.next());
            assert!(next.as_mut().poll(&mut context).is_pending());
            let unique = storage.current_revision().to_string();
            create(&storage, "pods", "b", &unique).await;
            create(&storage, "secrets", "a", &unique).await;
            assert_eq!(woken.0.load(Ordering::Relaxed), 0, "nothing happened in scope");
            create(&storage, "pods", "a", "x").await;
            assert_eq!(woken.0.load(Ordering::Relaxed), 1);
            assert!(matches!(next.poll(&mut context), Poll::Ready(Ok(events)) if events.len() == 1));
            let current = storage.snapshot(&pods).get("a", "x").unwrap().revision();
            let key = Key::new(pods.clone(), "a", "x");
            storage
                .commit(Change::Remove { key, expected: current, body: Body::new(Vec::new(), 0) })
                .await
                .unwrap();
        }
    }

    /// Each word of a value is a term.
    struct Words;

    impl Indexer for Words {
        fn covers(&self, _: &ResourceName) -> bool {
            true
        }

        fn terms(&self, _: &ResourceName, value: &[u8]) -> Option<Vec<Term>> {
            let text = str::from_utf8(value).ok()?.trim_end_matches(|c: char| c.is_ascii_digit());
            (text != "broken").then(|| text.split(' ').map(term).collect())
        }
    }

    fn term(word: &str) -> Term {
        Term { index: 1, value: word.into() }
    }

    fn body(text: &str) -> Body {
        Body::new(text.into(), text.len())
    }

    /// A watch of a term gets what has it or had it, and sleeps otherwise.
    #[tokio::test]
    async fn sleeps_until_its_term_changes() {
        let storage = Storage::in_memory();
        let indexer: Arc<dyn Indexer> = Arc::new(Words);
        storage.index_by(&indexer);
        let pods = ResourceName::new("pods");
        let key = |namespace: &str, name: &str| Key::new(pods.clone(), namespace, name);
        let start = storage.current_revision();
        let watch = |scope, after| storage.watch_term(&pods, scope, Some(term("one")), after).unwrap();
        let mut everywhere = watch(Scope::All, start);
        let mut in_a = watch(Scope::Namespace("a".into()), start);
        let woken = Arc::new(Woken::default());
        let waker = Arc::clone(&woken).into();
        let mut context = Context::from_waker(&waker);
        assert!(everywhere.poll_next(&mut context).is_pending());
        let other = storage.commit(Change::Create { key: key("a", "x"), body: body("two three") });
        let mut revision = other.await.unwrap().revision;
        assert_eq!(woken.0.load(Ordering::Relaxed), 0, "it has another term");
        let mut expected = Vec::new();
        for (text, is_told) in [("one two", true), ("one", true), ("two", true), ("three", false)] {
            let change = Change::Replace { key: key("a", "x"), expected: revision, body: body(text) };
            revision = storage.commit(change).await.unwrap().revision;
            expected.extend(is_told.then_some(revision));
        }
        let in_b = storage.commit(Change::Create { key: key("b", "x"), body: body("one") });
        let in_b = in_b.await.unwrap().revision;
        let broken = storage.commit(Change::Create { key: key("a", "broken"), body: body("broken") });
        let broken = broken.await.unwrap().revision;
        let revisions = |watch: &mut Watch| -> Vec<Revision> {
            watch.take().unwrap().iter().map(|event| event.revision()).collect()
        };
        assert_eq!(revisions(&mut in_a), [&expected[..], &[broken]].concat());
        expected.extend([in_b, broken]);
        assert_eq!(revisions(&mut everywhere), expected);
        assert_ne!(woken.0.load(Ordering::Relaxed), 0);
        // One that begins later finds the same in the history.
        assert_eq!(revisions(&mut watch(Scope::All, start)), expected);
        drop(everywhere);
        assert_eq!(revisions(&mut watch(Scope::All, start)), expected);
        // What it did not see does not make its place too old.
        create(&storage, "pods", "a", "three").await;
        storage.compact(storage.current_revision()).await.unwrap();
        assert_eq!(revisions(&mut in_a), []);
        assert_eq!(in_a.progress(), storage.current_revision());
    }

    #[tokio::test]
    async fn narrow_logs_live_as_long_as_their_watches() {
        let storage = Storage::in_memory();
        let pods = ResourceName::new("pods");
        let scope = Scope::Namespace("a".into());
        let first = storage.watch(&pods, scope.clone(), Revision::FIRST).unwrap();
        let second = storage.watch(&pods, scope.clone(), Revision::FIRST).unwrap();
        assert!(Arc::ptr_eq(&first.log, &second.log), "one log for all watches of a scope");
        let (hub, log) = (Arc::clone(&first.hub), Arc::downgrade(&first.log));
        drop(first);
        let part = Part { scope, term: None };
        assert!(hub.has_log(&part));
        drop(second);
        assert!(!hub.has_log(&part) && log.upgrade().is_none());
    }

    #[tokio::test]
    async fn reads_long_histories_in_parts() {
        let storage = Storage::in_memory();
        let pods = ResourceName::new("pods");
        for index in 0..=BATCH * 2 {
            create(&storage, "pods", "a", &index.to_string()).await;
        }
        let mut watch = storage.watch(&pods, Scope::All, Revision::FIRST).unwrap();
        for want in [BATCH, BATCH, 1] {
            assert_eq!(watch.next().await.unwrap().len(), want);
        }
        assert_eq!(watch.progress(), storage.current_revision());
    }
}
