//! The objects of one resource at one revision, for as long as the reader likes.

use std::num::NonZeroU64;
use std::ops::Bound;
use std::sync::Arc;

use crate::event::{Event, EventKind};
use crate::index::Indexer;
use crate::key::{NameRef, Position, Scope};
use crate::object::Object;
use crate::revision::Revision;

use super::digested::Digested;
use super::table::Table;

/// An unchanging view, in the order of the texts `<namespace>/<name>`. Taking one and cloning it is O(1) and
/// takes no lock. It keeps the states that it shows in memory.
#[derive(Clone)]
pub struct Snapshot {
    revision: Revision,
    objects: Table,
}

impl Snapshot {
    pub(super) fn new(revision: Revision, objects: Table) -> Self {
        Self { revision, objects }
    }

    /// The revision of the whole store that this shows: every write of the resource up to it, and none after.
    /// A watch after this revision continues without gap or overlap.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The object of this namespace (empty for cluster-scoped) and name.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        self.objects.get(&NameRef { namespace, name })
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// How many objects are in `scope`. They are not counted for it.
    pub fn count(&self, scope: &Scope) -> usize {
        match scope {
            Scope::All => self.len(),
            Scope::Namespace(namespace) => self.objects.len_of(namespace),
            Scope::Name(namespace, name) => usize::from(self.get(namespace, name).is_some()),
        }
    }

    /// Whether there are objects that no index knows, because their values are damaged or cannot be read. Who
    /// must not miss them then has to scan.
    pub fn has_unreadable(&self) -> bool {
        self.objects.has_unreadable()
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.values()
    }

    /// The objects of one namespace.
    pub fn in_namespace<'a>(&'a self, namespace: &str) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        let first = Position::At(NameRef { namespace, name: "" });
        self.objects
            .range((Bound::Included(first), Bound::Excluded(Position::After(namespace))))
            .map(Digested::object)
    }

    /// The objects in `scope`; with `after`, only those after that namespace and name in order, whether or
    /// not such an object exists. This is how a list is continued.
    pub fn in_scope<'a>(
        &'a self,
        scope: &'a Scope,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        self.digested_in_scope(scope, after).map(Digested::object)
    }

    /// Those of [`in_scope`](Snapshot::in_scope) whose digest is `wanted`, and `None` for each of the others,
    /// so that a reader of many can pause. The digest of an object is computed when the first reader asks,
    /// and kept for all others; so `digest` has to be the same function for all readers of a resource.
    /// Looking at the digests of many objects costs a small part of looking at the objects.
    pub fn in_scope_by_digest<'a>(
        &'a self,
        scope: &'a Scope,
        after: Option<(&'a str, &'a str)>,
        digest: impl Fn(&Object) -> NonZeroU64 + 'a,
        wanted: impl Fn(NonZeroU64) -> bool + 'a,
    ) -> impl Iterator<Item = Option<&'a Arc<Object>>> {
        let digested = self.digested_in_scope(scope, after);
        digested.map(move |digested| wanted(digested.digest(&digest)).then(|| digested.object()))
    }

    fn digested_in_scope<'a>(
        &'a self,
        scope: &'a Scope,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Digested> {
        let start = start(scope, after).map(Position::At);
        // The end is looked up once. Checking the scope of each object would cost more than the rest of the
        // scan.
        match scope {
            Scope::All => self.objects.range((start, Bound::Unbounded)),
            Scope::Namespace(namespace) => {
                self.objects.range((start, Bound::Excluded(Position::After(namespace))))
            }
            Scope::Name(namespace, name) => {
                self.objects.range((start, Bound::Included(Position::At(NameRef { namespace, name }))))
            }
        }
    }

    /// The objects of all namespaces that have a term: for an address, the object that holds it, if there is
    /// one. Costs O(log n). Empty where the store keeps no such index.
    pub fn holders<'a>(&'a self, index: u16, value: &str) -> impl Iterator<Item = &'a Arc<Object>> {
        self.objects.with_term(index, value)
    }

    /// Those of [`in_scope`](Snapshot::in_scope) that have a term. Empty where the store keeps no such index.
    pub fn with_term<'a>(
        &'a self,
        index: u16,
        value: &'a str,
        scope: &'a Scope,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        self.objects
            .with_term_from(index, value, start(scope, after))
            .take_while(move |object| scope.contains(&object.key().namespace, &object.key().name))
    }

    /// This view with `younger`, the events after `revision`, taken back.
    pub(super) fn undo(
        mut self,
        indexer: Option<&dyn Indexer>,
        younger: &[Arc<Event>],
        revision: Revision,
    ) -> Self {
        for event in younger.iter().rev() {
            let undone = (event.kind() == EventKind::Put).then(|| event.object());
            match event.previous() {
                Some(previous) => self.objects.apply(indexer, EventKind::Put, previous, undone),
                None => self.objects.apply(indexer, EventKind::Remove, event.object(), undone),
            }
        }
        self.revision = revision;
        self
    }
}

