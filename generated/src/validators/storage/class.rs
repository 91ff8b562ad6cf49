//! Storage classes: topology.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::{core::v1::TopologySelectorTerm, storage::v1::StorageClass};

/// Topology terms are unique, and one that says nothing counts as told already, as in the reference: Rust,
/// because the order in them means nothing.
pub fn storage_class(value: &StorageClass, path: &Path<'_>, cx: &mut Validation<'_>) {
    let topologies = path.field("allowedTopologies");
    let mut terms = HashSet::new();
    for (index, term) in value.allowed_topologies.iter().enumerate() {
        let at = topologies.index(index);
        if term.match_label_expressions.is_empty() || !terms.insert(topology_term(term)) {
            cx.push(FieldError::duplicate(&at.field("matchLabelExpressions"), ""));
        }
    }
}

/// The values of a term by key, whatever their order in the term.
type TermValues<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

fn topology_term(term: &TopologySelectorTerm) -> TermValues<'_> {
    term.match_label_expressions
        .iter()
        .map(|requirement| {
            (requirement.key.as_str(), requirement.values.iter().map(String::as_str).collect())
        })
        .collect()
}
