//! Warnings for environment variables.

use std::collections::BTreeSet;

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use crate::core::v1::EnvVar;

/// A variable may refer to an earlier one of the same name. Otherwise it hides the earlier one, and a merge
/// by name keeps only one of them. Rust, because a variable that comes first counts even where it refers to
/// itself.
pub fn hidden_variables(env: &[EnvVar], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut seen = BTreeSet::new();
    for (index, variable) in env.iter().enumerate() {
        if seen.insert(&variable.name) {
            continue;
        }
        let reference = format!("$({})", variable.name);
        let builds_on = variable.value.contains(&reference) && variable.value != reference;
        if variable.value_from.is_some() || !builds_on {
            let name = variable.name.shown();
            let text =
                format_args!("hides previous definition of {name}, which may be dropped when using apply");
            cx.warn(&path.index(index), text);
        }
    }
}
