//! Clients that write and read at the same time, and what they noted.

use super::history::{self, History, Objects, Step, objects_of};
use crate::condition::Condition;
use crate::conformance::WORDS_INDEX;
use crate::conformance::dice::Dice;
use crate::error::StoreError;
use crate::event::EventKind;
use crate::index::Term;
use crate::key::{Key, ResourceName};
use crate::revision::Revision;
use crate::storage::Storage;
use crate::write::{Body, Change, Write};

pub(super) const RESOURCES: [&str; 2] = ["configmaps", "secrets"];
pub(super) const NAMESPACES: [&str; 3] = ["a", "a-b", "b"];
pub(super) const NAMES: [&str; 4] = ["x", "y", "z", "zz"];
/// The first word of every value is one of these.
pub(super) const TERMS: [&str; 3] = ["p", "q", "r"];

/// What one client did in one round.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) steps: Vec<Step>,
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
    List(ResourceName, Revision, Objects),
    /// This condition of a write to the key did not hold, because of an object at this revision, or because
    /// of none.
    Failed(Key, Condition, Option<Revision>),
}

pub(super) async fn work(storage: Storage, seed: u64, operations: u32) -> Notes {
    let mut dice = Dice::new(seed);
    let mut notes = Notes::default();
    for _ in 0..operations {
        let from = storage.current_revision();
        if dice.one_in(5) {
            let resource = ResourceName::new(dice.pick(&RESOURCES));
            let snapshot = storage.snapshot(&resource);
            let what = What::List(resource, snapshot.revision(), objects_of(snapshot.iter()));
            notes.seen.push(Seen { from, to: storage.current_revision(), what });
        } else {
            write(&storage, &mut dice, from, &mut notes).await;
        }
        for _ in 0..dice.roll(4) {
            tokio::task::yield_now().await;
        }
    }
    notes
}

async fn write(storage: &Storage, dice: &mut Dice, from: Revision, notes: &mut Notes) {
    let key = random_key(dice);
    let current = revision_of(storage, &key);
    let conditions: Vec<_> = (0..dice.roll(3)).map(|_| random_condition(storage, dice)).collect();
    // Others write meanwhile, so that some expectations are old when they are checked.
    for _ in 0..dice.roll(3) {
        tokio::task::yield_now().await;
    }
    let text = format!("{} {}@", dice.pick(&TERMS), dice.number());
    let body = Body::new(text.clone().into_bytes(), text.len());
    let (change, kind) = match current {
        Some(expected) if dice.one_in(3) => {
            (Change::Remove { key: key.clone(), expected, body }, EventKind::Remove)
        }
        Some(expected) if !dice.one_in(6) => {
            (Change::Replace { key: key.clone(), expected, body }, EventKind::Put)
        }
        _ => (Change::Create { key: key.clone(), body }, EventKind::Put),
    };
    let what = match storage.commit(Write { change, conditions: conditions.clone() }).await {
        Ok(committed) => {
            let (revision, to) = (committed.revision, storage.current_revision());
            assert!(from < revision && revision <= to, "{revision} is not between {from} and {to}");
            notes.steps.push(Step::new(kind, &committed, conditions));
            return;
        }
        Err(StoreError::AlreadyExists { current } | StoreError::Conflict { current, .. }) => {
            What::Object(key, Some(current.revision()))
        }
        Err(StoreError::NotFound { .. }) => What::Object(key, None),
        Err(StoreError::ConditionFailed { condition, found, .. }) => {
            assert!(conditions.contains(&condition), "{condition} is no condition of the write");
            What::Failed(key, Condition::clone(&condition), found.map(|found| found.revision()))
        }
        Err(error) => panic!("{error}"),
    };
    notes.seen.push(Seen { from, to: storage.current_revision(), what });
}

fn random_key(dice: &mut Dice) -> Key {
    Key::new(ResourceName::new(dice.pick(&RESOURCES)), dice.pick(&NAMESPACES), dice.pick(&NAMES))
}

/// One that holds now, unless it is about a term, which mostly somebody has.
fn random_condition(storage: &Storage, dice: &mut Dice) -> Condition {
    if dice.one_in(4) {
        let term = Term { index: WORDS_INDEX, value: dice.pick(&TERMS).into() };
        return Condition::Unclaimed { term };
    }
    let key = random_key(dice);
    match revision_of(storage, &key) {
        Some(revision) => Condition::At { key, revision },
        None => Condition::Absent { key },
    }
}

fn revision_of(storage: &Storage, key: &Key) -> Option<Revision> {
    storage.snapshot(&key.resource).get(&key.namespace, &key.name).map(|object| object.revision())
}

impl Notes {
    /// Everything that was seen was so at some moment of the request that saw it.
    pub(super) fn check(&self, history: &History) {
        for Seen { from, to, what } in &self.seen {
            let mut states = (from.get()..=to.get()).map(|revision| history.at(Revision::new(revision)));
            match what {
                What::List(resource, revision, objects) => {
                    assert!(from <= revision && revision <= to, "a list of {revision}: {from} to {to}");
                    assert_eq!(*objects, history.state(resource, *revision), "{resource} at {revision}");
                }
                What::Object(key, found) => {
                    let is_so = |state: &Objects| state.get(key).map(|(revision, _)| *revision) == *found;
                    assert!(states.any(is_so), "{key} at {found:?}: {from} to {to}");
                }
                What::Failed(key, condition, found) => {
                    let is_so = |state: &Objects| history::prevents(state, key, condition, *found);
                    assert!(states.any(is_so), "{key}: {condition}, found {found:?}: {from} to {to}");
                }
            }
        }
    }
}
