//! Priority levels: limits, and the two levels with a fixed spec.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use super::EXEMPT;
use crate::flowcontrol::v1::{
    PriorityLevelConfiguration, PriorityLevelConfigurationSpec, QueuingConfiguration,
};

const TYPE_EXEMPT: &str = "Exempt";
/// The number of bits in a flow's hash by which queues are chosen.
const MAX_HASH_BITS: i32 = 60;

/// The members fit the type; levels that the server relies on have their fixed spec.
pub fn priority_level_configuration(
    value: &PriorityLevelConfiguration,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let at = path.field("spec");
    let is_exempt = value.spec.type_ == TYPE_EXEMPT;
    let limited = value.spec.limited.as_ref().filter(|_| !is_exempt);
    if let Some(queuing) = limited.and_then(|limited| limited.limit_response.queuing.as_ref()) {
        hand_size(
            queuing,
            &at.field("limited").field("limitResponse").field("queuing").field("handSize"),
            cx,
        );
    }
    if let Some(fixed) = PriorityLevelConfiguration::mandatory_spec(&value.metadata.name) {
        let kept = if fixed.exempt.is_some() {
            // The `exempt` member is the one part of the exempt level that may be changed.
            PriorityLevelConfigurationSpec { exempt: value.spec.exempt.clone(), ..fixed }
        } else {
            fixed
        };
        if kept != value.spec {
            let name = &value.metadata.name;
            let except = if name == EXEMPT { " except the 'spec.exempt' field" } else { "" };
            let detail = format!("spec of '{name}'{except} must equal the fixed value");
            cx.push(FieldError::invalid(&at, &Rendered(json(&value.spec)), &detail));
        }
    }
    cx.arrange(&at, &[Order::of("type"), Order::with("limited", LIMITED)]);
}

/// The order in which errors of a limited level are reported.
const LIMITED: &[Order] = &[Order::of("nominalConcurrencyShares"), Order::of("limitResponse")];

/// A flow uses no more queues than there are, and its hash has bits enough to choose them.
fn hand_size(value: &QueuingConfiguration, path: &Path<'_>, cx: &mut Validation<'_>) {
    let QueuingConfiguration { queues, hand_size, .. } = *value;
    if hand_size <= 0 {
        return;
    }
    if hand_size > queues {
        let detail = format!("should not be greater than queues ({queues})");
        cx.push(FieldError::invalid(path, &hand_size, &detail));
    } else if f64::from(queues).log2() * f64::from(hand_size) > f64::from(MAX_HASH_BITS) {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand_size} should not be greater than \
             {MAX_HASH_BITS}"
        );
        cx.push(FieldError::invalid(path, &hand_size, &detail));
    }
}
