//! What names an object: resource, namespace and name, always three separate parts and never a joined string,
//! so that no name can be mistaken for another by what it contains.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::object::Object;

/// The resource of an object: `configmaps`, or `leases.coordination.orch.io` with its group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName(Arc<str>);

/// The full name of one object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The resource.
    pub resource: ResourceName,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

/// Which objects of a resource a watch or a list is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All of them.
    All,
    /// Those of one namespace.
    Namespace(Arc<str>),
    /// The one of this namespace (empty for cluster-scoped) and name.
    Name(Arc<str>, Arc<str>),
}

impl ResourceName {
    /// The resource with this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Key {
    /// The key of the object `name` in `namespace` (empty for cluster-scoped objects).
    pub fn new(resource: ResourceName, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { resource, namespace: namespace.into(), name: name.into() }
    }

    pub(crate) fn name_ref(&self) -> NameRef<'_> {
        NameRef { namespace: &self.namespace, name: &self.name }
    }
}

impl Scope {
    /// Whether the object of this namespace and name is in scope.
    pub fn contains(&self, namespace: &str, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(wanted) => **wanted == *namespace,
            Self::Name(in_namespace, wanted) => **in_namespace == *namespace && **wanted == *name,
        }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for ResourceName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl Borrow<str> for ResourceName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// For people: `configmaps/default/a`, or `namespaces/default` without a namespace.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.resource)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// The key of an object inside its resource; ordered by namespace, then name. One pointer, because a persistent map
/// copies some of its keys with every write.
#[derive(Debug, Clone)]
pub(crate) struct ObjectName(pub(crate) Arc<Key>);

/// A borrowed [`ObjectName`], for look-ups that allocate nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NameRef<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

/// The objects of one resource, in order of namespace and name. A clone is O(1) and never changes.
pub(crate) type Objects = imbl::OrdMap<ObjectName, Arc<Object>>;

impl equivalent::Equivalent<ObjectName> for NameRef<'_> {
    fn equivalent(&self, key: &ObjectName) -> bool {
        *self == key.0.name_ref()
    }
}

impl equivalent::Comparable<ObjectName> for NameRef<'_> {
    fn compare(&self, key: &ObjectName) -> Ordering {
        self.cmp(&key.0.name_ref())
    }
}

impl PartialEq for ObjectName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name_ref() == other.0.name_ref()
    }
}

impl Eq for ObjectName {}

impl Ord for ObjectName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name_ref().cmp(&other.0.name_ref())
    }
}

impl PartialOrd for ObjectName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
