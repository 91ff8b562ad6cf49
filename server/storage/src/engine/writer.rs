//! The one handle that changes the memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::batch::{Accepted, Batch};
use super::event_log::Appended;
use super::history::{Garbage, History, Retention, garbage_of};
use super::memory::Memory;
use super::state::State;
use crate::clock::Timestamp;
use crate::event::Event;
use crate::key::ResourceName;
use crate::revision::Revision;

/// The one handle that changes the memory, owned by the backend. Dropping it ends all watches and waits.
pub struct MemoryWriter {
    memory: Memory,
    history: History,
}

/// What has become visible, and whose watches are to be woken.
#[must_use = "whoever waits for it must be woken"]
pub struct Published {
    revision: Revision,
    appended: Vec<Appended>,
    /// Freeing it costs about as much as building it; so it is freed after the waiters were woken.
    _replaced: Arc<State>,
}

impl MemoryWriter {
    pub(super) fn new(memory: Memory, history: History) -> Self {
        Self { memory, history }
    }

    /// The memory that it changes.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Begins a batch on the newest state, for a commit at the time `now`. Only one batch at a time may be
    /// published or dropped: the next one is begun after that.
    pub fn batch(&self, now: Timestamp) -> Batch {
        Batch::on(State::clone(&self.memory.0.state.load()), now, self.history.meter().frames().clone())
    }

    /// Makes a durable batch visible, all of it at one instant. [`wake`](MemoryWriter::wake) then tells those
    /// who wait for it; a backend may acknowledge the writes first.
    pub fn publish(&mut self, batch: Batch) -> Published {
        let mut by_resource: HashMap<ResourceName, Vec<Arc<Event>>> = HashMap::new();
        let (state, accepted) = batch.into_parts();
        for Accepted { event, .. } in accepted {
            self.history.push(Arc::clone(&event));
            match by_resource.get_mut(&event.key().resource) {
                Some(events) => events.push(event),
                None => drop(by_resource.insert(event.key().resource.clone(), vec![event])),
            }
        }
        let appended = by_resource
            .into_iter()
            .map(|(resource, events)| self.memory.0.hub(&resource).append(&events))
            .collect();
        let revision = state.revision;
        let replaced = self.memory.0.state.swap(Arc::new(state));
        Published { revision, appended, _replaced: replaced }
    }

    /// Wakes those who wait for what was published.
    pub fn wake(&self, published: &Published) {
        self.memory.0.reached.send_replace(published.revision);
        published.appended.iter().for_each(Appended::wake);
    }

    /// Forgets the oldest events that `retention` does not keep, at most `limit`. Where history is too large,
    /// encoded forms of the oldest events go first. Returns the records that the log no longer needs.
    pub fn forget_overdue(&mut self, now: Timestamp, retention: &Retention, limit: usize) -> Vec<Garbage> {
        for event in self.history.drop_frames(retention, limit) {
            self.memory.0.hub(&event.key().resource).replace(&event);
        }
        let events = self.history.pop_overdue(now, retention, limit);
        self.forget(&events)
    }

    /// Forgets all events up to and including `before`. Returns the records that the log no longer
    /// needs.
    pub fn forget_through(&mut self, before: Revision) -> Vec<Garbage> {
        let before = before.min(self.memory.revision());
        self.memory.0.begins_after.fetch_max(before.get(), Ordering::AcqRel);
        let events = self.history.pop_through(before);
        self.forget(&events)
    }

    /// History begins anew after `revision`, though events before it are kept for the watches that are open:
    /// nobody else may go by them.
    pub fn begin_history_after(&mut self, revision: Revision) {
        self.memory.0.begins_after.fetch_max(revision.get(), Ordering::AcqRel);
    }

    /// What happened to a resource up to `revision` is not known in full: watches of it end with
    /// [`StoreError::Expired`](crate::StoreError::Expired). They are told with the next
    /// [`wake_all`](MemoryWriter::wake_all).
    pub fn end_watches(&self, resource: &ResourceName, revision: Revision) {
        self.memory.0.hub(resource).begin_after(revision);
    }

    /// Wakes all watches of a resource.
    pub fn wake_all(&self, resource: &ResourceName) {
        self.memory.0.hub(resource).wake_all();
    }

