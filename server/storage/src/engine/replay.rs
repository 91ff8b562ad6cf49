//! Memory from the records of a log: the state, and the history that is still to be kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::event_log::Hub;
use super::history::{Garbage, History, Retention, garbage_of};
use super::memory::Memory;
use super::state::State;
use super::writer::MemoryWriter;
use crate::clock::Timestamp;
use crate::event::{Event, EventKind};
use crate::frame_bytes::FrameTotal;
use crate::key::{Key, ResourceName};
use crate::object::Object;
use crate::revision::Revision;
use crate::sealing::Seal;
use crate::store::{Op, Record};

/// Takes records in order of revision and becomes a [`MemoryWriter`].
pub struct Replay {
    now: Timestamp,
    retention: Retention,
    compacted: Revision,
    state: State,
    /// Per resource, the newest event that is too old to be kept.
    begins_after: HashMap<ResourceName, Revision>,
    events: Vec<Arc<Event>>,
    frames: FrameTotal,
    garbage: Vec<Garbage>,
    namespaces: HashSet<Arc<str>>,
}

impl Replay {
    /// Of a log from which records up to `compacted` may have been dropped already.
    pub fn new(compacted: Revision, now: Timestamp, retention: Retention) -> Self {
        let revision = compacted.max(Revision::FIRST);
        Self {
            now,
            retention,
            compacted,
            state: State::empty_at(revision),
            begins_after: HashMap::new(),
            events: Vec::new(),
            frames: FrameTotal::default(),
            garbage: Vec::new(),
            namespaces: HashSet::new(),
        }
    }

    /// Takes the next record.
    pub fn push(&mut self, record: Record) {
        self.push_sealed(record, None);
    }

    /// Takes the next record, whose value is kept under this key.
    pub fn push_sealed(&mut self, record: Record, seal: Option<Seal>) {
        let Record { revision, key, op, time, value } = record;
        let previous = self.state.get(&key).cloned();
        let key = match &previous {
            Some(previous) => previous.shared_key(),
            None => Arc::new(self.intern(key)),
        };
        let kind = if op == Op::Remove { EventKind::Remove } else { EventKind::Put };
        let object = Object::new(key, revision, value);
        if let Some(seal) = seal {
            object.kept_under(seal);
        }
        let object = Arc::new(object);
        self.state.apply(kind, &object, previous.as_ref());
        // The newest write may have been a removal whose record is dropped already.
        self.state.revision = self.state.revision.max(revision);
        let event = Event::new(kind, time, object, previous, &self.frames);
        if self.events.is_empty() && self.retention.is_over(time, self.now) {
            self.garbage.extend(garbage_of(&event));
            match self.begins_after.get_mut(&event.key().resource) {
                Some(begins_after) => *begins_after = revision,
                None => drop(self.begins_after.insert(event.key().resource.clone(), revision)),
            }
        } else {
            self.events.push(Arc::new(event));
        }
    }

    /// History begins after `revision`, and after `compacted`.
    pub fn begin_after(&mut self, revision: Revision) {
        self.compacted = self.compacted.max(revision);
        self.state.revision = self.state.revision.max(revision);
    }

    /// Takes an object as it was when history begins. In any order, and before all records of later writes.
    /// Its value is kept under `seal`.
    pub fn push_state(&mut self, record: Record, seal: Option<Seal>) {
        let Record { revision, key, value, .. } = record;
        let object = Object::new(Arc::new(self.intern(key)), revision, value);
        if let Some(seal) = seal {
            object.kept_under(seal);
        }
        self.state.apply(EventKind::Put, &Arc::new(object), None);
        self.state.revision = self.state.revision.max(revision);
    }

    /// The memory, and the records that are in the log for no reason any more, in the order to drop them.
    pub fn finish(self) -> (MemoryWriter, Vec<Garbage>) {
        let mut hubs: HashMap<_, _> = self
            .begins_after
            .into_iter()
            .map(|(resource, revision)| (resource, Arc::new(Hub::new(revision.max(self.compacted)))))
            .collect();
        let mut history = History::new(self.frames);
        for event in self.events {
            let hub = hubs
                .entry(event.key().resource.clone())
                .or_insert_with(|| Arc::new(Hub::new(self.compacted)));
            hub.append(std::slice::from_ref(&event));
            history.push(event);
        }
        let memory = Memory::with(self.state, self.compacted, Arc::clone(history.meter()));
        memory.0.hubs.store(Arc::new(hubs));
        (MemoryWriter::new(memory, history), self.garbage)
    }

    /// The same key, with strings that are shared with earlier ones.
    fn intern(&mut self, key: Key) -> Key {
        let resource = match self.state.resources.get_key_value(&key.resource) {
            Some((resource, _)) => resource.clone(),
            None => key.resource,
        };
        let namespace = if let Some(namespace) = self.namespaces.get(&key.namespace) {
            Arc::clone(namespace)
        } else {
            self.namespaces.insert(Arc::clone(&key.namespace));
            key.namespace
        };
        Key { resource, namespace, name: key.name }
    }
}
