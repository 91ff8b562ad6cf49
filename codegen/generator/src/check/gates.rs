//! Feature gates of fields.

use super::walk;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::{DescribedGate, FeatureGate},
    lower::{Lowered, names},
};

/// Feature gates are words in CamelCase.
pub(super) fn named(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for gate in mentioned(lowered).iter().map(|gate| gate.name()).filter(|name| !names::is_type(&name.value))
    {
        let message = format!("`{}` cannot name a feature gate", gate.value);
        let help = "letters and digits, beginning with a capital: `WidgetColours`";
        diagnostics.error(&gate.span, message, help);
    }
}

/// A gate is described once: who reads one place knows all.
pub(super) fn described_once(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mut seen: Vec<&DescribedGate> = Vec::new();
    for gate in mentioned(lowered) {
        let FeatureGate::Described(gate) = gate else { continue };
        if seen.iter().any(|other| other.name.value == gate.name.value) {
            let message = format!("the feature gate `{}` is described twice", gate.name.value);
            let help = format!("write `x-orch-feature-gate: {}` at all fields but one", gate.name.value);
            diagnostics.error(&gate.span, message, help);
        }
        seen.push(gate);
    }
}

/// A name that is nearly another one is a spelling mistake: it would be a gate of its own.
pub(super) fn not_misspelt(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mentioned = mentioned(lowered);
    let described: Vec<&str> = mentioned
        .iter()
        .filter(|gate| matches!(gate, FeatureGate::Described(_)))
        .map(|gate| gate.name().value.as_str())
        .collect();
    for gate in mentioned.iter().map(|gate| gate.name()) {
        let name = gate.value.as_str();
        if described.contains(&name) {
            continue;
        }
        if let Some(meant) = suggest::nearest(name, described.iter().copied()) {
            let message = format!("the feature gate `{name}` is nearly `{meant}`");
            diagnostics.error(
                &gate.span,
                message,
                format!("did you mean `{meant}`? Else give it another name"),
            );
        }
    }
}

/// What may be dropped is not needed, and does not come back by itself.
pub(super) fn on_optional_fields(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let Some(gate) = &written.schema.feature_gate else { continue };
        let is_filled = written.field.default.is_some() || written.field.default_fn.is_some();
        let what = match (written.field.required, is_filled) {
            (true, _) => "is required",
            (_, true) => "has a default",
            _ => continue,
        };
        let message = format!("`{}` is behind a feature gate and {what}", written.field.name);
        let help = "without its gate the field is dropped: make it optional, without a default";
        diagnostics.error(&gate.name().span, message, help);
    }
}

fn mentioned<'l>(lowered: &'l Lowered<'_>) -> Vec<&'l FeatureGate> {
    walk::fields(lowered).into_iter().filter_map(|written| written.schema.feature_gate.as_ref()).collect()
}