    fn forget(&mut self, events: &[Arc<Event>]) -> Vec<Garbage> {
        for event in events {
            self.memory.0.hub(&event.key().resource).forget(event);
        }
        events.iter().flat_map(|event| garbage_of(event)).collect()
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        // No write will come any more.
        let shared = &self.memory.0;
        shared.closed.store(true, Ordering::Release);
        shared.reached.send_modify(|_| ());
        shared.hubs.load().values().for_each(|hub| hub.wake_all());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::task::{Context, Wake};
    use std::time::Duration;

    use super::*;
    use crate::engine::Replay;
    use crate::error::StoreError;
    use crate::key::{Key, Scope};
    use crate::write::{Body, Change, Write};

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn empty() -> MemoryWriter {
        let retention = Retention { time: Duration::MAX, bytes: u64::MAX };
        Replay::new(Revision::ZERO, Timestamp(0), retention).finish().0
    }

    fn creation(resource: &ResourceName, name: &str) -> Write {
        let key = Key::new(resource.clone(), "ns", name);
        Change::Create { key, body: Body::new(Vec::new(), 0) }.into()
    }

    /// Events are in the logs a moment before their batch is visible: nobody may read them ahead of the
    /// state.
    #[tokio::test]
    async fn no_event_is_seen_before_its_state() {
        let mut writer = empty();
        let memory = writer.memory().clone();
        let resource = ResourceName::new("pods");
        let start = memory.revision();
        let mut watch = memory.watch(&resource, Scope::All, None, start).unwrap();
        let mut batch = writer.batch(Timestamp(1));
        let committed = batch.add(creation(&resource, "a")).unwrap();
        let events: Vec<_> = batch.accepted().iter().map(|write| Arc::clone(&write.event)).collect();

        let hub = memory.0.hub(&resource);
        let _ = hub.append(&events);
        assert!(watch.take().unwrap().is_empty());
        assert_eq!((watch.progress(), memory.revision()), (start, start));
        assert!(memory.snapshot(&resource).is_empty());
        hub.forget(&events[0]);

        let mut watch = memory.watch(&resource, Scope::All, None, committed.revision).unwrap();
        let published = writer.publish(batch);
        assert_eq!(memory.snapshot(&resource).len(), 1, "visible before anybody is woken");
        writer.wake(&published);
        assert!(watch.take().unwrap().is_empty(), "it was to start after this event");
    }

    /// The log of a part that nobody watched before is made while a batch becomes visible.
    #[tokio::test]
    async fn a_watch_that_begins_meanwhile_is_woken() {
        let writer = empty();
        let memory = writer.memory().clone();
        let resource = ResourceName::new("pods");
        let mut batch = writer.batch(Timestamp(1));
        batch.add(creation(&resource, "a")).unwrap();
        let events: Vec<_> = batch.accepted().iter().map(|write| Arc::clone(&write.event)).collect();
        let hub = memory.0.hub(&resource);
        let appended = hub.append(&events);
        let scope = Scope::Namespace("ns".into());
        let mut watch = memory.watch(&resource, scope, None, memory.revision()).unwrap();
        let woken = Arc::new(Woken::default());
        let waker = Arc::clone(&woken).into();
        assert!(watch.poll_next(&mut Context::from_waker(&waker)).is_pending(), "it is not visible yet");
        appended.wake();
        assert!(woken.0.load(Ordering::Relaxed));
    }

    /// Of one resource alone, whatever part of it they watch, and as soon as the state is there.
    #[tokio::test]
    async fn watches_end_where_events_are_missing() {
        let mut writer = empty();
        let memory = writer.memory().clone();
        let (pods, secrets) = (ResourceName::new("pods"), ResourceName::new("secrets"));
        let start = memory.revision();
        let watch = |resource, scope| memory.watch(resource, scope, None, start).unwrap();
        let mut ended = [Scope::All, Scope::Namespace("other".into())].map(|scope| watch(&pods, scope));
        let mut other = watch(&secrets, Scope::All);
        let mut batch = writer.batch(Timestamp(1));
        for resource in [&pods, &secrets] {
            batch.add(creation(resource, "a")).unwrap();
        }
        let revision = batch.revision();
        writer.end_watches(&pods, revision);
        let published = writer.publish(batch);
        writer.wake(&published);
        for watch in &mut ended {
            assert!(matches!(watch.take(), Err(StoreError::Expired { .. })));
            assert_eq!(watch.progress(), start, "no bookmark says otherwise");
        }
        assert_eq!(other.take().unwrap().len(), 1);
        let mut again = memory.watch(&pods, Scope::All, None, revision).unwrap();
        assert!(again.take().unwrap().is_empty());
        let mut batch = writer.batch(Timestamp(1));
        batch.add(creation(&pods, "b")).unwrap();
        let _ = writer.publish(batch);
        assert_eq!(again.take().unwrap().len(), 1);
    }

    /// States that lists paged through go when history goes, not when somebody asks the next time.
    #[tokio::test]
    async fn older_states_go_with_history() {
        let mut writer = empty();
        let memory = writer.memory().clone();
        let resource = ResourceName::new("pods");
        for name in ["a", "b"] {
            let mut batch = writer.batch(Timestamp(1));
            batch.add(creation(&resource, name)).unwrap();
            let _ = writer.publish(batch);
        }
        let first = Revision::FIRST.next();
        assert_eq!(memory.snapshot_at(&resource, first).unwrap().len(), 1);
        let kept = &memory.0.hub(&resource).older_states;
        assert!(kept.at_or_after(first).is_some());
        writer.forget_through(first);
        assert!(kept.at_or_after(first).is_some(), "it can still be asked for");
        writer.forget_through(first.next());
        assert!(kept.at_or_after(first).is_none());
    }
}
