//! Several resources, followed by a reader that wants to know everything when it looks, and nothing before.
//!
//! A decision about access is such a reader: it must see every write that was answered before it began. It
//! asks each time whether there is news, which takes no lock, and reads the news when there is.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use crate::engine::{Snapshot, Tail, Watch};
use crate::error::StoreError;
use crate::event::Event;
use crate::key::{ResourceName, Scope};
use crate::revision::Revision;
use crate::storage::Storage;

/// See the module.
pub struct Following {
    storage: Storage,
    resources: Vec<ResourceName>,
    /// The ends of the resources, and the newest event of each that was read.
    ends: Vec<(Tail, AtomicU64)>,
    watches: Mutex<Vec<Watch>>,
}

/// What a reader has not seen yet.
pub enum News {
    /// Start over: the state of each resource, in the order of the resources, all at one revision.
    Everything(Vec<Snapshot>),
    /// What happened since, in order, up to one revision.
    Events(Vec<Arc<Event>>),
}

impl Following {
    /// Follows these resources from now on. Returns their state too.
    pub fn begin(storage: &Storage, resources: Vec<ResourceName>) -> (Self, Vec<Snapshot>) {
        let (snapshots, watches) = start(storage, &resources);
        let end = |watch: &Watch| (watch.tail(), AtomicU64::new(revision_of(&snapshots).get()));
        let ends = watches.iter().map(end).collect();
        let following = Following { storage: storage.clone(), resources, ends, watches: Mutex::new(watches) };
        (following, snapshots)
    }

    /// Whether there may be news. When the answer to a write has been given, this is true until the write has
    /// been read.
    pub fn has_news(&self) -> bool {
        self.ends.iter().any(|(tail, seen)| tail.has_after(Revision::new(seen.load(Ordering::Acquire))))
    }

    /// Whether there are more than so many events of one resource to read, or some are gone, so that all has
    /// to be read.
    pub fn is_behind(&self, events: usize) -> bool {
        let is_behind = |(tail, seen): &(Tail, AtomicU64)| {
            tail.has_more_than(events, Revision::new(seen.load(Ordering::Acquire)))
        };
        self.ends.iter().any(is_behind)
    }

    /// What happened since the last call, or since the beginning.
    pub fn news(&self) -> News {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        // All resources are read up to one revision: a newer role beside an older binding could allow what
        // neither state of the two allows.
        let through = self.storage.current_revision();
        let mut events = Vec::new();
        for (watch, (_, seen)) in watches.iter_mut().zip(&self.ends) {
            match rest_of(watch, through) {
                Ok(rest) => {
                    if let Some(newest) = rest.last() {
                        seen.store(newest.revision().get(), Ordering::Release);
                    }
                    events.extend(rest);
                }
                // History was shorter than the time since somebody looked.
                Err(_) => return News::Everything(self.start_over(&mut watches)),
            }
        }
        events.sort_by_key(|event| event.revision());
        News::Events(events)
    }

    fn start_over(&self, watches: &mut Vec<Watch>) -> Vec<Snapshot> {
        let (snapshots, begun) = start(&self.storage, &self.resources);
        for (_, seen) in &self.ends {
            seen.store(revision_of(&snapshots).get(), Ordering::Release);
        }
        *watches = begun;
        snapshots
    }
}

/// The state of the resources, and watches that begin after it.
fn start(storage: &Storage, resources: &[ResourceName]) -> (Vec<Snapshot>, Vec<Watch>) {
    loop {
        let snapshots = storage.snapshots(resources);
        let after = revision_of(&snapshots);
        let watches = resources.iter().map(|resource| storage.watch(resource, Scope::All, after));
        // History may be forgotten up to this revision at this very moment; then the next one is taken.
        if let Ok(watches) = watches.collect::<Result<_, StoreError>>() {
            return (snapshots, watches);
        }
    }
}

fn revision_of(snapshots: &[Snapshot]) -> Revision {
    snapshots.first().map_or(Revision::FIRST, Snapshot::revision)
}

fn rest_of(watch: &mut Watch, through: Revision) -> Result<Vec<Arc<Event>>, StoreError> {
    let mut rest = Vec::new();
    loop {
        let events = watch.take_through(through)?;
        if events.is_empty() {
            return Ok(rest);
        }
        rest.extend(events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::write::{Body, Change};

    async fn create(storage: &Storage, resource: &str, name: &str) {
        let key = Key::new(ResourceName::new(resource), "n", name);
        storage.commit(Change::Create { key, body: Body::new(Vec::new(), 0) }).await.unwrap();
    }

    fn names(news: News) -> Vec<String> {
        let News::Events(events) = news else { panic!("history reaches back") };
        events.iter().map(|event| event.key().name.to_string()).collect()
    }

    #[tokio::test]
    async fn every_write_is_news_once_when_it_is_answered() {
        let storage = Storage::in_memory();
        create(&storage, "roles", "before").await;
        let resources = ["roles", "bindings"].map(ResourceName::new).to_vec();
        let (following, snapshots) = Following::begin(&storage, resources);
        assert_eq!(snapshots.iter().map(Snapshot::len).collect::<Vec<_>>(), [1, 0]);
        assert!(!following.has_news());
        create(&storage, "pods", "other").await;
        assert!(!following.has_news());
        for (resource, name) in [("bindings", "a"), ("roles", "b"), ("bindings", "c")] {
            create(&storage, resource, name).await;
            assert!(following.has_news());
        }
        assert!(following.is_behind(1) && !following.is_behind(2), "of one resource");
        assert_eq!(names(following.news()), ["a", "b", "c"]);
        assert!(!following.has_news());
        assert_eq!(names(following.news()), [""; 0]);
    }

    #[tokio::test]
    async fn a_reader_that_looks_too_late_starts_over() {
        let storage = Storage::in_memory();
        let (following, _) = Following::begin(&storage, vec![ResourceName::new("roles")]);
        create(&storage, "roles", "a").await;
        create(&storage, "roles", "b").await;
        storage.compact(storage.current_revision()).await.unwrap();
        assert!(following.has_news() && following.is_behind(100));
        assert!(matches!(following.news(), News::Everything(snapshots) if snapshots[0].len() == 2));
        assert!(!following.has_news());
        create(&storage, "roles", "c").await;
        assert_eq!(names(following.news()), ["c"]);
    }
}
