//! Storage classes: topology.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::{core::v1::TopologySelectorTerm, storage::v1::StorageClass, validators::node_label};

/// Topology terms are unique: Rust, because the order in them means nothing. Warns of old labels.
pub fn storage_class(value: &StorageClass, path: &Path<'_>, cx: &mut Validation<'_>) {
    let topologies = path.field("allowedTopologies");
    let mut terms = HashSet::new();
    for (index, term) in value.allowed_topologies.iter().enumerate() {
        let at = topologies.index(index);
        if !terms.insert(topology_term(term, &at, cx)) {
            cx.push(FieldError::duplicate(&at.field("matchLabelExpressions"), ""));
        }
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
