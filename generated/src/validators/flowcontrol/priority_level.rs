//! Priority levels: limits, and the two levels with a fixed spec.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use super::{EXEMPT, condition_types};
use crate::flowcontrol::v1::{
    ExemptPriorityLevelConfiguration, LimitResponse, LimitedPriorityLevelConfiguration,
    PriorityLevelConfiguration, PriorityLevelConfigurationSpec, QueuingConfiguration,
};

const TYPE_EXEMPT: &str = "Exempt";
const TYPE_LIMITED: &str = "Limited";
const TYPE_QUEUE: &str = "Queue";
const TYPE_REJECT: &str = "Reject";

/// The maximum number of queues.
const MAX_QUEUES: i32 = 10_000_000;
/// The number of bits in a flow's hash by which queues are chosen.
const MAX_HASH_BITS: i32 = 60;

/// The members fit the type; levels that the server relies on have their fixed spec.
pub fn priority_level_configuration(
    value: &PriorityLevelConfiguration,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let at = path.field("spec");
    spec(&value.metadata.name, &value.spec, &at, cx);
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
    let types = value.status.conditions.iter().map(|condition| condition.type_.as_str());
    condition_types(types, &path.field("status"), cx);
}

/// The order in which errors of a limited level are reported.
const LIMITED: &[Order] = &[Order::of("nominalConcurrencyShares"), Order::of("limitResponse")];

fn spec(name: &str, spec: &PriorityLevelConfigurationSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("type");
    if (name == EXEMPT) != (spec.type_ == TYPE_EXEMPT) {
        cx.push(FieldError::invalid(&at, &spec.type_, "must be 'Exempt' if and only if `name` is 'exempt'"));
    }
    match spec.type_.as_str() {
        TYPE_EXEMPT => {
            if spec.limited.is_some() {
                let detail = "must be nil if the type is not Limited";
                cx.push(FieldError::forbidden(&path.field("limited"), detail));
            }
            if let Some(value) = &spec.exempt {
                exempt(value, &path.field("exempt"), cx);
            }
        }
        TYPE_LIMITED => {
            if spec.exempt.is_some() {
                cx.push(FieldError::forbidden(&path.field("exempt"), "must be nil if the type is Limited"));
            }
            let at = path.field("limited");
            if let Some(value) = &spec.limited {
                limited(value, &at, cx);
            } else {
                cx.push(FieldError::required(&at, "must not be empty when type is Limited"));
            }
        }
        other => cx.push(FieldError::not_supported(&at, other, &[TYPE_EXEMPT, TYPE_LIMITED])),
    }
}

fn exempt(value: &ExemptPriorityLevelConfiguration, path: &Path<'_>, cx: &mut Validation<'_>) {
    shares(value.nominal_concurrency_shares, path, cx);
    lendable(value.lendable_percent, path, cx);
}

fn limited(value: &LimitedPriorityLevelConfiguration, path: &Path<'_>, cx: &mut Validation<'_>) {
    shares(value.nominal_concurrency_shares, path, cx);
    limit_response(&value.limit_response, &path.field("limitResponse"), cx);
    lendable(value.lendable_percent, path, cx);
    if let Some(percent) = value.borrowing_limit_percent.filter(|percent| *percent < 0) {
        let detail = "if specified, must be a non-negative integer";
        cx.push(FieldError::invalid(&path.field("borrowingLimitPercent"), &percent, detail));
    }
}

fn shares(value: Option<i32>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(shares) = value.filter(|shares| *shares < 0) {
        let detail = "must be a non-negative integer";
        cx.push(FieldError::invalid(&path.field("nominalConcurrencyShares"), &shares, detail));
    }
}

fn lendable(value: Option<i32>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(percent) = value.filter(|percent| !(0..=100).contains(percent)) {
        let detail = "must be between 0 and 100, inclusive";
        cx.push(FieldError::invalid(&path.field("lendablePercent"), &percent, detail));
    }
}

fn limit_response(value: &LimitResponse, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("queuing");
    match (value.type_.as_str(), &value.queuing) {
        (TYPE_REJECT, Some(_)) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            cx.push(FieldError::forbidden(&at, detail));
        }
        (TYPE_QUEUE, None) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            cx.push(FieldError::required(&at, detail));
        }
        (TYPE_QUEUE, Some(value)) => queuing(value, &at, cx),
        _ => {}
    }
}

fn queuing(value: &QueuingConfiguration, path: &Path<'_>, cx: &mut Validation<'_>) {
    let QueuingConfiguration { queues, hand_size, queue_length_limit } = *value;
    let mut invalid = |field: &str, value: i32, detail: &str| {
        cx.push(FieldError::invalid(&path.field(field), &value, detail));
    };
    if queue_length_limit <= 0 {
        invalid("queueLengthLimit", queue_length_limit, "must be positive");
    }
    if queues <= 0 {
        invalid("queues", queues, "must be positive");
    } else if queues > MAX_QUEUES {
        invalid("queues", queues, &format!("must not be greater than {MAX_QUEUES}"));
    }
    if hand_size <= 0 {
        invalid("handSize", hand_size, "must be positive");
    } else if hand_size > queues {
        invalid("handSize", hand_size, &format!("should not be greater than queues ({queues})"));
    } else if f64::from(queues).log2() * f64::from(hand_size) > f64::from(MAX_HASH_BITS) {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand_size} should not be greater than \
             {MAX_HASH_BITS}"
        );
        invalid("handSize", hand_size, &detail);
    }
}