/// Where a scan of `scope` begins that continues after a namespace and name.
fn start<'a>(scope: &'a Scope, after: Option<(&'a str, &'a str)>) -> Bound<NameRef<'a>> {
    let first = match scope {
        Scope::All => NameRef { namespace: "", name: "" },
        Scope::Namespace(namespace) => NameRef { namespace, name: "" },
        Scope::Name(namespace, name) => NameRef { namespace, name },
    };
    match after {
        Some((namespace, name)) => match (NameRef { namespace, name }) {
            after if after >= first => Bound::Excluded(after),
            _ => Bound::Included(first),
        },
        None => Bound::Included(first),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::index::Term;
    use crate::key::{Key, ResourceName};
    use crate::object::{Corrupt, Object};

    type Model = BTreeMap<(String, String), u64>;

    /// The value of an object is its only term, in index 7.
    struct ByValue;

    impl Indexer for ByValue {
        fn covers(&self, resource: &ResourceName) -> bool {
            resource.as_str() == "r"
        }

        fn terms(&self, _: &ResourceName, value: &[u8]) -> Option<Vec<Term>> {
            let value = str::from_utf8(value).ok()?;
            Some(vec![Term { index: 7, value: value.into() }])
        }
    }

    fn term_of(revision: u64) -> &'static str {
        ["", "x", "y"][(revision % 3) as usize]
    }

    fn digest_of(revision: u64) -> NonZeroU64 {
        NonZeroU64::new(revision % 3 + 1).unwrap()
    }

    /// Few names, so that changes meet; with bytes that sort around `/`, and the empty namespace.
    fn names() -> impl Strategy<Value = (String, String)> {
        let namespace = prop_oneof![Just(""), Just("a"), Just("a-b"), Just("a0"), Just("b")];
        (namespace.prop_map(String::from), "[a-c]{0,3}")
    }

    fn entries<'a>(objects: impl Iterator<Item = &'a Arc<Object>>) -> Vec<((String, String), u64)> {
        let name = |object: &Object| (object.key().namespace.to_string(), object.key().name.to_string());
        objects.map(|object| (name(object), object.revision().get())).collect()
    }

    fn expected(model: &Model, keep: impl Fn(&(String, String)) -> bool) -> Vec<((String, String), u64)> {
        let kept = model.iter().filter(|(name, _)| keep(name));
        let mut kept: Vec<_> = kept.map(|(name, revision)| (name.clone(), *revision)).collect();
        kept.sort_by_cached_key(|(name, _)| text(name));
        kept
    }

    /// What names are ordered by.
    fn text((namespace, name): &(String, String)) -> String {
        format!("{namespace}/{name}")
    }

    /// What an index cannot know is counted, with and without an indexer, until it is gone.
    #[test]
    fn unreadable_objects_are_known() {
        let object = |revision, value: Result<&'static [u8], &str>| {
            let revision = Revision::new(revision);
            let value = value.map(bytes::Bytes::from_static);
            let value = value.map_err(|detail| Corrupt { revision, detail: detail.into() });
            let key = Key::new(ResourceName::new("r"), "a", revision.to_string());
            Arc::new(Object::new(Arc::new(key), revision, value))
        };
        let no_text = object(1, Ok(b"\xff"));
        let damaged = object(2, Err("checksum"));
        let sound = object(3, Ok(b"x"));
        let mut plain = Table::default();
        for object in [&no_text, &damaged, &sound] {
            plain.apply(None, EventKind::Put, object, None);
        }
        let mut indexed = plain.indexed(&ByValue);
        for (table, indexer, without) in
            [(&mut plain, None, [true, false]), (&mut indexed, Some(&ByValue as &dyn Indexer), [true, false])]
        {
            for (object, left) in [&no_text, &damaged].into_iter().zip(without) {
                let before = Snapshot::new(Revision::MAX, table.clone());
                assert!(before.has_unreadable());
                table.apply(indexer, EventKind::Remove, object, Some(object));
                assert_eq!(table.has_unreadable(), left);
                assert!(before.has_unreadable(), "an older snapshot stays as it is");
            }
        }
    }

    proptest! {
        /// Snapshots taken along a series of changes show what a plain map showed at that time, in every way
        /// of reading them.
        #[test]
        fn reads_like_a_map(
            changes in prop::collection::vec((names(), prop::bool::weighted(0.7)), 0..200),
            after in names(),
        ) {
            let mut model = Model::new();
            let mut objects = Table::default();
            let mut taken = Vec::new();
            for (number, ((namespace, name), put)) in changes.into_iter().enumerate() {
                let revision = Revision::new(number as u64 + 1);
                let key = Key::new(ResourceName::new("r"), namespace.as_str(), name.as_str());
                if put {
                    let value = term_of(revision.get()).to_owned().into();
                    let object = Arc::new(Object::new(Arc::new(key), revision, Ok(value)));
                    let previous = objects.get(&object.key().name_ref()).cloned();
                    objects.apply(Some(&ByValue), EventKind::Put, &object, previous.as_ref());
                    model.insert((namespace, name), revision.get());
                } else if let Some(previous) = objects.get(&key.name_ref()).cloned() {
                    objects.apply(Some(&ByValue), EventKind::Remove, &previous, Some(&previous));
                    model.remove(&(namespace, name));
                }
                if number % 16 == 0 {
                    taken.push((Snapshot::new(revision, objects.clone()), model.clone()));
                }
            }
            taken.push((Snapshot::new(Revision::MAX, objects), model));
            for (snapshot, model) in taken {
                prop_assert_eq!(snapshot.len(), model.len());
                prop_assert_eq!(snapshot.is_empty(), model.is_empty());
                prop_assert_eq!(entries(snapshot.iter()), expected(&model, |_| true));
                let got = snapshot.get(&after.0, &after.1).map(|object| object.revision().get());
                prop_assert_eq!(got, model.get(&after).copied());
                prop_assert_eq!(
                    entries(snapshot.in_namespace(&after.0)),
                    expected(&model, |name| name.0 == after.0)
                );
                let scopes = [
                    Scope::All,
                    Scope::Namespace("a".into()),
                    Scope::Namespace(after.0.as_str().into()),
                    Scope::Name("a".into(), "b".into()),
                ];
                for scope in scopes {
                    let in_scope = |name: &(String, String)| scope.contains(&name.0, &name.1);
                    prop_assert_eq!(entries(snapshot.in_scope(&scope, None)), expected(&model, in_scope));
                    prop_assert_eq!(snapshot.count(&scope), expected(&model, in_scope).len());
                    let rest = snapshot.in_scope(&scope, Some((&after.0, &after.1)));
                    let wanted = expected(&model, |name| in_scope(name) && text(name) > text(&after));
                    prop_assert_eq!(entries(rest), wanted.clone());
                    // Twice, so that what is kept is the same as what is made.
                    for digest in [1, 2, 3, 1, 2, 3] {
                        let found = snapshot.in_scope_by_digest(
                            &scope,
                            Some((&after.0, &after.1)),
                            |object| digest_of(object.revision().get()),
                            |found| found.get() == digest,
                        );
                        let mut wanted = wanted.clone();
                        wanted.retain(|(_, revision)| digest_of(*revision).get() == digest);
                        prop_assert_eq!(entries(found.flatten()), wanted);
                    }
                    for term in ["", "x", "y", "z"] {
                        let mut with_term = expected(&model, in_scope);
                        with_term.retain(|(_, revision)| term_of(*revision) == term);
                        let found = snapshot.with_term(7, term, &scope, None);
                        prop_assert_eq!(entries(found), with_term.clone());
                        let rest = snapshot.with_term(7, term, &scope, Some((&after.0, &after.1)));
                        with_term.retain(|(name, _)| text(name) > text(&after));
                        prop_assert_eq!(entries(rest), with_term);
                        prop_assert_eq!(snapshot.with_term(6, term, &scope, None).count(), 0);
                    }
                }
            }
        }
    }
}
