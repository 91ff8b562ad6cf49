//! The objects of one resource, in order of their names and, where that was asked for, by terms too.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use crate::event::EventKind;
use crate::index::{Indexer, Term};
use crate::key::{NameRef, ObjectName, Place};
use crate::object::Object;

use super::held::Held;

/// A clone is O(1) and never changes.
#[derive(Clone, Default)]
pub(crate) struct Table {
    objects: imbl::OrdMap<ObjectName, Held>,
    /// Every object once for each of its terms.
    terms: imbl::OrdMap<Entry, Arc<Object>>,
}

/// Ordered by term, and within a term by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    term: Term,
    object: ObjectName,
}

/// A borrowed [`Entry`], for look-ups that allocate nothing.
#[derive(Clone, Copy)]
struct EntryRef<'a> {
    index: u16,
    value: &'a str,
    object: NameRef<'a>,
}

impl Table {
    /// All of these objects, with their terms.
    pub(crate) fn indexed(&self, indexer: &dyn Indexer) -> Self {
        let mut table = Self { objects: self.objects.clone(), terms: imbl::OrdMap::new() };
        for object in self.values() {
            table.add_terms(indexer, object);
        }
        table
    }

    pub(crate) fn get(&self, name: &NameRef<'_>) -> Option<&Arc<Object>> {
        self.objects.get(name).map(Held::object)
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.values().map(Held::object)
    }

    /// What is between two names.
    pub(super) fn range<'a>(
        &'a self,
        bounds: (Bound<Place<'_>>, Bound<Place<'_>>),
    ) -> impl Iterator<Item = &'a Held> + use<'a> {
        self.objects.range(bounds).map(|(_, held)| held)
    }

    /// The objects with a term, from `start` on.
    pub(crate) fn with_term<'a>(
        &'a self,
        index: u16,
        value: &'a str,
        start: Bound<NameRef<'a>>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let start = start.map(|object| EntryRef { index, value, object });
        self.terms
            .range((start, Bound::Unbounded))
            .take_while(move |(entry, _)| entry.term.index == index && *entry.term.value == *value)
            .map(|(_, object)| object)
    }

    /// Applies what happened to an object; `previous` is what was there before.
    pub(crate) fn apply(
        &mut self,
        indexer: Option<&dyn Indexer>,
        kind: EventKind,
        object: &Arc<Object>,
        previous: Option<&Arc<Object>>,
    ) {
        match kind {
            EventKind::Put => {
                drop(self.objects.insert(object.object_name(), Held::new(Arc::clone(object))));
            }
            EventKind::Remove => drop(self.objects.remove(&object.key().name_ref())),
        }
        if let Some(indexer) = indexer {
            if let Some(previous) = previous {
                self.remove_terms(indexer, previous);
            }
            if kind == EventKind::Put {
                self.add_terms(indexer, object);
            }
        }
    }

    fn add_terms(&mut self, indexer: &dyn Indexer, object: &Arc<Object>) {
        for term in terms_of(indexer, object) {
            let entry = Entry { term: term.clone(), object: object.object_name() };
            self.terms.insert(entry, Arc::clone(object));
        }
    }

    fn remove_terms(&mut self, indexer: &dyn Indexer, object: &Arc<Object>) {
        for Term { index, value } in terms_of(indexer, object) {
            let entry = EntryRef { index: *index, value, object: object.key().name_ref() };
            self.terms.remove(&entry);
        }
    }
}

/// The terms of an object, found once. A damaged object has none.
fn terms_of<'a>(indexer: &dyn Indexer, object: &'a Object) -> &'a [Term] {
    struct Terms(Vec<Term>);
    let resource = &object.key().resource;
    let Ok(value) = object.value() else { return &[] };
    if !indexer.covers(resource) {
        return &[];
    }
    &object.memo(|_| Terms(indexer.terms(resource, value))).0
}

impl equivalent::Equivalent<Entry> for EntryRef<'_> {
    fn equivalent(&self, entry: &Entry) -> bool {
        equivalent::Comparable::compare(self, entry) == Ordering::Equal
    }
}

impl equivalent::Comparable<Entry> for EntryRef<'_> {
    fn compare(&self, entry: &Entry) -> Ordering {
        self.index
            .cmp(&entry.term.index)
            .then_with(|| self.value.cmp(&entry.term.value))
            .then_with(|| equivalent::Comparable::compare(&self.object, &entry.object))
    }
}
