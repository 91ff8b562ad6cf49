//! Watches: ordered, unique, complete, resumable, in scope, and not woken without need.

use std::sync::Arc;

use super::{
    Case, Fixture, Listing, create, key, listing, read_to, remove, replace, resource, revisions, stamped,
    text,
};
use crate::error::StoreError;
use crate::event::{Event, EventKind};
use crate::key::{Key, ResourceName, Scope};
use crate::revision::Revision;
use crate::storage::Storage;

pub(super) async fn run<F: Fixture>(fixture: &F) {
    run_cases!(fixture:
        delivers_states,
        keeps_to_its_scope,
        resumes_everywhere,
        joins_a_snapshot_without_gap,
        tells_its_progress,
        ends_with_the_store,
    );
}

async fn delivers_states<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let mut watch = storage.watch(&resource(), Scope::All, storage.current_revision()).unwrap();
    assert!(watch.take().unwrap().is_empty());
    let created = create(storage, key("ns", "a"), "one").await.unwrap().revision;
    let replaced = replace(storage, key("ns", "a"), created, "two").await.unwrap().revision;
    let removed = remove(storage, key("ns", "a"), replaced).await.unwrap().revision;

    let events = read_to(&mut watch, removed).await;
    let summary: Vec<_> = events
        .iter()
        .map(|event| (event.kind(), text(event.object()), event.previous().map(|previous| text(previous))))
        .collect();
    let want = [
        (EventKind::Put, stamped("one", created), None),
        (EventKind::Put, stamped("two", replaced), Some(stamped("one", created))),
        (EventKind::Remove, stamped("gone", removed), Some(stamped("two", replaced))),
    ];
    assert_eq!(summary, want);
    assert!(watch.take().unwrap().is_empty(), "each event comes once");
}

async fn keeps_to_its_scope<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    let name = |namespace: &str, name: &str| Scope::Name(namespace.into(), name.into());
    let scopes = [Scope::All, Scope::Namespace("n1".into()), name("n1", "a"), name("", "a"), name("n1", "z")];
    let early: Vec<_> = scopes.iter().map(|scope| storage.watch(&resource(), scope.clone(), start)).collect();

    let mut written = Vec::new();
    for namespace in ["n1", "n2", ""] {
        for name in ["a", "b", "a"] {
            let key = key(namespace, name);
            let revision = match create(storage, key.clone(), "x").await {
                Err(StoreError::AlreadyExists { current }) => {
                    remove(storage, key.clone(), current.revision()).await.unwrap().revision
                }
                created => created.unwrap().revision,
            };
            written.push((key, revision));
        }
    }
    let other = Key::new(ResourceName::new("secrets"), "n1", "a");
    create(storage, other, "x").await.unwrap();

    for (scope, early) in scopes.iter().zip(early) {
        let in_scope = written.iter().filter(|(key, _)| scope.contains(&key.namespace, &key.name));
        let want: Vec<u64> = in_scope.map(|(_, revision)| revision.get()).collect();
        for mut watch in [early.unwrap(), storage.watch(&resource(), scope.clone(), start).unwrap()] {
            assert_eq!(revisions(&watch.take().unwrap()), want, "{scope:?}");
            assert!(watch.take().unwrap().is_empty());
            assert_eq!(watch.progress(), storage.current_revision());
        }
    }
}

async fn resumes_everywhere<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    let last = write_some(storage, 60).await;
    let scope = Scope::Namespace("n1".into());
    for scope in [Scope::All, scope] {
        let whole = revisions(&storage.watch(&resource(), scope.clone(), start).unwrap().take().unwrap());
        // From young to old: each watch reaches further back than the ones before it.
        let held: Vec<_> = (start.get()..=last.get())
            .rev()
            .map(|after| {
                let mut watch = storage.watch(&resource(), scope.clone(), Revision::new(after)).unwrap();
                let want: Vec<u64> = whole.iter().copied().filter(|revision| *revision > after).collect();
                assert_eq!(revisions(&watch.take().unwrap()), want, "{scope:?} after {after}");
                watch
            })
            .collect();
        drop(held);
    }
    let mut ahead = storage.watch(&resource(), Scope::All, Revision::new(last.get() + 2)).unwrap();
    let last = write_some(storage, 3).await;
    assert_eq!(revisions(&ahead.take().unwrap()), [last.get()], "nothing up to a revision in the future");
}

