//! What names an object: resource, namespace and name, always three separate parts and never a joined string,
//! so that no name can be mistaken for another by what it contains.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use triomphe::ThinArc;

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

    /// The name, shared with this one.
    pub fn shared(&self) -> Arc<str> {
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

/// The key of an object inside its resource, in the order of [`NameRef`]: the length of the namespace in
/// bytes, then its text and that of the name. It is one piece of memory, because a look-up compares with a
/// dozen keys and each costs a cache miss; and its pointer is one word, because a scan reads the map from one
/// end to the other.
#[derive(Debug, Clone)]
pub(crate) struct ObjectName(ThinArc<usize, u8>);

/// A borrowed [`ObjectName`], for look-ups that allocate nothing. Ordered as the texts `<namespace>/<name>`
/// are, which is the order of lists: `a-b/x` comes before `a/x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameRef<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

/// A position in the order of names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position<'a> {
    /// At this name.
    At(NameRef<'a>),
    /// After all names of this namespace.
    After(&'a str),
}

impl ObjectName {
    pub(crate) fn new(NameRef { namespace, name }: NameRef<'_>) -> Self {
        Self(ThinArc::from_header_and_slice(namespace.len(), [namespace, name].concat().as_bytes()))
    }

    /// Namespace and name.
    fn parts(&self) -> (&[u8], &[u8]) {
        self.0.slice.split_at(self.0.header.header)
    }
}

impl<'a> NameRef<'a> {
    fn parts(self) -> (&'a [u8], &'a [u8]) {
        (self.namespace.as_bytes(), self.name.as_bytes())
    }
}

/// The order of names, each a namespace and a name in it.
fn by_parts(left: (&[u8], &[u8]), right: (&[u8], &[u8])) -> Ordering {
    by_namespace(left.0, right.0).then_with(|| by_bytes(left.1, right.1))
}

/// The order of bytes. Empty texts are not left to the C library, which can take 100 ns for them: it loads
/// from where they point, under a mask, and that is nowhere (processors with AVX-512).
fn by_bytes(left: &[u8], right: &[u8]) -> Ordering {
    if left.is_empty() || right.is_empty() { left.len().cmp(&right.len()) } else { left.cmp(right) }
}

/// The order of namespaces as if a slash followed each.
fn by_namespace(left: &[u8], right: &[u8]) -> Ordering {
    let common = left.len().min(right.len());
    let beside_the_slash = |next: u8| if next < b'/' { Ordering::Less } else { Ordering::Greater };
    by_bytes(&left[..common], &right[..common]).then_with(|| match (left.get(common), right.get(common)) {
        (Some(next), _) => beside_the_slash(*next),
        (_, Some(next)) => beside_the_slash(*next).reverse(),
        (None, None) => Ordering::Equal,
    })
}

impl Ord for NameRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        by_parts(self.parts(), other.parts())
    }
}

impl PartialOrd for NameRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl equivalent::Equivalent<ObjectName> for NameRef<'_> {
    fn equivalent(&self, key: &ObjectName) -> bool {
        self.parts() == key.parts()
    }
}

impl equivalent::Comparable<ObjectName> for NameRef<'_> {
    fn compare(&self, key: &ObjectName) -> Ordering {
        by_parts(self.parts(), key.parts())
    }
}

impl equivalent::Equivalent<ObjectName> for Position<'_> {
    fn equivalent(&self, key: &ObjectName) -> bool {
        equivalent::Comparable::compare(self, key) == Ordering::Equal
    }
}

impl equivalent::Comparable<ObjectName> for Position<'_> {
    fn compare(&self, key: &ObjectName) -> Ordering {
        match self {
            Self::At(name) => name.compare(key),
            Self::After(namespace) => {
                by_namespace(namespace.as_bytes(), key.parts().0).then(Ordering::Greater)
            }
        }
    }
}

impl PartialEq for ObjectName {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for ObjectName {}

impl Ord for ObjectName {
    fn cmp(&self, other: &Self) -> Ordering {
        by_parts(self.parts(), other.parts())
    }
}

impl PartialOrd for ObjectName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
