//! CSI nodes: the drivers on a node. Entries can be added and removed, but not changed.

use std::collections::HashMap;

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::storage::v1::{CSINodeDriver, CSINodeSpec};

/// The entry of a driver does not change: Rust, because it is found by its name. To replace it, it has to be
/// removed first.
pub fn csi_node_spec_update(new: &CSINodeSpec, old: &CSINodeSpec, _path: &Path<'_>, cx: &mut Validation<'_>) {
    let drivers: HashMap<&str, &CSINodeDriver> =
        new.drivers.iter().flatten().map(|driver| (driver.name.as_str(), driver)).collect();
    for old in old.drivers.iter().flatten() {
        if let Some(new) = drivers.get(old.name.as_str()).filter(|new| **new != old) {
            let shown = Rendered(json(new));
            cx.push(FieldError::invalid(&Path::ROOT.field("CSINodeDriver"), &shown, "field is immutable"));
        }
    }
}
