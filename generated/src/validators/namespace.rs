//! Namespaces: the names in `spec.finalizers`.

use orch_runtime::{constraint, field_error::Validation, path::Path};

use super::finalizer_name;

/// Each entry is a standard name, or a name that is qualified by a domain.
pub fn namespace_finalizers(value: &[String], path: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, name) in value.iter().enumerate() {
        let at = path.index(index);
        cx.invalid_all(&at, name, &constraint::qualified_name(name));
        finalizer_name(name, &at, cx);
    }
}
