//! Objects in versions that the program does not know any more. They are found at the start, so that an
//! operator learns of them from the log and not from clients.

use std::collections::BTreeMap;

use orch_registry::{core::Core, stored};

/// Warns of them. It looks at the first bytes of each object, and changes nothing.
pub(super) fn warn(core: &Core) {
    for resource in core.catalog().stored_resources() {
        let snapshot = core.objects().snapshot(resource);
        let mut counts = BTreeMap::<&str, usize>::new();
        for version in snapshot.iter().filter_map(|object| stored::unknown_version(resource, object)) {
            *counts.entry(version).or_default() += 1;
        }
        for (version, count) in counts {
            tracing::warn!(
                resource = resource.group_resource,
                version,
                count,
                "objects are stored in a version that this program does not know, and cannot be read: one that \
                 does has to migrate them"
            );
        }
    }
}
