//! The reference store: correct, simple, and gone with the process. Other stores are compared with it, and
//! tests of other crates use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::engine::{Accepted, Batch, Garbage, Memory, MemoryWriter, Replay, Retention};
use crate::error::StoreError;
use crate::revision::Revision;
use crate::storage::Storage;
use crate::store::{BoxFuture, Record, Store, Visitor};
use crate::write::{Committed, Write};

/// How a reference store behaves.
#[derive(Debug, Clone)]
pub struct ReferenceConfig {
    /// How long history is kept.
    pub retention: Duration,
    /// How much memory may be held for history alone, in bytes.
    pub history_bytes: u64,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Default for ReferenceConfig {
    fn default() -> Self {
        Self { retention: Duration::from_mins(5), history_bytes: 256 << 20, clock: Arc::new(SystemClock) }
    }
}

/// What a reference store kept; a new one can be started from it, as if it had been on a disk.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    records: BTreeMap<Revision, Record>,
    compacted: Revision,
    cluster_uid: Option<Arc<str>>,
}

struct Reference {
    /// None after shutdown.
    writer: Mutex<Option<MemoryWriter>>,
    disk: Disk,
    config: ReferenceConfig,
    cluster_uid: Arc<str>,
}

/// Starts a store on `disk`; an empty one if that is new.
pub fn open(disk: Disk, config: ReferenceConfig) -> Storage {
    let mut kept = disk.lock();
    let cluster_uid: Arc<str> =
        Arc::clone(kept.cluster_uid.get_or_insert_with(|| uuid::Uuid::new_v4().to_string().into()));
    let mut replay = Replay::new(kept.compacted, config.clock.now(), config.retention());
    kept.records.values().cloned().for_each(|record| replay.push(record));
    let (writer, garbage) = replay.finish();
    kept.drop_records(&garbage);
    drop(kept);
    let memory = Memory::clone(writer.memory());
    Storage::new(memory, Arc::new(Reference { writer: Mutex::new(Some(writer)), disk, config, cluster_uid }))
}

impl Storage {
    /// A new, empty [reference](mod@crate::reference) store, gone with the process.
    pub fn in_memory() -> Self {
        open(Disk::default(), ReferenceConfig::default())
    }
}

impl Reference {
    fn commit_now(&self, write: Write) -> Result<Committed, StoreError> {
        let mut writer = self.lock();
        let writer = writer.as_mut().ok_or(StoreError::Closed)?;
        let mut batch = writer.batch(self.config.clock.now());
        let committed = batch.add(write)?;
        self.disk.append(&batch);
        let published = writer.publish(batch);
        writer.wake(&published);
        self.expire_now(writer);
        Ok(committed)
    }

    fn expire_now(&self, writer: &mut MemoryWriter) {
        let garbage = writer.forget_overdue(self.config.clock.now(), &self.config.retention(), usize::MAX);
        self.disk.lock().drop_records(&garbage);
    }

    fn lock(&self) -> MutexGuard<'_, Option<MemoryWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_writer(&self, action: impl FnOnce(&mut MemoryWriter)) -> Result<(), StoreError> {
        self.lock().as_mut().ok_or(StoreError::Closed).map(action)
    }
}

impl Store for Reference {
    fn commit(&self, write: Write) -> BoxFuture<'_, Result<Committed, StoreError>> {
        Box::pin(async move { self.commit_now(write) })
    }

    fn records<'a>(&'a self, visit: &'a mut Visitor<'_>) -> BoxFuture<'a, Result<Revision, StoreError>> {
        let kept = self.disk.lock();
        kept.records.values().cloned().for_each(visit);
        let newest = kept.records.keys().next_back().copied();
        let revision = newest.unwrap_or(Revision::FIRST).max(kept.compacted);
        Box::pin(async move { Ok(revision) })
    }

    fn barrier(&self) -> BoxFuture<'_, Result<Revision, StoreError>> {
        let revision = self.lock().as_ref().map(|writer| writer.memory().revision());
        Box::pin(async move { revision.ok_or(StoreError::Closed) })
    }

    fn compact(&self, before: Revision) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.with_writer(|writer| {
                let garbage = writer.forget_through(before);
                let mut kept = self.disk.lock();
                kept.drop_records(&garbage);
                // Also where no record is dropped.
                kept.compacted = kept.compacted.max(before.min(writer.memory().revision()));
            })
        })
    }

    fn expire(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.with_writer(|writer| self.expire_now(writer)) })
    }

    fn integrity(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn shutdown(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        drop(self.lock().take());
        Box::pin(async { Ok(()) })
    }

    fn cluster_uid(&self) -> Arc<str> {
        Arc::clone(&self.cluster_uid)
    }
}

