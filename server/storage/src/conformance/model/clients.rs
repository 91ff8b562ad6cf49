//! Clients that write and read at the same time, and what they noted.

use orch_storage::{Body, EventKind, Key, ResourceName, Revision, Storage, StoreError, Write};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::history::{History, State, Step};

pub const RESOURCES: [&str; 2] = ["configmaps", "secrets"];

/// What one client did in one round.
#[derive(Default)]
pub struct Notes {
    pub steps: Vec<Step>,
    seen: Vec<Seen>,
}

/// What a request told about the state, somewhere between two revisions.
struct Seen {
    from: Revision,
    to: Revision,
    what: What,
}

enum What {
    /// The object was at this revision, or absent.
    Object(Key, Option<Revision>),
    /// The resource looked like this at this revision.
    List(ResourceName, Revision, State),
}

pub async fn work(storage: Storage, seed: u64, operations: u32) -> Notes {
    let mut dice = StdRng::seed_from_u64(seed);
    let mut notes = Notes::default();
    for _ in 0..operations {
        let resource = ResourceName::new(RESOURCES[dice.random_range(0..2)]);
        let from = storage.current_revision();
        if dice.random_ratio(1, 5) {
            let snapshot = storage.snapshot(&resource);
            let what = What::List(resource, snapshot.revision(), state_of(snapshot.iter()));
            notes.seen.push(Seen { from, to: storage.current_revision(), what });
        } else {
            write(&storage, &mut dice, resource, from, &mut notes).await;
        }
        for _ in 0..dice.random_range(0..4) {
            tokio::task::yield_now().await;
        }
    }
    notes
}

async fn write(
    storage: &Storage,
    dice: &mut StdRng,
    resource: ResourceName,
    from: Revision,
    notes: &mut Notes,
) {
    let namespace = ["a", "a-b", "b"][dice.random_range(0..3)];
    let name = ["x", "y", "z", "zz"][dice.random_range(0..4)];
    let key = Key::new(resource.clone(), namespace, name);
    let current = storage.snapshot(&resource).get(namespace, name).map(|object| object.revision());
    // Others write meanwhile, so that some expectations are old when they are checked.
    for _ in 0..dice.random_range(0..3) {
        tokio::task::yield_now().await;
    }
    let text = format!("{}{}@", ["p", "q", "r"][dice.random_range(0..3)], dice.random::<u32>());
    let body = Body::new(text.clone().into_bytes(), text.len());
    let (write, kind) = match current {
        Some(expected) if dice.random_ratio(1, 3) => {
            (Write::Remove { key: key.clone(), expected, body }, EventKind::Remove)
        }
        Some(expected) if dice.random_ratio(5, 6) => {
            (Write::Replace { key: key.clone(), expected, body }, EventKind::Put)
        }
        _ => (Write::Create { key: key.clone(), body }, EventKind::Put),
    };
    let found = match storage.commit(write).await {
        Ok(committed) => {
            let (revision, to) = (committed.revision, storage.current_revision());
            assert!(from < revision && revision <= to, "{revision} is not between {from} and {to}");
            notes.steps.push(Step::new(kind, &committed));
            return;
        }
        Err(StoreError::AlreadyExists { current } | StoreError::Conflict { current, .. }) => {
            Some(current.revision())
        }
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    let to = storage.current_revision();
    notes.seen.push(Seen { from, to, what: What::Object(key, found) });
}

impl Notes {
    /// Everything that was seen was so at some moment of the request that saw it.
    pub fn check(&self, history: &History) {
        for Seen { from, to, what } in &self.seen {
            match what {
                What::List(resource, revision, state) => {
                    assert!(from <= revision && revision <= to, "a list of {revision}: {from} to {to}");
                    assert_eq!(*state, history.state(resource, *revision), "{resource} at {revision}");
                }
                What::Object(key, found) => {
                    let mut states = (from.get()..=to.get())
                        .map(|revision| history.revision_of(key, Revision::new(revision)));
                    assert!(states.any(|state| state == *found), "{key} at {found:?}: {from} to {to}");
                }
            }
        }
    }
}

pub fn state_of<'a>(objects: impl Iterator<Item = &'a std::sync::Arc<orch_storage::Object>>) -> State {
    objects
        .map(|object| {
            let key = object.key();
            let value = object.value().unwrap().clone();
            ((key.namespace.to_string(), key.name.to_string()), (object.revision(), value))
        })
        .collect()
}
