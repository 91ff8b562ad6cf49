//! Writes that are checked one after the other, and become durable and visible together.

use std::sync::Arc;

use super::state::State;
use crate::clock::Timestamp;
use crate::condition::Condition;
use crate::error::StoreError;
use crate::event::{Event, EventKind};
use crate::frame_bytes::FrameTotal;
use crate::index::Term;
use crate::key::Key;
use crate::object::Object;
use crate::revision::Revision;
use crate::store::{Op, Record};
use crate::write::{Change, Committed, Write};

/// Writes that have been checked against the state and the writes before them, and that nobody can see yet.
pub struct Batch {
    state: State,
    time: Timestamp,
    frames: FrameTotal,
    accepted: Vec<Accepted>,
}

/// An accepted write of a batch: what goes into the log.
pub struct Accepted {
    /// What it does.
    pub op: Op,
    /// What watchers will receive. It holds the key, the revision, the time and the value.
    pub event: Arc<Event>,
}

impl Batch {
    /// A batch on `state`, whose writes are of the time `now`. The encoded forms of its events count in
    /// `frames`.
    pub(super) fn on(state: State, now: Timestamp, frames: FrameTotal) -> Self {
        Self { state, time: now, frames, accepted: Vec::new() }
    }

    /// The writes that were accepted, in order of revision.
    pub fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    /// The state of an object after the writes of the batch.
    pub fn get(&self, key: &Key) -> Option<&Arc<Object>> {
        self.state.get(key)
    }

    /// Whether a write could be added now: the change and its conditions hold after the writes before it.
    /// Otherwise the error that [`add`](Batch::add) returns.
    pub fn check(&self, write: &Write) -> Result<(), StoreError> {
        self.checked(write).map(drop)
    }

    /// Adds a write if the change and its conditions hold after the writes before it; otherwise nothing
    /// happens. The write is committed when the batch is.
    pub fn add(&mut self, write: Write) -> Result<Committed, StoreError> {
        let previous = self.checked(&write)?;
        let revision = self.state.revision.next();
        let (op, kind, key, body) = match write.change {
            Change::Create { key, body } => (Op::Create, EventKind::Put, key, body),
            Change::Replace { key, body, .. } | Change::Retire { key, body, .. } => {
                (Op::Replace, EventKind::Put, key, body)
            }
            Change::Remove { key, body, .. } => (Op::Remove, EventKind::Remove, key, body),
        };
        // All states of an object share its key, so that equal names are in memory once.
        let key = previous.as_ref().map_or_else(|| Arc::new(key), |previous| previous.shared_key());
        let object = Arc::new(Object::new(key, revision, Ok(body.with_revision(revision))));
        self.state.apply(kind, &object, previous.as_ref());
        self.state.revision = revision;
        let event = Event::new(kind, self.time, Arc::clone(&object), previous.clone(), &self.frames);
        self.accepted.push(Accepted { op, event: Arc::new(event) });
        Ok(Committed { revision, object, previous })
    }

    /// Adds a write that was put in order elsewhere: nothing is checked but that it comes after what the
    /// state shows of its object. `None` for one that the state shows already, and for a removal of what is
    /// not there.
    pub fn follow(&mut self, record: Record) -> Option<Committed> {
        let Record { revision, key, op, time, value } = record;
        let previous = self.state.get(&key).cloned();
        let is_known = previous.as_ref().is_some_and(|previous| previous.revision() >= revision);
        if is_known || (op == Op::Remove && previous.is_none()) {
            return None;
        }
        let kind = if op == Op::Remove { EventKind::Remove } else { EventKind::Put };
        let op = if op == Op::Create && previous.is_some() { Op::Replace } else { op };
        let key = previous.as_ref().map_or_else(|| Arc::new(key), |previous| previous.shared_key());
        let object = Arc::new(Object::new(key, revision, value));
        self.state.apply(kind, &object, previous.as_ref());
        self.advance(revision);
        let event = Event::new(kind, time, Arc::clone(&object), previous.clone(), &self.frames);
        self.accepted.push(Accepted { op, event: Arc::new(event) });
        Some(Committed { revision, object, previous })
    }

    /// The revision of the state that the batch is about.
    pub fn revision(&self) -> Revision {
        self.state.revision
    }

    /// The state that the batch is about shows everything up to `revision`.
    pub fn advance(&mut self, revision: Revision) {
        self.state.revision = self.state.revision.max(revision);
    }

    /// Whether the write gives its object a term that it does not have now.
    pub(super) fn adds_term(&self, change: &Change) -> bool {
        let Some(indexer) = &self.state.indexer else { return false };
        let key = change.key();
        if matches!(change, Change::Remove { .. }) || !indexer.covers(&key.resource) {
            return false;
        }
        let terms = indexer.terms(&key.resource, &change.body().with_revision(Revision::ZERO));
        let has = |term: &Term| {
            let holders = self.state.resources.get(&key.resource);
            holders.is_some_and(|table| {
                table.with_term(term.index, &term.value).any(|object| object.key() == key)
            })
        };
        terms.is_some_and(|terms| !terms.iter().all(has))
    }

