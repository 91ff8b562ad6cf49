//! The name of a kind, by which behaviour, operations and reviews are registered and found.

use orch_runtime::resource_def::ResourceDef;

/// A kind of one group and version. Kinds of the same name in other groups or versions are other kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KindName {
    /// In the schema's spelling, so that it is the same under each vocabulary.
    group: &'static str,
    version: &'static str,
    kind: &'static str,
}

impl KindName {
    pub(crate) fn of(def: &ResourceDef) -> Self {
        KindName { group: def.group, version: def.version, kind: def.kind }
    }
}
