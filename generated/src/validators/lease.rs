//! Leases: what concerns more than one field.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::coordination::v1::LeaseSpec;

/// A strategy is a known word or a qualified name, and only a coordinated lease has a preferred holder.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{coordination::v1::Lease, validators::testing::errors};

    #[test]
    fn numbers_and_strategies() {
        for (spec, expected) in [
            (json!({}), vec![]),
            (json!({"leaseDurationSeconds": 1, "leaseTransitions": 0, "holderIdentity": ""}), vec![]),
            (
                json!({"leaseDurationSeconds": 0}),
                vec!["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
            ),
            (
                json!({"leaseTransitions": -1}),
                vec!["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
            ),
            (json!({"strategy": "OldestEmulationVersion", "preferredHolder": "b"}), vec![]),
            (json!({"strategy": "example.com/own"}), vec![]),
            (
                json!({"strategy": "Own"}),
                vec![
                    r#"spec.strategy: Unsupported value: "Own": supported values: "OldestEmulationVersion""#,
                ],
            ),
            (
                json!({"preferredHolder": "b"}),
                vec!["spec.preferredHolder: Forbidden: may only be specified when `strategy` is defined"],
            ),
        ] {
            assert_eq!(errors::<Lease>(&json!({"spec": spec})), expected, "{spec}");
        }
    }
}