    /// The state that the write replaces, if all that it demands holds.
    fn checked(&self, write: &Write) -> Result<Option<Arc<Object>>, StoreError> {
        let Write { change, conditions } = write;
        let current = self.state.get(change.key());
        change.check(current)?;
        for condition in conditions {
            if let Err(found) = self.holds(condition, change.key()) {
                let (key, condition) = (change.key().clone(), Arc::new(condition.clone()));
                return Err(StoreError::ConditionFailed { key, condition, found });
            }
        }
        Ok(current.cloned())
    }

    /// Whether a condition of a write to `key` holds; if not, the object that is in the way.
    fn holds(&self, condition: &Condition, key: &Key) -> Result<(), Option<Arc<Object>>> {
        let (found, holds) = match condition {
            Condition::At { key, revision } => {
                let found = self.state.get(key);
                (found, found.is_some_and(|found| found.revision() == *revision))
            }
            Condition::Absent { key } => {
                let found = self.state.get(key);
                (found, found.is_none())
            }
            Condition::Unclaimed { term: Term { index, value } } => {
                let found = self.state.other_with_term(key, *index, value);
                (found, found.is_none())
            }
        };
        if holds { Ok(()) } else { Err(found.cloned()) }
    }

    /// The state with all writes of the batch in it, and the writes.
    pub(super) fn into_parts(self) -> (State, Vec<Accepted>) {
        (self.state, self.accepted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Indexer;
    use crate::key::ResourceName;
    use crate::write::Body;

    /// The whole value is the only term.
    struct ByValue;

    impl Indexer for ByValue {
        fn covers(&self, _: &ResourceName) -> bool {
            true
        }

        fn terms(&self, _: &ResourceName, value: &[u8]) -> Option<Vec<Term>> {
            Some(vec![term(str::from_utf8(value).ok()?)])
        }
    }

    fn term(value: &str) -> Term {
        // Without the revision, which is the last digit.
        Term { index: 0, value: value.trim_end_matches(|c: char| c.is_ascii_digit()).into() }
    }

    fn batch() -> Batch {
        let indexer: Option<Arc<dyn Indexer>> = Some(Arc::new(ByValue));
        let state = State { indexer, ..State::empty_at(Revision::FIRST) };
        Batch::on(state, Timestamp(0), FrameTotal::default())
    }

    fn key(resource: &str, name: &str) -> Key {
        Key::new(ResourceName::new(resource), "", name)
    }

    fn body(text: &str) -> Body {
        Body::new(text.into(), text.len())
    }

    fn create(resource: &str, name: &str, text: &str) -> Change {
        Change::Create { key: key(resource, name), body: body(text) }
    }

    /// The last address goes to the first of the writes that want it, and is free again after a removal.
    #[test]
    fn terms_count_from_the_write_that_claims_them() {
        let mut batch = batch();
        let claim = |name| create("services", name, "ip").when(Condition::Unclaimed { term: term("ip") });
        let first = batch.add(claim("a")).unwrap();
        for name in ["b", "c"] {
            assert!(batch.check(&claim(name)).is_err());
            let refused = batch.add(claim(name)).unwrap_err();
            assert_eq!(
                refused.to_string(),
                format!("services/{name} is not written: no other object may have \"ip\" in index 0")
            );
        }
        let removal = Change::Remove { key: key("services", "a"), expected: first.revision, body: body("x") };
        batch.add(removal.into()).unwrap();
        batch.add(claim("c")).unwrap();
        let revisions: Vec<u64> = batch.accepted().iter().map(|write| write.event.revision().get()).collect();
        assert_eq!(revisions, [2, 3, 4], "refused writes use no revision");
    }

    /// A namespace that changes in the batch takes no objects of later writes, but those of earlier ones.
    #[test]
    fn conditions_see_the_writes_before_them() {
        let mut batch = batch();
        let opened = batch.add(create("namespaces", "ns", "open").into()).unwrap().revision;
        let enter = |name, revision| {
            create("pods", name, "x").when(Condition::At { key: key("namespaces", "ns"), revision })
        };
        batch.add(enter("a", opened)).unwrap();
        let closing =
            Change::Replace { key: key("namespaces", "ns"), expected: opened, body: body("closed") };
        let closed = batch.add(closing.into()).unwrap().revision;
        let Err(StoreError::ConditionFailed { found: Some(found), .. }) = batch.add(enter("b", opened))
        else {
            panic!("it entered a namespace that had changed");
        };
        assert_eq!(found.revision(), closed);
        batch.add(enter("b", closed)).unwrap();
        let removal = Change::Remove { key: key("namespaces", "ns"), expected: closed, body: body("x") };
        batch.add(removal.into()).unwrap();
        assert!(matches!(
            batch.add(enter("c", closed)),
            Err(StoreError::ConditionFailed { found: None, .. })
        ));
    }
}