/// While others write: a snapshot plus the watch after it is at every moment the same as a later snapshot.
async fn joins_a_snapshot_without_gap<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let writers: Vec<_> = (0..4_u32)
        .map(|writer| {
            let storage = storage.clone();
            tokio::spawn(async move {
                for round in 0..60 {
                    let key = key(&format!("n{}", round % 3), &format!("w{writer}-{}", round % 7));
                    match create(&storage, key.clone(), "x").await {
                        Err(StoreError::AlreadyExists { current }) if round % 2 == 0 => {
                            replace(&storage, key, current.revision(), "y").await.unwrap();
                        }
                        Err(StoreError::AlreadyExists { current }) => {
                            remove(&storage, key, current.revision()).await.unwrap();
                        }
                        created => drop(created.unwrap()),
                    }
                }
            })
        })
        .collect();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let storage = storage.clone();
            tokio::spawn(async move {
                let snapshot = storage.snapshot(&resource());
                let mut watch = storage.watch(&resource(), Scope::All, snapshot.revision()).unwrap();
                let mut view = listing(&snapshot);
                let mut seen = snapshot.revision();
                for _ in 0..10 {
                    for event in watch.next().await.unwrap_or_default() {
                        assert_eq!(event.revision(), seen.next(), "no gap, no repetition, no disorder");
                        seen = event.revision();
                        apply(&mut view, &event);
                    }
                    let now = storage.snapshot(&resource());
                    assert!(now.revision() >= seen, "nothing is delivered before it can be read");
                    assert_eq!(view, listing(&storage.snapshot_at(&resource(), seen).unwrap()));
                }
            })
        })
        .collect();
    for task in writers {
        task.await.unwrap();
    }
    // Readers that still wait get one more event each, then the end.
    storage.shutdown().await.unwrap();
    for task in readers {
        task.await.unwrap();
    }
}

async fn tells_its_progress<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    let mut idle = storage.watch(&ResourceName::new("secrets"), Scope::All, start).unwrap();
    let mut behind = storage.watch(&resource(), Scope::All, start).unwrap();
    let last = write_some(storage, 5).await;
    assert_eq!(idle.progress(), last, "nothing is outstanding");
    assert_eq!(behind.progress(), start, "five events are");
    read_to(&mut behind, last).await;
    assert_eq!(behind.progress(), last);
}

async fn ends_with_the_store<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let mut watch = storage.watch(&resource(), Scope::All, storage.current_revision()).unwrap();
    let mut idle =
        storage.watch(&resource(), Scope::Namespace("none".into()), storage.current_revision()).unwrap();
    let waiting = tokio::spawn(async move { idle.next().await.map(|events| events.len()) });
    let last = write_some(storage, 4).await;
    storage.shutdown().await.unwrap();
    assert_eq!(read_to(&mut watch, last).await.len(), 4, "what was committed is delivered");
    assert!(matches!(watch.next().await, Err(StoreError::Closed)));
    assert!(matches!(waiting.await.unwrap(), Err(StoreError::Closed)));
}

/// Writes `count` times: creations, replacements and removals in two namespaces. Returns the last revision.
pub(super) async fn write_some(storage: &Storage, count: u32) -> Revision {
    for index in 0..count {
        let key = key(["n1", "n2"][index as usize % 2], &format!("o{}", index % 5));
        let current =
            storage.snapshot(&resource()).get(&key.namespace, &key.name).map(|object| object.revision());
        let committed = match current {
            None => create(storage, key, "new").await,
            Some(revision) if index % 3 == 0 => remove(storage, key, revision).await,
            Some(revision) => replace(storage, key, revision, "changed").await,
        };
        committed.unwrap();
    }
    storage.current_revision()
}

fn apply(view: &mut Listing, event: &Arc<Event>) {
    let name = (event.key().namespace.to_string(), event.key().name.to_string());
    match event.kind() {
        EventKind::Put => drop(view.insert(name, (event.revision(), text(event.object())))),
        EventKind::Remove => drop(view.remove(&name)),
    }
}
