//! Storage classes: parameters, topology, and what an update can change.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use orch_runtime::{
    field_error::{FieldError, Order, Validation},
    path::Path,
};

use crate::{core::v1::TopologySelectorTerm, storage::v1::StorageClass, validators::node_label};

/// The maximum number of parameters, and of bytes in all their keys and values.
const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETER_BYTES: usize = 256 * 1024;

/// Parameters stay within their limits, and topology terms are unique.
pub fn storage_class(value: &StorageClass, path: &Path<'_>, cx: &mut Validation<'_>) {
    parameters(&value.parameters, &path.field("parameters"), cx);
    let topologies = path.field("allowedTopologies");
    let mut terms = HashSet::new();
    for (index, term) in value.allowed_topologies.iter().enumerate() {
        let at = topologies.index(index);
        if !terms.insert(topology_term(term, &at, cx)) {
            cx.push(FieldError::duplicate(&at.field("matchLabelExpressions"), ""));
        }
    }
    cx.arrange(path, ORDER);
}

/// The order in which errors of a class are reported.
const ORDER: &[Order] = &[
    Order::of("metadata"),
    Order::of("provisioner"),
    Order::of("parameters"),
    Order::of("reclaimPolicy"),
    Order::of("volumeBindingMode"),
    Order::with("allowedTopologies", &[Order::with("matchLabelExpressions", REQUIREMENT)]),
];
const REQUIREMENT: &[Order] = &[Order::of("values"), Order::of("key")];

fn parameters(value: &BTreeMap<String, String>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.len() > MAX_PARAMETERS {
        cx.push(FieldError::too_long(path, MAX_PARAMETERS));
        return;
    }
    if value.contains_key("") {
        cx.push(FieldError::invalid(path, "", "field can not be empty."));
    }
    if value.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > MAX_PARAMETER_BYTES {
        cx.push(FieldError::too_long(path, MAX_PARAMETER_BYTES));
    }
}

/// The values of a term by key, whatever their order in the term.
type TermValues<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

fn topology_term<'t>(
    term: &'t TopologySelectorTerm,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) -> TermValues<'t> {
    let path = path.field("matchLabelExpressions");
    let mut term_values = TermValues::new();
    for (index, requirement) in term.match_label_expressions.iter().enumerate() {
        let at = path.index(index);
        if let Some(text) = node_label::deprecation(&requirement.key, cx.vocabulary) {
            cx.warn(&at.field("key"), text);
        }
        term_values.insert(&requirement.key, requirement.values.iter().map(String::as_str).collect());
    }
    term_values
}
