//! The objects of one resource, in order of their names and, where that was asked for, by terms too.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use crate::event::EventKind;
use crate::index::{Indexer, Term};
use crate::key::{NameRef, ObjectName, Position};
use crate::object::Object;

use super::digested::Digested;

/// A clone is O(1) and never changes.
#[derive(Clone, Default)]
pub(super) struct Table {
    objects: imbl::OrdMap<ObjectName, Digested>,
    /// Every object once for each of its terms.
    terms: imbl::OrdMap<TermEntry, Arc<Object>>,
    /// How many objects each namespace has, so that nobody counts them; namespaces without objects are not
    /// here.
    namespaces: imbl::OrdMap<Arc<str>, usize>,
    /// How many objects no index knows, because their values cannot be read.
    unreadable: usize,
}

/// Ordered by term, and within a term by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TermEntry {
    term: Term,
    object: ObjectName,
}

/// A borrowed [`TermEntry`], for look-ups that allocate nothing.
#[derive(Clone, Copy)]
struct TermEntryRef<'a> {
    index: u16,
    value: &'a str,
    object: NameRef<'a>,
}

impl Table {
    /// All of these objects, with their terms.
    pub(super) fn indexed(&self, indexer: &dyn Indexer) -> Self {
        let mut table = Self {
            objects: self.objects.clone(),
            terms: imbl::OrdMap::new(),
            namespaces: self.namespaces.clone(),
            unreadable: 0,
        };
        for object in self.values() {
            table.add_terms(Some(indexer), object);
        }
        table
    }

    pub(super) fn get(&self, name: &NameRef<'_>) -> Option<&Arc<Object>> {
        self.objects.get(name).map(Digested::object)
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// How many objects a namespace has.
    pub(super) fn len_of(&self, namespace: &str) -> usize {
        self.namespaces.get(namespace).copied().unwrap_or_default()
    }

    /// Whether there are objects that no index knows.
    pub(super) fn has_unreadable(&self) -> bool {
        self.unreadable > 0
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.values().map(Digested::object)
    }

    /// What is between two names.
    pub(super) fn range<'a>(
        &'a self,
        bounds: (Bound<Position<'_>>, Bound<Position<'_>>),
    ) -> impl Iterator<Item = &'a Digested> + use<'a> {
        self.objects.range(bounds).map(|(_, digested)| digested)
    }

    /// The objects with a term.
    pub(super) fn with_term<'a>(&'a self, index: u16, value: &str) -> impl Iterator<Item = &'a Arc<Object>> {
        let first = NameRef { namespace: "", name: "" };
        self.with_term_from(index, value, Bound::Included(first))
    }

    /// The objects with a term, from `start` on.
    pub(super) fn with_term_from<'a>(
        &'a self,
        index: u16,
        value: &str,
        start: Bound<NameRef<'_>>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let start = start.map(|object| TermEntryRef { index, value, object });
        self.terms
            .range((start, Bound::Unbounded))
            .take_while(move |(entry, _)| entry.term.index == index && *entry.term.value == *value)
            .map(|(_, object)| object)
    }

    /// Applies what happened to an object; `previous` is what was there before.
    pub(super) fn apply(
        &mut self,
        indexer: Option<&dyn Indexer>,
        kind: EventKind,
        object: &Arc<Object>,
        previous: Option<&Arc<Object>>,
    ) {
        let namespace = &object.key().namespace;
        match kind {
            EventKind::Put => {
                if self.objects.insert(object.object_name(), Digested::new(Arc::clone(object))).is_none() {
                    self.count_one_more(namespace);
                }
            }
            EventKind::Remove => {
                if self.objects.remove(&object.key().name_ref()).is_some() {
                    self.count_one_less(namespace);
                }
            }
        }
        if let Some(previous) = previous {
            self.remove_terms(indexer, previous);
        }
        if kind == EventKind::Put {
            self.add_terms(indexer, object);
        }
    }

    fn count_one_more(&mut self, namespace: &Arc<str>) {
        match self.namespaces.get_mut(&**namespace) {
            Some(count) => *count += 1,
            None => drop(self.namespaces.insert(Arc::clone(namespace), 1)),
        }
    }

    fn count_one_less(&mut self, namespace: &str) {
        match self.namespaces.get_mut(namespace) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.namespaces.remove(namespace)),
        }
    }

    fn add_terms(&mut self, indexer: Option<&dyn Indexer>, object: &Arc<Object>) {
        match terms_of(indexer, object) {
            None => self.unreadable += 1,
            Some(terms) => {
                for term in terms {
                    let entry = TermEntry { term: term.clone(), object: object.object_name() };
                    self.terms.insert(entry, Arc::clone(object));
                }
            }
        }
    }

    fn remove_terms(&mut self, indexer: Option<&dyn Indexer>, object: &Arc<Object>) {
        match terms_of(indexer, object) {
            None => self.unreadable -= 1,
            Some(terms) => {
                for Term { index, value } in terms {
                    let entry = TermEntryRef { index: *index, value, object: object.key().name_ref() };
                    self.terms.remove(&entry);
                }
            }
        }
    }
}

/// The terms of an object, found once; `None` where its value cannot be read.
pub(super) fn terms_of<'a>(indexer: Option<&dyn Indexer>, object: &'a Object) -> Option<&'a [Term]> {
    struct Terms(Option<Vec<Term>>);
    let value = object.value().ok()?;
    let resource = &object.key().resource;
    match indexer {
        Some(indexer) if indexer.covers(resource) => {
            object.memo(|_| Terms(indexer.terms(resource, value))).0.as_deref()
        }
        _ => Some(&[]),
    }
}

impl equivalent::Equivalent<TermEntry> for TermEntryRef<'_> {
    fn equivalent(&self, entry: &TermEntry) -> bool {
        equivalent::Comparable::compare(self, entry) == Ordering::Equal
    }
}

impl equivalent::Comparable<TermEntry> for TermEntryRef<'_> {
    fn compare(&self, entry: &TermEntry) -> Ordering {
        self.index
            .cmp(&entry.term.index)
            .then_with(|| self.value.cmp(&entry.term.value))
            .then_with(|| equivalent::Comparable::compare(&self.object, &entry.object))
    }
}
