//! Priority levels: limits, and the two levels with a fixed spec.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use super::EXEMPT;
use crate::flowcontrol::v1::{
    PriorityLevelConfiguration, PriorityLevelConfigurationSpec, QueuingConfiguration,
};

const TYPE_LIMITED: &str = "Limited";
const RESPONSE_QUEUE: &str = "Queue";
/// The number of bits in a flow's hash by which queues are chosen.
const MAX_HASH_BITS: i32 = 60;

/// The members fit the type; levels that the server relies on have their fixed spec: Rust, because it is an
/// object of the server.
pub fn priority_level_configuration(
    value: &PriorityLevelConfiguration,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let at = path.field("spec");
    // What goes with another type is refused, and not judged further.
    let limited = value.spec.limited.as_ref().filter(|_| value.spec.type_ == TYPE_LIMITED);
    let response = limited.map(|limited| &limited.limit_response).filter(|one| one.type_ == RESPONSE_QUEUE);
    if let Some(queuing) = response.and_then(|response| response.queuing.as_ref()) {
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
    // What does not belong to the type is told first.
    let limited = Order::with("limited", LIMITED);
    let order = match value.spec.type_.as_str() {
        TYPE_LIMITED => [Order::of("type"), Order::of("exempt"), limited],
        _ => [Order::of("type"), limited, Order::of("exempt")],
    };
    cx.arrange(&at, &order);
}

/// The order in which errors of a limited level are reported.
const LIMITED: &[Order] = &[Order::of("nominalConcurrencyShares"), Order::of("limitResponse")];

/// The hash of a flow has bits enough to choose its queues: Rust, because no expression takes logarithms.
fn hand_size(value: &QueuingConfiguration, path: &Path<'_>, cx: &mut Validation<'_>) {
    let QueuingConfiguration { queues, hand_size, .. } = *value;
    if hand_size <= 0 || hand_size > queues {
        return;
    }
    if f64::from(queues).log2() * f64::from(hand_size) > f64::from(MAX_HASH_BITS) {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand_size} should not be greater than \
             {MAX_HASH_BITS}"
        );
        cx.push(FieldError::invalid(path, &hand_size, &detail));
    }
}
