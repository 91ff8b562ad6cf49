//! Cluster roles: selectors of the roles that they combine.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::rbac::v1::AggregationRule;

/// A selector with a fault selects nothing, which is told as a fault of its own: Rust, because it depends on
/// what other rules have found.
pub fn aggregation_rule(_value: &AggregationRule, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("clusterRoleSelectors");
    for index in cx.items_with_errors(&at) {
        let nothing: Option<&str> = None;
        cx.push(FieldError::invalid(&at.index(index), &nothing, "invalid label selector."));
    }
}
