//! Access modes of volumes.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", SINGLE_POD];
/// This mode excludes all others.
const SINGLE_POD: &str = "ReadWriteOncePod";

/// Modes are known, and `ReadWriteOncePod` is the only mode. Errors are reported at the list, without the
/// index.
pub(super) fn access_modes(modes: &[String], path: &Path<'_>, cx: &mut Validation<'_>) {
    for mode in modes.iter().filter(|mode| !ACCESS_MODES.contains(&mode.as_str())) {
        cx.push(FieldError::not_supported(path, mode, ACCESS_MODES));
    }
    let is_other = |mode: &String| mode != SINGLE_POD && ACCESS_MODES.contains(&mode.as_str());
    if modes.iter().any(|mode| mode == SINGLE_POD) && modes.iter().any(is_other) {
        cx.push(FieldError::forbidden(path, "may not use ReadWriteOncePod with other access modes"));
    }
}
