//! Preferred terms: their values are not judged.

use orch_runtime::{field_error::Validation, path::Path};

use crate::core::v1::PreferredSchedulingTerm;

/// Preferred terms may contain values that no label can have: the errors for them are removed.
pub fn preferred_term(value: &PreferredSchedulingTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let preference = path.field("preference");
    let expressions = preference.field("matchExpressions");
    for (index, requirement) in value.preference.match_expressions.iter().enumerate() {
        if !requirement.values.is_empty() {
            cx.retract_items(&expressions.index(index).field("values"));
        }
    }
}
