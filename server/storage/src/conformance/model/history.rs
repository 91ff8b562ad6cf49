//! The model: the sequence of all acknowledged writes, and what follows from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::condition::Condition;
use crate::conformance::words;
use crate::event::{Event, EventKind};
use crate::key::{Key, ResourceName, Scope};
use crate::object::Object;
use crate::revision::Revision;
use crate::write::Committed;

/// One acknowledged write.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) revision: Revision,
    pub(super) key: Key,
    kind: EventKind,
    value: Bytes,
    previous: Option<(Revision, Bytes)>,
    conditions: Vec<Condition>,
}

/// Objects by name, with revision and value.
pub(super) type Objects = BTreeMap<Key, (Revision, Bytes)>;

pub(super) struct History {
    start: Revision,
    /// In order of revision, without gaps.
    steps: Vec<Step>,
    /// The objects at the start and after each step.
    states: Vec<Objects>,
}

impl Step {
    pub(super) fn new(kind: EventKind, committed: &Committed, conditions: Vec<Condition>) -> Self {
        Step {
            revision: committed.revision,
            key: committed.object.key().clone(),
            kind,
            value: value_of(&committed.object),
            previous: committed.previous.as_ref().map(|previous| (previous.revision(), value_of(previous))),
            conditions,
        }
    }

    pub(super) fn matches(&self, event: &Event) -> bool {
        let previous = event.previous().map(|previous| (previous.revision(), value_of(previous)));
        event.revision() == self.revision
            && *event.key() == self.key
            && event.kind() == self.kind
            && value_of(event.object()) == self.value
            && previous == self.previous
    }

    fn is_in(&self, resource: &ResourceName, scope: &Scope) -> bool {
        self.key.resource == *resource && scope.contains(&self.key.namespace, &self.key.name)
    }
}

impl History {
    /// Of a store that is empty at `start`.
    pub(super) fn begin(start: Revision) -> Self {
        Self { start, steps: Vec::new(), states: vec![Objects::new()] }
    }

    /// Adds the writes of one round. Checks that every revision was given out once, that each write found
    /// what the writes before it had left, and that its conditions held then.
    pub(super) fn extend(&mut self, mut steps: Vec<Step>) {
        steps.sort_by_key(|step| step.revision);
        for step in steps {
            assert_eq!(step.revision, self.end().next(), "revisions have no gaps: {step:?}");
            let mut state = self.at(self.end()).clone();
            for condition in &step.conditions {
                assert!(holds(&state, &step.key, condition), "{condition} does not hold: {step:?}");
            }
            let found = match step.kind {
                EventKind::Put => state.insert(step.key.clone(), (step.revision, step.value.clone())),
                EventKind::Remove => state.remove(&step.key),
            };
            assert_eq!(found, step.previous, "a write replaces what the writes before it left: {step:?}");
            assert!(step.kind == EventKind::Put || found.is_some(), "only what exists is removed: {step:?}");
            self.states.push(state);
            self.steps.push(step);
        }
    }

    pub(super) fn start(&self) -> Revision {
        self.start
    }

    pub(super) fn end(&self) -> Revision {
        self.steps.last().map_or(self.start, |step| step.revision)
    }

    /// All objects at `revision`.
    pub(super) fn at(&self, revision: Revision) -> &Objects {
        &self.states[(revision.get() - self.start.get()) as usize]
    }

    /// The objects of a resource at `revision`.
    pub(super) fn state(&self, resource: &ResourceName, revision: Revision) -> Objects {
        let mut objects = self.at(revision).clone();
        objects.retain(|key, _| key.resource == *resource);
        objects
    }

    /// The writes in scope after `after`, up to and including `through`.
    pub(super) fn between<'a>(
        &'a self,
        resource: &'a ResourceName,
        scope: &'a Scope,
        after: Revision,
        through: Revision,
    ) -> impl Iterator<Item = &'a Step> {
        let inside = move |step: &&Step| step.revision > after && step.revision <= through;
        self.steps.iter().filter(inside).filter(move |step| step.is_in(resource, scope))
    }
}

/// Whether a condition of a write to `key` holds in `state`.
fn holds(state: &Objects, key: &Key, condition: &Condition) -> bool {
    match condition {
        Condition::At { key, revision } => state.get(key).is_some_and(|(found, _)| found == revision),
        Condition::Absent { key } => !state.contains_key(key),
        Condition::Unclaimed { term } => others_with_word(state, key, &term.value).next().is_none(),
    }
}

/// Whether a condition of a write to `key` fails in `state`, because of an object at revision `found` or of
/// none.
pub(super) fn prevents(state: &Objects, key: &Key, condition: &Condition, found: Option<Revision>) -> bool {
    let in_the_way = match condition {
        Condition::At { key, .. } | Condition::Absent { key } => {
            state.get(key).map(|(revision, _)| *revision) == found
        }
        Condition::Unclaimed { term } => {
            others_with_word(state, key, &term.value).any(|revision| Some(revision) == found)
        }
    };
    in_the_way && !holds(state, key, condition)
}

/// The revisions of the objects of the same resource that have a word, without the one of this key.
fn others_with_word(state: &Objects, key: &Key, word: &str) -> impl Iterator<Item = Revision> {
    let others = state.iter().filter(move |(other, _)| other.resource == key.resource && *other != key);
    others
        .filter(move |(_, (_, value))| words(value).any(|found| found == word))
        .map(|(_, (revision, _))| *revision)
}

/// The objects that a reader was shown.
pub(super) fn objects_of<'a>(objects: impl Iterator<Item = &'a Arc<Object>>) -> Objects {
    objects.map(|object| (object.key().clone(), (object.revision(), value_of(object)))).collect()
}

fn value_of(object: &Object) -> Bytes {
    object.value().unwrap().clone()
}
