//! The names that controllers work on.

use std::{fmt, sync::Arc};

use orch_storage::Key;

/// The name of an object of the controller's kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Empty for cluster-scoped kinds.
    pub namespace: Arc<str>,
    /// The name in it.
    pub name: Arc<str>,
}

impl ObjectKey {
    /// The object of that namespace (empty for cluster-scoped kinds) and name.
    pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        ObjectKey { namespace: namespace.into(), name: name.into() }
    }
}

/// The same without the kind.
impl From<&Key> for ObjectKey {
    fn from(key: &Key) -> Self {
        ObjectKey { namespace: Arc::clone(&key.namespace), name: Arc::clone(&key.name) }
    }
}

/// For people: `default/a`, or `a` without a namespace.
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}
