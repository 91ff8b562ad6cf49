//! The model: the sequence of all acknowledged writes, and what follows from it.

use std::collections::BTreeMap;

use bytes::Bytes;
use orch_storage::{Committed, Event, EventKind, Key, ResourceName, Revision, Scope};

/// One acknowledged write.
#[derive(Clone, Debug)]
pub struct Step {
    pub revision: Revision,
    pub key: Key,
    pub kind: EventKind,
    pub value: Bytes,
    pub previous: Option<(Revision, Bytes)>,
}

/// Namespace and name to revision and value.
pub type State = BTreeMap<(String, String), (Revision, Bytes)>;

#[derive(Default)]
pub struct History {
    pub start: Revision,
    /// In order of revision, without gaps.
    pub steps: Vec<Step>,
}

impl Step {
    pub fn new(kind: EventKind, committed: &Committed) -> Self {
        let value = |object: &orch_storage::Object| object.value().unwrap().clone();
        Step {
            revision: committed.revision,
            key: committed.object.key().clone(),
            kind,
            value: value(&committed.object),
            previous: committed.previous.as_ref().map(|previous| (previous.revision(), value(previous))),
        }
    }

    pub fn is_in(&self, resource: &ResourceName, scope: &Scope) -> bool {
        self.key.resource == *resource && scope.contains(&self.key.namespace, &self.key.name)
    }

    pub fn matches(&self, event: &Event) -> bool {
        let previous =
            event.previous().map(|previous| (previous.revision(), previous.value().unwrap().clone()));
        event.revision() == self.revision
            && *event.key() == self.key
            && event.kind() == self.kind
            && *event.object().value().unwrap() == self.value
            && previous == self.previous
    }
}

impl History {
    /// Adds the writes of one round, and checks that every revision was given out once and that each write found what
    /// the writes before it had left: histories are linearizable per key.
    pub fn extend(&mut self, mut steps: Vec<Step>) {
        steps.sort_by_key(|step| step.revision);
        let mut state: BTreeMap<Key, (Revision, Bytes)> = BTreeMap::new();
        for step in self.steps.iter().chain(&steps) {
            apply(&mut state, step);
        }
        for step in steps {
            assert_eq!(step.revision, self.end().next(), "revisions have no gaps: {step:?}");
            self.steps.push(step);
        }
    }

    pub fn end(&self) -> Revision {
        self.steps.last().map_or(self.start, |step| step.revision)
    }

    /// What there was at `revision`.
    pub fn state(&self, resource: &ResourceName, revision: Revision) -> State {
        let mut state = State::new();
        for step in self.steps.iter().filter(|step| step.revision <= revision) {
            if step.key.resource == *resource {
                let name = (step.key.namespace.to_string(), step.key.name.to_string());
                match step.kind {
                    EventKind::Put => drop(state.insert(name, (step.revision, step.value.clone()))),
                    EventKind::Remove => drop(state.remove(&name)),
                }
            }
        }
        state
    }

    /// The revision at which `key` is at `revision`, or none where it is absent.
    pub fn revision_of(&self, key: &Key, revision: Revision) -> Option<Revision> {
        let mut steps = self.steps.iter().rev().skip_while(|step| step.revision > revision);
        let newest = steps.find(|step| step.key == *key)?;
        (newest.kind == EventKind::Put).then_some(newest.revision)
    }

    /// The writes in scope after `after`, up to and including `through`.
    pub fn between<'a>(
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

fn apply(state: &mut BTreeMap<Key, (Revision, Bytes)>, step: &Step) {
    let found = match step.kind {
        EventKind::Put => state.insert(step.key.clone(), (step.revision, step.value.clone())),
        EventKind::Remove => state.remove(&step.key),
    };
    assert_eq!(found, step.previous, "a write takes the place of the write before it: {step:?}");
    assert!(step.kind == EventKind::Put || found.is_some(), "only what exists is removed: {step:?}");
}
