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
                    self.objects.insert(event.key().object_name(), Arc::clone(previous));
                }
                (None, EventKind::Put) => drop(self.objects.remove(&event.key().name_ref())),
                (None, EventKind::Remove) => {}
            }
        }
        self.revision = revision;
        self
    }
}
