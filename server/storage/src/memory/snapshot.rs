//! The objects of one resource at one revision, for as long as the reader likes.

use std::ops::Bound;
use std::sync::Arc;

use crate::event::{Event, EventKind};
use crate::key::{NameRef, Objects, Scope};
use crate::object::Object;
use crate::revision::Revision;

/// An unchanging view, ordered by namespace and name. Taking one and cloning it is O(1) and takes no lock; it
/// keeps the states that it shows in memory.
#[derive(Clone)]
pub struct Snapshot {
    revision: Revision,
    objects: Objects,
}

impl Snapshot {
    pub(crate) fn new(revision: Revision, objects: Objects) -> Self {
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

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.values()
    }

    /// The objects of one namespace.
    pub fn in_namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Arc<Object>> {
        self.range(Bound::Included(NameRef { namespace, name: "" }))
            .take_while(move |object| *object.key().namespace == *namespace)
    }

    /// The objects in `scope`; with `after`, only those behind that namespace and name in order, whether or not
    /// there is such an object. This is how a list is continued.
    pub fn in_scope<'a>(
        &'a self,
        scope: &'a Scope,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let first = match scope {
            Scope::All => NameRef { namespace: "", name: "" },
            Scope::Namespace(namespace) => NameRef { namespace, name: "" },
            Scope::Name(namespace, name) => NameRef { namespace, name },
        };
        let after = after.map(|(namespace, name)| NameRef { namespace, name });
        let start = match after {
            Some(after) if (after.namespace, after.name) >= (first.namespace, first.name) => {
                Bound::Excluded(after)
            }
            _ => Bound::Included(first),
        };
        self.range(start)
            .take_while(move |object| scope.contains(&object.key().namespace, &object.key().name))
    }

    fn range<'a>(&'a self, start: Bound<NameRef<'a>>) -> impl Iterator<Item = &'a Arc<Object>> {
        self.objects.range((start, Bound::Unbounded)).map(|(_, object)| object)
    }

    /// This view with `younger`, the events after `revision`, taken back.
    pub(super) fn undo(mut self, younger: &[Arc<Event>], revision: Revision) -> Self {
        for event in younger.iter().rev() {
            match (event.previous(), event.kind()) {
                (Some(previous), _) => {
                    self.objects.insert(previous.object_name(), Arc::clone(previous));
                }
                (None, EventKind::Put) => drop(self.objects.remove(&event.key().name_ref())),
                (None, EventKind::Remove) => {}
            }
        }
        self.revision = revision;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::key::{Key, ResourceName};
    use crate::object::Object;

    type Model = BTreeMap<(String, String), u64>;

    /// Few names, so that changes meet; with bytes that sort around `/` and the empty namespace.
    fn names() -> impl Strategy<Value = (String, String)> {
        let namespace = prop_oneof![Just(""), Just("a"), Just("a-b"), Just("a/b"), Just("b")];
        (namespace.prop_map(String::from), "[a-c]{0,3}")
    }

    fn entries<'a>(objects: impl Iterator<Item = &'a Arc<Object>>) -> Vec<((String, String), u64)> {
        let name = |object: &Object| (object.key().namespace.to_string(), object.key().name.to_string());
        objects.map(|object| (name(object), object.revision().get())).collect()
    }

    fn expected(model: &Model, keep: impl Fn(&(String, String)) -> bool) -> Vec<((String, String), u64)> {
        model
            .iter()
            .filter(|(name, _)| keep(name))
            .map(|(name, revision)| (name.clone(), *revision))
            .collect()
    }

    proptest! {
        /// Snapshots taken along a series of changes show what a plain map showed at that time, in every way of
        /// reading them.
        #[test]
        fn reads_like_a_map(
            changes in prop::collection::vec((names(), prop::bool::weighted(0.7)), 0..200),
            after in names(),
        ) {
            let mut model = Model::new();
            let mut objects = Objects::default();
            let mut taken = Vec::new();
            for (number, ((namespace, name), put)) in changes.into_iter().enumerate() {
                let revision = Revision::new(number as u64 + 1);
                let key = Key::new(ResourceName::new("r"), namespace.as_str(), name.as_str());
                if put {
                    let object = Arc::new(Object::new(Arc::new(key), revision, Ok(bytes::Bytes::new())));
                    objects.insert(object.object_name(), object);
                    model.insert((namespace, name), revision.get());
                } else {
                    objects.remove(&key.name_ref());
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
                    let rest = snapshot.in_scope(&scope, Some((&after.0, &after.1)));
                    prop_assert_eq!(entries(rest), expected(&model, |name| in_scope(name) && *name > after));
                }
            }
        }
    }
}
