//! Leases: rules about several fields.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::coordination::v1::LeaseSpec;

/// A strategy is a known word or a qualified name, and a preferred holder needs a strategy.
pub fn lease_spec(value: &LeaseSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    const STRATEGIES: &[&str] = &["OldestEmulationVersion"];
    let strategy = value.strategy.as_deref();
    if let Some(strategy) = strategy {
        let at = path.field("strategy");
        if strategy.contains('/') {
            cx.invalid_all(&at, strategy, &constraint::qualified_name(strategy));
        } else if !STRATEGIES.contains(&strategy) {
            cx.push(FieldError::not_supported(&at, strategy, STRATEGIES));
        }
    }
    let preferred = value.preferred_holder.as_deref().unwrap_or_default();
    if !preferred.is_empty() && strategy.is_none_or(str::is_empty) {
        let detail = "may only be specified when `strategy` is defined";
        cx.push(FieldError::forbidden(&path.field("preferredHolder"), detail));
    }
}