impl ReferenceConfig {
    fn retention(&self) -> Retention {
        Retention { time: self.retention, bytes: self.history_bytes }
    }
}

impl Disk {
    fn append(&self, batch: &Batch) {
        self.lock().records.extend(batch.accepted().iter().map(|accepted| {
            let record = record_of(accepted);
            (record.revision, record)
        }));
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn drop_records(&mut self, garbage: &[Garbage]) {
        for Garbage { revision, because_of } in garbage {
            self.records.remove(revision);
            self.compacted = self.compacted.max(*because_of);
        }
    }
}

fn record_of(Accepted { op, event }: &Accepted) -> Record {
    let object = event.object();
    Record {
        revision: object.revision(),
        key: object.key().clone(),
        op: *op,
        time: event.time(),
        value: object.value().cloned().map_err(Clone::clone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{ManualClock, Timestamp};
    use crate::conformance::model::{self, Length};
    use crate::conformance::{self, Fixture, RETENTION};
    use crate::event::Event;
    use crate::key::{Key, ResourceName, Scope};
    use crate::write::{Body, Change};

    struct InMemory;

    impl Fixture for InMemory {
        type Location = Disk;

        fn location(&self) -> Disk {
            Disk::default()
        }

        fn open<'a>(&'a self, disk: &'a Disk, clock: Arc<ManualClock>) -> BoxFuture<'a, Storage> {
            let config = ReferenceConfig { retention: RETENTION, clock, ..ReferenceConfig::default() };
            Box::pin(async move { open(disk.clone(), config) })
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn conforms() {
        // It is fast, so it carries the search for rare sequences for all stores.
        for _ in 0..20 {
            conformance::run(&InMemory, rand::random()).await;
        }
    }

    #[test]
    fn readers_see_what_was_written() {
        model::run(&InMemory, 40, Length { rounds: 8, operations: 60 });
    }

    /// What a reader keeps with an event.
    struct Encoded;

    /// Encoded forms count, and those of the oldest events go before any event does.
    #[tokio::test]
    async fn encoded_forms_are_forgotten_before_events() {
        const EVENTS: usize = 100;
        const BYTES: usize = 10_000;
        let config = ReferenceConfig { history_bytes: 400_000, ..ReferenceConfig::default() };
        let storage = open(Disk::default(), config);
        let resource = ResourceName::new("configmaps");
        let start = storage.current_revision();
        let mut watch = storage.watch(&resource, Scope::Namespace("ns".into()), start).unwrap();
        for index in 0..EVENTS {
            let key = Key::new(resource.clone(), "ns", index.to_string());
            storage.commit(Change::Create { key, body: Body::new(Vec::new(), 0) }).await.unwrap();
            for event in watch.take().unwrap() {
                event.memo(|event| {
                    event.memo_grows(BYTES + 1);
                    Encoded
                });
                event.memo_shrinks(1);
            }
        }
        storage.expire().await.unwrap();
        let held = storage.history();
        assert!(held.state_bytes + held.frame_bytes <= 400_000, "{held:?}");
        assert_eq!((held.forgotten_through, held.forgotten_early), (None, 0));
        let events = storage.watch(&resource, Scope::All, start).unwrap().take().unwrap();
        assert_eq!(events.len(), EVENTS, "no event is forgotten");
        let in_namespace = Scope::Namespace("ns".into());
        let narrow = storage.watch(&resource, in_namespace, start).unwrap().take().unwrap();
        assert!(events.iter().zip(&narrow).all(|(one, other)| Arc::ptr_eq(one, other)), "in every log");
        let is_bare = |event: &Arc<Event>| {
            let mut is_bare = false;
            event.memo(|_| {
                is_bare = true;
                Encoded
            });
            is_bare
        };
        let kept = events.iter().skip_while(|event| is_bare(event)).filter(|event| !is_bare(event)).count();
        assert_eq!(kept * BYTES, held.frame_bytes as usize, "the youngest have theirs");
        assert!(kept * BYTES >= 400_000 / 8, "a share is theirs: {kept}");
        drop((events, narrow));
        storage.compact(storage.current_revision()).await.unwrap();
        let held = storage.history();
        assert_eq!((held.state_bytes, held.frame_bytes), (0, 0));
    }

    /// A copy in another form is memory of the history as soon as its state is, and as long.
    #[tokio::test]
    async fn what_is_computed_from_a_state_counts_while_it_is_history() {
        const BYTES: u64 = 10_000;
        let storage = open(Disk::default(), ReferenceConfig::default());
        let key = Key::new(ResourceName::new("configmaps"), "ns", "a");
        let body = Body::new(Vec::new(), 0);
        let create = Change::Create { key: key.clone(), body: body.clone() };
        let created = storage.commit(create).await.unwrap().object;
        created.memo_grows(BYTES as usize);
        let before = storage.history().state_bytes;
        assert!(before < BYTES, "the state is there anyway: {before}");
        let replace = Change::Replace { key: key.clone(), expected: created.revision(), body: body.clone() };
        let replaced = storage.commit(replace).await.unwrap().object;
        let at_once = storage.history().state_bytes;
        assert!(at_once >= before + BYTES);
        // Readers that have the state compute something later.
        created.memo_grows(BYTES as usize);
        assert_eq!(storage.history().state_bytes, at_once + BYTES);

        let remove = Change::Remove { key, expected: replaced.revision(), body };
        let removed = storage.commit(remove).await.unwrap().object;
        let without = storage.history().state_bytes;
        for last in [&replaced, &removed] {
            last.memo_grows(BYTES as usize);
        }
        assert_eq!(
            storage.history().state_bytes,
            without + 2 * BYTES,
            "the last state, as before and as gone"
        );

        storage.compact(storage.current_revision()).await.unwrap();
        assert_eq!(storage.history().state_bytes, 0);
        for forgotten in [&created, &replaced, &removed] {
            forgotten.memo_grows(BYTES as usize);
        }
        assert_eq!(storage.history().state_bytes, 0, "who has them still holds them, not the history");
    }

    /// History gives way to copies that readers make of its states, as to the states themselves.
    #[tokio::test]
    async fn copies_of_old_states_are_bounded_with_the_history() {
        const EVENTS: u64 = 100;
        const BYTES: u64 = 10_000;
        let config = ReferenceConfig { history_bytes: 400_000, ..ReferenceConfig::default() };
        let storage = open(Disk::default(), config);
        let body = || Body::new(Vec::new(), 0);
        let key = Key::new(ResourceName::new("configmaps"), "ns", "a");
        let create = Change::Create { key: key.clone(), body: body() };
        let mut newest = storage.commit(create).await.unwrap().object;
        for _ in 0..EVENTS {
            let replace = Change::Replace { key: key.clone(), expected: newest.revision(), body: body() };
            let before = std::mem::replace(&mut newest, storage.commit(replace).await.unwrap().object);
            before.memo_grows(BYTES as usize);
        }
        storage.expire().await.unwrap();
        let held = storage.history();
        assert!((200_000..=400_000).contains(&held.state_bytes), "{held:?}");
        assert!(held.forgotten_early >= EVENTS - 400_000 / BYTES, "{held:?}");
    }

    /// Where there is no room for the whole retention time, history is shorter, and says so.
    #[tokio::test]
    async fn history_says_that_it_is_too_short() {
        let clock = Arc::new(ManualClock::at(Timestamp(1_000_000)));
        let config = ReferenceConfig {
            history_bytes: 10_000,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ..ReferenceConfig::default()
        };
        let storage = open(Disk::default(), config);
        let write = async |name: usize| {
            let key = Key::new(ResourceName::new("configmaps"), "ns", name.to_string());
            storage.commit(Change::Create { key, body: Body::new(Vec::new(), 0) }).await.unwrap();
            clock.advance(Duration::from_secs(1));
        };
        for name in 0..20 {
            write(name).await;
        }
        assert_eq!((storage.history().forgotten_through, storage.history().forgotten_early), (None, 0));
        for name in 20..100 {
            write(name).await;
        }
        let held = storage.history();
        assert!(held.state_bytes <= 10_000, "{held:?}");
        // The events that are kept are the last ones, one for each second.
        let kept = 100 - held.forgotten_early;
        assert!((20..30).contains(&kept), "{held:?}");
        assert_eq!(held.forgotten_through, Some(Timestamp(1_000_000 + (99 - kept) * 1000)));
    }

    #[tokio::test]
    async fn history_is_bounded_in_bytes() {
        let config = ReferenceConfig { history_bytes: 10_000, ..ReferenceConfig::default() };
        let storage = open(Disk::default(), config);
        let resource = ResourceName::new("configmaps");
        let start = storage.current_revision();
        for index in 0..100 {
            let key = Key::new(resource.clone(), "ns", index.to_string());
            storage.commit(Change::Create { key, body: Body::new(vec![b'x'; 1000], 0) }).await.unwrap();
        }
        let oldest = match storage.watch(&resource, Scope::All, start) {
            Err(StoreError::Expired { oldest, .. }) => oldest,
            other => panic!("{:?}", other.map(|_| ())),
        };
        let kept = storage.current_revision().get() - oldest.get();
        assert!((10..60).contains(&kept), "creations hold no old states, only themselves: {kept}");
    }
}
