//! Scheduling: pod affinity and topology spread.

use std::collections::HashMap;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::TopologySpreadConstraint;

/// No two constraints have the same topology key and the same `whenUnsatisfiable`.
pub(super) fn topology_spreads(value: &[TopologySpreadConstraint], path: &Path<'_>, cx: &mut Validation<'_>) {
    let key = |it: &TopologySpreadConstraint| [it.topology_key.clone(), it.when_unsatisfiable.clone()];
    let last: HashMap<[String; 2], usize> =
        value.iter().enumerate().map(|(index, constraint)| (key(constraint), index)).collect();
    for (index, constraint) in value.iter().enumerate() {
        if last.get(&key(constraint)).is_some_and(|last| index < *last) {
            let shown = format!("{{{}, {}}}", constraint.topology_key, constraint.when_unsatisfiable);
            let at = path.index(index);
            cx.push(FieldError::duplicate(&at.field("{topologyKey, whenUnsatisfiable}"), &shown));
        }
    }
}
