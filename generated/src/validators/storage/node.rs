//! CSI nodes: the drivers on a node. Entries can be added and removed, but not changed.

use std::collections::{HashMap, HashSet};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::storage::v1::{CSINodeDriver, CSINodeSpec};

/// Topology keys are unique label keys.
pub fn csi_node_spec(value: &CSINodeSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let path = path.field("drivers");
    for (index, driver) in value.drivers.iter().flatten().enumerate() {
        topology_keys(driver, &path.index(index), cx);
    }
}

/// The entry of a driver does not change. To replace it, it has to be removed first.
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

/// Errors about topology keys are reported at the driver.
fn topology_keys(driver: &CSINodeDriver, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut keys = HashSet::new();
    let list = driver.topology_keys.as_ref();
    let mut shown = None;
    for key in driver.topology_keys.iter().flatten() {
        if key.is_empty() {
            cx.push(FieldError::required(path, ""));
        }
        if !keys.insert(key) {
            cx.push(FieldError::duplicate(path, key));
        }
        let faults = constraint::qualified_name(key);
        if !faults.is_empty() && !cx.is_full() {
            let shown = shown.get_or_insert_with(|| Rendered(json(&list)));
            cx.invalid_all(path, shown, &faults);
        }
    }
}
