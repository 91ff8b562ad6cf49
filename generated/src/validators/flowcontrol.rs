//! Priority and fairness: flow schemas and priority levels.

mod flow_schema;
mod priority_level;

pub use self::{flow_schema::flow_schema, priority_level::priority_level_configuration};

use std::collections::HashSet;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

/// The name of the exempt flow schema and of the exempt priority level.
const EXEMPT: &str = "exempt";

/// Condition types are not empty, and each occurs once.
fn condition_types<'c>(types: impl Iterator<Item = &'c str>, status: &Path<'_>, cx: &mut Validation<'_>) {
    let path = status.field("conditions");
    let mut seen = HashSet::new();
    for (index, condition) in types.enumerate() {
        let item = path.index(index);
        if !seen.insert(condition) {
            cx.push(FieldError::duplicate(&item.field("type"), condition));
        }
        if condition.is_empty() {
            cx.push(FieldError::required(&item.field("type"), "must not be empty"));
        }
    }
}
