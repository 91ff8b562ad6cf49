//! Node selectors: by labels with any operator, and by the field `metadata.name`.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm};

/// The only field by which nodes can be selected.
const NODE_NAME_FIELD: &str = "metadata.name";

/// There is at least one term.
pub fn node_selector(value: &NodeSelector, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.node_selector_terms.is_empty() {
        let detail = "must have at least one node selector term";
        cx.push(FieldError::required(&path.field("nodeSelectorTerms"), detail));
    }
}

/// The operators fit the number of values, and keys and values are valid.
pub fn node_selector_term(value: &NodeSelectorTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let expressions = path.field("matchExpressions");
    for (index, requirement) in value.match_expressions.iter().enumerate() {
        label_requirement(requirement, &expressions.index(index), cx);
    }
    let fields = path.field("matchFields");
    for (index, requirement) in value.match_fields.iter().enumerate() {
        field_requirement(requirement, &fields.index(index), cx);
    }
}

/// Preferred terms may contain values that no label can have: the errors for them are removed.
pub fn preferred_term(value: &PreferredSchedulingTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let preference = path.field("preference");
    let expressions = preference.field("matchExpressions");
    for (index, requirement) in value.preference.match_expressions.iter().enumerate() {
        if !requirement.values.is_empty() {
            cx.retract_items(&expressions.index(index).field("values"));
        }
    }
}

fn label_requirement(value: &NodeSelectorRequirement, path: &Path<'_>, cx: &mut Validation<'_>) {
    let values = path.field("values");
    let error = match (value.operator.as_str(), value.values.len()) {
        ("In" | "NotIn", 0) => {
            Some(FieldError::required(&values, "must be specified when `operator` is 'In' or 'NotIn'"))
        }
        ("Exists" | "DoesNotExist", 1..) => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            Some(FieldError::forbidden(&values, detail))
        }
        ("Gt" | "Lt", 0 | 2..) => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            Some(FieldError::required(&values, detail))
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt", _) => None,
        (other, _) => Some(unknown_operator(other, path)),
    };
    if let Some(error) = error {
        cx.push(error);
    }
    cx.invalid_all(&path.field("key"), &value.key, &constraint::qualified_name(&value.key));
    for (index, text) in value.values.iter().enumerate() {
        cx.invalid_all(&values.index(index), text, &constraint::label_value(text));
    }
}

fn field_requirement(value: &NodeSelectorRequirement, path: &Path<'_>, cx: &mut Validation<'_>) {
    let values = path.field("values");
    match value.operator.as_str() {
        "In" | "NotIn" if value.values.len() != 1 => {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            cx.push(FieldError::required(&values, detail));
        }
        "In" | "NotIn" => {}
        other => cx.push(unknown_operator(other, path)),
    }
    if value.key != NODE_NAME_FIELD {
        let detail = "not a valid field selector key";
        cx.push(FieldError::invalid(&path.field("key"), &value.key, detail));
        return;
    }
    for (index, name) in value.values.iter().enumerate() {
        cx.invalid_all(&values.index(index), name, &constraint::dns_subdomain(name));
    }
}

fn unknown_operator(operator: &str, path: &Path<'_>) -> FieldError {
    FieldError::invalid(&path.field("operator"), operator, "not a valid selector operator")
}
